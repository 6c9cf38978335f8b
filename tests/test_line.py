"""The line: routers that keep content, bind names, restart, and hosts that move."""

from __future__ import annotations

import csv
import json

import pytest

IPS = ["ipv4", "ipv6"]


@pytest.fixture
def run(runner, tmp_path):
    """Runs a scenario; its summary."""

    def go(*options):
        out = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        runner.run(*options, f"--out={out}")
        return json.loads((out / "summary.json").read_text())

    return go


def flows_of(summary):
    return {flow["name"]: flow for flow in summary["flows"]}


def caches_of(summary):
    return {cache["name"]: cache for cache in summary["caches"]}


def assert_whole(summary):
    """Every transfer is complete, its content is right, and no byte is there twice."""
    for flow, config in zip(summary["flows"], summary["config"]["flows"], strict=True):
        assert (flow["completed"], flow["verified"], flow["failure"]) == (True, True, None), flow
        assert f"{flow['bytes'] / 1e6:g} MB" == config["size"]


# The network.


@pytest.mark.parametrize("ip", IPS)
def test_the_line_has_four_watched_directions(run, tmp_path, ip):
    summary = run("--scenario=smoke/line", f"--set=topology.ip={ip}")
    ends = [(link["name"], link["from"], link["to"]) for link in summary["links"]]
    assert ends == [
        ("bottleneck", "R3", "R2"),
        ("edge", "R2", "R1"),
        ("bottleneck-reverse", "R2", "R3"),
        ("edge-reverse", "R1", "R2"),
    ]
    data, after, requests, _ = summary["links"]
    # One rate on both links: the first one alone has a queue.
    assert data["queue_pkts"]["mean"] > 5 > after["queue_pkts"]["mean"]
    assert after["arrivals"] == data["arrivals"] - data["dropped"] > requests["arrivals"]
    with (tmp_path / "out0" / "queue.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["link"] for row in rows[:4]] == [name for name, _, _ in ends]
    # Propagation and the transmission of a REQ and of DATA: nothing else is in the way at first.
    for flow in summary["flows"]:
        assert flow["completed"]
        assert 20.0 < flow["rtt_ms"]["min"] < 23.0


def test_a_full_line_is_limited_by_the_router_links(run):
    """50 clients and more flows than nodes use the whole link."""
    summary = run("--scenario=base/line", "--flows=50", "--controller=newreno", "--duration=3s",
                  "--set=trace.enabled=false")  # fmt: skip
    assert summary["config"]["topology"]["receivers"] == 50
    assert summary["links"][0]["utilisation"] > 0.98
    assert sum(flow["bytes"] > 0 for flow in summary["flows"]) > 45


def test_losses_are_on_the_bottleneck_alone(run):
    summary = run("--scenario=smoke/line", "--loss=0.02")
    losses = [link["error_losses"] for link in summary["links"]]
    assert losses[0] > 10
    assert losses[1:] == [0, 0, 0]
    assert all(flow["completed"] for flow in summary["flows"])


def test_marks_of_icn_routers_arrive_and_ip_routers_make_none(run):
    options = ["--scenario=base/line", "--aqm=ecd", "--controller=newreno", "--duration=4s"]
    icn = run(*options)
    assert icn["links"][0]["marked_by"].keys() == {"early-congestion"}
    assert 0 < icn["flows"][0]["marks"] <= icn["links"][0]["marked"]
    # R3's queue is the one that builds up.
    plain = run(*options, '--set=topology.ip_routers=["R3"]')
    assert plain["links"][0]["marked"] == plain["flows"][0]["marks"] == 0
    assert plain["links"][0]["dropped"] > 0


# Caches.


@pytest.mark.parametrize("ip", IPS)
def test_routers_keep_what_passes_and_serve_it(run, ip):
    summary = run("--scenario=smoke/line-caches", f"--set=topology.ip={ip}")
    assert_whole(summary)
    caches = caches_of(summary)
    assert list(caches) == ["R1", "R2", "R3"]
    assert {cache["assembled"] for cache in caches.values()} == {1}
    assert (caches["R1"]["hits"], caches["R1"]["misses"]) == (1, 2)
    assert caches["R1"]["hit_ratio"] == pytest.approx(1 / 3, abs=1e-6)
    assert caches["R3"]["hits"] == 0
    # From the edge router: the client's link and back.
    later = flows_of(summary)["later"]
    assert later["rtt_ms"]["min"] < 5.0
    assert later["fct_s"] < 0.2


def test_without_caches_every_client_goes_to_the_server(run):
    summary = run("--scenario=smoke/line-caches", "--set=caches.enabled=false")
    assert summary["caches"] == []
    assert min(flow["rtt_ms"]["min"] for flow in summary["flows"]) > 20.0


def test_an_ndc_larger_than_the_cache_is_not_kept(run):
    summary = run("--scenario=smoke/line-caches", "--set=caches.capacity=1 MB")
    assert_whole(summary)
    for cache in summary["caches"]:
        assert (cache["hits"], cache["assembled"]) == (0, 0)


def test_a_full_cache_makes_room(run):
    flows = [
        {"name": "first", "size": "2 MB", "ndc": "shared"},
        {"name": "other", "size": "2 MB", "start": "3 s"},
        {"name": "again", "size": "2 MB", "start": "6 s", "ndc": "shared"},
    ]
    summary = run("--scenario=smoke/line-caches", "--set=caches.capacity=1 NDCs",
                  f"--set=flows={json.dumps(flows)}")  # fmt: skip
    assert_whole(summary)
    edge = caches_of(summary)["R1"]
    assert (edge["evictions"], edge["hits"], edge["misses"]) == (2, 0, 3)
    assert flows_of(summary)["again"]["rtt_ms"]["min"] > 20.0


def test_copies_move_down_one_icn_router_per_request(run):
    summary = run("--scenario=smoke/line-mixed")
    assert_whole(summary)
    flows = flows_of(summary)
    nearest = [flows[name]["rtt_ms"]["min"] for name in ("first", "second", "third")]
    # The server, then R3 (two router links away), then R1.
    assert nearest[0] > 20.0 > nearest[1] > 15.0 > 5.0 > nearest[2]
    assert list(caches_of(summary)) == ["R1", "R3"]


def test_a_router_on_the_way_serves(run):
    summary = run("--scenario=smoke/line-path")
    assert_whole(summary)
    assert caches_of(summary)["R2"]["hits"] == 1
    # R2 is one router link away from the edge.
    assert 9.0 < flows_of(summary)["second"]["rtt_ms"]["min"] < 12.0


@pytest.mark.parametrize("ip", IPS)
def test_a_cache_beside_the_path_fetches_what_is_asked_for(run, ip):
    summary = run("--scenario=smoke/line-off-path", f"--set=topology.ip={ip}")
    assert_whole(summary)
    cache = caches_of(summary)["R4"]
    assert (cache["assembled"], cache["hits"]) == (1, 1)
    # Two router links and the client's: not the server's.
    assert 14.0 < flows_of(summary)["second"]["rtt_ms"]["min"] < 19.0


# What goes wrong.


@pytest.mark.parametrize("binding", ["edge", "path"])
@pytest.mark.parametrize("target", ["R1", "R2", "R3"])
def test_a_router_that_restarts_delays_and_loses_nothing(run, target, binding):
    fault = {"at": "1 s", "kind": "router-restart", "target": target, "outage": "500 ms"}
    summary = run("--scenario=smoke/line-restart", f"--set=faults=[{json.dumps(fault)}]",
                  f"--set=names.binding={binding}")  # fmt: skip
    assert_whole(summary)
    first = flows_of(summary)["first"]
    assert first["end_s"] > 1.5
    caches = caches_of(summary)
    assert caches[target]["abandoned"] >= 1
    # What did not restart has the NDC.
    assert all(c["assembled"] == 1 for name, c in caches.items() if name != target)
    assert summary["links"][0]["error_losses"] + summary["links"][1]["error_losses"] > 0


def test_a_cache_that_is_emptied_while_it_serves(run):
    summary = run("--scenario=smoke/line-evict")
    assert_whole(summary)
    caches = caches_of(summary)
    assert (caches["R1"]["hits"], caches["R1"]["evictions"]) == (1, 1)
    # The rest comes from the next router that has it.
    assert caches["R2"]["hits"] == 1
    assert flows_of(summary)["second"]["rtt_ms"]["p95"] > 9.0


@pytest.mark.parametrize("binding", ["receiver", "edge", "path"])
@pytest.mark.parametrize("ip", IPS)
def test_a_client_moves_and_goes_on(run, ip, binding):
    summary = run("--scenario=smoke/line-receiver-move", f"--set=topology.ip={ip}",
                  f"--set=names.binding={binding}")  # fmt: skip
    assert_whole(summary)
    moving = flows_of(summary)["moving"]
    # It ended at R3: its own link and the server's.
    assert 6.0 < moving["rtt_ms"]["min"] < 8.0
    assert moving["replica"] == ("S" if binding == "receiver" else "R3")


@pytest.mark.parametrize("binding", ["receiver", "edge", "path"])
@pytest.mark.parametrize("ip", IPS)
def test_a_server_moves_and_is_found_again(run, ip, binding):
    summary = run("--scenario=smoke/line-replica-move", f"--set=topology.ip={ip}",
                  f"--set=names.binding={binding}")  # fmt: skip
    assert_whole(summary)
    # At R2 one router link less.
    assert 13.0 < summary["flows"][0]["rtt_ms"]["min"] < 15.0


@pytest.mark.parametrize("binding", ["receiver", "edge", "path"])
def test_a_server_that_moves_thrice_leaves_no_dead_addresses_behind(run, binding):
    moves = [("1 s", "R2"), ("3 s", "R3"), ("5 s", "R2")]
    faults = [{"at": at, "kind": "replica-move", "target": "S", "to": to} for at, to in moves]
    during = {"name": "during", "size": "20 MB"}
    flows = [during, {"name": "after", "size": "2 MB", "start": "40 s"}]
    summary = run("--scenario=smoke/line-replica-move", f"--set=names.binding={binding}",
                  f"--set=faults={json.dumps(faults)}",
                  f"--set=flows={json.dumps(flows)}")  # fmt: skip
    assert_whole(summary)
    during, after = flows_of(summary)["during"], flows_of(summary)["after"]
    # In mid-transfer a silent address costs three expiries of the retransmission timer at most.
    assert 5.0 < during["end_s"] < 40.0
    # 2 MB at 20 Mbps take 0.8 s, and there is one address.
    assert after["end_s"] - after["start_s"] < 3.0
    assert after["replica_switches"] == 0


def test_a_cache_beside_the_path_has_the_scenarios_payload(run):
    summary = run("--scenario=smoke/line-off-path", "--set=transport.mss_bytes=500")
    assert_whole(summary)
    data = summary["links"][0]
    # From R3 to R2: the first client's, and those of the cache.
    assert data["arrivals"] > 2 * 2_000_000 / 500


def test_without_a_name_server_routers_refuse_by_name(run):
    fault = '[{"at": "0 s", "kind": "name-server-fail"}]'
    summary = run("--scenario=smoke/line", f"--set=faults={fault}", "--set=duration=120 s")
    for flow in summary["flows"]:
        assert flow["failure"] in ("name-server-unreachable", "no-replica", "stalled")
        assert flow["bytes"] == 0


def test_equal_seeds_give_equal_bytes(runner, tmp_path):
    texts = []
    for name in ("a", "b"):
        runner.run("--scenario=smoke/line-mixed", "--set=caches.placement=probabilistic",
                   "--set=caches.policy=random", f"--out={tmp_path / name}")  # fmt: skip
        texts.append((tmp_path / name / "summary.json").read_bytes())
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set=topology.kind=lines"], ["topology.kind", "lines", "line"]),
        (['--set=topology.ip_routers=["R1"]'], ["topology.ip_routers", "R1", "names.binding"]),
        (["--set=names.binding=egde"], ["names.binding", "egde", "edge"]),
        (["--set=caches.policy=mru"], ["caches.policy", "mru", "lru"]),
        (["--set=caches.capacity=5"], ["caches.capacity", "5", "NDCs"]),
        (['--set=faults=[{"at": "1 s", "kind": "router-restart", "target": "R2"}]'],
         ["faults[0].outage", "router-restart"]),
        (['--set=faults=[{"at": "1 s", "kind": "replica-move", "target": "S", "to": "R3"}]'],
         ["faults[0].to", "S", "R1, R2"]),
    ],
    ids=lambda v: " ".join(v)[:80],
)  # fmt: skip
def test_bad_input_is_one_line_and_nothing_is_written(runner, tmp_path, options, words):
    done = runner("--scenario=base/line", *options, "--out=out", cwd=tmp_path)
    assert done.returncode == 2, (done.stdout, done.stderr)
    (line,) = done.stderr.splitlines()
    for word in words:
        assert word in line, line
    assert list(tmp_path.iterdir()) == []

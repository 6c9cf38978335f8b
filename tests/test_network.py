"""Networks and flows: both directions, chains of NDCs, the background, clocks, IPv6."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import icn_wire
from ferrocc_analysis import Run

#: Headers of a full DATA packet at the IP layer, bytes.
HEADERS = {"ipv4": 108, "ipv6": 128}
#: Header of ns-3's point-to-point links, bytes.
LINK_HEADER = 2
PAYLOAD = 1250


def summary_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "summary.json").read_text())


def run(runner, out: Path, *options: str) -> dict[str, Any]:
    runner.run(*options, f"--out={out}")
    return summary_of(out)


# topo-2.


def test_opposite_flows_have_bottlenecks_of_their_own(runner, tmp_path):
    summary = run(runner, tmp_path / "out", "--scenario=base/topo-2", "--flows=3",
                  "--controller=cubic", "--buffer=4bdp", "--duration=10s")  # fmt: skip
    assert [f["direction"] for f in summary["config"]["flows"]] == ["forward"] + ["opposite"] * 2
    alone, *shared = [f["goodput_mbps"] for f in summary["flows"]]
    forward, reverse = summary["links"]
    assert (forward["from"], forward["to"]) == (reverse["to"], reverse["from"]) == ("IR2", "IR1")
    # 20 Mbps each way, of which the other direction's REQs and what they lose take a part.
    assert alone > 12
    assert sum(shared) > 12
    for link in (forward, reverse):
        assert 0.75 < link["utilisation"] <= 1
        # Both queues have the same limit, 4 x 20 Mbps x 30 ms, and flows fill them.
        assert 0.8 * 120 < link["queue_ms"]["p95"] < 1.1 * 120
        assert link["dropped"] > 0
    # The forward flow joins nobody, and is alone.
    assert summary["fairness"] == {"jain": None, "joins": []}


def test_the_table_tells_directions_and_failures(runner, tmp_path):
    both = runner.run(
        "--scenario=base/topo-2", "--flows=2", "--duration=1s", f"--out={tmp_path / 'both'}"
    ).stdout
    assert both.splitlines()[0].split()[:3] == ["flow", "controller", "direction"]
    assert [line.split()[2] for line in both.splitlines()[1:3]] == ["forward", "opposite"]
    assert "\nbottleneck: " in both
    assert "\nbottleneck-reverse: " in both
    faults = json.dumps([{"at": "0.5 s", "kind": "replica-fail", "target": "RN"}])
    failed = runner.run(
        "--scenario=base/topo-1",
        "--duration=10s",
        f"--set=faults={faults}",
        "--set=names.give_up=5 s",
        f"--out={tmp_path / 'failed'}",
    ).stdout
    assert "(stalled)" in failed
    assert "1 of 1 transfers failed" in failed
    assert "direction" not in failed.splitlines()[0]
    stopped = runner.run(
        "--scenario=base/topo-1",
        "--duration=2s",
        "--set=flows[0].stop=1s",
        f"--out={tmp_path / 'stopped'}",
    ).stdout
    assert "1.000 (cancelled)" in stopped
    assert "transfers failed" not in stopped


def test_only_flows_of_one_direction_are_compared(runner, tmp_path):
    summary = run(runner, tmp_path / "out", "--scenario=base/topo-2", "--flows=3",
                  "--set=flows[1].direction=forward", "--set=flows[1].start=1.1s",
                  "--set=flows[2].start=2.1s", "--controller=copa", "--duration=6s")  # fmt: skip
    fairness = summary["fairness"]
    assert [join["t_s"] for join in fairness["joins"]] == [1.1]
    assert fairness["jain"] > 0.8


def test_a_flow_alone_is_the_same_in_both_directions_and_topologies(runner, tmp_path):
    one = ["--duration=3s", "--flows=1"]
    courses = [
        run(runner, tmp_path / "1", "--scenario=base/topo-1", *one),
        run(runner, tmp_path / "2", "--scenario=base/topo-2", *one),
        run(runner, tmp_path / "3", "--scenario=base/topo-2", *one,
            "--set=flows[0].direction=opposite"),
    ]  # fmt: skip
    flows = [c["flows"][0] for c in courses]
    assert [flow.pop("replica") for flow in flows] == ["RN", "RN2", "RN1"]
    assert flows[0] == flows[1] == flows[2]
    assert courses[0]["links"] == courses[1]["links"]
    there, back = courses[2]["links"]
    assert there["utilisation"] == courses[0]["links"][1]["utilisation"]
    assert back["utilisation"] == courses[0]["links"][0]["utilisation"]


def test_a_slower_reverse_path_lengthens_the_round_trip_only(runner, tmp_path):
    base = ["--scenario=base/topo-1", "--controller=fixed", "--duration=2s"]
    plain = run(runner, tmp_path / "plain", *base)
    slow = run(runner, tmp_path / "slow", *base,
               "--set=topology.bottleneck.extra_delay_reverse=13 ms")  # fmt: skip
    rtts, delays = (
        [s["flows"][0][field]["min"] for s in (plain, slow)] for field in ("rtt_ms", "owd_ms")
    )
    assert rtts[1] - rtts[0] == pytest.approx(13, abs=1e-6)
    assert delays[1] == delays[0]


def test_a_flow_can_have_a_longer_path(runner, tmp_path):
    summary = run(runner, tmp_path / "out", "--scenario=base/topo-1", "--flows=2",
                  "--controller=fixed", "--duration=2s",
                  "--set=flows[1].extra_delay=20 ms")  # fmt: skip
    near, far = [f["rtt_ms"]["min"] for f in summary["flows"]]
    assert far - near == pytest.approx(40, abs=1)


# Chains of NDCs, the background, and stops.


def test_a_flow_that_repeats_adds_up(runner, tmp_path):
    out = tmp_path / "out"
    options = ["--scenario=base/topo-1", "--duration=4s", "--controller=newreno", "--verify",
               "--buffer=10p", "--set=flows[0].size=400kB",
               "--set=flows[0].repeat=true"]  # fmt: skip
    summary = run(runner, out, *options)
    (flow,) = summary["flows"]
    assert summary["duration_s"] == 4.0
    assert flow["ndcs"] == len(flow["fcts_s"]) > 3
    assert flow["ndcs"] == flow["bytes"] // 400_000
    assert flow["fct_s"] == pytest.approx(sum(flow["fcts_s"]) / flow["ndcs"], abs=1e-6)
    assert (flow["completed"], flow["end_s"], flow["failure"]) == (False, None, None)
    assert flow["verified"] is True
    assert flow["losses"] > 0
    events = Run.load(out).event_trace.collect()
    ends = events.filter(pl.col("kind") == "ndc")
    assert ends["value"].to_list() == list(range(1, flow["ndcs"] + 1))
    # One follows the other without a pause.
    times = [0.1, *ends["time_s"].to_list()]
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert gaps == pytest.approx(flow["fcts_s"], abs=1e-6)
    # Totals of the trace go on over the NDCs, and end like the summary's.
    rows = pl.read_csv(out / "flows.csv")
    for column in ("delivered_bytes", "losses"):
        assert rows[column].is_sorted()
    assert 0 <= flow["losses"] - rows["losses"][-1] <= 20
    assert 0 <= flow["bytes"] - rows["delivered_bytes"][-1] <= 60_000
    lost = events.filter(pl.col("kind") == "loss")["value"].sum()
    assert lost == flow["losses"]
    for kind, field in (("timeout", "timeouts"), ("cut", "window_cuts")):
        seen = events.filter(pl.col("kind") == kind)["value"].to_list()
        assert seen == sorted(seen)
        assert max(seen, default=0) == flow[field]
    assert summary["flows"] == run(runner, tmp_path / "again", *options)["flows"]


def test_each_ndc_of_a_chain_starts_anew(runner, tmp_path):
    """Alone on the link, the second NDC takes as long as the first: nothing is carried over."""
    summary = run(runner, tmp_path / "out", "--scenario=base/topo-1", "--duration=6s",
                  "--controller=fixed", "--set=flows[0].size=300kB",
                  "--set=flows[0].repeat=true")  # fmt: skip
    times = summary["flows"][0]["fcts_s"]
    assert len(times) > 5
    assert max(times) - min(times) < 0.002


def test_the_run_ends_without_waiting_for_the_background(runner, tmp_path):
    summary = run(runner, tmp_path / "out", "--scenario=base/topo-1", "--flows=3",
                  "--duration=60s", "--set=flows[*].size=500kB", "--set=flows[1].repeat=true",
                  "--set=flows[1].background=true", "--set=flows[2].start=50s",
                  "--set=flows[2].background=true")  # fmt: skip
    first, second, third = summary["flows"]
    assert first["completed"]
    assert (first["ndcs"], "fcts_s" in first) == (1, False)
    assert summary["duration_s"] == first["end_s"] < 3
    assert second["bytes"] > 0
    assert second["end_s"] is None
    assert (third["start_s"], third["bytes"], third["ndcs"]) == (None, 0, 0)
    # Flows in the background take part in the comparison.
    assert len(summary["fairness"]["joins"]) == 1


@pytest.mark.parametrize("extra", [[], ["--set=flows[0].size=300kB", "--set=flows[0].repeat=true"]])
def test_a_stopped_flow_is_cancelled(runner, tmp_path, extra):
    out = tmp_path / "out"
    summary = run(runner, out, "--scenario=base/topo-1", "--duration=20s",
                  "--set=flows[0].stop=1.5s", *extra)  # fmt: skip
    (flow,) = summary["flows"]
    assert (flow["completed"], flow["failure"]) == (False, "cancelled")
    assert flow["end_s"] == summary["duration_s"] == 1.5
    assert flow["goodput_mbps"] == pytest.approx(flow["bytes"] * 8e-6 / 1.4, abs=1e-6)
    rows = pl.read_csv(out / "flows.csv")
    assert rows["time_s"][-1] == 1.5
    assert rows["delivered_bytes"][-1] == flow["bytes"]
    last = pl.read_csv(out / "events.csv").row(-1, named=True)
    assert (last["kind"], last["text"], last["value"]) == ("end", "cancelled", flow["bytes"])


def test_a_flow_that_is_complete_before_its_stop_is_not_cancelled(runner, tmp_path):
    summary = run(runner, tmp_path / "out", "--scenario=smoke/one-flow",
                  "--set=flows[0].stop=4s")  # fmt: skip
    (flow,) = summary["flows"]
    assert (flow["completed"], flow["failure"]) == (True, None)
    assert flow["end_s"] < 4


# Clocks.


def course(folder: Path) -> tuple[dict[str, Any], str, str]:
    """What a run came to, without what its scenario says of clocks."""
    summary = summary_of(folder)
    del summary["config"]["clock"]
    for flow in summary["config"]["flows"]:
        del flow["clock"]
    return summary, *((folder / n).read_text() for n in ("flows.csv", "events.csv"))


@pytest.mark.parametrize("controller", ["copa-icn", "copa"])
def test_no_offset_between_clocks_changes_anything(runner, tmp_path, controller):
    courses = []
    offsets = ["0 s", "1 ns", "-1 ns", "3 s", "-987654321.123457 ms", "1000000 s", "-999999.7 s"]
    for i, offset in enumerate(offsets):
        out = tmp_path / str(i)
        runner.run("--scenario=smoke/lossy-verify", f"--set=clock.offset={offset}",
                   f"--controller={controller}", f"--out={out}")  # fmt: skip
        courses.append(course(out))
    assert all(c == courses[0] for c in courses)


def test_flows_may_have_clocks_of_their_own(runner, tmp_path):
    base = ["--scenario=base/topo-1", "--flows=2", "--duration=5s"]
    runner.run(*base, f"--out={tmp_path / 'plain'}")
    runner.run(*base, "--set=flows[0].clock.offset=-7 s", "--set=flows[1].clock.offset=13 ms",
               "--set=clock.offset=4 s", f"--out={tmp_path / 'own'}")  # fmt: skip
    assert course(tmp_path / "own") == course(tmp_path / "plain")


def test_a_fast_clock_biases_the_one_way_delay_and_the_output_is_free_of_it(runner, tmp_path):
    base = ["--scenario=base/topo-1", "--rtprop=50ms", "--duration=9s"]
    delays, biases = {}, {}
    for skew in ("0 ppm", "500 ppm"):
        out = tmp_path / skew.replace(" ", "")
        # A window that never queues: all of the queueing delay that is seen is the clock's.
        summary = run(runner, out, *base, f"--set=clock.skew={skew}", "--rate=50Mbps",
                      "--set=flows[0].size=20MB", "--controller=copa-icn")  # fmt: skip
        delays[skew] = summary["flows"][0]["owd_ms"]["min"]
        rows = pl.read_csv(out / "flows.csv").filter(pl.col("time_s") > 2)
        true = rows["owd_ms"] - delays[skew]
        biases[skew] = (rows["queue_delay_ms"] - true).mean()
    assert delays["500 ppm"] == pytest.approx(delays["0 ppm"], abs=0.001)
    # 500 ppm gain half a millisecond per second since the base was taken.
    assert biases["500 ppm"] - biases["0 ppm"] > 0.5


def test_a_step_of_a_clock_misleads_copa_icn_but_not_the_output(runner, tmp_path):
    base = ["--scenario=base/topo-1", "--duration=6s", "--buffer=100p"]
    step = '--set=faults=[{"at": "3 s", "kind": "clock-step", "target": "RE1", "step": "80 ms"}]'
    seen = {}
    for controller in ("copa", "copa-icn"):
        for name, options in (("plain", []), ("step", [step])):
            out = tmp_path / f"{controller}-{name}"
            runner.run(*base, f"--controller={controller}", *options, f"--out={out}")
            seen[controller, name] = pl.read_csv(out / "flows.csv")
    # Copa has nothing to do with one-way delays.
    assert seen["copa", "plain"].equals(seen["copa", "step"])
    before, after = (
        seen["copa-icn", "step"].filter(f) for f in (pl.col("time_s") < 3, pl.col("time_s") > 3.5)
    )
    assert before.equals(seen["copa-icn", "plain"].filter(pl.col("time_s") < 3))
    # 80 ms look like a queue, more than the buffer has; the reported delays are the true ones.
    assert before["queue_delay_ms"].max() < 75
    assert after["queue_delay_ms"].min() > 75
    assert after["owd_ms"].max() < 15 + 75
    assert after["owd_ms"].min() >= 15


# IPv6.


@pytest.mark.parametrize("ip", ["ipv4", "ipv6"])
def test_the_best_goodput_is_what_the_headers_leave(runner, tmp_path, ip):
    summary = run(runner, tmp_path / "out", "--scenario=base/topo-1", f"--set=topology.ip={ip}",
                  "--duration=10s", "--controller=cubic", "--set=flows[0].start=0s",
                  "--buffer=4bdp")  # fmt: skip
    (flow,) = summary["flows"]
    best = 20 * PAYLOAD / (PAYLOAD + HEADERS[ip] + LINK_HEADER)
    # The first round trips find the link empty.
    assert 0.98 * best < flow["goodput_mbps"] < best
    # Nothing waits for addresses or neighbours to be found.
    assert flow["start_s"] == 0
    assert flow["timeouts"] == 0
    assert flow["rtt_ms"]["min"] < 33


def test_captures_over_ipv6_hold_our_packets(runner, tmp_path):
    out = tmp_path / "out"
    runner.run("--scenario=smoke/one-flow", "--set=topology.ip=ipv6", "--pcap",
               "--set=flows[0].size=200kB", f"--out={out}")  # fmt: skip
    captures = {f.name: f for f in out.rglob("*.pcap")}
    packets = {n: list(icn_wire.read_pcap(f)) for n, f in captures.items()}
    seen = max(packets.values(), key=len)
    data = [p for p in seen if p.header.type == icn_wire.DATA]
    requests = [p for p in seen if p.header.type == icn_wire.REQ]
    for packet in seen:
        assert icn_wire.checksum(packet.raw, packet.payload) == icn_wire.stored_checksum(packet.raw)
    assert max(p.ip_length for p in data) == PAYLOAD + HEADERS["ipv6"]
    assert min(p.ip_length for p in requests) == 106 + 20
    assert sum(p.header.length for p in data) >= 200_000
    # What answers the priority probe bears the codepoint, and only that.
    assert {p.dscp for p in data if p.header.probe} == {46}
    assert {p.dscp for p in data if not p.header.probe} == {0}
    # There is nothing else on the links: 24 B per file, then 16 B and the link's header per packet.
    for name, file in captures.items():
        ours = sum(16 + LINK_HEADER + p.ip_length for p in packets[name])
        assert file.stat().st_size == 24 + ours


@pytest.mark.parametrize(
    "scenario",
    ["base/topo-2", "smoke/two-flows", "smoke/lossy-verify", "smoke/all-controllers",
     "copa-icn/fig6a", "copa-icn/fig10"],
)  # fmt: skip
def test_scenarios_run_over_ipv6(runner, tmp_path, scenario):
    out = tmp_path / "out"
    runner.run(f"--scenario={scenario}", "--set=topology.ip=ipv6", "--duration=3s", f"--out={out}")
    summaries = [json.loads(f.read_text()) for f in out.rglob("summary.json")]
    assert summaries
    for summary in summaries:
        assert summary["config"]["topology"]["ip"] == "ipv6"
        started = [f for f in summary["flows"] if f["start_s"] is not None and f["start_s"] < 2]
        assert all(f["bytes"] > 100_000 for f in started)


# What is refused.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set=topology.kind=topo-3"], ["topology.kind", "topo-3", "topo-2"]),
        (["--set=topology.ip=ipv5"], ["topology.ip", "ipv5", "ipv4, ipv6"]),
        (["--set=topology.ip=6"], ["topology.ip", "6"]),
        (["--set=flows[0].direction=opposite"], ["flows[0].direction", "topo-2"]),
        (["--set=flows[0].direction=back"], ["flows[0].direction", "back", "forward, opposite"]),
        (["--set=topology.bottleneck.extra_delay_reverse=61s"], ["61 s", "60 s"]),
        (["--set=flows[0].extra_delay=-1ms"], ["flows[0].extra_delay", "-1ms", "negative"]),
        (["--set=flows[0].extra_delay=61s"], ["flows[0].extra_delay", "61 s"]),
        (["--set=flows[0].stop=0.1s"], ["flows[0].stop", "100 ms"]),
        (["--set=flows[0].repeat=true"], ["flows[0].repeat", "size"]),
        (["--set=flows[0].repeat=1"], ["flows[0].repeat", "true or false"]),
        (["--set=flows[*].background=true"], ["background", "at least one"]),
        (["--set=clock.skew=50"], ["clock.skew", "50", "ppm"]),
        (["--set=clock.skew=2000ppm"], ["clock.skew", "2000 ppm", "1000 ppm"]),
        (["--set=clock.skew=fast"], ["clock.skew", "fast", "ppm"]),
        (["--set=clock.offset=2000000s"], ["clock.offset", "2000000 s"]),
        (["--set=flows[0].clock.skew=-2000ppm"], ["flows[0].clock.skew", "-2000 ppm"]),
        (["--set=flows[0].clock.drift=1"], ["drift", "offset, skew"]),
        (["--flows=2", "--set=topology.receivers=1", "--set=flows[1].extra_delay=1ms"],
         ["flows[1].extra_delay", "1 ms", "flow-1", "RE1", "topology.receivers"]),
        (["--flows=2", "--set=topology.receivers=1", "--set=flows[1].clock.offset=1s"],
         ["flows[1].clock.offset", "1 s", "RE1"]),
        (["--flows=2", "--set=topology.receivers=1", "--set=flows[0].clock.skew=1ppm"],
         ["flows[1].clock.skew", "1 ppm", "RE1"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)  # fmt: skip
def test_bad_networks_are_one_line_and_nothing_is_written(runner, tmp_path, options, words):
    done = runner("--scenario=base/topo-1", "--out=out", *options, cwd=tmp_path)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert len(done.stderr.splitlines()) == 1
    for word in words:
        assert word in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []

"""Names and replicas from the outside: what becomes of NDCs when servers and replicas fail."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

SWITCH = "--scenario=copa-icn/replica-switch"
LOSSY = "--scenario=smoke/names-lossy"


@pytest.fixture(scope="session")
def run(runner, tmp_path_factory):
    """Runs a scenario and returns its summary's flows, by name, and its folder."""

    def go(*options: str) -> tuple[dict[str, dict], Path]:
        out = tmp_path_factory.mktemp("names") / "out"
        runner.run(*options, f"--out={out}")
        summary = json.loads((out / "summary.json").read_text())
        return {f["name"]: f for f in summary["flows"]}, out

    return go


def replicas_of(out: Path, flow: int = 1) -> list[str]:
    """The replicas that a flow used, in order."""
    with (out / "events.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [r["text"] for r in rows if r["kind"] == "replica" and r["flow"] == str(flow)]


def cache_of(out: Path) -> dict:
    (cache,) = json.loads((out / "summary.json").read_text())["caches"]
    return cache


# Switches.


@pytest.mark.parametrize("ip", ["ipv4", "ipv6"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_content_is_exact_when_the_replica_changes(run, ip, number):
    flows, out = run(SWITCH, f"--run={number}", f"--set=topology.ip={ip}")
    flow = flows["flow-1"]
    assert flow["completed"]
    assert flow["verified"] is True
    assert flow["failure"] is None
    assert flow["bytes"] == 8_000_000
    # Where the loss of a packet delays A's registration, B is the first.
    assert replicas_of(out) in (["A", "B", "A"], ["B", "A"])
    assert flow["replica_switches"] == len(replicas_of(out)) - 1
    # Both replicas go on answering what they were asked for: some of it comes twice.
    assert flow["losses"] > 0
    assert flow["unnecessary_retransmissions"] > 0


@pytest.mark.parametrize(
    "controller", ["fixed", "newreno", "cubic", "bbr", "copa", "copa-icn", "ecd"]
)
def test_every_controller_survives_switches(run, controller):
    flows, _ = run(LOSSY, f"--controller={controller}", "--duration=300s")
    flow = flows["flow-1"]
    assert flow["completed"]
    assert flow["verified"] is True
    assert flow["failure"] is None
    assert flow["bytes"] == 9_000_000
    assert flow["replica_switches"] >= 3


def test_the_controller_probes_again_after_a_switch(run):
    """A replica farther away by 20 ms one way: its propagation delay is measured anew."""
    common = ("--set=flows[0].size=20 MB", "--set=verify=false", "--set=topology.bottleneck.loss=0",
              "--set=topology.bottleneck.loss_reverse=0", "--set=topology.bottleneck.reorder=0",
              "--set=replicas[1].extra_delay=20ms", "--set=names.mode=table")  # fmt: skip
    switched, out = run(SWITCH, *common, '--set=flows[0].switches=[{"at": "2 s", "to": "B"}]')
    assert replicas_of(out) == ["A", "B"]
    with (out / "flows.csv").open(newline="") as file:
        rows = [r for r in csv.DictReader(file) if float(r["time_s"]) > 4 and r["rtt_ms"]]
    # 30 ms and 40 ms more: what the old replica's path was like is forgotten.
    rtts = [float(r["rtt_ms"]) for r in rows]
    assert min(rtts) >= 70.0
    # Copa-ICN keeps a queue of its own measure, not one of 40 ms that it takes for the path.
    delays = [float(r["queue_delay_ms"]) for r in rows if r["queue_delay_ms"]]
    assert 0 < sum(delays) / len(delays) < 25
    assert switched["flow-1"]["completed"]


def test_equal_seeds_give_equal_bytes(run):
    texts = []
    for _ in range(2):
        _, out = run(LOSSY, "--seed=5", "--run=7")
        texts.append((out / "summary.json").read_bytes() + (out / "events.csv").read_bytes())
    assert texts[0] == texts[1]
    _, out = run(LOSSY, "--seed=5", "--run=8")
    assert (out / "summary.json").read_bytes() + (out / "events.csv").read_bytes() != texts[0]


# Failures.


def test_a_dead_server_is_no_harm_to_who_has_a_list_and_fails_who_has_none(run):
    flows, out = run("--scenario=smoke/names-dead-server")
    resolved, late = flows["resolved"], flows["too-late"]
    assert resolved["completed"]
    assert resolved["failure"] is None
    assert replicas_of(out) == ["A", "B"]
    assert late["failure"] == "name-server-unreachable"
    assert not late["completed"]
    assert late["bytes"] == 0
    assert late["resolve_ms"] is None
    assert late["replica"] is None
    assert late["end_s"] - late["start_s"] <= 60.0


def test_a_server_that_comes_back_in_time_is_enough(run):
    flows, _ = run("--scenario=smoke/names-dead-server",
                   '--set=faults=[{"at": "1 s", "kind": "name-server-fail"}, '
                   '{"at": "8 s", "kind": "name-server-restore"}]')  # fmt: skip
    late = flows["too-late"]
    assert late["completed"]
    assert late["failure"] is None
    # Asked at 2, 3, 5, 9 s, with jitter.
    assert 7000 <= late["resolve_ms"] <= 8000


def test_a_dead_replica_is_left_and_nothing_is_fetched_twice(run):
    flows, out = run("--scenario=smoke/names-dead-replica")
    flow = flows["flow-1"]
    assert flow["completed"]
    assert flow["verified"] is True
    assert replicas_of(out) == ["A", "B"]
    assert flow["timeouts"] == 3
    assert flow["unnecessary_retransmissions"] == 0


def test_dead_replicas_fail_by_name_within_a_minute(run):
    flows, _ = run("--scenario=smoke/names-no-replica")
    flow = flows["flow-1"]
    assert flow["failure"] == "no-replica"
    assert not flow["completed"]
    assert 0 < flow["bytes"] < 4_000_000
    assert flow["fct_s"] is None
    # The last byte came after 1 s.
    assert flow["end_s"] <= 61.1


def test_dead_replicas_and_a_dead_server_fail_by_name_within_a_minute(run):
    faults = [{"at": "1 s", "kind": "name-server-fail"},
              {"at": "1 s", "kind": "replica-fail", "target": "A"},
              {"at": "1 s", "kind": "replica-fail", "target": "B"}]  # fmt: skip
    flows, _ = run("--scenario=smoke/names-no-replica", f"--set=faults={json.dumps(faults)}")
    assert flows["flow-1"]["failure"] == "name-server-unreachable"
    assert flows["flow-1"]["end_s"] <= 61.1


def test_replicas_that_were_never_alive_deliver_nothing(run):
    faults = [{"at": "0.05 s", "kind": "replica-fail", "target": t} for t in "AB"]
    flows, _ = run("--scenario=smoke/names-no-replica", f"--set=faults={json.dumps(faults)}")
    flow = flows["flow-1"]
    assert (flow["failure"], flow["bytes"], flow["completed"]) == ("no-replica", 0, False)
    assert flow["end_s"] == pytest.approx(60.1)


def test_a_configured_address_stalls_by_name(run):
    faults = [{"at": "1 s", "kind": "replica-fail", "target": "RN"}]
    flows, _ = run("--scenario=base/topo-1", "--duration=90s", "--set=flows[0].size=10 MB",
                   f"--set=faults={json.dumps(faults)}", "--set=names.give_up=10s")  # fmt: skip
    flow = flows["flow-1"]
    assert flow["failure"] == "stalled"
    assert flow["replica_switches"] == 0
    assert 10.0 <= flow["end_s"] <= 11.1


def test_names_that_nobody_registered_are_unknown(run):
    flows, _ = run("--scenario=smoke/one-flow", "--set=names.mode=server", "--duration=10s",
                   '--set=replicas=[{"name": "RN", "registered": false}]')  # fmt: skip
    flow = flows["flow-1"]
    assert flow["failure"] == "name-unknown"
    assert flow["bytes"] == 0
    # Asked for at 0, 1, 3 and 7 s, each pause up to a tenth longer.
    assert 7.0 <= flow["end_s"] - flow["start_s"] <= 7.9


def test_a_registration_that_is_on_its_way_is_waited_for(run):
    # It takes longer to the name server than the first query does.
    flows, _ = run("--scenario=base/line", "--rtprop=500ms", "--duration=20s",
                   "--set=flows[0].size=100 kB")  # fmt: skip
    assert flows["flow-1"]["completed"]
    lossy, _ = run("--scenario=base/line", "--loss=0.3", "--duration=60s",
                   "--set=topology.bottleneck.loss_reverse=0.3",
                   "--set=flows[0].size=20 kB")  # fmt: skip
    assert lossy["flow-1"]["completed"]


def test_a_vanished_replica_says_so_and_may_come_back(run):
    flows, out = run("--scenario=smoke/names-vanish")
    flow = flows["flow-1"]
    assert flow["completed"]
    assert flow["verified"] is True
    assert flow["timeouts"] == 0
    assert replicas_of(out) == ["A", "B", "A"]


def test_a_slow_replica_is_left(run):
    flows, out = run("--scenario=smoke/names-slow-replica")
    assert flows["flow-1"]["completed"]
    assert replicas_of(out) == ["A", "B"]
    slow, _ = run("--scenario=smoke/names-slow-replica", "--set=names.switch_below=null")
    assert slow["flow-1"]["replica_switches"] == 0
    assert (slow["flow-1"]["end_s"] or 60.0) > 3 * flows["flow-1"]["end_s"]


# Resolution and choice.


def test_strategies_choose_what_they_say(run):
    flows, out = run("--scenario=smoke/names-server")
    assert all(f["completed"] for f in flows.values())
    assert [replicas_of(out, n) for n in (1, 2)] == [["near"], ["near"]]
    # Two links of 1.5 and 5 ms there and back, and the service time.
    assert all(f["resolve_ms"] >= 15.0 for f in flows.values())


def test_random_choice_reaches_all_replicas(run):
    used = set()
    for number in range(1, 9):
        flows, _ = run("--scenario=smoke/names-dead-replica", f"--run={number}",
                       "--set=flows[0].size=100kB", "--set=flows[0].replica_choice=random",
                       "--set=faults=[]")  # fmt: skip
        used.add(flows["flow-1"]["replica"])
    assert used == {"A", "B"}


@pytest.mark.parametrize("mode", ["table", "address"])
def test_without_a_server_transfers_are_the_same(run, mode):
    """What is known without a packet costs no time and changes nothing else."""
    flows, _ = run("--scenario=smoke/one-flow", f"--set=names.mode={mode}")
    reference, _ = run("--scenario=smoke/one-flow")
    changed = {"resolve_ms"}
    a, b = flows["flow-1"], reference["flow-1"]
    assert {k: v for k, v in a.items() if k not in changed} == {
        k: v for k, v in b.items() if k not in changed
    }
    assert a["resolve_ms"] == (0.0 if mode == "table" else None)


@pytest.mark.parametrize("ip", ["ipv4", "ipv6"])
def test_a_router_becomes_a_replica(run, ip):
    flows, out = run("--scenario=smoke/names-router", f"--set=topology.ip={ip}")
    assert flows["first"]["replica"] == "RN"
    assert flows["second"]["replica"] == "IR1"
    assert all(f["completed"] and f["verified"] for f in flows.values())
    cache = cache_of(out)
    assert (cache["name"], cache["assembled"], cache["abandoned"]) == ("IR1", 1, 0)
    # The first transfer passed it, the second one it served.
    assert (cache["hits"], cache["misses"], cache["hit_ratio"]) == (1, 1, 0.5)
    # The receiver's link alone: two tenths of RTprop.
    assert flows["second"]["rtt_ms"]["min"] < 5.0


def test_a_router_without_room_assembles_nothing(run):
    flows, out = run("--scenario=smoke/names-router", "--set=caches.capacity=1MB")
    assert flows["second"]["replica"] == "RN"
    assert cache_of(out)["assembled"] == 0


# What it refuses.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set=names.mode=dns"], ["names.mode", "dns", "server", "table", "address"]),
        (["--set=names.mod=server"], ["names", "mod", "mode"]),
        (["--set=names.delay=1"], ["names.delay", "1", "ms"]),
        (["--set=names.delay=-1ms"], ["names.delay", "-1"]),
        (["--set=names.timeout=0ms"], ["names.timeout", "0", "1 ms"]),
        (["--set=names.tries=0"], ["names.tries", "0", "1..16"]),
        (["--set=names.loss=2"], ["names.loss", "2"]),
        (["--set=names.switch_below=1"], ["names.switch_below", "1"]),
        (["--set=names.switch_after_timeouts=0"], ["names.switch_after_timeouts", "0", "1..100"]),
        (["--set=names.give_up=0s"], ["names.give_up", "0"]),
        (["--set=replicas=[]"], ["replicas", "0"]),
        (['--set=replicas=[{"name": "A"}, {"name": "A"}]'], ["replicas[1].name", "A"]),
        (['--set=replicas=[{"name": "a,b"}]'], ["replicas[0].name", "a,b"]),
        (['--set=replicas=[{"name": "A", "holds": ["flow-2"]}]'], ["holds", "flow-2", "flow-1"]),
        (['--set=replicas=[{"name": "A", "extra_delay": "2"}]'], ["extra_delay", "2"]),
        (["--set=flows[0].replica_choice=closest"], ["replica_choice", "closest", "nearest"]),
        (['--set=flows[0].switches=[{"at": "1 s", "to": "RM"}]'], ["switches[0].to", "RM", "RN"]),
        (['--set=flows[0].switches=[{"to": "RN"}]'], ["switches[0]", "at"]),
        (['--set=flows[0].switches=[{"at": "0 s"}]'], ["switches[0].at", "0 s"]),
        (['--set=faults=[{"at": "1 s", "kind": "replica-die", "target": "RN"}]'],
         ["faults[0].kind", "replica-die", "replica-fail"]),
        (['--set=faults=[{"at": "1 s", "kind": "replica-fail"}]'], ["faults[0].target", "RN"]),
        (['--set=faults=[{"at": "1 s", "kind": "replica-fail", "target": "NR"}]'],
         ["faults[0].target", "NR", "RN"]),
        (['--set=faults=[{"at": "1 s", "kind": "name-server-fail"}]'],
         ["faults[0].kind", "name-server-fail", "address"]),
        (['--set=faults=[{"at": "1 s", "kind": "replica-slow", "target": "RN"}]'],
         ["faults[0]", "delay", "rate"]),
        (['--set=faults=[{"at": "1 s", "kind": "replica-fail", "target": "RN", "rate": "1 Mbps"}]'],
         ["faults[0].rate", "replica-fail"]),
        (['--set=caches.at=["IR3"]'], ["caches.at[0]", "IR3", "IR1"]),
        (["--set=caches.enabled=true", '--set=caches.at=["IR1", "IR1"]'], ["caches.at"]),
        (["--set=caches.capacity=0B"], ["caches.capacity", "0"]),
        (["--scenario=base/topo-2", '--set=replicas=[{"name": "A"}]'], ["replicas", "RN1"]),
        (["--scenario=base/topo-2", '--set=flows[0].switches=[{"at": "1 s"}]'], ["switches"]),
        (["--flows=2", "--set=flows[*].ndc=x", "--set=flows[1].size=1MB"], ["flows[1].size", "x"]),
        (["--set=flows[0].ndc=x", "--set=flows[0].size=1MB", "--set=flows[0].repeat=true"],
         ["flows[0].ndc"]),
    ],
    ids=lambda v: " ".join(v)[:80],
)  # fmt: skip
def test_bad_input_is_one_line_and_nothing_is_written(runner, tmp_path, options, words):
    given = list(options)
    if not any(o.startswith("--scenario") for o in given):
        given.append("--scenario=base/topo-1")
    done = runner(*given, "--out=out", cwd=tmp_path)
    assert done.returncode == 2, (done.stdout, done.stderr)
    (line,) = done.stderr.splitlines()
    for word in words:
        assert word in line, line
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_what_is_resolved_resolves_to_itself(runner, tmp_path):
    done = runner(LOSSY, "--describe", "--set=names.mode=SERVER")
    scenario = json.loads(done.stdout)
    assert scenario["names"]["mode"] == "server"
    assert [r["name"] for r in scenario["replicas"]] == ["A", "empty", "B"]
    (tmp_path / "again.json").write_text(done.stdout)
    again = runner("--scenario=again.json", "--describe", cwd=tmp_path)
    assert json.loads(again.stdout) == scenario

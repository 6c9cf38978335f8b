"""The runner from the outside: what a run leaves behind, and what bad input does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import icn_wire
from ferrocc_analysis import Run, evaluate, flow_table, load_runs, overview

ONE_FLOW = "--scenario=smoke/one-flow"
LOSSY = "--scenario=smoke/lossy-verify"


@pytest.fixture(scope="session")
def one_flow(runner, tmp_path_factory) -> Path:
    """A finished run of one flow, in a folder that no test changes."""
    out = tmp_path_factory.mktemp("one-flow") / "out"
    runner.run(ONE_FLOW, f"--out={out}")
    return out


def summary_of(folder: Path) -> dict:
    return json.loads((folder / "summary.json").read_text())


def tree(folder: Path) -> list[tuple[str, int]]:
    return sorted((p.as_posix(), p.stat().st_size) for p in folder.rglob("*"))


# What a run leaves behind.


def test_a_smoke_run_completes(one_flow):
    summary = summary_of(one_flow)
    (flow,) = summary["flows"]
    assert flow["completed"]
    assert flow["bytes"] == 2_000_000
    assert flow["fct_s"] == pytest.approx(flow["end_s"] - flow["start_s"])
    # 2 MB at 20 Mbps take 0.87 s with all headers; slow start and RTprop come on top.
    assert 0.87 < flow["fct_s"] < 2.0
    assert flow["rtt_ms"]["min"] >= 30.0
    assert summary["links"][0]["rate_mbps"] == 20.0
    for name in ("summary.json", "run.json", "flows.csv", "queue.csv", "events.csv"):
        assert (one_flow / name).is_file(), name


def test_the_summary_tells_nothing_of_this_machine(one_flow):
    text = (one_flow / "summary.json").read_text()
    assert str(one_flow) not in text
    assert "wall" not in text
    assert "wall_s" in (one_flow / "run.json").read_text()


def test_equal_seeds_give_equal_summaries(runner, tmp_path):
    texts = []
    for name in ("a", "b"):
        runner.run(LOSSY, f"--out={tmp_path / name}", "--seed=3", "--run=2")
        texts.append((tmp_path / name / "summary.json").read_bytes())
    assert texts[0] == texts[1]


def test_another_run_or_seed_takes_another_course(runner, tmp_path):
    courses = set()
    for seed, run in ((1, 1), (1, 2), (2, 1)):
        out = tmp_path / f"{seed}-{run}"
        runner.run(LOSSY, f"--out={out}", f"--seed={seed}", f"--run={run}")
        summary = summary_of(out)
        assert (summary["seed"], summary["run"]) == (seed, run)
        courses.add((summary["flows"][0]["fct_s"], summary["flows"][0]["losses"]))
    assert len(courses) == 3


def test_content_arrives_whole_over_a_bad_link(runner, tmp_path):
    runner.run(LOSSY, f"--out={tmp_path / 'out'}")
    (flow,) = summary_of(tmp_path / "out")["flows"]
    assert flow["completed"]
    assert flow["verified"] is True
    assert flow["losses"] > 0
    assert flow["retransmissions"] > 0


def test_a_run_replaces_an_earlier_one_in_the_same_folder(runner, one_flow, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(one_flow, out)
    (out / "flows.csv").write_text("old")
    runner.run(ONE_FLOW, f"--out={out}")
    assert (out / "summary.json").read_bytes() == (one_flow / "summary.json").read_bytes()
    assert (out / "flows.csv").read_bytes() == (one_flow / "flows.csv").read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_sweep_has_a_folder_for_each_cell(runner, tmp_path):
    out = tmp_path / "sweep"
    runner.run("--scenario=smoke/all-controllers", f"--out={out}", timeout_s=300)
    runs = load_runs([out])
    assert (out / "sweep.csv").is_file()
    assert {r.controllers for r in runs} >= {
        ("fixed",), ("newreno",), ("cubic",), ("bbr",), ("copa",), ("copa-icn",),
        ("ecd",),
    }  # fmt: skip
    assert all(f.summary["completed"] for r in runs for f in r.flows)


def test_the_analysis_reads_what_the_runner_writes(one_flow):
    run = Run.load(one_flow)
    assert run.flow_trace.collect().height > 10
    assert run.bottleneck_queue().collect().height > 10
    assert run.event_trace.collect().height > 0
    figure = overview([run])
    assert all(len(ax.get_lines()[0].get_xdata()) > 3 for ax in figure.axes)
    assert flow_table([run]).row_count == 1
    assert evaluate(run, ["utilisation"])["utilisation"]["value"] > 0


def test_traces_and_summary_tell_the_same(one_flow):
    run = Run.load(one_flow)
    (flow,) = run.flows
    rows = run.flow(flow).collect()
    # The last row may be up to one interval before the end.
    rest = flow.summary["bytes"] - rows["delivered_bytes"][-1]
    assert 0 <= rest <= 20e6 / 8 * 1.01 * run.interval_s
    assert rows["delivered_bytes"].is_sorted()
    assert rows["losses"].is_sorted()
    assert rows["losses"][-1] <= flow.summary["losses"]


def test_options_change_what_they_say(runner, tmp_path):
    out = tmp_path / "out"
    runner.run("--scenario=base/topo-1", f"--out={out}", "--duration=2s", "--rate=8Mbps",
               "--rtprop=40ms", "--buffer=30p", "--controller=newreno", "--flows=2",
               "--set=flows[0].size=100kB")  # fmt: skip
    summary = summary_of(out)
    assert summary["duration_s"] == 2.0
    assert [f["controller"] for f in summary["flows"]] == ["newreno"] * 2
    assert summary["links"][0]["rate_mbps"] == 8.0
    # The buffer, the device's own queue, the packet in transmission, and expedited packets.
    assert 20 <= summary["links"][0]["queue_pkts"]["max"] <= 30 + 2 + 1 + 8
    assert summary["flows"][0]["rtt_ms"]["min"] >= 40.0
    assert summary["flows"][0]["bytes"] == 100_000


def test_a_scenario_file_is_as_good_as_a_name(runner, one_flow, tmp_path):
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"extends": "smoke/one-flow"}))
    runner.run(f"--scenario={file}", f"--out={tmp_path / 'out'}")
    mine, named = summary_of(tmp_path / "out"), summary_of(one_flow)
    assert mine["flows"] == named["flows"]
    assert mine["links"] == named["links"]


def test_captures_hold_our_packets(runner, tmp_path):
    out = tmp_path / "out"
    runner.run(ONE_FLOW, f"--out={out}", "--pcap", "--set=flows[0].size=200kB")
    captures = sorted(out.rglob("*.pcap"))
    assert captures
    packets = {f.name: list(icn_wire.read_pcap(f)) for f in captures}
    assert all(packets.values())
    for packet in (p for seen in packets.values() for p in seen):
        assert icn_wire.checksum(packet.raw, packet.payload) == icn_wire.stored_checksum(packet.raw)
        if packet.header.type == icn_wire.DATA:
            assert len(packet.payload) == packet.header.length
        else:
            assert packet.payload == b""
    # A device sees each transmission once; the fullest capture is of a device on the path.
    seen = max(packets.values(), key=len)
    data = [p for p in seen if p.header.type == icn_wire.DATA]
    requests = [p for p in seen if p.header.type == icn_wire.REQ]
    assert requests
    assert max(p.ip_length for p in data) == 1358
    assert min(p.ip_length for p in requests) == 106
    assert {p.header.ndc_size for p in data} == {200_000}
    assert {p.header.source for p in data} == {p.header.destination for p in requests}
    covered = {(p.header.offset, p.header.offset + p.header.length) for p in data}
    assert min(a for a, _ in covered) == 0
    assert max(b for _, b in covered) == 200_000
    assert sum(b - a for a, b in covered) == 200_000


# What it says.


def test_list_names_everything(runner):
    done = runner("--list")
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("base/topo-1", "base/topo-2", "copa-icn/fig6a", "smoke/one-flow", "fixed",
                 "newreno", "cubic", "bbr", "copa", "copa-icn", "ecd", "drop-tail"):  # fmt: skip
        assert any(name in line.split() for line in done.stdout.splitlines()), name


def test_describe_shows_what_would_run_and_runs_nothing(runner, tmp_path):
    done = runner(ONE_FLOW, "--describe", "--rate=33Mbps", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    scenario = json.loads(done.stdout)
    assert scenario["topology"]["bottleneck"]["rate"] == "33 Mbps"
    assert scenario["flows"][0]["controller"]["name"] == "copa-icn"
    assert tree(tmp_path) == []
    # What it shows is itself a scenario that comes to the same.
    (tmp_path / "shown.json").write_text(done.stdout)
    again = runner("--scenario=shown.json", "--describe", cwd=tmp_path)
    assert json.loads(again.stdout) == scenario


def test_help_names_every_option(runner):
    done = runner("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for option in ("scenario", "out", "cwd", "seed", "run", "duration", "transport", "controller",
                   "recovery", "aqm", "rate", "rtprop", "buffer", "loss", "reorder", "flows",
                   "set", "pcap", "anim", "verify", "no-progress", "list", "describe"):  # fmt: skip
        assert f"--{option}" in done.stdout, option


# What it refuses.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--scenario=base/topo1"], ["base/topo1", "base/topo-1"]),
        (["--scenario=nothing-like-it-at-all"], ["nothing-like-it-at-all"]),
        (["--scenario=missing.json"], ["missing.json"]),
        (["--controller=cubik"], ["controller", "cubik", "cubic"]),
        (["--controller="], ["controller"]),
        (["--transport=udp"], ["transport", "udp", "icn"]),
        (["--recovery=nce"], ["recovery", "nce", "icn"]),
        (["--aqm=reed"], ["aqm", "reed"]),
        (["--set=topology.bottleneck.rat=1Mbps"], ["rat", "rate"]),
        (["--set=flows[7].size=1MB"], ["flows[7]"]),
        (["--set=flows[0].controller.detla=0.5"], ["detla", "delta"]),
        (["--set=nonsense"], ["set", "nonsense"]),
        (["--rate=20"], ["rate", "20", "Mbps"]),
        (["--rate=20parsecs"], ["rate", "20parsecs"]),
        (["--rate=-20Mbps"], ["rate", "-20"]),
        (["--rate=0Mbps"], ["rate", "0"]),
        (["--rate=nanMbps"], ["rate", "nan"]),
        (["--rtprop=30"], ["rtprop", "30", "ms"]),
        (["--rtprop=-1ms"], ["rtprop", "-1"]),
        (["--duration=0s"], ["duration", "0"]),
        (["--buffer=many"], ["buffer", "many"]),
        (["--buffer=0p"], ["buffer", "0"]),
        (["--flows=0"], ["flows", "0"]),
        (["--flows=two"], ["flows", "two"]),
        (["--loss=1.5"], ["loss", "1.5"]),
        (["--loss=-0.1"], ["loss", "-0.1"]),
        (["--reorder=5%"], ["reorder", "5%"]),
        (["--seed=0"], ["seed", "0"]),
        (["--run=-1"], ["run", "-1"]),
        (["--verify"], ["size"]),
        (["--speed=fast"], ["speed"]),
        (["fast"], ["fast"]),
        (["--scenario=truncated.json"], ["truncated.json"]),
        (["--scenario=not-an-object.json"], ["not-an-object.json"]),
        (["--scenario=unknown-field.json"], ["topologie", "topology"]),
        (["--scenario=wrong-type.json"], ["flows"]),
        (["--scenario=no-flows.json"], ["flows"]),
        (["--scenario=own-base.json"], ["own-base.json"]),
        (["--out=file/out"], ["file"]),
        (["--out=file"], ["file"]),
    ],
    ids=" ".join,
)
def test_bad_input_is_one_line_and_nothing_is_written(runner, tmp_path, options, words):
    files = {
        "file": "in the way",
        "truncated.json": '{"extends": "base/topo-1", "flows": [{"size": "1 M',
        "not-an-object.json": "[1, 2, 3]",
        "unknown-field.json": '{"extends": "base/topo-1", "topologie": {}}',
        "wrong-type.json": '{"extends": "base/topo-1", "flows": 3}',
        "no-flows.json": '{"extends": "base/topo-1", "flows": []}',
        "own-base.json": '{"extends": "own-base.json"}',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    before = tree(tmp_path)
    given = list(options)
    if not any(o.startswith("--scenario") for o in given):
        given.append("--scenario=base/topo-1")
    if not any(o.startswith("--out") for o in given):
        given.append("--out=out")
    done = runner(*given, cwd=tmp_path)
    assert done.returncode == 2, (done.stdout, done.stderr)
    lines = done.stderr.splitlines()
    assert len(lines) == 1, lines
    assert done.stderr.endswith("\n")
    for word in words:
        assert word in lines[0], lines[0]
    assert done.stdout == ""
    assert tree(tmp_path) == before

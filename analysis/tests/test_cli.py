"""The command line: what it prints, writes and refuses."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from ferrocc_analysis import cli, schema


def test_plot_writes_what_was_asked_for(make_run, tmp_path, capsys):
    folder = make_run()
    out = tmp_path / "figs"
    kinds = "in-flight,goodput,srtt,queue,overview"
    asked = kinds.replace("goodput", "throughput,goodput")
    assert cli.run(["plot", str(folder), "--out", str(out), "--kind", asked,
                    "--format", "png,pdf", "--from", "2", "--to", "9.5"]) == 0  # fmt: skip
    expected = sorted(f"{k}.{f}" for k in kinds.split(",") for f in ("png", "pdf"))
    assert sorted(p.name for p in out.iterdir()) == expected
    assert sorted(line.rsplit("/", 1)[1] for line in capsys.readouterr().out.split()) == expected


def test_figures_are_put_beside_the_runs_they_show(make_run, tmp_path, monkeypatch, capsys):
    runs = [make_run("sweep/a"), make_run("sweep/b", config={"rate": 2})]
    monkeypatch.chdir(tmp_path)
    for given, folder in (
        (runs[:1], runs[0] / "figures"),
        ([tmp_path / "sweep"], tmp_path / "sweep" / "figures"),
        (runs, tmp_path / "figures"),
    ):
        assert cli.run(["plot", *map(str, given), "--kind", "queue"]) == 0
        assert [p.name for p in folder.iterdir()] == ["queue.png"]
        (printed,) = capsys.readouterr().out.split()
        assert (tmp_path / printed).samefile(folder / "queue.png")


def test_plot_overlays_and_names(make_run, flow, tmp_path):
    runs = [str(make_run(c, flows=[flow(c)])) for c in ("copa", "bbr")]
    args = ["--kind", "srtt", "--overlay", "--name", "fig8", "--out", str(tmp_path / "o")]
    assert cli.run(["plot", *runs, *args]) == 0
    assert [p.name for p in (tmp_path / "o").iterdir()] == ["fig8-srtt.png"]


@pytest.mark.parametrize("columns", ["40", "200"])
def test_table_has_a_row_for_each_flow(make_run, flow, capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    joins = [{"t_s": 2.1, "converged_s": 3.4}]
    flows = [flow("copa-icn", goodput_mbps=11.25), flow("copa-icn", start_s=2.1, end_s=8.0)]
    run = make_run("cell", flows=flows, joins=joins, traces=False)
    assert cli.run(["table", str(run)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "base/topo-1 (ns-3 3.44, ferrocc 0.1.0)" in lines[0]
    one, two = (next(x for x in lines if name in x) for name in ("NDC-1", "NDC-2"))
    for text in ("cell", "Copa-ICN", "11.25", "not ended", "43.2", "12.3", "0.987", "0.990", "1.3"):
        assert text in one, text
    assert "5.900" in two
    assert "cell" not in two


def test_table_says_why_transfers_failed_and_in_which_direction_they_went(
    make_run, flow, capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "200")
    flows = [{"name": "NDC-1", "direction": "forward"}, {"name": "NDC-2", "direction": "opposite"}]
    run = make_run("cell", flows=[flow(), flow()], config={"flows": flows}, traces=False)
    path = run / schema.SUMMARY
    summary = json.loads(path.read_text())
    summary["flows"][1]["failure"] = "no-replica"
    there = summary["links"][0]
    back = {"name": "back", "from": "IR1", "to": "IR2", "utilisation": 0.5}
    summary["links"].append(there | back)
    path.write_text(json.dumps(summary))
    assert cli.run(["table", str(run)]) == 0
    shown = capsys.readouterr().out
    one, two = (next(x for x in shown.splitlines() if n in x) for n in ("NDC-1", "NDC-2"))
    assert "Direction" in shown
    assert "forward" in one
    assert "not ended" in one
    assert "opposite" in two
    assert "no-replica" in two
    for line in (
        "cell: bottleneck forward (IR2 to IR1), utilisation 0.987, queue 12.3 packets",
        "cell: bottleneck opposite (IR1 to IR2), utilisation 0.500, queue 12.3 packets",
    ):
        assert line in shown
    one_way = make_run("one-way", traces=False)
    assert cli.run(["table", str(one_way)]) == 0
    assert "irection" not in capsys.readouterr().out


def test_metrics_are_json(make_run, capsys):
    assert cli.run(["metrics", str(make_run("cell")), "--metric", "jain,goodput_ratio"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert set(data["formulas"]) == {"jain", "goodput_ratio"}
    (run,) = data["runs"]
    assert (run["name"], run["controllers"]) == ("cell", ["copa-icn"])
    assert run["metrics"]["jain"]["value"] == 0.99
    assert run["metrics"]["goodput_ratio"]["value"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plot", "RUN", "--kind", "gooput"], "--kind: 'gooput' is unknown"),
        (["plot", "RUN", "--kind", ""], "--kind: '' is unknown"),
        (["plot", "RUN", "--overlay"], "--overlay: has no effect on kind overview"),
        (["plot", "RUN", "--overlay", "--kind", "queue,overview"], "--overlay: has no effect"),
        (["plot", "RUN", "--name", "../x"], "--name: '../x' is no file's name"),
        (["plot", "RUN", "--name", "/x"], "--name: '/x' is no file's name"),
        (["plot", "RUN", "--name", "a/"], "--name: 'a/' is no file's name"),
        (["plot", "RUN", "--format", "gif"], "--format: 'gif' is unknown"),
        (["plot", "RUN", "--from", "9", "--to", "3"], "is empty"),
        (["plot", "RUN", "--from", "soon"], "--from: 'soon' is no time"),
        (["plot", "RUN", "--to", "nan"], "--to: 'nan' is no time"),
        (["plot", "RUN/nothing"], "no such folder"),
        (["plot", "RUN", "NO-TRACES"], "not there; run the scenario with --set=trace.enabled=true"),
        (["plot", "RUN", "--out", "RUN/summary.json/x"], "cannot be created"),
        (["plot"], "RUN"),
        (["plot", "RUN", "--colour", "red"], "--colour"),
        (["table", "RUN/summary.json"], "a file"),
        (["metrics", "RUN", "--metric", "fairness"], "--metric: 'fairness' is unknown"),
        (["metrics", "NO-TRACES"], "not there"),
        (["draw", "RUN"], "draw"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    make_run, tmp_path, monkeypatch, capsys, arguments, message
):
    run = make_run("run")
    bare = make_run("bare", traces=False, run=2)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    places = {"RUN": str(run), "NO-TRACES": str(bare)}
    given = []
    for a in arguments:
        for name, place in places.items():
            a = a.replace(name, place)
        given.append(a)
    assert cli.run(given) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert message in lines[0]
    assert sorted(tmp_path.rglob("*")) == before


def test_help_says_what_there_is(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert cli.run(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in ("plot", "table", "metrics", "reproduce"):
        assert name in shown
    assert cli.run(["plot", "--help"]) == 0
    details = capsys.readouterr().out
    for text in ("--out", "--kind", "--format", "--from", "--to", "in-flight", "overview"):
        assert text in details


def test_the_module_is_a_program():
    bad = subprocess.run(
        [sys.executable, "-m", "ferrocc_analysis", "table", "/nowhere/at/all"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
        check=False,
    )
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == "error: /nowhere/at/all: no such folder\n"

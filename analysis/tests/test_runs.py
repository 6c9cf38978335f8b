"""Reading runs: what is accepted, and the one line that says what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ferrocc_analysis import InputError, Run, find_runs, group_cells, load_runs, schema


def test_a_run_is_read_as_it_was_written(make_run, flow):
    folder = make_run("r", flows=[flow("copa", end_s=8.0), flow("bbr", start_s=2.1)], seed=3, run=7)
    run = Run.load(folder)
    assert (run.scenario, run.seed, run.run, run.duration_s) == ("base/topo-1", 3, 7, 20.0)
    assert run.controllers == ("copa", "bbr")
    assert [(f.id, f.start_s, f.end_s) for f in run.flows] == [(1, 0.1, 8.0), (2, 2.1, 20.0)]
    assert run.interval_s == pytest.approx(0.1)
    assert set(run.flow_trace.collect().columns) == set(schema.FLOWS.columns)
    assert run.flow(run.flows[1]).collect()["time_s"][0] == pytest.approx(2.2)
    assert run.event_trace.collect()["text"].to_list() == ["startup", 'done, "all"']


def test_the_bottleneck_is_the_first_link_only(make_run):
    run = Run.load(make_run(queue=lambda t: 10.0))
    assert run.bottleneck_queue().collect()["packets"].unique().to_list() == [10.0]


def test_a_sweep_is_read_in_its_own_order(make_run, tmp_path):
    for cell in ("a", "b", "c"):
        make_run(f"sweep/{cell}", traces=False)
    (tmp_path / "sweep/sweep.csv").write_text("cell,rate\nc,1\na,2\nb,3\n")
    assert [r.name for r in find_runs(tmp_path / "sweep")] == ["c", "a", "b"]


def test_runs_beside_each_other_stand_in_the_palettes_order(make_run, flow, tmp_path):
    for c in ("bbr", "copa", "copa-icn"):
        make_run(f"demo/{c}", flows=[flow(c)], traces=False)
    assert [r.name for r in find_runs(tmp_path / "demo")] == ["copa-icn", "copa", "bbr"]


def test_numbers_in_names_count_as_numbers(make_run, tmp_path):
    for cell in ("10Mbps", "2Mbps", "1Mbps"):
        make_run(f"s/{cell}", traces=False)
    assert [r.name for r in find_runs(tmp_path / "s")] == ["1Mbps", "2Mbps", "10Mbps"]


def test_a_run_that_is_named_twice_is_read_once(make_run, tmp_path):
    folder = make_run("x/run", traces=False)
    assert len(load_runs([folder, tmp_path / "x"])) == 1


def test_runs_of_other_seeds_are_one_cell(make_run, flow):
    runs = [
        Run.load(make_run("a1", run=1, traces=False)),
        Run.load(make_run("b1", flows=[flow("bbr")], traces=False)),
        Run.load(make_run("a2", run=2, traces=False)),
        Run.load(make_run("a-fast", run=2, traces=False, config={"rate": "50Mbps"})),
    ]
    assert [[r.name for r in c] for c in group_cells(runs)] == [["a1", "a2"], ["b1"], ["a-fast"]]


def test_the_same_run_twice_is_no_evidence(make_run):
    runs = [Run.load(make_run(n, traces=False)) for n in ("a", "b")]
    with pytest.raises(InputError, match="seed 1 run 1"):
        group_cells(runs)


def edit_summary(folder: Path, change) -> None:
    path = folder / schema.SUMMARY
    summary = json.loads(path.read_text())
    change(summary)
    path.write_text(json.dumps(summary))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.update(schema=2), "schema is 2"),
        (lambda s: s.pop("schema"), "schema is None"),
        (lambda s: s.pop("links"), "missing links"),
        (lambda s: s.update(flows=[]), "flows must be a list with at least one entry"),
        (lambda s: s["flows"][0].pop("rtt_ms"), r"flows\[0\]: missing rtt_ms"),
        (lambda s: s["flows"][0].update(start_s="0.1 s"), "start_s must be a number, not '0.1 s'"),
        (lambda s: s["fairness"].pop("jain"), "fairness: missing jain"),
        (lambda s: s.update(duration_s=None), "duration_s must be a number"),
    ],
)
def test_a_summary_that_is_not_ours_is_named(make_run, change, message):
    folder = make_run(traces=False)
    edit_summary(folder, change)
    with pytest.raises(InputError, match=message) as error:
        Run.load(folder)
    assert str(folder) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_flow_that_the_end_came_before_has_no_time(make_run, flow):
    folder = make_run(flows=[flow(), flow()], traces=False)
    edit_summary(folder, lambda s: s["flows"][1].update(start_s=None, end_s=None))
    assert [(f.start_s, f.end_s) for f in Run.load(folder).flows] == [(0.1, 20.0), (20.0, 20.0)]


def test_fields_that_a_later_version_adds_do_no_harm(make_run):
    folder = make_run(traces=False)
    edit_summary(folder, lambda s: s.update(novelty=1))
    assert Run.load(folder).seed == 1


def damaged(text: str, how: str) -> str:
    lines = text.splitlines(keepends=True)
    header = lines[0].strip().split(",")
    match how:
        case "missing column":
            return ",".join(header[1:]) + "\n" + "".join(x.split(",", 1)[1] for x in lines[1:])
        case "unknown column":
            return "".join(f"{x.rstrip()},{'new' if i == 0 else 1}\n" for i, x in enumerate(lines))
        case "half a line":
            return text[:-5]
        case "short line":
            return "".join(lines[:5]) + "0.9,1\n" + "".join(lines[5:])
        case "short last line":
            return "".join(lines[:5]) + "0.9,1\n"
        case "no rows":
            return lines[0]
        case "empty":
            return ""
        case "no value":
            return "".join(lines[:3]) + "," + lines[3].split(",", 1)[1] + "".join(lines[4:])
        case "no number":
            return "".join(lines[:3]) + "soon," + lines[3].split(",", 1)[1] + "".join(lines[4:])
        case "rows missing at the end":
            return "".join(lines[: len(lines) // 2])
    raise AssertionError(how)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("missing column", "missing column time_s"),
        ("unknown column", "unknown column new"),
        ("half a line", "truncated, the last line"),
        ("short line", "line 6 has 2 fields instead of 18"),
        ("short last line", "line 6 has 2 fields instead of 18"),
        ("no rows", "no rows; it is truncated, or"),
        ("empty", "missing column"),
        ("no value", "line 4 has no value in time_s"),
        ("no number", "line 4: time_s is 'soon'"),
        ("rows missing at the end", "truncated, flow 1 runs to 20 s but its rows end at 10"),
    ],
)
def test_a_damaged_trace_is_named(make_run, how, message):
    folder = make_run()
    path = folder / schema.FLOWS.file
    path.write_text(damaged(path.read_text(), how))
    with pytest.raises(InputError, match=message) as error:
        Run.load(folder).flow_trace  # noqa: B018
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_run_without_traces_says_so_when_they_are_wanted(make_run):
    run = Run.load(make_run(traces=False))
    with pytest.raises(InputError, match=r"flows\.csv: not there"):
        run.flow_trace  # noqa: B018
    with pytest.raises(InputError, match=r"queue\.csv: not there"):
        run.bottleneck_queue()


@pytest.mark.parametrize(
    ("path", "message"),
    [("nothing", "no such folder"), ("file", "a file"), ("empty", "neither a run nor")],
)
def test_paths_that_are_no_runs_are_named(tmp_path, path, message):
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=message):
        find_runs(tmp_path / path)


def test_truncated_json_is_named(make_run):
    folder = make_run(traces=False)
    path = folder / schema.SUMMARY
    path.write_text(path.read_text()[:100])
    with pytest.raises(InputError, match="truncated or not JSON"):
        Run.load(folder)


def test_a_missing_cell_of_a_sweep_is_named(make_run, tmp_path):
    make_run("sweep/a", traces=False)
    (tmp_path / "sweep/sweep.csv").write_text("cell\na\nb\n")
    with pytest.raises(InputError, match=r"sweep/b: sweep\.csv lists this cell"):
        find_runs(tmp_path / "sweep")

from __future__ import annotations

import io
import json
import os
import random
import sys

import pytest

import fakes
from ferrocc_analysis.campaign import (
    Build,
    Cell,
    CostModel,
    Folder,
    batches,
    cost,
    execute,
    plan,
    worker,
)
from ferrocc_analysis.campaign.cells import key
from ferrocc_analysis.campaign.planning import arguments
from ferrocc_analysis.campaign.progress import Progress, duration
from ferrocc_analysis.claims import Need
from ferrocc_analysis.errors import InputError

CONFIG = {
    "duration": "10 s",
    "seed": 1,
    "run": 1,
    "transport": {"mss_bytes": 1250},
    "topology": {"bottleneck": {"rate": "10.88 Mbps"}},
    "flows": [{"start": "0 s"}],
    "trace": {"enabled": False},
}


@pytest.fixture
def runner(tmp_path):
    return fakes.make_runner(tmp_path / "runner")


@pytest.fixture
def build(runner):
    return Build.of(runner)


@pytest.fixture
def folder(tmp_path):
    folder = Folder(tmp_path / "out: {it's} #1" / "campaign")
    with folder.held():
        yield folder


def cell(name: str = "run=1", config: dict | None = None, scenario: str = "fake/one") -> Cell:
    config = config or CONFIG
    return Cell(f"key-{name}", scenario, name, (), config)


# What a cell is known by.


def test_a_key_follows_from_the_build_the_scenario_and_the_whole_configuration(build, tmp_path):
    first = key(build, "s", CONFIG)
    assert first == key(build, "s", dict(reversed(CONFIG.items())))
    others = [
        key(build, "t", CONFIG),
        key(build, "s", CONFIG | {"run": 2}),
        key(build, "s", CONFIG | {"seed": 2}),
        key(build, "s", CONFIG | {"trace": {"enabled": True}}),
    ]
    other_build = fakes.make_runner(tmp_path / "other")
    other_build.write_text(other_build.read_text() + "\n# another version\n")
    others.append(key(Build.of(other_build), "s", CONFIG))
    assert len({first, *others}) == 6
    assert first == key(Build.of(build.program), "s", CONFIG)


def test_the_libraries_of_the_module_and_of_ns3_belong_to_a_build(tmp_path, monkeypatch):
    program = tmp_path / "scenarios"
    library = tmp_path / "libferrocc.so"
    for file in (program, library, tmp_path / "libns3.44-core.so"):
        file.write_text(file.name)
    shown = "".join(
        f"\t{name} => {tmp_path / name} (0x00007f)\n"
        for name in ("libferrocc.so", "libns3.44-core.so", "libc.so.6")
    )
    ldd = tmp_path / "ldd"
    ldd.write_text(f"#!/bin/sh\nprintf '%s' '{shown}'\n")
    ldd.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    build = Build.of(program)
    assert [os.path.basename(f) for f in build.files] == [  # noqa: PTH119
        "libferrocc.so",
        "libns3.44-core.so",
        "scenarios",
    ]
    library.write_text("another version")
    assert Build.of(program).digest != build.digest


def test_no_program_is_bad_input(tmp_path):
    with pytest.raises(InputError, match="--runner"):
        Build.of(tmp_path / "nothing")


# Planning.


def test_needs_become_cells_in_order_and_equal_ones_are_the_same(build):
    one = Need("fake/one", (), (1, 2), {"flows[*].controller": ("copa", "bbr"), "n": ("3",)})
    two = Need("fake/one", (), (2, 3), {"flows[*].controller": ("bbr",), "n": ("3",)})
    planned = plan(build, [one, two, one])
    names = [c.name for c in planned.cells[one]]
    assert names == [
        f"flows[*].controller={c},n=3,run={r}" for c in ("copa", "bbr") for r in (1, 2)
    ]
    assert planned.cells[one][3] == planned.cells[two][0]
    assert planned.cells[one][3].config["n"] == 3
    assert len(set(planned.cells[one] + planned.cells[two])) == 5
    assert planned.problems == {}


def test_axes_become_options_as_the_runner_reads_them():
    need = Need("s", ("--rate=5Mbps",), (4,), {"a": ("20 Mbps", "0.5", '{"name": "copa"}')})
    assert arguments(need) == (
        "--scenario=s",
        "--rate=5Mbps",
        '--sweep=a=["20 Mbps", 0.5, {"name": "copa"}]',
        "--sweep=run=[4]",
    )


def test_a_need_that_the_runner_refuses_is_told_in_its_words(build):
    good, bad = fakes.need(), fakes.need(scenario="fake/unknown")
    planned = plan(build, [good, bad])
    assert list(planned.cells) == [good]
    assert planned.problems == {bad: '--scenario: unknown scenario "fake/unknown"'}


def test_another_program_is_no_runner(tmp_path):
    program = tmp_path / "x"
    program.write_text("#!/bin/sh\necho '{}'\n")
    program.chmod(0o755)
    with pytest.raises(InputError, match="no runner of scenarios"):
        plan(Build.of(program), [fakes.need()])


# What counts as done.


def test_only_the_whole_run_that_was_planned_is_done(tmp_path):
    done = tmp_path / "cell"
    identity = {"scenario": "s", "config": {"run": 1, "trace": {"enabled": True}}}
    assert not worker.is_done(done, identity)
    done.mkdir()
    (done / "summary.json").write_text(json.dumps(identity | {"events": 7}))
    assert not worker.is_done(done, identity), "no traces"
    for name in worker.TRACES:
        (done / name).write_text("x")
    assert worker.is_done(done, identity)
    (done / worker.FILES).write_text(json.dumps(worker.sizes_of(done)))
    assert worker.is_done(done, identity)
    (done / "flows.csv").write_text("")
    assert not worker.is_done(done, identity), "rows are missing"
    (done / "flows.csv").write_text("x")
    assert not worker.is_done(done, identity | {"scenario": "t"})
    assert not worker.is_done(done, identity | {"config": {"run": 2}})
    for broken in ("{", "[]", ""):
        (done / "summary.json").write_text(broken)
        assert not worker.is_done(done, identity)


# Cost and jobs.


def test_packets_follow_from_rate_and_time():
    # A full packet with all headers is 1360 B, so 10.88 Mbps are 1000 packets/s.
    assert cost.packets(CONFIG) == pytest.approx(10_000)
    late = CONFIG | {"flows": [{"start": "4 s"}, {"start": "6 s"}]}
    assert cost.packets(late) == pytest.approx(6_000)
    sized = CONFIG | {"flows": [{"start": "0 s", "size": "1.25 MB"}] * 2}
    assert cost.packets(sized) == pytest.approx(2_000)
    joined = CONFIG | {
        "flows": [{"start": "0 s", "size": "1.25 MB"}, {"start": "5 s", "size": "1 kB"}]
    }
    assert cost.packets(joined) == pytest.approx(5_000)
    behind = CONFIG | {
        "flows": [{"start": "0 s", "size": "1.25 MB"}, {"start": "0 s", "background": True}]
    }
    assert cost.packets(behind) == pytest.approx(2_000)
    both_ways = CONFIG | {"flows": [{"start": "0 s"}, {"start": "0 s", "direction": "opposite"}]}
    assert cost.packets(both_ways) == pytest.approx(20_000)
    again = CONFIG | {"flows": [{"start": "0 s", "size": "1.25 MB", "repeat": True}]}
    assert cost.packets(again) == pytest.approx(10_000)
    assert cost.packets({}) >= 0


def test_packets_of_a_workload_are_those_of_its_ndcs():
    load = {"ndc_size": "125 kB", "warmup": 40, "measured": 10, "warmup_mode": "packets"}
    clients = CONFIG | {"flows": [{"start": "0 s"}] * 3, "workload": load}
    assert cost.packets(clients) == pytest.approx(3 * 50 * 100)
    replayed = clients | {"workload": load | {"warmup_mode": "replay"}}
    assert cost.packets(replayed) == pytest.approx(3 * 10 * 100)
    assert cost.packets(CONFIG | {"workload": None}) == cost.packets(CONFIG)


def test_windows_and_losses_bound_what_tcp_sends():
    def config(count=1, recovery="newreno", loss=0.0, cap=None):
        flow = {"transport": "tcp", "start": "0 s", "recovery": {"name": recovery}}
        return {
            "duration": "10 s",
            "tcp": {"mss": "512 B", "max_window": cap},
            "topology": {"rtprop": "100 ms", "bottleneck": {"rate": "6 Mbps", "loss": loss}},
            "flows": [flow] * count,
        }

    full = 10 * 6e6 / (8 * 554)
    assert cost.packets(config()) == pytest.approx(full)
    assert cost.packets(config(cap=32)) == pytest.approx(10 * 320)
    assert cost.packets(config(9, cap=32)) == pytest.approx(full)
    assert cost.packets(config(loss=0.015)) == pytest.approx(10 * 100)
    assert cost.packets(config(loss=0.015, recovery="nce")) == pytest.approx(10 * 0.5 / 0.0015)
    assert cost.packets(config(loss=0.015, recovery="standard")) == pytest.approx(full)


def test_a_line_of_routers_is_slower_until_something_was_learned(tmp_path):
    model = CostModel.load(tmp_path / "costs.json")
    cells = [
        Cell("k", "s", "", (), CONFIG | {"topology": CONFIG["topology"] | {"kind": kind}})
        for kind in ("topo-1", "line")
    ]
    plain, line = (model.cost_s(c) - cost.START_S for c in cells)
    assert line == pytest.approx(2 * plain)


def test_the_speed_is_learned_by_scenario(tmp_path):
    model = CostModel.load(tmp_path / "costs.json")
    assert model.packets_per_s("a") == cost.DEFAULT_PACKETS_PER_S
    assert "measured" in model.source
    done = tmp_path / "run"
    done.mkdir()
    (done / "run.json").write_text('{"wall_s": 2.0}')
    model.learn(cell(scenario="a"), done)
    (done / "run.json").write_text('{"wall_s": 8.0}')
    model.learn(cell(scenario="b"), done)
    model.learn(cell(scenario="c"), tmp_path / "no-run")
    model.save()
    again = CostModel.load(tmp_path / "costs.json")
    assert again.packets_per_s("a") == pytest.approx(5_000)
    assert again.packets_per_s("b") == pytest.approx(1_250)
    assert again.packets_per_s("new") == pytest.approx(2_000)
    assert again.cost_s(cell(scenario="a")) == pytest.approx(2 + cost.START_S)
    assert "learned" in again.source
    rates = ("[0, 0]", "[1e300, 1e-300]", "[1e-300, 1e300]", "[Infinity, 1]", "[NaN, 1]", "3")
    for broken in ("", "{}", "[]", *(f'{{"scenarios": {{"a": {rate}}}}}' for rate in rates)):
        again.file.write_text(broken)
        assert CostModel.load(again.file).packets_per_s("a") == cost.DEFAULT_PACKETS_PER_S


@pytest.mark.parametrize("seed", range(20))
def test_jobs_are_worth_starting_and_hold_every_run_once(seed):
    draw = random.Random(seed)
    cells = [cell(f"{i}") for i in range(draw.randint(1, 200))]
    costs = {c.key: draw.choice([0.1, 1.0, 3.0, 9.9, 12.0, 50.0]) for c in cells}
    jobs = batches.pack(cells, lambda c: costs[c.key])
    assert sorted(c.key for job in jobs for c in job) == sorted(costs)
    sums = [sum(costs[c.key] for c in job) for job in jobs]
    assert sums == sorted(sums, reverse=True)
    assert len(jobs) == 1 or min(sums) >= batches.LEAST_S
    for job, total in zip(jobs, sums, strict=True):
        assert len(job) == 1 or total < 3 * batches.LEAST_S
    one = batches.wall_s(cells, lambda c: costs[c.key], 1)
    assert one == pytest.approx(sum(sums))
    assert max(sums) <= batches.wall_s(cells, lambda c: costs[c.key], 4) <= one


def test_no_runs_are_no_jobs():
    assert batches.pack([], lambda c: 1.0) == []
    assert batches.wall_s([], lambda c: 1.0, 2) == 0


# Progress.


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal_is_one_line_that_goes_away():
    now = [0.0]
    out = Terminal()
    progress = Progress(4, 100.0, 50.0, out, lambda: now[0])
    progress.show(0, 0.0)
    assert out.getvalue() == "\r0 of 4 runs, 0% of 2 min core time, 50 s left\033[K"
    now[0] = 10.0
    progress.show(1, 50.0)
    assert out.getvalue().endswith("\r1 of 4 runs, 50% of 2 min core time, 10 s left\033[K")
    progress.clear()
    assert out.getvalue().endswith("\r\033[K")
    assert "\n" not in out.getvalue()


def test_progress_elsewhere_is_a_line_every_half_minute_at_most():
    now = [0.0]
    out = io.StringIO()
    progress = Progress(4, 100.0, 50.0, out, lambda: now[0])
    for second in range(100):
        now[0] = float(second)
        progress.show(1, 25.0)
    progress.clear()
    lines = out.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0] == "1 of 4 runs, 25% of 2 min core time, 2 min left"


def test_the_first_runs_do_not_decide_how_long_the_rest_takes():
    now = [0.0]
    progress = Progress(10, 100.0, 50.0, io.StringIO(), lambda: now[0])
    assert progress.left_s(0.0) == 50.0
    now[0] = 10.0
    assert progress.left_s(5.0) == pytest.approx(0.2 * 200 + 0.8 * 50 - 10)
    assert progress.left_s(25.0) == pytest.approx(30)
    assert progress.left_s(100.0) == 0.0


def test_times_are_for_people():
    assert [duration(s) for s in (0.2, 59.4, 59.6, 3599, 8000)] == [
        "0 s",
        "59 s",
        "1 min",
        "1 h 0 min",
        "2 h 13 min",
    ]


# Execution.


def test_runs_are_made_once_and_failures_do_not_stop_the_others(build, folder, runner):
    wanted = [
        fakes.need(runs=(1, 2, 3)),
        fakes.need('fail="too bad"', runs=(1,)),
        fakes.need("kill=1", runs=(1,)),
        fakes.need("other=1", runs=(1,)),
    ]
    planned = plan(build, wanted)
    cells = [c for need in wanted for c in planned.cells[need]]
    costs = CostModel.load(folder.costs)
    failures = execute([*cells, cells[0]], folder, build, 2, costs)
    assert {f.cell.config.get("fail") or f.problem for f in failures} == {
        "too bad",
        "ended by signal 9",
        "the runner wrote another run than the one that was planned",
    }
    failed = next(f for f in failures if "fail" in f.cell.config)
    assert failed.problem == "too bad"
    said = (folder.logs / f"{failed.cell.key}.txt").read_text()
    assert said == "something before\ntoo bad\n"
    assert all(folder.is_done(c) for c in cells[:3])
    assert len(fakes.started(runner)) == 6
    assert CostModel.load(folder.costs).learned["fake/one"].wall_s >= 1.5
    # What failed is tried again, nothing else.
    again = execute(cells[:4], folder, build, 1, costs)
    assert [f.problem for f in again] == ["too bad"]
    assert len(fakes.started(runner)) == 7
    assert execute(cells[:3], folder, build, 1, costs) == []
    assert len(fakes.started(runner)) == 7


def test_the_line_of_a_failed_run_names_no_folder_of_this_machine(build, folder):
    need = fakes.need('fail="cannot write OUT"', runs=(1,))
    planned = plan(build, [need])
    (cell,) = planned.cells[need]
    (failure,) = execute([cell], folder, build, 1, CostModel.load(folder.costs))
    assert failure.problem == f"cannot write {cell.key}"


def test_a_runner_that_is_built_anew_meanwhile_leaves_no_run(build, folder, runner):
    (need,) = [fakes.need(runs=(1,))]
    planned = plan(build, [need])
    text = runner.read_text()
    runner.write_text(text.replace("part.rename(out)", "part.rename(out); os.utime(__file__)"))
    build = Build.of(runner)
    failures = execute(planned.cells[need], folder, build, 1, CostModel.load(folder.costs))
    assert [f.problem for f in failures] == ["the runner was built anew meanwhile; start again"]
    assert not folder.of(planned.cells[need][0]).exists()


def test_a_users_own_snakemake_settings_do_not_matter(build, folder, monkeypatch):
    monkeypatch.setenv("SNAKEMAKE_PROFILE", "/nowhere")
    monkeypatch.setenv("SNAKEMAKE_DRY_RUN", "1")
    need = fakes.need(runs=(1,))
    planned = plan(build, [need])
    assert execute(planned.cells[need], folder, build, 1, CostModel.load(folder.costs)) == []


def test_a_broken_snakemake_is_told(build, folder, monkeypatch, tmp_path):
    false = tmp_path / "python"
    false.write_text("#!/bin/sh\necho no such module\nexit 1\n")
    false.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(false))
    need = fakes.need(runs=(1,))
    planned = plan(build, [need])
    (failure,) = execute(planned.cells[need], folder, build, 1, CostModel.load(folder.costs))
    assert failure.problem == "not started; Snakemake said: no such module"


def test_one_call_at_a_time(folder):
    with pytest.raises(InputError, match="another reproduce is working"), folder.held():
        pass


def test_a_folder_that_cannot_be_is_bad_input(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"), Folder(tmp_path / "file" / "c").held():
        pass

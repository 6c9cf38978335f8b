from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fakes
from ferrocc_analysis import cli, reproduce
from ferrocc_analysis.claims import Scale, registry

HERE = Path(__file__).parent
#: The list of names that `cargo xtask` validates against.
NAMES = Path(registry.__file__).with_name("names.txt")


@pytest.fixture
def runner(tmp_path):
    return fakes.make_runner(tmp_path / "runner")


@pytest.fixture
def call(runner, tmp_path, monkeypatch, capsys):
    """Calls the command line with fake claims; returns status, stdout and stderr."""
    for name in ("REGISTRY", "STUDIES"):
        monkeypatch.setattr(registry, name, getattr(registry, name))
        monkeypatch.setattr(reproduce, name, getattr(reproduce, name))
    fakes.install()

    def run(*arguments: str) -> tuple[int, str, str]:
        given = ["reproduce", "--runner", str(runner), "--out", str(tmp_path / "out")]
        status = cli.run([*given, "--jobs", "2", *arguments])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def claims(tmp_path: Path) -> dict[str, dict]:
    data = json.loads((tmp_path / "out" / "report" / "claims.json").read_text())
    return {c["id"]: c for c in data["claims"] + data["studies"]}


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def test_equal_runs_of_several_claims_are_made_once_and_the_second_call_makes_none(
    call, runner, tmp_path
):
    status, out, err = call("A1", "a2-fig2", "study-a", "--quick")
    assert (status, err) == (0, "")
    assert "paper-a: 2 claims and 1 study, 6 runs: 0.0 core-minutes" in out
    assert "on 2 cores (at 50,000 packets per core-second, measured" in out
    assert out.index("core-minutes") < out.index("A1-fig1  reproduced (preliminary): A1-fig1")
    assert "study-a  study: study-a & its reason" in out
    assert len(fakes.started(runner)) == 6
    before = files(tmp_path / "out" / "report")
    start = time.monotonic()
    status, out, _ = call("A1", "a2-fig2", "study-a", "--quick")
    assert time.monotonic() - start < 2
    assert (status, len(fakes.started(runner))) == (0, 6)
    assert "6 runs, all there" in out
    assert files(tmp_path / "out" / "report") == before
    assert set(claims(tmp_path)) == {"A1-fig1", "A2-fig2", "study-a"}
    assert claims(tmp_path)["A1-fig1"]["preliminary"] is True


@pytest.mark.parametrize("name", ["summary.json", "run.json", "files.json"])
@pytest.mark.parametrize("harm", ["cut", "removed"])
def test_a_run_that_was_damaged_is_made_again(call, runner, tmp_path, name, harm):
    call("A1")
    before = files(tmp_path / "out" / "report")
    file = sorted((tmp_path / "out" / "campaign" / "cells").glob(f"*/{name}"))[0]
    whole = file.read_bytes()
    if harm == "cut":
        file.write_bytes(whole[: len(whole) // 2])
    else:
        file.unlink()
    # Without the sizes a run is taken for what it seems to be.
    again = 0 if (name, harm) == ("files.json", "removed") else 1
    status, _, err = call("A1")
    assert (status, err) == (0, "")
    assert len(fakes.started(runner)) == 2 + again
    assert not again or file.read_bytes() == whole
    assert files(tmp_path / "out" / "report") == before
    assert "2 runs, all there" in call("A1")[1]


def test_another_call_keeps_what_others_found(call, runner, tmp_path):
    assert call("B1")[0] == 0
    assert call("A1", "A5", "--full")[0] == reproduce.NOT_ALL_REPRODUCED
    found = claims(tmp_path)
    assert {i: (c["verdict"], c["scale"]) for i, c in found.items()} == {
        "A1-fig1": ("reproduced", "full"),
        "A5-fig5": ("partly", "full"),
        "B1-fig1": ("reproduced", "default"),
    }
    text = (tmp_path / "out" / "report" / "index.html").read_text()
    for words in ("goodput of B1-fig1", "goodput of A1-fig1", 'id="A2-fig2"'):
        assert words in text
    assert "cargo xtask reproduce A1-fig1 --full" in text
    assert call("B1")[1].count("all there") == 1


def test_a_study_without_runs_at_a_scale_is_left_as_it_is(call, runner, tmp_path):
    status, out, _ = call("study-b", "--quick")
    assert status == 0
    assert "not at the quick scale: study-b" in out
    assert claims(tmp_path) == {}
    assert fakes.started(runner) == []
    assert "study-b  study" in call("study-b", "--full")[1]
    before = files(tmp_path / "out" / "report")
    call("study-b", "--quick")
    assert files(tmp_path / "out" / "report") == before


def test_failed_runs_are_named_and_the_other_claims_judged(call, runner, tmp_path):
    status, out, err = call("A1", "A3", "A4")
    assert status == reproduce.RUN_FAILED
    lines = err.splitlines()
    assert lines[0] == "2 runs failed:"
    assert sorted(lines[1:3]) == [
        "  fake/one run=1: too bad",
        "  fake/one run=2: too bad",
    ]
    assert "A1-fig1  reproduced" in out
    found = claims(tmp_path)
    assert found["A1-fig1"]["verdict"] == "reproduced"
    assert found["A3-fig3"]["verdict"] is None
    assert found["A3-fig3"]["reason"] == (
        "2 of 4 runs are missing: fake/one run=1 (too bad); fake/one run=2 (too bad)"
    )
    assert "cannot be planned" in found["A4-fig4"]["reason"]
    assert "unknown scenario" in found["A4-fig4"]["reason"]


def test_code_that_changed_judges_anew(call, tmp_path, monkeypatch):
    call("A1")
    monkeypatch.setattr(fakes, "goodput", lambda results: [20.0])
    call("A1")
    assert claims(tmp_path)["A1-fig1"]["measured"][0]["value"] < 15
    monkeypatch.setattr(reproduce, "code_digest", lambda: "other")
    call("A1")
    assert claims(tmp_path)["A1-fig1"]["measured"][0]["value"] == 20.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["C9"], "claim: 'C9' is unknown, accepted are paper-a"),
        (["A1-figg1"], "did you mean 'A1-fig1'?"),
        (["--quick", "--full"], "--quick: cannot go with --full"),
        (["--jobs", "0"], "--jobs: 0 is out of range (accepted: 1..1024)"),
        (["--jobs", "two"], "--jobs"),
        (["--runner", "nothing"], "--runner: "),
        (["--out", "RUNNER/scenarios"], "is a file, not a folder"),
        (["--out", "RUNNER/scenarios/x"], "--out: "),
        (["--slow"], "--slow"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    call, runner, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    status, out, err = call(*[a.replace("RUNNER", str(runner.parent)) for a in arguments])
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err
    assert sorted(tmp_path.rglob("*")) == before
    assert fakes.started(runner) == []


def test_a_report_that_cannot_be_written_is_one_line(call, tmp_path):
    (tmp_path / "out" / "report" / "index.html").mkdir(parents=True)
    status, _, err = call("B1")
    assert status == 2
    assert err.startswith("error: --out: ")
    assert "index.html" in err
    assert err.count("\n") == 1


# Ends that nobody wanted.


@contextlib.contextmanager
def going_on(runner: Path, out: Path):
    """A call in a process of its own that has made some of eight runs of 0.2 s each."""
    command = [sys.executable, str(HERE / "fakes.py"), "reproduce", "A6", "--jobs", "2"]
    command += ["--runner", str(runner), "--out", str(out)]
    with subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            until = time.monotonic() + 30
            while len(fakes.started(runner)) < 3:
                assert time.monotonic() < until
                assert process.poll() is None, process.communicate()
                time.sleep(0.02)
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def goes_on(pid: int) -> bool:
    """Whether a process lives; one that has ended and waits to be noticed does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def wait_for_end_of_runs(runner: Path) -> None:
    until = time.monotonic() + 10
    for pid in fakes.pids(runner):
        while goes_on(pid):
            assert time.monotonic() < until, "a run goes on"
            time.sleep(0.02)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs prctl and /proc")
def test_a_killed_call_leaves_nothing_half_done_and_is_resumed(call, runner, tmp_path):
    cells = tmp_path / "out" / "campaign" / "cells"
    with going_on(runner, tmp_path / "out") as process:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    # The jobs have a session of their own, and still end.
    wait_for_end_of_runs(runner)
    whole = [p for p in cells.iterdir() if not p.name.startswith(".")]
    assert 2 <= len(whole) < 8
    assert all((p / "summary.json").is_file() for p in whole)
    begun = len(fakes.started(runner))
    status, out, err = call("A6")
    assert (status, err) == (0, "")
    assert f"8 runs, {8 - len(whole)} to make" in out
    assert len(fakes.started(runner)) == begun + 8 - len(whole)
    assert len(list(cells.iterdir())) == 8
    # Nothing tells the result from that of a call that was left in peace.
    resumed = files(tmp_path / "out" / "report")
    assert call("A6", "--out", str(tmp_path / "other"))[0] == 0
    assert files(tmp_path / "other" / "report") == resumed


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM], ids=lambda s: s.name)
def test_an_interrupted_call_ends_in_order(runner, tmp_path, signum):
    cells = tmp_path / "out" / "campaign" / "cells"
    with going_on(runner, tmp_path / "out") as process:
        process.send_signal(signum)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 128 + signum
    assert err == "interrupted; run the same command again to go on\n"
    for pid in fakes.pids(runner):
        assert not goes_on(pid)
    # The runs that went on have removed what they had begun.
    assert all((p / "summary.json").is_file() for p in cells.iterdir())


# The papers' claims.


def test_the_list_of_names_is_that_of_the_registry():
    wanted = "".join(f"{name}\n" for name in registry.accepted_names())
    if os.environ.get("FERROCC_UPDATE_CLAIMS"):
        NAMES.write_text(wanted)
    assert NAMES.read_text() == wanted, "FERROCC_UPDATE_CLAIMS=1 pytest writes it anew"


@pytest.mark.parametrize("scale", list(Scale))
def test_ids_are_files_and_needs_are_sound(scale):
    for study in [*registry.REGISTRY.values(), *registry.STUDIES.values()]:
        assert study.id == Path(study.id).name
        for need in study.needs(scale):
            assert need.runs
            assert not any(o.startswith(("--run", "--seed", "--out")) for o in need.options)

"""Campaigns with the real runner: killed, resumed, called twice."""

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

import tiny_claims

HERE = Path(__file__).parent


#: The analysis package is found as these tests find it.
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


def command(runner, out: Path, *options: str) -> list[str]:
    given = ["reproduce", f"--runner={runner.program}", f"--out={out}", "--jobs=2", *options]
    return [sys.executable, str(HERE / "tiny_claims.py"), *given]


def call(runner, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(runner, out, *options),
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def cells(out: Path) -> dict[int, Path]:
    """The runs in `out`, by number."""
    folders = (out / "campaign" / "cells").iterdir()
    return {json.loads((f / "summary.json").read_text())["run"]: f for f in folders}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs prctl")
def test_a_killed_campaign_is_resumed_and_comes_to_the_same(runner, tmp_path):
    out = tmp_path / "out"
    place = out / "campaign" / "cells"

    def done() -> list[Path]:
        return [p for p in place.glob("*/summary.json") if not p.parent.name.startswith(".")]

    with subprocess.Popen(
        command(runner, out),
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            until = time.monotonic() + 60
            while len(done()) < 2:
                assert process.poll() is None, "it ended before"
                assert time.monotonic() < until
                time.sleep(0.01)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    first = {p.parent: p.stat().st_mtime_ns for p in done()}
    # At once: what still goes on is waited for.
    resumed = call(runner, out)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    made = cells(out)
    assert sorted(made) == list(tiny_claims.RUNS)
    assert 2 <= len(first) < len(made)
    assert {p: (p / "summary.json").stat().st_mtime_ns for p in first} == first, "made twice"
    # A run of a campaign is the run that the runner makes by itself.
    for number in (1, tiny_claims.RUNS[-1]):
        own = tmp_path / f"own-{number}"
        runner.run(
            f"--scenario={tiny_claims.SCENARIO}",
            *tiny_claims.OPTIONS,
            f"--run={number}",
            f"--out={own}",
        )
        for name in ("summary.json", "flows.csv", "queue.csv", "events.csv"):
            assert (made[number] / name).read_bytes() == (own / name).read_bytes(), name
    # The second call starts nothing, and tells the same.
    report = {p.name: p.read_bytes() for p in (out / "report").iterdir()}
    times = {n: p.stat().st_mtime_ns for n, p in made.items()}
    again = call(runner, out)
    assert again.returncode == 0
    assert "8 runs, all there" in again.stdout
    assert {n: p.stat().st_mtime_ns for n, p in cells(out).items()} == times
    assert {p.name: p.read_bytes() for p in (out / "report").iterdir()} == report
    (claim,) = json.loads(report["claims.json"])["claims"]
    assert (claim["id"], claim["verdict"], claim["seeds"]) == ("T1-tiny", "reproduced", 8)
    assert 40 < claim["measured"][0]["value"] < 46.03
    assert str(tmp_path).encode() not in report["index.html"] + report["claims.json"]


def test_the_papers_claims_can_be_planned(runner):
    """Every need of every claim at every scale, without a run."""
    from ferrocc_analysis.campaign import Build, plan
    from ferrocc_analysis.claims import REGISTRY, STUDIES, Scale

    needs = [
        need
        for study in [*REGISTRY.values(), *STUDIES.values()]
        for scale in Scale
        for need in study.needs(scale)
    ]
    planned = plan(Build.of(runner.program), needs)
    assert planned.problems == {}
    assert all(planned.cells.values())


def test_bad_input_is_one_line(runner, tmp_path):
    for options, words in ((["X9"], "X9"), (["--quick", "--full"], "--full")):
        done = call(runner, tmp_path / "out", *options)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert words in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_every_claim_of_the_papers_is_judged_and_drawn(runner, tmp_path):
    """The quick scale of all papers: verdicts, figures, and nothing to do a second time."""
    from ferrocc_analysis.claims import REGISTRY

    out = tmp_path / "out"
    line = [sys.executable, "-m", "ferrocc_analysis", "reproduce", "--quick", "--jobs=2"]
    line += [f"--runner={runner.program}", f"--out={out}"]

    def reproduce(timeout_s: float) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            line, env=ENVIRONMENT, capture_output=True, text=True, timeout=timeout_s, check=False
        )

    first = reproduce(1800)
    # 1 is for claims that are not reproduced; 3 would be for runs or judgements that failed.
    assert first.returncode in (0, 1), first.stdout + first.stderr
    written = json.loads((out / "report" / "claims.json").read_text())["claims"]
    assert [c["id"] for c in written] == list(REGISTRY)
    for claim in written:
        assert claim["verdict"] in ("reproduced", "partly", "not reproduced"), claim["id"]
        assert claim["measured"], claim["id"]
        assert claim["preliminary"], claim["id"]
    page = (out / "report" / "index.html").read_text()
    assert page.count("<figure") >= len(REGISTRY)
    assert str(tmp_path) not in page
    again = reproduce(120)
    assert again.returncode == first.returncode
    assert "all there" in again.stdout

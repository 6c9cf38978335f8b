"""Has Snakemake make runs, and sees to it that nothing is left over whatever ends it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final

from . import batches, worker
from .cells import Build, Cell
from .cost import CostModel
from .folder import Folder
from .progress import Progress

_HERE: Final = Path(__file__).parent
#: What the Snakefile reads.
_PLAN: Final = "FERROCC_CAMPAIGN_PLAN"
#: How often finished runs are looked for, seconds.
_LOOK_S: Final = 0.25
#: Time for jobs to end in order when they are told to, seconds.
_GRACE_S: Final = 10.0


@dataclass(frozen=True)
class Failure:
    """A run that could not be made, and why, in a line."""

    cell: Cell
    problem: str


class Interrupted(Exception):
    """A signal asked the program to end."""

    def __init__(self, signum: int) -> None:
        super().__init__(signal.Signals(signum).name)
        self.signum = signum


def execute(
    cells: Sequence[Cell],
    folder: Folder,
    build: Build,
    jobs: int,
    costs: CostModel,
    progress: Progress | None = None,
) -> list[Failure]:
    """Makes those of `cells` that are not in `folder`, `jobs` at once, and returns those that
    failed. `folder` must be held. What the runs cost is learned by `costs`.

    Raises `Interrupted` if a signal asks for the end; all jobs have ended then.
    """
    wanted = [c for c in dict.fromkeys(cells) if not folder.is_done(c)]
    if not wanted:
        return []
    plan = _write_plan(wanted, folder, build, costs)
    log = folder.work / "snakemake.log"
    predicted = {c.key: costs.cost_s(c) for c in wanted}
    waiting = {c.key: c for c in wanted}

    def look() -> None:
        for cell in [c for c in waiting.values() if (folder.of(c) / worker.SUMMARY).is_file()]:
            del waiting[cell.key]
            costs.learn(cell, folder.of(cell))
        if progress:
            done_s = sum(predicted.values()) - sum(predicted[k] for k in waiting)
            progress.show(len(wanted) - len(waiting), done_s)

    try:
        with _signals_raise(), log.open("wb") as output:
            process = _start(plan, folder, jobs, output)
            try:
                while process.poll() is None:
                    look()
                    time.sleep(_LOOK_S)
                look()
            finally:
                _end(process, folder)
    finally:
        if progress:
            progress.clear()
        costs.save()
    return _failures(wanted, folder, log)


def _write_plan(cells: Sequence[Cell], folder: Folder, build: Build, costs: CostModel) -> Path:
    for path in (folder.work / "failed", folder.logs):
        path.mkdir(parents=True, exist_ok=True)
    packed = batches.pack(cells, costs.cost_s)
    plan: dict[str, Any] = {
        "runner": str(build.program),
        "files": build.files,
        "stamp": worker.stamp(list(build.files)),
        "cells": str(folder.cells.resolve()),
        "logs": str(folder.logs.resolve()),
        "failed": str((folder.work / "failed").resolve()),
        "lock": str(folder.jobs_lock.resolve()),
        "batches": [
            {
                "priority": round(sum(map(costs.cost_s, batch)) * 1000),
                "cells": [{"key": c.key, "arguments": c.arguments, **c.identity} for c in batch],
            }
            for batch in packed
        ],
    }
    file = folder.work / "plan.json"
    file.write_text(json.dumps(plan), encoding="utf-8")
    for cell in cells:
        # What an earlier, failed attempt said.
        (folder.logs / f"{cell.key}.txt").unlink(missing_ok=True)
    return file


def _start(plan: Path, folder: Folder, jobs: int, output: Any) -> subprocess.Popen[bytes]:
    work = folder.work.resolve()
    # What is configured for the user's other workflows is none of this one's business.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SNAKEMAKE_")}
    # Not by `--config`, which would read a path as YAML.
    environment[_PLAN] = str(plan.resolve())
    environment["XDG_CACHE_HOME"] = str(work / "cache")
    command = [sys.executable, str(_HERE / "worker.py"), "launch", str(os.getpid())]
    command += [sys.executable, "-m", "snakemake"]
    command += ["--snakefile", str(_HERE / "Snakefile"), "--directory", str(work)]
    # Our own lock keeps others out, and is never left behind.
    command += ["--cores", str(jobs), "--keep-going", "--nolock"]
    command += ["--scheduler", "greedy", "--workflow-profile", "none", "--quiet", "rules"]
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=environment,
        # A group of its own, so that it can be ended as a whole and in order.
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes], folder: Folder) -> None:
    """Ends what is left of Snakemake and its jobs; these in order, for their runs to tidy up."""
    # It has nothing to tidy up, and must not start another job.
    process.kill()
    process.wait()
    for signum in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signum)
        if folder.wait_for_jobs(_GRACE_S):
            return


@contextlib.contextmanager
def _signals_raise() -> Iterator[None]:
    """Turns signals that ask for the end into `Interrupted`."""

    def stop(signum: int, frame: FrameType | None) -> None:
        del frame
        # Once is enough: what follows must not be cut short.
        for s in before:
            signal.signal(s, signal.SIG_IGN)
        raise Interrupted(signum)

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    # A hang-up that the caller has us ignore (nohup) stays ignored.
    heeded = [s for s in signals if signal.getsignal(s) is not signal.SIG_IGN]
    before = {s: signal.signal(s, stop) for s in heeded}
    try:
        yield
    finally:
        for s, handler in before.items():
            signal.signal(s, handler)


def _failures(cells: Sequence[Cell], folder: Folder, log: Path) -> list[Failure]:
    failures = []
    for cell in cells:
        if folder.is_done(cell):
            continue
        said = folder.work / "failed" / cell.key
        if said.is_file():
            problem = said.read_text(encoding="utf-8")
        else:
            lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            problem = f"not started; Snakemake said: {lines[-1] if lines else 'nothing'}"
        failures.append(Failure(cell, problem))
    return failures

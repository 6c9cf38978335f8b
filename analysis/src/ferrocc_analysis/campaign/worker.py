"""The program of one job: makes the runs of a batch, one after the other.

It needs the standard library alone and is started as a file, because importing the whole package
would take a good part of a short job's time.

`worker.py job PARENT PLAN NUMBER DONE` makes the runs of batch NUMBER of PLAN and then the file
DONE. A run that fails does not keep the others from being made. Exit status 0 if all are there.
`worker.py launch PARENT COMMAND...` becomes COMMAND, which is killed when PARENT ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

SUMMARY: Final = "summary.json"
#: What a run's files are called and how many bytes each has.
FILES: Final = "files.json"
#: Files of a run whose configuration asks for traces, beside its summary.
TRACES: Final = ("flows.csv", "queue.csv", "events.csv")
#: Fields of a summary that say what was run.
IDENTITY: Final = ("scenario", "config")
#: Longest last line of a failed run that is kept, characters.
_LINE: Final = 300


def is_done(folder: Path, identity: dict[str, Any]) -> bool:
    """Whether `folder` holds the whole run that `identity` (scenario and config) describes.

    The runner puts a folder in its place when everything is in it, so what is there is whole. What
    a power cut or somebody else did to it afterwards shows in the sizes that were noted (none were
    if the job was killed just then) and in what the summary says was run.
    """
    try:
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        sizes = sizes_of(folder)
        noted = folder / FILES
        if noted.exists() and json.loads(noted.read_text(encoding="utf-8")) != sizes:
            return False
    except (OSError, ValueError):
        return False
    if not isinstance(summary, dict):
        return False
    if any(summary.get(field) != identity[field] for field in IDENTITY):
        return False
    traced = identity["config"].get("trace", {}).get("enabled") is True
    return not traced or all(name in sizes for name in TRACES)


def sizes_of(folder: Path) -> dict[str, int]:
    """The bytes of each file in `folder`, but for those that a campaign adds (`FILES`)."""
    found = sorted(p for p in folder.iterdir() if p.is_file() and FILES not in p.name)
    return {p.name: p.stat().st_size for p in found}


def _note_sizes(folder: Path) -> None:
    """Notes in `folder` how large its files are."""
    part = folder / f".{FILES}"
    part.write_text(json.dumps(sizes_of(folder)), encoding="utf-8")
    part.replace(folder / FILES)


def stamp(files: list[str]) -> list[list[int]]:
    """Something that changes when one of `files` is written anew."""
    stats = [os.stat(f) for f in files]  # noqa: PTH116
    return [[s.st_ino, s.st_size, s.st_mtime_ns] for s in stats]


def die_with_parent(parent: int, sent: int) -> None:
    """Has the kernel send this process `sent` when `parent`, its parent, ends. Elsewhere than on
    Linux it does nothing.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    ctypes.CDLL(None).prctl(1, sent)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:  # It has ended already.
        os.kill(os.getpid(), sent)


@contextlib.contextmanager
def shared(lock: Path) -> Iterator[int]:
    """Holds `lock` together with others; gives its file descriptor."""
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield file.fileno()


def make(cell: dict[str, Any], plan: dict[str, Any], lock: int) -> str | None:
    """Makes one run. Returns nothing if it is there, else what is wrong, in a line."""
    folder = Path(plan["cells"], cell["key"])
    if is_done(folder, cell):
        return None
    # A damaged run, which the runner would take for somebody else's files.
    shutil.rmtree(folder, ignore_errors=True)
    here = os.getpid()
    command = [plan["runner"], *cell["arguments"], f"--out={folder}", "--no-progress"]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(lock,),
            preexec_fn=lambda: die_with_parent(here, signal.SIGTERM),
        )
    except OSError as e:
        return f"cannot start the runner: {e.strerror}"
    _, error = process.communicate()
    lines = error.decode("utf-8", "replace").strip().splitlines()
    if process.returncode != 0:
        Path(plan["logs"], f"{cell['key']}.txt").write_bytes(error)
        what = (
            f"ended by signal {-process.returncode}"
            if process.returncode < 0
            else f"exit status {process.returncode}"
        )
        # The line goes into the report, where folders of this machine have no place.
        return lines[-1].replace(plan["cells"] + os.sep, "")[:_LINE] if lines else what
    if stamp(plan["files"]) != plan["stamp"]:
        # Nobody knows which of the two builds it is of.
        shutil.rmtree(folder, ignore_errors=True)
        return "the runner was built anew meanwhile; start again"
    try:
        _note_sizes(folder)
    except OSError as e:
        return f"its folder cannot be written: {e.strerror}"
    if not is_done(folder, cell):
        return "the runner wrote another run than the one that was planned"
    return None


def job(plan_file: str, number: int, done: str) -> int:
    """Makes the runs of a batch."""
    # Interrupting is the business of whoever started the jobs.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    plan = json.loads(Path(plan_file).read_text(encoding="utf-8"))
    failed = False
    with shared(Path(plan["lock"])) as lock:
        for cell in plan["batches"][number]["cells"]:
            if problem := make(cell, plan, lock):
                failed = True
                Path(plan["failed"], cell["key"]).write_text(problem, encoding="utf-8")
    if failed:
        return 1
    Path(done).touch()
    return 0


def main(arguments: list[str]) -> int:
    """See above."""
    what, parent, *rest = arguments
    if what == "launch":
        die_with_parent(int(parent), signal.SIGKILL)
        os.execv(rest[0], rest)
    die_with_parent(int(parent), signal.SIGTERM)
    return job(rest[0], int(rest[1]), rest[2])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

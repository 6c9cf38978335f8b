"""The folder of a campaign, and who may work in it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..errors import InputError
from .cells import Cell

#: How long jobs of an earlier call that was killed may take to end, seconds.
_PATIENCE_S: Final = 30.0
#: How often they are looked for, seconds.
_LOOK_S: Final = 0.05


@dataclass(frozen=True)
class Folder:
    """`out/campaign`: `cells/KEY` are runs, `judged/CLAIM` what came of them, `logs` what failed
    runs said, `.work` the state of the call that is going on.
    """

    root: Path

    @property
    def cells(self) -> Path:
        """Where the runs are."""
        return self.root / "cells"

    @property
    def judged(self) -> Path:
        """What was found in them, by claim."""
        return self.root / "judged"

    @property
    def logs(self) -> Path:
        """Standard error of failed runs."""
        return self.root / "logs"

    @property
    def work(self) -> Path:
        """State of the call that is going on; every call begins with an empty one."""
        return self.root / ".work"

    @property
    def costs(self) -> Path:
        """What was learned about the speed."""
        return self.root / "costs.json"

    @property
    def jobs_lock(self) -> Path:
        """Held by every job as long as it or its run goes on."""
        return self.root / ".jobs.lock"

    def of(self, cell: Cell) -> Path:
        """The folder of a run."""
        return self.cells / cell.key

    def is_done(self, cell: Cell) -> bool:
        """Whether the run is there."""
        return cell.is_done(self.of(cell))

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Makes the folder and keeps other calls out of it.

        The system lets go of the locks whatever ends a process, so nothing stays locked. What an
        earlier call left in `.work` is removed when its jobs have ended.

        Raises `InputError` if another call is going on, or if the folder cannot be made.
        """
        try:
            self.cells.mkdir(parents=True, exist_ok=True)
            lock = (self.root / ".lock").open("a")
        except OSError as e:
            raise InputError(f"--out: {self.root} cannot be made ({e.strerror})") from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(
                    f"--out: another reproduce is working in {self.root}; wait for it, or give "
                    "another --out"
                ) from None
            if not self.wait_for_jobs(_PATIENCE_S):
                raise InputError(
                    f"--out: runs of an earlier reproduce still go on in {self.root}; wait for them"
                )
            shutil.rmtree(self.work, ignore_errors=True)
            yield

    def wait_for_jobs(self, patience_s: float) -> bool:
        """Waits for all jobs and their runs to end; whether they have in `patience_s` seconds."""
        until = time.monotonic() + patience_s
        with self.jobs_lock.open("a") as lock:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return True
                except BlockingIOError:
                    if time.monotonic() > until:
                        return False
                time.sleep(_LOOK_S)


def write_atomically(path: Path, text: str | bytes) -> None:
    """Writes a file that is at any moment the old one or the new one, whole. Its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode() if isinstance(text, str) else text
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        part.chmod(0o644)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def size_bytes(folder: Path) -> int:
    """What the files below `folder` take, bytes."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(Path(parent, name)).st_size
    return total

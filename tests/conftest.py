"""What the end-to-end tests share: the runner, which `FERROCC_RUNNER` names."""

from __future__ import annotations

import os
import resource
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

VARIABLE = "FERROCC_RUNNER"
#: No run may take more memory, bytes.
MEMORY_LIMIT = 4 << 30


@dataclass(frozen=True)
class Runner:
    """The `scenarios` program."""

    program: Path

    def __call__(
        self, *options: str, cwd: Path | None = None, timeout_s: float = 120.0
    ) -> subprocess.CompletedProcess[str]:
        """Runs it with `options`; raises `subprocess.TimeoutExpired` after `timeout_s`."""
        with subprocess.Popen(
            [self.program, *options],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            if hasattr(resource, "prlimit"):
                try:
                    limit = (MEMORY_LIMIT, MEMORY_LIMIT)
                    resource.prlimit(process.pid, resource.RLIMIT_AS, limit)
                except ProcessLookupError:
                    pass  # It has ended already.
            try:
                out, err = process.communicate(timeout=timeout_s)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def run(self, *options: str, timeout_s: float = 120.0) -> subprocess.CompletedProcess[str]:
        """A run that must succeed and be silent on stderr."""
        done = self(*options, "--no-progress", timeout_s=timeout_s)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done


def find_runner() -> Runner | None:
    """The runner, or none if the variable is not set."""
    value = os.environ.get(VARIABLE)
    if not value:
        return None
    path = Path(value).resolve()
    if not os.access(path, os.X_OK):
        raise pytest.UsageError(f"{VARIABLE}={value} is no program")
    return Runner(path)


@pytest.fixture(scope="session")
def runner() -> Runner:
    """The runner; without one the test is skipped."""
    found = find_runner()
    if found is None:
        pytest.skip(f"{VARIABLE} is not set: it names the built `scenarios` program")
    return found

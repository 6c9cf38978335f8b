"""Cells: single runs, known by what is run."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..errors import InputError
from . import worker

#: Characters of a cell's key: 80 bits, enough for a campaign of any size.
_KEY_CHARS: Final = 20
#: Libraries that the results depend on beside the program: the module and ns-3.
_OURS: Final = re.compile(r"^lib(ferrocc|ns3)")


@dataclass(frozen=True)
class Build:
    """A built runner. `digest` stands for its code: the program, the module and ns-3."""

    program: Path
    files: tuple[str, ...]
    digest: str

    @classmethod
    def of(cls, program: Path) -> Build:
        """Reads the program and the libraries it loads. Raises `InputError` if it is none."""
        program = program.resolve()
        if not program.is_file():
            raise InputError(f"--runner: {program} is no program")
        files = sorted({str(program), *_libraries(program)})
        digest = hashlib.sha256()
        try:
            for file in files:
                with Path(file).open("rb") as f:
                    digest.update(hashlib.file_digest(f, "sha256").digest())
        except OSError as e:
            raise InputError(f"--runner: {e.filename} cannot be read ({e.strerror})") from None
        return cls(program, tuple(files), digest.hexdigest())


def _libraries(program: Path) -> list[str]:
    """The module's and ns-3's libraries that `program` loads; none of a static program, of a
    script, or where the system has no `ldd`.
    """
    try:
        shown = subprocess.run(
            ["ldd", str(program)], capture_output=True, text=True, check=False
        ).stdout
    except OSError:
        return []
    paths = re.findall(r"=> (/.*) \(0x", shown)
    return [str(Path(p).resolve()) for p in paths if _OURS.match(Path(p).name)]


@dataclass(frozen=True)
class Cell:
    """One run. `key` is the hash of all that its result depends on; `name` is what the sweep calls
    it; `arguments` are the runner's, but for where the results go.
    """

    key: str
    scenario: str
    name: str
    arguments: tuple[str, ...] = field(compare=False)
    config: dict[str, Any] = field(repr=False, compare=False)

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def label(self) -> str:
        """For people: `copa-icn/fig6a controller=copa,run=1`."""
        return f"{self.scenario} {self.name}".strip()

    @property
    def identity(self) -> dict[str, Any]:
        """What its summary says about what was run."""
        return {"scenario": self.scenario, "config": self.config}

    def is_done(self, folder: Path) -> bool:
        """Whether `folder` holds this run, whole."""
        return worker.is_done(folder, self.identity)


def key(build: Build, scenario: str, config: dict[str, Any]) -> str:
    """The content address of a run. Seed, run number and the wanted traces are in `config`."""
    content = {"build": build.digest, "scenario": scenario, "config": config}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_KEY_CHARS]

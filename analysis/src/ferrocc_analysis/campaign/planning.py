"""From what claims need to cells: the runner resolves each need in one call."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from ..claims import Need
from ..errors import InputError
from .cells import Build, Cell, key

#: Version of `--plan` that this package reads.
PLAN_SCHEMA: Final = 1
#: Calls of the runner that wait at once.
_CALLS: Final = 4


@dataclass(frozen=True)
class Planned:
    """Each need's cells in order, and what is wrong with the needs that have none."""

    cells: dict[Need, tuple[Cell, ...]] = field(default_factory=dict)
    problems: dict[Need, str] = field(default_factory=dict)


def plan(build: Build, needs: Iterable[Need]) -> Planned:
    """Resolves `needs`, each once."""
    wanted = list(dict.fromkeys(needs))
    planned = Planned()
    with ThreadPoolExecutor(_CALLS) as pool:
        for need, found in zip(wanted, pool.map(lambda n: _ask(build, n), wanted), strict=True):
            if isinstance(found, str):
                planned.problems[need] = found
            else:
                planned.cells[need] = found
    return planned


def arguments(need: Need) -> tuple[str, ...]:
    """The runner's options for all of a need's runs."""
    axes = {path: [_value(v) for v in values] for path, values in need.axes.items()}
    axes["run"] = list(need.runs)
    sweeps = [f"--sweep={path}={json.dumps(values)}" for path, values in axes.items()]
    return (f"--scenario={need.scenario}", *need.options, *sweeps)


def _value(text: str) -> Any:
    """A value as the runner reads it from its command line: JSON, or else text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _ask(build: Build, need: Need) -> tuple[Cell, ...] | str:
    given = arguments(need)
    try:
        done = subprocess.run(
            [build.program, *given, "--plan"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as e:
        raise InputError(f"--runner: {build.program} cannot be started ({e.strerror})") from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return lines[-1] if lines else f"the runner ended with status {done.returncode}"
    try:
        shown = json.loads(done.stdout)
        if shown["schema"] != PLAN_SCHEMA:
            raise InputError(
                f"--runner: its plans have schema {shown['schema']!r}, this ferrocc_analysis "
                f"reads {PLAN_SCHEMA}"
            )
        return tuple(_cell(build, need, given, c) for c in shown["cells"])
    except (ValueError, KeyError, TypeError) as e:
        if isinstance(e, InputError):
            raise
        raise InputError(f"--runner: {build.program} is no runner of scenarios") from None


def _cell(build: Build, need: Need, given: tuple[str, ...], shown: dict[str, Any]) -> Cell:
    name, config = str(shown["name"]), dict(shown["config"])
    return Cell(
        key(build, need.scenario, config),
        need.scenario,
        name,
        (*given, f"--cell={name}"),
        config,
    )

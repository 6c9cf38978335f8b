"""`ferrocc-analysis reproduce`: runs what claims need, judges them, writes the report."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from . import report
from .campaign import Build, Cell, CostModel, Failure, Folder, Planned, batches, execute, plan
from .campaign.folder import size_bytes
from .campaign.progress import Progress, duration, status
from .claims import REGISTRY, STUDIES, Claim, Need, Results, Scale, Study
from .claims.registry import select, select_studies
from .errors import InputError
from .report.entry import Context, Entry, Store
from .report.judging import code_digest, provenance
from .report.page import PAGE
from .runs import Run

#: Exit statuses beside 0 (all reproduced) and 2 (bad input).
NOT_ALL_REPRODUCED: Final = 1
RUN_FAILED: Final = 3
#: Most jobs.
_MOST_JOBS: Final = 1024
#: Failed runs that are named.
_MOST_NAMED: Final = 20


@dataclass(frozen=True)
class Order:
    """What a call asks for: all checked, nothing done yet. `left_out` are studies that have no runs
    at this scale.
    """

    studies: tuple[Study, ...]
    left_out: tuple[Study, ...]
    scale: Scale
    build: Build
    jobs: int
    out: Path


def order(
    names: Sequence[str], *, quick: bool, full: bool, jobs: int | None, runner: Path, out: Path
) -> Order:
    """Checks what was given. Raises `InputError`."""
    if quick and full:
        raise InputError("--quick: cannot go with --full (accepted: one of them, or none)")
    if jobs is not None and not 1 <= jobs <= _MOST_JOBS:
        raise InputError(f"--jobs: {jobs} is out of range (accepted: 1..{_MOST_JOBS})")
    if out.exists() and not out.is_dir():
        raise InputError(f"--out: {out} is a file, not a folder")
    scale = Scale.QUICK if quick else Scale.FULL if full else Scale.DEFAULT
    studies = select_studies(names)
    left_out = tuple(s for s in studies if not s.needs(scale))
    wanted = (*select(names), *(s for s in studies if s not in left_out))
    return Order(wanted, left_out, scale, Build.of(runner), jobs or processors(), out)


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def reproduce(wanted: Order) -> int:
    """Does what was ordered; returns the exit status. Prints the cost first and the verdicts last.

    Raises `InputError` if the folder cannot be used, `campaign.Interrupted` if a signal ends it.
    """
    try:
        return _status(_reproduce(wanted))
    except OSError as e:
        raise InputError(f"--out: {e.filename or wanted.out}: {e.strerror or e}") from None


def _reproduce(wanted: Order) -> list[Entry]:
    folder = Folder(wanted.out / "campaign")
    with folder.held():
        _report_folder(wanted.out).mkdir(parents=True, exist_ok=True)
        needs = {s.id: tuple(dict.fromkeys(s.needs(wanted.scale))) for s in wanted.studies}
        planned = plan(wanted.build, (n for ns in needs.values() for n in ns))
        costs = CostModel.load(folder.costs)
        cells = list(dict.fromkeys(_cells(planned, (n for ns in needs.values() for n in ns))))
        todo = [c for c in cells if not folder.is_done(c)]
        _print_cost(wanted, needs, planned, todo, costs)
        cost_s = costs.total_s(todo)
        progress = Progress(len(todo), cost_s, batches.wall_s(todo, costs.cost_s, wanted.jobs))
        failures = execute(todo, folder, wanted.build, wanted.jobs, costs, progress)
        _print_failures(failures, folder)
        store = Store(folder.judged)
        entries = []
        for number, study in enumerate(wanted.studies, 1):
            with status(f"judging {study.id} ({number} of {len(wanted.studies)})"):
                entries.append(
                    _judge(study, needs[study.id], planned, failures, wanted, folder, store)
                )
        everything: list[Study] = [*REGISTRY.values(), *STUDIES.values()]
        report.write_report(_report_folder(wanted.out), everything, store)
        print(_summary(entries, wanted, folder))
    return entries


def _report_folder(out: Path) -> Path:
    return out / "report"


def _cells(planned: Planned, needs: Iterable[Need]) -> Iterator[Cell]:
    for need in needs:
        yield from planned.cells.get(need, ())


def _print_cost(
    wanted: Order,
    needs: dict[str, tuple[Need, ...]],
    planned: Planned,
    todo: Sequence[Cell],
    costs: CostModel,
) -> None:
    missing = {c.key for c in todo}
    papers = dict.fromkeys(s.paper for s in wanted.studies)
    for paper in papers:
        of = [s for s in wanted.studies if s.paper == paper]
        cells = set(_cells(planned, (n for s in of for n in needs[s.id])))
        new = [c for c in cells if c.key in missing]
        claims = sum(isinstance(s, Claim) for s in of)
        counts = [_count(claims, "claim")] if claims else []
        if len(of) > claims:
            counts.append(_count(len(of) - claims, "study", "studies"))
        what = f"{paper}: {' and '.join(counts)}, {_count(len(cells), 'run')}"
        if not new:
            print(f"{what}, all there", flush=True)
            continue
        left = f", {len(new)} to make" if len(new) < len(cells) else ""
        print(f"{what}{left}: {costs.total_s(new) / 60:.1f} core-minutes", flush=True)
    if todo:
        wall = duration(batches.wall_s(todo, costs.cost_s, wanted.jobs))
        print(f"about {wall} on {_count(wanted.jobs, 'core')} ({costs.source})", flush=True)


def _print_failures(failures: Sequence[Failure], folder: Folder) -> None:
    if not failures:
        return
    print(f"{_count(len(failures), 'run')} failed:", file=sys.stderr)
    for failure in failures[:_MOST_NAMED]:
        print(f"  {failure.cell.label}: {failure.problem}", file=sys.stderr)
    if len(failures) > _MOST_NAMED:
        print(f"  and {len(failures) - _MOST_NAMED} more", file=sys.stderr)
    print(f"what they said is in {folder.logs}", file=sys.stderr)


def _judge(
    study: Study,
    needs: tuple[Need, ...],
    planned: Planned,
    failures: Sequence[Failure],
    wanted: Order,
    folder: Folder,
    store: Store,
) -> Entry:
    """The study's entry, from its runs or, if nothing has changed since, from the store."""
    cells = list(dict.fromkeys(_cells(planned, needs)))
    flag = "" if wanted.scale is Scale.DEFAULT else f" --{wanted.scale}"
    context = Context(
        scale=str(wanted.scale),
        preliminary=wanted.scale.preliminary,
        command=f"cargo xtask reproduce {study.id}{flag}",
        inputs=_inputs(study, needs, planned, wanted.scale),
        scenarios=tuple(dict.fromkeys(n.scenario for n in needs)),
        seeds=min((len(n.runs) for n in needs), default=0),
        runs=len(cells),
    )
    unplanned = [f"{n.scenario}: {planned.problems[n]}" for n in needs if n in planned.problems]
    if unplanned:
        return store.save(report.missing(study, context, unplanned))
    problems = {f.cell.key: f"{f.cell.label} ({f.problem})" for f in failures}
    if absent := [problems[c.key] for c in cells if c.key in problems]:
        return store.save(report.missing(study, context, absent))
    before = store.load(study.id)
    if before is not None and before.inputs == context.inputs and before.state == "judged":
        return before
    results: Results = {
        need: [Run.load(folder.of(c), c.name) for c in planned.cells[need]] for need in needs
    }
    runs = [run for of in results.values() for run in of]
    context = dataclasses.replace(context, provenance=provenance(runs))
    entry, pictures = report.judge(study, results, wanted.scale, context)
    return store.save(entry, pictures)


def _inputs(study: Study, needs: Sequence[Need], planned: Planned, scale: Scale) -> str:
    """Stands for all that an entry follows from."""
    wanted = [
        [n.scenario, n.options, n.runs, sorted(n.axes.items()), [c.key for c in cells]]
        for n in needs
        for cells in [planned.cells.get(n, ())]
    ]
    text = json.dumps([code_digest(), study.id, str(scale), wanted])
    return hashlib.sha256(text.encode()).hexdigest()


def _summary(entries: Sequence[Entry], wanted: Order, folder: Folder) -> str:
    width = max((len(e.id) for e in entries), default=0)
    lines = []
    for e in entries:
        verdict = e.verdict or ("study" if e.state == "judged" else "incomplete")
        mark = " (preliminary)" if e.preliminary and e.verdict else ""
        lines.append(f"{e.id:<{width}}  {verdict}{mark}: {e.reason}")
    if wanted.left_out:
        ids = ", ".join(s.id for s in wanted.left_out)
        lines.append(f"not at the {wanted.scale} scale: {ids}")
    page = _report_folder(wanted.out) / PAGE
    lines.append(f"report: {page}")
    lines.append(f"runs:   {folder.root} ({size_bytes(folder.root) / 1e6:,.0f} MB)")
    return "\n".join(lines)


def _status(entries: Sequence[Entry]) -> int:
    if any(e.state != "judged" for e in entries):
        return RUN_FAILED
    if any(e.is_claim and e.verdict != "reproduced" for e in entries):
        return NOT_ALL_REPRODUCED
    return 0


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"

"""From runs to the rows of a judgement."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence

from ..errors import one_of
from ..metrics import METRICS, NotApplicable
from ..runs import Run
from ..stats import Estimate, estimate
from . import rules
from .model import Judgement, Measured, Results, Scale, Verdict

#: A reason names so many clauses that fail at most.
_MOST_NAMED = 3


def by_number(runs: Iterable[Run]) -> list[Run]:
    """`runs` by seed and run number, so that equal places have equal random draws."""
    return sorted(runs, key=lambda r: (r.seed, r.run))


def by_controller(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """`runs` by the names of their flows' controllers, each list by seed and run number."""
    found: dict[str, list[Run]] = {}
    for run in by_number(runs):
        found.setdefault(run.label, []).append(run)
    return found


def samples(runs: Iterable[Run], metric: str) -> list[float]:
    """The metric of that name of each of `runs`. Raises `NotApplicable` where one has none."""
    if metric not in METRICS:
        raise one_of("metric", metric, METRICS)
    values = []
    for run in runs:
        try:
            values.append(METRICS[metric].compute(run).value)
        except NotApplicable as e:
            raise NotApplicable(f"{metric} of {run.scenario} run {run.run}: {e}") from None
    return values


def applicable(runs: Iterable[Run], metric: str) -> list[Run]:
    """Those of `runs` that have the metric. Raises `NotApplicable` if there is none."""
    found = []
    why = f"{metric}: there are no runs"
    for run in runs:
        try:
            samples([run], metric)
        except NotApplicable as e:
            why = str(e)
        else:
            found.append(run)
    if not found:
        raise NotApplicable(why)
    return found


def mean(runs: Iterable[Run], metric: str) -> Estimate:
    """The metric's mean over `runs` with its interval."""
    return estimate(samples(runs, metric))


def row(
    name: str,
    value: Estimate | float,
    unit: str,
    expected: str = "",
    verdict: Verdict | None = None,
    note: str = "",
    n: int = 1,
) -> Measured:
    """A row; a plain number, of `n` runs, has no interval."""
    if isinstance(value, Estimate):
        low, high = value.shown if value.known else (None, None)
        return Measured(name, value.mean, low, high, unit, value.n, expected, verdict, note)
    return Measured(name, value, None, None, unit, n, expected, verdict, note)


def judgement(rows: Iterable[Measured], because: str = "") -> Judgement:
    """The judgement that the verdicts of `rows` make together.

    Its reason counts the clauses that hold, names the others with what was measured, and ends with
    `because`.
    """
    rows = tuple(rows)
    clauses = [r for r in rows if r.verdict is not None]
    verdict = rules.overall(r.verdict for r in clauses if r.verdict is not None)
    failed = [r for r in clauses if r.verdict is not Verdict.REPRODUCED]
    if not failed:
        reason = "holds" if len(clauses) == 1 else f"all {len(clauses)} clauses hold"
    else:
        held = len(clauses) - len(failed)
        named = "; ".join(_failure(r) for r in failed[:_MOST_NAMED])
        more = len(failed) - _MOST_NAMED
        others = f"; and {more} more" if more > 0 else ""
        reason = f"{held} of {len(clauses)} clauses hold; not: {named}{others}"
    return Judgement(verdict, rows, f"{reason}. {because}" if because else reason)


def study(rows: Iterable[Measured], reason: str) -> Judgement:
    """What a study found: `rows` without a verdict."""
    return Judgement(None, tuple(rows), reason)


def measured_or_not(
    judge: Callable[[Results, Scale], Judgement],
) -> Callable[[Results, Scale], Judgement]:
    """`judge`, but runs that its metrics have no meaning for give "not reproduced" and say why."""

    @functools.wraps(judge)
    def safe(results: Results, scale: Scale) -> Judgement:
        try:
            return judge(results, scale)
        except NotApplicable as e:
            return Judgement(Verdict.NOT_REPRODUCED, (), f"could not be measured: {e}")

    return safe


def show(value: Estimate, digits: int = 3) -> str:
    """A mean with its interval as text: `0.52 [0.5, 0.54]`."""
    text = f"{value.mean:.{digits}g}"
    low, high = value.shown
    return f"{text} [{low:.{digits}g}, {high:.{digits}g}]" if value.known else text


def runs_of(results: Results, scenario: str, options: Sequence[str] | None = None) -> list[Run]:
    """The runs of needs for `scenario` (with exactly `options`, if given), none twice."""
    found: dict[str, Run] = {}
    for need, runs in results.items():
        if need.scenario == scenario and (options is None or need.options == tuple(options)):
            for run in runs:
                found.setdefault(str(run.folder), run)
    return by_number(found.values())


def _failure(r: Measured) -> str:
    value = "" if r.value is None else f" is {r.value:.3g}"
    band = "" if r.low is None or r.high is None else f" [{r.low:.3g}, {r.high:.3g}]"
    wanted = f" where {r.expected} is expected" if r.expected else ""
    partly = " (in part)" if r.verdict is Verdict.PARTLY else ""
    return f"{r.name}{value}{band}{wanted}{partly}"

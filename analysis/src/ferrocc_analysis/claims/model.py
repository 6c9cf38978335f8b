"""What a claim is: a statement that runs are held against, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from matplotlib.figure import Figure

from ..runs import Run


class Scale(StrEnum):
    """How much is run for a verdict."""

    #: End points, two runs each, shortened: verdicts are preliminary.
    QUICK = "quick"
    #: End points, five runs or more, long enough for the metrics.
    DEFAULT = "default"
    #: As the paper, ten runs.
    FULL = "full"

    @property
    def preliminary(self) -> bool:
        """Whether a verdict at this scale is only a first look."""
        return self is Scale.QUICK


class Verdict(StrEnum):
    """Whether the runs show what the paper says."""

    REPRODUCED = "reproduced"
    PARTLY = "partly"
    NOT_REPRODUCED = "not reproduced"


@dataclass(frozen=True)
class Need:
    """Runs that a claim wants: a scenario's cells (if it is a sweep), with several numbers each.

    `options` are the runner's (`--set=topology.bottleneck.buffer=2bdp`), `runs` the values of
    `--run`. `axes` replaces axes of the scenario's sweep, or adds some: path of a field -> values,
    written as in a scenario file (`flows[*].controller` -> `copa`, `copa-icn`).
    """

    scenario: str
    options: tuple[str, ...] = ()
    runs: tuple[int, ...] = (1,)
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.scenario, self.options, self.runs, tuple(sorted(self.axes.items()))))


@dataclass(frozen=True)
class Measured:
    """A row of the report's table.

    `value` is the mean over `n` runs, `low` to `high` its 95 % confidence interval, or
    over two runs their smallest and largest number (None where there is none: one run, or a number
    without chance in it). `unit` is "1" for ratios. `expected`
    says what the paper leads to expect, "" for a row that only informs. `verdict` is that of the
    clause that the row stands for, None for a row that only informs.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    n: int
    expected: str = ""
    verdict: Verdict | None = None
    note: str = ""


@dataclass(frozen=True)
class Judgement:
    """What came of a claim. A study's `verdict` is None. `reason` is one line."""

    verdict: Verdict | None
    measured: tuple[Measured, ...]
    reason: str


Results = Mapping[Need, Sequence[Run]]
Drawn = Sequence[tuple[str, Figure]]


@dataclass(frozen=True)
class Study:
    """Runs that are shown without a verdict.

    `statement` says what is looked at, `expected` what one would expect, `assumptions` what was
    chosen. `needs` says what is to be run, `judge` measures, `draw` makes (caption, figure) pairs.
    The mapping that these take has an entry for each of `needs`, with a run per cell and number.
    """

    id: str
    paper: str
    figure: str
    title: str
    statement: str
    expected: str
    assumptions: tuple[str, ...]
    needs: Callable[[Scale], tuple[Need, ...]]
    judge: Callable[[Results, Scale], Judgement]
    draw: Callable[[Results], Drawn]

    @property
    def short(self) -> str:
        """The id's first part: `C2` of `C2-fig6`."""
        return self.id.partition("-")[0]


@dataclass(frozen=True)
class Claim(Study):
    """A study whose judgement has a verdict. `statement` says in our words what the paper says."""

"""Studies that compare variants of an algorithm, or algorithms, by some metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .. import figures, palette
from ..runs import Run
from ..stats import Estimate
from .clauses import by_number, mean, row, runs_of, show, study
from .model import Drawn, Judgement, Measured, Need, Results, Scale, Study


@dataclass(frozen=True)
class Variant:
    """What is compared: how it is called and drawn, and which runs are its."""

    label: str
    look: palette.Style
    chosen: Callable[[Run], bool]
    number: int = 0


@dataclass(frozen=True)
class Quantity:
    """A metric of the comparison: its name, how it is called, and its unit in the table."""

    metric: str
    label: str
    unit: str
    scale: float = 1.0


def algorithms(names: Iterable[str], flow: int = 0) -> tuple[Variant, ...]:
    """A variant for each controller: runs whose flow number `flow` has it."""

    def of(name: str) -> Variant:
        look = palette.controller(name)
        return Variant(look.name, look, lambda run: run.flows[flow].controller == name)

    return tuple(of(name) for name in names)


def settings(
    controller: str, path: str, labels: Sequence[tuple[object, str]]
) -> tuple[Variant, ...]:
    """A variant of one controller for each (value, label) of the configuration's field `path`.

    Of a field of a flow, only runs count in which that flow has the controller.
    """
    head, _, rest = path.partition(".")
    index = int(rest.partition(".")[0]) if head == "flows" else 0

    def of(number: int, value: object, label: str) -> Variant:
        look = palette.variant(palette.controller(controller), number)

        def chosen(run: Run) -> bool:
            return run.flows[index].controller == controller and run.setting(path) == value

        return Variant(label, look, chosen, number)

    return tuple(of(i, value, label) for i, (value, label) in enumerate(labels))


@dataclass(frozen=True)
class Comparison:
    """A study's inside: `variants` by `quantities`, in groups along the x axis.

    `group` names the group of a run and `groups` their order; without them there is one. `more`
    draws what the bars do not show.
    """

    scenario: str
    variants: tuple[Variant, ...]
    quantities: tuple[Quantity, ...]
    runs: Callable[[Scale], tuple[int, ...]]
    caption: str
    group: Callable[[Run], str] = lambda run: ""
    groups: tuple[str, ...] = ("",)
    more: Callable[[list[Run]], Drawn] = lambda runs: ()

    def needs(self, scale: Scale) -> tuple[Need, ...]:
        """All of the scenario; nothing in a quick run."""
        return () if scale is Scale.QUICK else (Need(self.scenario, (), self.runs(scale)),)

    def cell(self, runs: Iterable[Run], variant: Variant, group: str) -> list[Run]:
        """The runs of `variant` in `group`, by seed and run number."""
        return by_number(r for r in runs if variant.chosen(r) and self.group(r) == group)

    def values(self, runs: list[Run], quantity: Quantity, variant: Variant) -> list[Estimate]:
        """The quantity's estimates, one per group."""
        return [
            mean(self.cell(runs, variant, group), quantity.metric).scaled(quantity.scale)
            for group in self.groups
        ]

    def judge(self, results: Results, scale: Scale) -> Judgement:
        """The table, and in a line what the first quantity is for each variant."""
        del scale
        runs = runs_of(results, self.scenario)
        if not runs:
            return study((), "not part of this scale")
        rows: list[Measured] = []
        said: list[str] = []
        for quantity in self.quantities:
            table = {v.label: self.values(runs, quantity, v) for v in self.variants}
            for i, group in enumerate(self.groups):
                where = f", {group}" if group else ""
                rows += [
                    row(f"{quantity.label}, {label}{where}", found[i], quantity.unit)
                    for label, found in table.items()
                ]
                if quantity is self.quantities[0]:
                    shown = ", ".join(f"{label} {show(f[i])}" for label, f in table.items())
                    said.append(f"{group}: {shown}" if group else shown)
        unit = "" if self.quantities[0].unit == "1" else f" ({self.quantities[0].unit})"
        return study(rows, f"{self.quantities[0].label}{unit}: {'; '.join(said)}")

    def draw(self, results: Results) -> Drawn:
        """Bars, a panel per quantity."""
        runs = runs_of(results, self.scenario)
        if not runs:
            return ()
        panels = []
        for quantity in self.quantities:
            points = [
                figures.Points(v.label, v.look, self.values(runs, quantity, v), variant=v.number)
                for v in self.variants
            ]
            unit = "" if quantity.unit == "1" else f" ({quantity.unit})"
            label = f"{quantity.label[0].upper()}{quantity.label[1:]}{unit}"
            panels.append(figures.Panel("", points, groups=self.groups, ylabel=_wrapped(label)))
        return [(self.caption, figures.bars(panels, "", runs)), *self.more(runs)]


def as_study(
    inside: Comparison,
    *,
    id: str,
    paper: str,
    title: str,
    statement: str,
    expected: str,
    assumptions: tuple[str, ...],
) -> Study:
    """`inside` as a study."""
    return Study(
        id=id,
        paper=paper,
        figure="",
        title=title,
        statement=statement,
        expected=expected,
        assumptions=assumptions,
        needs=inside.needs,
        judge=inside.judge,
        draw=inside.draw,
    )


def _wrapped(label: str, width: int = 26) -> str:
    """`label` in two lines if it is long."""
    if len(label) <= width:
        return label
    middle = min(
        (i for i, c in enumerate(label) if c == " "), key=lambda i: abs(i - len(label) / 2)
    )
    return f"{label[:middle]}\n{label[middle + 1 :]}"

"""Clauses about the order of TCPs in a panel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...stats import Estimate, ratio
from .. import rules
from ..clauses import row
from ..model import Measured, Verdict
from .common import name_of

Part = Mapping[str, Mapping[float, Estimate]]


def gain(
    panel: str, part: Part, one: str, other: str, x: float, percent: float, where: str
) -> Measured:
    """That `one` is more than so many percent above `other` at `x`."""
    name = f"{name_of(one)} above {name_of(other)}, {where.format(x)}, {panel}"
    if part[other][x].mean == 0:
        return row(name, part[one][x], "", f">= {percent:g} %", Verdict.NOT_REPRODUCED)
    found = ratio(part[one][x], part[other][x]).mapped(100.0, -100.0)
    return row(name, found, "%", f">= {percent:g} %", rules.more_than(found, percent))


def _chosen(
    part: Part, names: Iterable[str], places: Sequence[float] | None
) -> list[list[Estimate]]:
    return [[v for x, v in part[n].items() if places is None or x in places] for n in names]


def _closest(
    part: Part, one: str, rivals: Iterable[str], places: Sequence[float] | None, least: bool
) -> tuple[str, float, Estimate | None]:
    found: list[tuple[str, float, Estimate]] = []
    for rival in rivals:
        for x, v in part[one].items():
            if (places is None or x in places) and part[rival][x].mean != 0:
                found.append((rival, x, ratio(v, part[rival][x])))
    if not found:
        return next(iter(rivals)), next(iter(part[one])), None
    return (min if least else max)(found, key=lambda f: f[2].mean)


def _order(
    panel: str,
    part: Part,
    what: str,
    one: str,
    rivals: Sequence[str],
    where: str,
    places: Sequence[float] | None,
    most: bool,
) -> Measured:
    (mine,) = _chosen(part, (one,), places)
    others = _chosen(part, rivals, places)
    verdict = rules.highest(mine, others) if most else rules.lowest(mine, others)
    rival, x, found = _closest(part, one, rivals, places, least=most)
    name = f"{what}, {name_of(one)} / {name_of(rival)}, {where.format(x)}, {panel}"
    expected = f"{'>' if most else '<'} 1, everywhere, against {_names(rivals)}"
    note = "the rival and place where it is " + ("smallest" if most else "largest")
    value: Estimate | float = 1.0 if found is None else found
    return row(name, value, "1", expected, verdict, note)


def _names(rivals: Sequence[str]) -> str:
    return ", ".join(name_of(r) for r in rivals)


def highest(
    panel: str,
    part: Part,
    what: str,
    one: str,
    rivals: Sequence[str],
    where: str,
    places: Sequence[float] | None = None,
) -> Measured:
    """That `one` has more than each of `rivals` at every place."""
    return _order(panel, part, what, one, rivals, where, places, most=True)


def lowest(
    panel: str,
    part: Part,
    what: str,
    one: str,
    rivals: Sequence[str],
    where: str,
    places: Sequence[float] | None = None,
) -> Measured:
    """That `one` has less than each of `rivals` at every place."""
    return _order(panel, part, what, one, rivals, where, places, most=False)


def trend(
    panel: str, part: Part, what: str, names: Sequence[str], where: str, up: bool
) -> Measured:
    """That something grows (or falls) from place to place with each of `names`."""
    rule = rules.increasing if up else rules.decreasing
    verdicts = {n: rule(list(part[n].values())) for n in names}
    worst = min(verdicts, key=lambda n: (_rank(verdicts[n]), _change(part[n], up)))
    first, last = min(part[worst]), max(part[worst])
    name = f"{what}, {name_of(worst)}, {where.format(last)} / {where.format(first)}, {panel}"
    value: Estimate | float = 1.0
    if part[worst][first].mean != 0:
        value = ratio(part[worst][last], part[worst][first])
    return row(
        name,
        value,
        "1",
        f"{'grows' if up else 'falls'} from place to place, with {_names(names)}",
        rules.worst(verdicts.values()),
        "the TCP with which it does so least",
    )


def _rank(verdict: Verdict) -> int:
    return [Verdict.NOT_REPRODUCED, Verdict.PARTLY, Verdict.REPRODUCED].index(verdict)


def _change(of: Mapping[float, Estimate], up: bool) -> float:
    change = of[max(of)].mean - of[min(of)].mean
    return change if up else -change


def similar(
    panel: str,
    part: Part,
    what: str,
    names: Sequence[str],
    other: str,
    where: str,
    places: Sequence[float] | None = None,
    share: float = rules.ABOUT,
) -> Measured:
    """That each of `names` is about where `other` is, at every place."""
    found = [
        (_share(v.mean, part[other][x].mean), n, x)
        for n in names
        for x, v in part[n].items()
        if places is None or x in places
    ]
    far, n, x = max(found, key=lambda f: abs(f[0] - 1.0))
    return row(
        f"{what}, {name_of(n)} / {name_of(other)}, {where.format(x)}, {panel}",
        far,
        "1",
        f"{1 - share:g} to {1 + share:g}, everywhere, with {_names(names)}",
        rules.worst(rules.about(f[0], 1.0, share) for f in found),
        "the TCP and place where it is farthest from 1",
        n=part[n][x].n,
    )


def _share(one: float, other: float) -> float:
    """`one / other`; nothing is like nothing, and unlike anything else."""
    if other != 0:
        return one / other
    return 1.0 if one == 0 else 0.0

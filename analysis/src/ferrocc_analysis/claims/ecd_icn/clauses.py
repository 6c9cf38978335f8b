"""Clauses about orders of queue managements, which several claims have."""

from __future__ import annotations

from collections.abc import Sequence

from ...stats import Estimate
from .. import rules
from ..clauses import row
from ..model import Measured, Verdict
from .common import Table, closest, name_of, part, place


def ordered(
    what: str,
    table: Table,
    one: str,
    rivals: Sequence[str],
    where: str,
    places: Sequence[float] | None = None,
    at: str = "everywhere",
) -> Measured:
    """The clause that `one` has less of something than each of `rivals` at every place."""
    mine = part(table, (one,), places)[one]
    others = part(table, rivals, places)
    verdict = rules.lowest(list(mine.values()), [list(of.values()) for of in others.values()])
    rival, x, found = closest(mine, others)
    return row(
        f"{what}, {name_of(one)} / {name_of(rival)}{_place(where, x)}",
        found,
        "1",
        f"< 1, {at}" if at else "< 1",
        verdict,
        note="the rival and place where it is largest",
    )


def at_most(
    what: str,
    table: Table,
    one: str,
    rivals: Sequence[str],
    bound: float,
    where: str,
    places: Sequence[float],
    at: str,
) -> Measured:
    """The clause that `one` has at most `bound` of what each of `rivals` has, at each of `places`.

    A rival that has nothing has not more than `one`: the clause then fails.
    """
    mine = part(table, (one,), places)[one]
    others = part(table, rivals, places)
    verdicts = []
    for of in others.values():
        for x, value in of.items():
            if value.mean == 0:
                verdicts.append(Verdict.NOT_REPRODUCED)
                continue
            verdicts.append(rules.at_most(closest({x: mine[x]}, {"": {x: value}})[2], bound))
    rival, x, found = closest(mine, others)
    return row(
        f"{what} {at}, {name_of(one)} / {name_of(rival)}{_place(where, x)}",
        found,
        "1",
        f"<= {bound:g}",
        rules.worst(verdicts),
        note="the rival and place where it is largest",
    )


def similar(what: str, one: Estimate, other: Estimate, names: tuple[str, str]) -> Measured:
    """The clause that two means are about equal."""
    share = one.mean / other.mean if other.mean else 1.0
    return row(
        f"{what}, {name_of(names[0])} / {name_of(names[1])}",
        share,
        "1",
        f"about 1 ({1 - rules.ABOUT:g} to {1 + rules.ABOUT:g})",
        rules.about(share, 1.0),
        n=one.n,
    )


def _place(where: str, x: float) -> str:
    return f", {place(where, x)}" if where else ""

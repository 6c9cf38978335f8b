"""A claim made of a sweep."""

from __future__ import annotations

from ..clauses import measured_or_not
from ..model import Claim
from .common import ASSUMPTIONS, PAPER, Sweep


def claim(
    inside: Sweep,
    *,
    id: str,
    figure: str,
    title: str,
    statement: str,
    expected: str,
    assumptions: tuple[str, ...] = (),
) -> Claim:
    """`inside` as a claim."""
    return Claim(
        id=id,
        paper=PAPER,
        figure=figure,
        title=title,
        statement=statement,
        expected=expected,
        assumptions=(*ASSUMPTIONS, *assumptions),
        needs=inside.needs,
        judge=measured_or_not(inside.judge),
        draw=inside.draw,
    )

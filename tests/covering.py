"""Covering arrays: few combinations in which every pair of values meets, and most triples."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence

Row = tuple[int, ...]
Cell = tuple[tuple[int, int], ...]


def covering_array(
    parameters: Mapping[str, Sequence[object]], limit: int, seed: int = 1
) -> list[dict[str, object]]:
    """At most `limit` combinations of one value for each parameter, the same for the same `seed`.

    Every pair of values of two parameters is in one of them; the combinations that the limit
    leaves over are spent on triples. Raises `ValueError` if the pairs do not fit.
    """
    values = list(parameters.values())
    draw = random.Random(seed)
    pairs, triples = (_cells(values, n) for n in (2, 3))
    rows: list[Row] = []
    while len(rows) < limit and (pairs or triples):
        target = pairs or triples
        row = max((_grown(values, target, draw) for _ in range(8)), key=lambda r: _gain(r, target))
        for strength, cells in ((2, pairs), (3, triples)):
            cells.difference_update(itertools.combinations(enumerate(row), strength))
        rows.append(row)
    if pairs:
        raise ValueError(f"{len(pairs)} pairs do not fit into {limit} combinations")
    return [
        {name: v[i] for (name, v), i in zip(parameters.items(), row, strict=True)} for row in rows
    ]


def _cells(values: Sequence[Sequence[object]], strength: int) -> set[Cell]:
    return {
        tuple(zip(places, choice, strict=True))
        for places in itertools.combinations(range(len(values)), strength)
        for choice in itertools.product(*(range(len(values[p])) for p in places))
    }


def _gain(row: Row, cells: set[Cell]) -> int:
    strength = len(next(iter(cells)))
    return sum(c in cells for c in itertools.combinations(enumerate(row), strength))


def _grown(values: Sequence[Sequence[object]], cells: set[Cell], draw: random.Random) -> Row:
    """A row that holds one of `cells`, grown value by value where it gains most."""
    # Sorted, because the order of a set is no basis for a choice.
    chosen = dict(draw.choice(sorted(cells)))
    strength = len(next(iter(cells)))
    rest = [p for p in range(len(values)) if p not in chosen]
    draw.shuffle(rest)
    for place in rest:
        others = list(chosen.items())

        def gain(value: int, place: int = place, others: list = others) -> int:
            return sum(
                tuple(sorted((*some, (place, value)))) in cells
                for some in itertools.combinations(others, strength - 1)
            )

        options = list(range(len(values[place])))
        draw.shuffle(options)
        chosen[place] = max(options, key=gain)
    return tuple(chosen[p] for p in range(len(values)))

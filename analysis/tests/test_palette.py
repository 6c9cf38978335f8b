"""Colours and markers: fixed, complete, and told apart."""

from __future__ import annotations

import itertools

import pytest

from ferrocc_analysis import palette

NAMES = {
    "controllers": ["fixed", "newreno", "cubic", "bbr", "copa", "copa-icn", "ecd", "vivace",
                    "switching"],
    "recoveries": ["standard", "newreno", "veno", "cerl", "newjersey", "rr", "pr", "door", "nce",
                   "no-cut"],
    "aqms": ["drop-tail", "red", "codel", "ecd"],
}  # fmt: skip
TABLES = {
    "controllers": palette.CONTROLLERS,
    "recoveries": palette.RECOVERIES,
    "aqms": palette.AQMS,
}


def rgb(color: str) -> list[float]:
    """Linear RGB of a `#rrggbb` colour."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def luminance(color: str) -> float:
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), rgb(color), strict=True))


@pytest.mark.parametrize("kind", TABLES)
def test_every_name_has_a_style_of_its_own(kind):
    table = TABLES[kind]
    assert sorted(table) == sorted(NAMES[kind])
    assert len({s.color for s in table.values()}) == len(table)
    assert len({s.marker for s in table.values()}) == len(table)


@pytest.mark.parametrize("kind", TABLES)
def test_every_colour_stands_out_from_white(kind):
    for name, s in TABLES[kind].items():
        assert 1.05 / (luminance(s.color) + 0.05) >= 2.0, name


@pytest.mark.parametrize("name", palette.CONTROLLERS)
def test_variants_differ_and_can_be_seen(name):
    looks = [palette.variant(palette.controller(name), n) for n in range(4)]
    assert looks[0] == palette.controller(name)
    assert len({s.color for s in looks[:3]}) == 3
    assert len({s.marker for s in looks}) == 4
    assert all(1.05 / (luminance(s.color) + 0.05) >= 1.7 for s in looks)


def test_the_demos_colours_differ_for_dichromats():
    # Projections of linear RGB for protanopia and deuteranopia (Vienot, Brettel, Mollon 1999).
    projections = {
        "protanopia": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1)),
        "deuteranopia": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1)),
    }
    names = ["copa-icn", "copa", "bbr", "cubic", "newreno"]
    for rows in projections.values():
        seen = {}
        for name in names:
            color = rgb(palette.CONTROLLERS[name].color)
            seen[name] = [max(0.0, sum(w * c for w, c in zip(row, color, strict=True))) ** (1 / 2.2)
                          for row in rows]  # fmt: skip
        for a, b in itertools.combinations(names, 2):
            distance = sum((x - y) ** 2 for x, y in zip(seen[a], seen[b], strict=True)) ** 0.5
            assert distance > 0.12, (a, b)


def test_styles_that_readers_know_by_now_stay():
    pinned = {n: (s.color, s.marker) for n, s in palette.CONTROLLERS.items()}
    assert pinned == {
        "copa-icn": ("#d55e00", "o"),
        "copa": ("#0072b2", "s"),
        "bbr": ("#009e73", "^"),
        "cubic": ("#cc79a7", "D"),
        "newreno": ("#000000", "v"),
        "ecd": ("#56b4e9", "P"),
        "vivace": ("#e69f00", "X"),
        "switching": ("#6b4226", "*"),
        "fixed": ("#7f7f7f", "h"),
    }


def test_an_unknown_controller_has_the_same_style_in_every_process():
    # Pinned, as `hash` of a string is another in every process.
    style = palette.controller("my-own")
    assert (style.color, style.marker, style.name) == ("#882255", "8", "my-own")
    assert palette.controller("my-other") != style
    for name in ("my-own", "a", "b", "c"):
        assert palette.controller(name).color not in {s.color for s in palette.CONTROLLERS.values()}


def test_labels_use_display_names():
    assert palette.display_name("copa-icn + bbr") == "Copa-ICN + BBR"

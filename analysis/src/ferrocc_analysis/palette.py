"""One colour and one marker per algorithm, the same in every figure.

The colours are the Okabe-Ito set, which people with the common forms of colour blindness can tell
apart (M. Okabe, K. Ito, "Color Universal Design", 2008), with its yellow darkened, as lines on
white need, and two greys and a brown of other lightness added. Colour is never the only
difference: each algorithm has its own marker, flows of one run differ by line style.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class Style:
    """How an algorithm is drawn: an sRGB colour `#rrggbb`, a matplotlib marker, a display name."""

    color: str
    marker: str
    name: str


_BLACK: Final = "#000000"
_ORANGE: Final = "#e69f00"
_SKY: Final = "#56b4e9"
_GREEN: Final = "#009e73"
_YELLOW: Final = "#b8a800"
_BLUE: Final = "#0072b2"
_VERMILION: Final = "#d55e00"
_PURPLE: Final = "#cc79a7"
_GREY: Final = "#7f7f7f"
_BROWN: Final = "#6b4226"

#: Congestion controllers.
CONTROLLERS: Final[dict[str, Style]] = {
    "copa-icn": Style(_VERMILION, "o", "Copa-ICN"),
    "copa": Style(_BLUE, "s", "Copa"),
    "bbr": Style(_GREEN, "^", "BBR"),
    "cubic": Style(_PURPLE, "D", "CUBIC"),
    "newreno": Style(_BLACK, "v", "NewReno"),
    "ecd": Style(_SKY, "P", "ECD"),
    "vivace": Style(_ORANGE, "X", "PCC Vivace"),
    "switching": Style(_BROWN, "*", "Switching"),
    "fixed": Style(_GREY, "h", "Fixed window"),
}

#: How a TCP sender judges duplicate ACKs.
RECOVERIES: Final[dict[str, Style]] = {
    "standard": Style(_GREY, "h", "SACK + PRR"),
    "newreno": Style(_BLACK, "v", "NewReno"),
    "veno": Style(_ORANGE, "X", "Veno"),
    "cerl": Style(_BLUE, "s", "CERL"),
    "newjersey": Style(_BROWN, "*", "New Jersey"),
    "rr": Style(_GREEN, "^", "RR-TCP"),
    "pr": Style(_PURPLE, "D", "TCP-PR"),
    "door": Style(_SKY, "P", "TCP-DOOR"),
    "nce": Style(_VERMILION, "o", "TCP NCE"),
    "no-cut": Style(_YELLOW, "p", "No cut"),
}

#: Active queue management.
AQMS: Final[dict[str, Style]] = {
    "drop-tail": Style(_BLACK, "v", "Drop Tail"),
    "red": Style(_ORANGE, "X", "RED"),
    "codel": Style(_BLUE, "s", "CoDel"),
    "ecd": Style(_VERMILION, "o", "ECD"),
}

_FALLBACK_COLORS: Final = ("#332288", "#88ccee", "#44aa99", "#117733", "#999933", "#ddcc77",
                           "#cc6677", "#882255", "#aa4499")  # fmt: skip
_FALLBACK_MARKERS: Final = ("<", ">", "1", "2", "3", "4", "8", "d", "H")

#: Markers that no algorithm above has, for further runs of one algorithm.
_VARIANT_MARKERS: Final = ("<", ">", "d", "H", "8", "1", "2", "3", "4")
#: Shades of a colour, and the share of white or black in the farthest.
_SHADES: Final = 2
_FARTHEST: Final = 0.5

#: Line styles of a run's flows, by the flow's position.
LINE_STYLES: Final = (
    "-",
    (0, (4, 1.5)),
    (0, (1, 1)),
    (0, (5, 1, 1, 1)),
    (0, (7, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
)


def controller(name: str) -> Style:
    """The style of a controller; one not in the table has a style that depends on its name only."""
    return CONTROLLERS.get(name) or _fallback(name)


def recovery(name: str) -> Style:
    """The style of a recovery; see `controller`."""
    return RECOVERIES.get(name) or _fallback(name)


def aqm(name: str) -> Style:
    """The style of an AQM; see `controller`."""
    return AQMS.get(name) or _fallback(name)


def variant(style: Style, number: int) -> Style:
    """`style` for another run of the same algorithm: number 0 is `style` itself, the others have
    another shade (light colours darker, dark ones lighter) and the marker of their number.
    """
    if number == 0:
        return style
    marker = _VARIANT_MARKERS[(number - 1) % len(_VARIANT_MARKERS)]
    share = _FARTHEST * min(number, _SHADES) / _SHADES
    rgb = [int(style.color[i : i + 2], 16) for i in (1, 3, 5)]
    end = 0 if sum(rgb) > 3 * 128 else 255
    color = "#" + "".join(f"{round(c + (end - c) * share):02x}" for c in rgb)
    return Style(color, marker, style.name)


def line_style(index: int) -> Any:
    """The line style of a run's flow number `index`, from 0."""
    return LINE_STYLES[index % len(LINE_STYLES)]


def display_name(label: str) -> str:
    """`label` with the controllers' display names: `copa-icn + bbr` becomes `Copa-ICN + BBR`."""
    return " + ".join(controller(part).name for part in label.split(" + "))


def _fallback(name: str) -> Style:
    # `hash` is salted per process, so it would not be stable.
    digest = hashlib.sha256(name.encode()).digest()
    return Style(
        _FALLBACK_COLORS[digest[0] % len(_FALLBACK_COLORS)],
        _FALLBACK_MARKERS[digest[1] % len(_FALLBACK_MARKERS)],
        name,
    )

"""What cells are called in a figure, and titles that fit their columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from .. import palette
from ..runs import Run
from ..schema import RANDOM_FIELDS

_RANDOM_PART = re.compile(rf"(^|,)({'|'.join(RANDOM_FIELDS)})=\d+")
#: The settings of a sweep that the names of controllers, or of queue managements, say already.
_CONTROLLER: Final = "controller="
_AQM: Final = "aqm="
#: Sizes of titles in points: as large as fits, a long word is broken below the smallest.
_SIZES: Final = (8.5, 8.0, 7.5, 7.0, 6.5)
_INCH: Final = 72.0
#: Lines of a title that are better than a smaller size.
_FEW_LINES: Final = 3


def by_aqm(cells: Sequence[Sequence[Run]]) -> bool:
    """Whether queue managements are compared: they differ, while all flows have one controller."""
    controllers = {run.controllers for cell in cells for run in cell}
    aqms = {run.aqm for cell in cells for run in cell}
    return len(controllers) == 1 and all(len(c) == 1 for c in controllers) and len(aqms) > 1


def cell_titles(cells: Sequence[Sequence[Run]]) -> list[str]:
    """What to call each cell: its controllers (where queue managements are compared, these), and
    in a second line what tells it apart if they do not.

    A sweep names its cells `path=value,path=value`. What is equal in all cells, what tells the runs
    of one cell apart and what the controllers' names say is left out, unless it is needed after
    all; folders tell apart what names do not.
    """
    compared = by_aqm(cells)
    if compared:
        labels = [palette.aqm(cell[0].aqm or "").name for cell in cells]
    else:
        labels = [palette.display_name(cell[0].label) for cell in cells]
    parts = [_RANDOM_PART.sub("", cell[0].name).strip(",").split(",") for cell in cells]
    full = [",".join(p) for p in parts]
    common = set(parts[0]).intersection(*parts[1:]) if len(cells) > 1 else set()
    short = [
        ", ".join(
            left
            for part in p
            if part not in common and (left := _beside_label(part, cell[0], compared))
        )
        for p, cell in zip(parts, cells, strict=True)
    ]
    folders = [cell[0].folder.as_posix() for cell in cells]
    choices = [labels]
    for seconds in (short, full, folders):
        pairs = zip(labels, seconds, strict=True)
        choices.append([f"{label}\n{second}" if second else label for label, second in pairs])

    def shortest(i: int) -> str:
        return next((t[i] for t in choices if t.count(t[i]) == 1), choices[-1][i])

    return [shortest(i) for i in range(len(cells))]


def _beside_label(part: str, run: Run, compared: bool) -> str:
    """What a cell's name says in `part` beside its label: nothing of `controller=copa`, and
    `mode-fixed` of `controller=copa_mode-fixed`, if Copa is one of the controllers; the same of
    `aqm=codel` where queue managements are `compared`.
    """
    for prefix, names in ((_CONTROLLER, run.controllers), (_AQM, (run.aqm,) if compared else ())):
        if part.startswith(prefix):
            name, _, settings = part.removeprefix(prefix).partition("_")
            if name in names:
                return settings
    return part


def set_titles(panels: Sequence[Axes], titles: Sequence[str], width_in: float) -> None:
    """Puts `titles` over `panels`, wrapped to `width_in` in one size for all of them: the largest
    in which none takes many lines or breaks a word, else the smallest.
    """
    wrapped: list[str] = []
    size = _SIZES[-1]
    for size in _SIZES:
        wrapped = [_wrapped(title, width_in, size) for title in titles]
        if all(
            text.count("\n") < _FEW_LINES and _width_in(text, size) <= width_in for text in wrapped
        ):
            break
    else:
        wrapped = [_broken(text, width_in, size) for text in wrapped]
    for ax, text in zip(panels, wrapped, strict=False):
        ax.set_title(text, fontsize=size)


def _wrapped(title: str, width_in: float, size: float) -> str:
    """`title` with lines broken at commas and between controllers."""
    lines: list[str] = []
    for line in title.split("\n"):
        rest = ""
        for piece in re.split(r"(?<=,) |(?<=,)(?=\S)| (?=\+)", line):
            longer = f"{rest} {piece}".strip()
            if rest and _width_in(longer, size) > width_in:
                lines.append(rest)
                longer = piece
            rest = longer
        lines.append(rest)
    return "\n".join(lines)


def _broken(text: str, width_in: float, size: float) -> str:
    """`text` with the lines that are still too long broken anywhere."""
    lines: list[str] = []
    for line in text.split("\n"):
        share = width_in / max(_width_in(line, size), width_in)
        letters = max(1, int(share * len(line)))
        lines += textwrap.wrap(line, letters) or [""] if share < 1 else [line]
    return "\n".join(lines)


def _width_in(text: str, size: float) -> float:
    """The width of the longest line of a title in inches."""
    font = FontProperties(family="DejaVu Sans", weight="bold", size=size)
    lines = text.split("\n")
    widths = [text_to_path.get_text_width_height_descent(t, font, ismath=False)[0] for t in lines]
    return float(max(widths)) / _INCH

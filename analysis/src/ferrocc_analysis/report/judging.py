"""From a claim and its runs to its entry."""

from __future__ import annotations

import hashlib
import io
import math
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure

from ..claims import Claim, Measured, Results, Scale, Study
from ..figures import style
from ..runs import Run
from .entry import Context, Entry, Picture, Row, kind_of

#: Resolution of the page's figures in dots per inch: sharp at a phone's and a page's width.
_DPI: Final = 144
#: The package, whose code a judgement depends on.
_PACKAGE: Final = Path(__file__).parent.parent


def judge(
    study: Study, results: Results, scale: Scale, context: Context
) -> tuple[Entry, list[bytes]]:
    """The entry of `study`, and its figures as PNG in the order of their captions.

    A judgement that fails for a reason of its own gives an entry that says so: the other claims
    must not suffer.
    """
    try:
        judgement = study.judge(results, scale)
        rows = tuple(_row(m) for m in judgement.measured)
        verdict = str(judgement.verdict) if judgement.verdict is not None else None
        if isinstance(study, Claim) and verdict is None:
            raise ValueError("the judgement of a claim has no verdict")
        drawn = [(caption, _png(figure)) for caption, figure in study.draw(results)]
    except Exception as e:
        what = without_places(" ".join(str(e).split()), results)
        reason = f"could not be judged: {type(e).__name__}: {what}"
        return _entry(study, context, "incomplete", None, reason), []
    pictures = tuple(Picture("", caption) for caption, _ in drawn)
    entry = _entry(study, context, "judged", verdict, judgement.reason, rows, pictures)
    return entry, [content for _, content in drawn]


def without_places(text: str, results: Results) -> str:
    """`text` without the folders that the runs lie in: they have no place in the report."""
    places = {f"{run.folder.parent}{os.sep}" for runs in results.values() for run in runs}
    for place in sorted(places, key=len, reverse=True):
        text = text.replace(place, "")
    return text


def missing(study: Study, context: Context, problems: Sequence[str]) -> Entry:
    """The entry of a claim that lacks runs; `problems` says of each why, in a line."""
    shown = "; ".join(problems[:3])
    more = f"; and {len(problems) - 3} more" if len(problems) > 3 else ""
    reason = f"{len(problems)} of {context.runs} runs are missing: {shown}{more}"
    if not context.runs:
        reason = f"its runs cannot be planned: {shown}{more}"
    return _entry(study, context, "incomplete", None, reason)


def _entry(
    study: Study,
    context: Context,
    state: str,
    verdict: str | None,
    reason: str,
    rows: tuple[Row, ...] = (),
    pictures: tuple[Picture, ...] = (),
) -> Entry:
    return Entry(
        id=study.id,
        kind=kind_of(study),
        paper=study.paper,
        figure=study.figure,
        title=study.title,
        statement=study.statement,
        expected=study.expected,
        assumptions=tuple(study.assumptions),
        scale=context.scale,
        state=state,
        verdict=verdict,
        preliminary=context.preliminary,
        reason=reason,
        rows=rows,
        seeds=context.seeds,
        runs=context.runs,
        scenarios=context.scenarios,
        command=context.command,
        provenance=context.provenance,
        pictures=pictures,
        inputs=context.inputs,
    )


def _row(measured: Measured) -> Row:
    verdict = str(measured.verdict) if measured.verdict is not None else None
    return Row(
        measured.name,
        _finite(measured.value),
        _finite(measured.low),
        _finite(measured.high),
        measured.unit,
        measured.n,
        measured.expected,
        verdict,
        measured.note,
    )


def _finite(value: Any) -> float | None:
    """`value` as JSON can write it."""
    return float(value) if value is not None and math.isfinite(value) else None


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    with mpl.rc_context(style.RC):
        figure.savefig(out, format="png", dpi=_DPI, metadata={"Software": None})
    return out.getvalue()


def provenance(runs: Sequence[Run]) -> tuple[tuple[str, str], ...]:
    """The versions that `runs` were made with."""
    found: dict[str, str | None] = {}
    for name, field in (
        ("ferrocc", "ferrocc_version"),
        ("git", "git"),
        ("ns3", "ns3_version"),
    ):
        values = dict.fromkeys(str(r.summary.get(field, "unknown")) for r in runs)
        found[name] = ", ".join(values)
    return tuple((k, v or "unknown") for k, v in found.items())


@cache
def code_digest() -> str:
    """Changes when the code of this package does, and with it perhaps a judgement."""
    digest = hashlib.sha256(mpl.__version__.encode())
    for file in sorted(_PACKAGE.rglob("*.py")):
        digest.update(file.relative_to(_PACKAGE).as_posix().encode() + b"\0")
        digest.update(file.read_bytes() + b"\0")
    return digest.hexdigest()

"""The report: `index.html`, which needs nothing beside it, and `claims.json`."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import jinja2
from markupsafe import Markup

from .. import __version__
from ..campaign.folder import write_atomically
from ..claims import Study
from .entry import Entry, Store, kind_of

#: Version of `claims.json`.
SCHEMA: Final = 1
PAGE: Final = "index.html"
CLAIMS: Final = "claims.json"

_HERE: Final = Path(__file__).parent
#: The papers' names for people.
_PAPERS: Final = {
    "copa-icn": "Copa-ICN",
    "ecd-icn": "ECD",
    "cc-switching": "Switching",
    "tcp-nce": "TCP NCE",
}
#: In the order of the legend.
OUTCOMES: Final = ("reproduced", "partly", "not reproduced", "incomplete", "not run")


def write_report(folder: Path, studies: Sequence[Study], store: Store) -> None:
    """Writes the page and the JSON of all `studies`: what `store` has of each, whatever call it is
    of, and of the others that they were not run.
    """
    entries = {s.id: e for s in studies if (e := store.load(s.id)) is not None}
    write_atomically(folder / CLAIMS, claims_json(studies, entries))
    write_atomically(folder / PAGE, page(studies, entries, store))


def claims_json(studies: Sequence[Study], entries: Mapping[str, Entry]) -> str:
    """`claims.json`."""
    rows: dict[str, list[dict[str, Any]]] = {"claim": [], "study": []}
    for s in studies:
        if s.id in entries:
            rows[kind_of(s)].append(entries[s.id].as_json())
    content = {"schema": SCHEMA, "claims": rows["claim"], "studies": rows["study"]}
    return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def page(studies: Sequence[Study], entries: Mapping[str, Entry], store: Store) -> str:
    """`index.html`: what has results in full, below it a line for each that was not run."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["number"] = number
    shown = [_section(s, entries.get(s.id), store) for s in studies]
    claims = [s for s in shown if s["kind"] == "claim"]
    others = [s for s in shown if s["kind"] == "study"]
    counts = {o: sum(c["outcome"] == o for c in claims) for o in OUTCOMES}
    text = environment.get_template("page.html.j2").render(
        claims=_run(claims),
        unrun_claims=_unrun(claims),
        studies=_run(others),
        unrun_studies=_unrun(others),
        papers=[(p, paper_name(p)) for p in dict.fromkeys(c["paper"] for c in claims)],
        outcomes=[(o, n) for o, n in counts.items() if n],
        preliminary=any(c["preliminary"] for c in claims),
        version=__version__,
        css=Markup((_HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup((_HERE / "page.js").read_text(encoding="utf-8")),
    )
    return text.rstrip() + "\n"


def _run(sections: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [s for s in sections if s["entry"] is not None]


def _unrun(sections: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [s for s in sections if s["entry"] is None]


def paper_name(paper: str) -> str:
    """The paper's name for people."""
    return _PAPERS.get(paper, paper)


def number(value: float | None) -> str:
    """Four significant digits, without an exponent where one can do without."""
    if value is None:
        return "\N{EM DASH}"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e6 or size < 1e-4:
        return f"{value:.3g}"
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _section(study: Study, entry: Entry | None, store: Store) -> dict[str, Any]:
    """What the template shows of a claim. Of one that was not run its text is all there is."""
    common = {
        "id": study.id,
        "kind": kind_of(study),
        "paper": study.paper,
        "paper_name": paper_name(study.paper),
        "figure": study.figure,
        "title": study.title,
        "statement": study.statement,
        "expected": study.expected,
        "assumptions": study.assumptions,
    }
    if entry is None:
        return common | {
            "outcome": "not run",
            "preliminary": False,
            "reason": "",
            "judged": (),
            "informing": (),
            "headline": None,
            "figures": [],
            "command": f"cargo xtask reproduce {study.id}",
            "scenarios": (),
            "entry": None,
        }
    pictures = [(p.caption, _embedded(store.picture(entry, p))) for p in entry.pictures]
    return common | {
        "outcome": entry.outcome,
        "preliminary": entry.preliminary,
        "reason": entry.reason,
        # A study's rows are all there is of it.
        "judged": [r for r in entry.rows if r.verdict or not entry.is_claim],
        "informing": [r for r in entry.rows if not r.verdict and entry.is_claim],
        "headline": entry.rows[0] if entry.rows else None,
        "figures": pictures,
        "command": entry.command,
        "scenarios": entry.scenarios,
        "entry": entry,
    }


def _embedded(png: bytes) -> dict[str, Any]:
    """A PNG as a link that holds it, and its width and height in pixels (from its header)."""
    return {
        "data": "data:image/png;base64," + base64.b64encode(png).decode(),
        "width": int.from_bytes(png[16:20], "big"),
        "height": int.from_bytes(png[20:24], "big"),
    }

"""What came of one claim, as it is kept between calls and shown in the report."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..campaign.folder import write_atomically
from ..claims import Claim, Study

#: Version of the files below.
_SCHEMA: Final = 1
_FILE: Final = "entry.json"


@dataclass(frozen=True)
class Row:
    """A measured value; see `claims.Measured`."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    n: int
    expected: str
    verdict: str | None
    note: str


@dataclass(frozen=True)
class Picture:
    """A figure: a file beside the entry, and its caption."""

    file: str
    caption: str


@dataclass(frozen=True)
class Entry:
    """What came of a claim or, without a verdict, of a study.

    `state` is `judged`, or `incomplete` where runs are missing or it could not be judged: `reason`
    then says why. `seeds` is the number of runs of the cell that has fewest. `inputs` stands for
    all that the rest follows from. `provenance` has the versions that the runs were made with.
    """

    id: str
    kind: str
    paper: str
    figure: str
    title: str
    statement: str
    expected: str
    assumptions: tuple[str, ...]
    scale: str
    state: str
    verdict: str | None
    preliminary: bool
    reason: str
    rows: tuple[Row, ...]
    seeds: int
    runs: int
    scenarios: tuple[str, ...]
    command: str
    provenance: tuple[tuple[str, str], ...]
    pictures: tuple[Picture, ...]
    inputs: str

    @property
    def is_claim(self) -> bool:
        """Whether it has, or could have, a verdict."""
        return self.kind == "claim"

    @property
    def outcome(self) -> str:
        """The verdict in the page's words."""
        if self.state != "judged":
            return "incomplete"
        return self.verdict or "study"

    def as_json(self) -> dict[str, Any]:
        """The entry of `claims.json`."""
        first = self.rows[0] if self.rows else None
        interval = [first.low, first.high] if first and first.low is not None else None
        return {
            "id": self.id,
            "paper": self.paper,
            "figure": self.figure,
            "title": self.title,
            "verdict": self.verdict,
            "preliminary": self.preliminary,
            "scale": self.scale,
            "measured": [dataclasses.asdict(r) for r in self.rows],
            "expected": self.expected,
            "ci": interval,
            "seeds": self.seeds,
            "runs": self.runs,
            "reason": self.reason,
            "scenarios": list(self.scenarios),
            "command": self.command,
            **dict(self.provenance),
        }


def kind_of(study: Study) -> str:
    """`claim` or `study`."""
    return "claim" if isinstance(study, Claim) else "study"


@dataclass(frozen=True)
class Store:
    """Entries on disk: a folder for each, `entry.json` and the pictures beside it."""

    folder: Path

    def load(self, id_: str) -> Entry | None:
        """The entry of a claim; none if there is none that can be used."""
        place = self.folder / id_
        try:
            data = json.loads((place / _FILE).read_text(encoding="utf-8"))
            if data.pop("schema") != _SCHEMA:
                return None
            data["rows"] = tuple(Row(**r) for r in data["rows"])
            data["pictures"] = tuple(Picture(**p) for p in data["pictures"])
            data["provenance"] = tuple((str(k), str(v)) for k, v in data["provenance"])
            data["assumptions"] = tuple(data["assumptions"])
            data["scenarios"] = tuple(data["scenarios"])
            entry = Entry(**data)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        there = all((place / p.file).is_file() for p in entry.pictures)
        return entry if there and entry.id == id_ else None

    def picture(self, entry: Entry, picture: Picture) -> bytes:
        """A picture's content."""
        return (self.folder / entry.id / picture.file).read_bytes()

    def save(self, entry: Entry, pictures: Sequence[bytes] = ()) -> Entry:
        """Keeps `entry` with `pictures` (PNG, in the order of its captions); returns it with the
        pictures' files. At any moment the old entry or the new one is there, whole.
        """
        place = self.folder / entry.id
        named = []
        for picture, content in zip(entry.pictures, pictures, strict=True):
            file = f"{hashlib.sha256(content).hexdigest()[:16]}.png"
            write_atomically(place / file, content)
            named.append(dataclasses.replace(picture, file=file))
        entry = dataclasses.replace(entry, pictures=tuple(named))
        data = {"schema": _SCHEMA, **dataclasses.asdict(entry)}
        write_atomically(place / _FILE, json.dumps(data, indent=1) + "\n")
        used = {p.file for p in entry.pictures} | {_FILE}
        for old in place.iterdir():
            if old.is_file() and old.name not in used:
                old.unlink(missing_ok=True)
        return entry


@dataclass(frozen=True)
class Context:
    """What a claim's judgement is made from beside its runs."""

    scale: str
    preliminary: bool
    command: str
    inputs: str
    scenarios: tuple[str, ...]
    seeds: int
    runs: int
    provenance: tuple[tuple[str, str], ...] = field(default=())

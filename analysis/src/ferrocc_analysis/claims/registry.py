"""All claims and studies, and how they are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..errors import one_of
from . import copa_icn, ecd_icn
from .model import Claim, Study

_PAPERS: Final = (copa_icn, ecd_icn)
#: All claims by id, paper by paper in the papers' order.
REGISTRY: Final[dict[str, Claim]] = {c.id: c for paper in _PAPERS for c in paper.CLAIMS}
#: What is shown without a verdict, by id.
STUDIES: Final[dict[str, Study]] = {s.id: s for paper in _PAPERS for s in paper.STUDIES}

#: The name that means all studies that leave a part of an algorithm out or change its setting.
ABLATIONS: Final = "ablations"


def select(names: Sequence[str]) -> list[Claim]:
    """The claims called `names`, each once, in the registry's order; all if there are no names.

    A name is a paper (`copa-icn`), an id (`C2-fig6`) or its first part (`C2`), in any letter case;
    `ablations` and a study's id (`A2-probe`, `A2`) select no claim (see `select_studies`). Raises
    `InputError` that names the nearest one if a name is none of these.
    """
    wanted = _wanted(names)
    return [c for c in REGISTRY.values() if c.id in wanted]


def select_studies(names: Sequence[str]) -> list[Study]:
    """The studies called `names`: a paper's, one by its id or its first part, or with `ablations`
    all of them; all if there are no names. Raises `InputError` as `select` does.
    """
    wanted = _wanted(names)
    return [s for s in STUDIES.values() if s.id in wanted]


def accepted_names() -> list[str]:
    """Everything that `select` takes."""
    everything = [*REGISTRY.values(), *STUDIES.values()]
    papers = dict.fromkeys(c.paper for c in everything)
    shorts = [c.short for c in everything]
    return [*papers, ABLATIONS, *shorts, *(c.id for c in everything)]


def _wanted(names: Sequence[str]) -> set[str]:
    everything: dict[str, Study] = {**REGISTRY, **STUDIES}
    if not names:
        return set(everything)
    known = {name.lower(): name for name in accepted_names()}
    wanted: set[str] = set()
    for given in names:
        name = known.get(given.lower())
        if name is None:
            raise one_of("claim", given, known.values())
        if name == ABLATIONS:
            wanted.update(STUDIES)
        wanted.update(c.id for c in everything.values() if name in (c.paper, c.id, c.short))
    return wanted

"""The claims of the Copa-ICN paper, C1 to C13, and studies beside them."""

from __future__ import annotations

from typing import Final

from ..model import Claim, Study
from . import convergence, joins

CLAIMS: Final[tuple[Claim, ...]] = (
    joins.C2,
    joins.C3,
    joins.C4,
    convergence.C5,
    convergence.C6,
    convergence.C7,
)
STUDIES: Final[tuple[Study, ...]] = ()

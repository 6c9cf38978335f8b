"""The claims of the Copa-ICN paper, C1 to C13, and studies beside them."""

from __future__ import annotations

from typing import Final

from ..model import Claim, Study
from . import clocks, completion, convergence, formulas, joins, opposite, replicas, studies

CLAIMS: Final[tuple[Claim, ...]] = (
    formulas.C1,
    joins.C2,
    joins.C3,
    joins.C4,
    convergence.C5,
    convergence.C6,
    convergence.C7,
    opposite.C8,
    completion.C9,
    formulas.C10,
    formulas.C11,
    replicas.C12,
    clocks.C13,
)
STUDIES: Final[tuple[Study, ...]] = studies.STUDIES

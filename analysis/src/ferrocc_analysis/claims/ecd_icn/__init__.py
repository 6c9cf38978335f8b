"""The claims of the ECD paper, E1 to E12, and studies beside them."""

from __future__ import annotations

from typing import Final

from ..model import Claim, Study
from . import basic, mechanisms, queues, studies, workloads

CLAIMS: Final[tuple[Claim, ...]] = (
    basic.E1,
    basic.E2,
    queues.E3,
    queues.E4,
    queues.E5,
    workloads.E6,
    workloads.E7,
    workloads.E8,
    workloads.E9,
    mechanisms.E10,
    mechanisms.E11,
    mechanisms.E12,
)
STUDIES: Final[tuple[Study, ...]] = studies.STUDIES

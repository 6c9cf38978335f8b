"""The claims of the NCE paper, N1 to N22, and studies beside them."""

from __future__ import annotations

from typing import Final

from ..model import Claim, Study
from . import accuracy, behaviour, dumbbells, studies, throughput

CLAIMS: Final[tuple[Claim, ...]] = (
    accuracy.N1,
    throughput.N2,
    throughput.N3,
    throughput.N4,
    behaviour.N5,
    throughput.N6,
    throughput.N7,
    throughput.N8,
    throughput.N9,
    behaviour.N10,
    dumbbells.N11,
    dumbbells.N12,
    dumbbells.N13,
    behaviour.N14,
    behaviour.N15,
    accuracy.N16,
    accuracy.N17,
    accuracy.N18,
    accuracy.N19,
    dumbbells.N20,
    dumbbells.N21,
    behaviour.N22,
)
STUDIES: Final[tuple[Study, ...]] = studies.STUDIES

"""The claims of the Copa-ICN paper, C1 to C13, and studies beside them."""

from __future__ import annotations

from typing import Final

from ..model import Claim, Study
from . import joins

CLAIMS: Final[tuple[Claim, ...]] = (joins.C2,)
STUDIES: Final[tuple[Study, ...]] = ()

"""The papers' claims as code: what to run, how to measure it, and the verdict.

`REGISTRY` has all claims by id, `STUDIES` what is shown beside them without a verdict; `select`
finds both by name.
"""

from . import rules
from .model import Claim, Judgement, Measured, Need, Results, Scale, Study, Verdict
from .registry import REGISTRY, STUDIES, select

__all__ = [
    "REGISTRY",
    "STUDIES",
    "Claim",
    "Judgement",
    "Measured",
    "Need",
    "Results",
    "Scale",
    "Study",
    "Verdict",
    "rules",
    "select",
]

"""Campaigns: the runs that claims need, each made once and kept by its content.

`planning` turns needs into cells, `cost` says beforehand what they take, `batches` packs them into
jobs, `execute` has Snakemake make those that are missing; `worker` is the program of one job.
"""

from . import batches
from .cells import Build, Cell
from .cost import CostModel
from .execute import Failure, Interrupted, execute
from .folder import Folder
from .planning import Planned, plan

__all__ = [
    "Build",
    "Cell",
    "CostModel",
    "Failure",
    "Folder",
    "Interrupted",
    "Planned",
    "batches",
    "execute",
    "plan",
]

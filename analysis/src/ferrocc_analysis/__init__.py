"""Figures, tables and metrics of ferrocc's ns-3 runs.

from ferrocc_analysis import load_runs, overview
figure = overview(load_runs(["out/demo"]))
"""

from .errors import InputError
from .figures import overview, save, time_figure
from .metrics import METRICS, evaluate
from .runs import Flow, Run, find_runs, group_cells, load_runs
from .tables import flow_table

__all__ = [
    "METRICS",
    "Flow",
    "InputError",
    "Run",
    "evaluate",
    "find_runs",
    "flow_table",
    "group_cells",
    "load_runs",
    "overview",
    "save",
    "time_figure",
]
__version__ = "0.1.0"

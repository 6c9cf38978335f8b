"""Figures of runs over time, and of what was measured of them.

All functions return matplotlib objects and write nothing, but for `save`, which writes files
atomically.
"""

from matplotlib.figure import Figure

from .grid import overview, time_figure
from .panels import KINDS, Kind, draw_panel
from .points import Mark, Panel, Points, bars, curves, flow_figure
from .save import FORMATS, save

__all__ = [
    "FORMATS",
    "KINDS",
    "Figure",
    "Kind",
    "Mark",
    "Panel",
    "Points",
    "bars",
    "curves",
    "draw_panel",
    "flow_figure",
    "overview",
    "save",
    "time_figure",
]

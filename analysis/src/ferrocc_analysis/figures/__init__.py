"""Figures of runs over time. All functions return matplotlib objects and write nothing, but for
`save`, which writes files atomically.
"""

from .grid import overview, time_figure
from .panels import KINDS, Kind, draw_panel
from .save import FORMATS, save

__all__ = ["FORMATS", "KINDS", "Kind", "draw_panel", "overview", "save", "time_figure"]

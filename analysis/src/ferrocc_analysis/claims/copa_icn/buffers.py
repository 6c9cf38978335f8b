"""The bottleneck's buffer, which the paper does not give, and what depends on it."""

from __future__ import annotations

from typing import Final

from ... import palette, quantities
from ...figures import Figure, Panel, Points, curves
from ...runs import Run
from ..clauses import by_controller, mean, runs_of
from ..model import Need, Results, Scale
from .common import FOUR, in_order, name_of, numbers

SETTINGS: Final = {"a": "copa-icn/buffer-a", "b": "copa-icn/buffer-b"}
_TITLES: Final = {"a": "(a) 20 Mbps, 30 ms", "b": "(b) 60 Mbps, 50 ms"}
#: Buffers in packets that are marked on the axis.
_TICKS: Final = (30, 100, 300, 1000)


def needs(scale: Scale) -> tuple[Need, ...]:
    """Both settings of Figures 6 to 8 with every buffer."""
    return tuple(Need(s, (), numbers(scale)) for s in SETTINGS.values())


def label(run: Run) -> str:
    """The buffer as a scenario writes it: `2 BDP` where it is so many bandwidth-delay products,
    else `100 packets`.
    """
    limit = run.setting("topology.bottleneck.buffer")
    size = quantities.size_bytes(limit)
    rtprop = run.rtprop_s
    if size is not None and rtprop:
        return f"{size * 8e-6 / (float(run.bottleneck['rate_mbps']) * rtprop):.3g} BDP"
    count = quantities.packets(limit)
    return f"{count:.0f} packets" if count is not None else str(limit)


def by_buffer(results: Results) -> dict[str, dict[str, list[Run]]]:
    """Runs by buffer and setting, buffers from small to large, those in packets last. A buffer
    that was not run in both settings is left out.
    """
    found: dict[str, dict[str, list[Run]]] = {}
    for letter, scenario in SETTINGS.items():
        for run in runs_of(results, scenario):
            found.setdefault(label(run), {}).setdefault(letter, []).append(run)

    def place(text: str) -> tuple[bool, float]:
        number, _, unit = text.partition(" ")
        return unit != "BDP", float(number)

    return {k: found[k] for k in sorted(found, key=place) if len(found[k]) == len(SETTINGS)}


def draw(results: Results, metric: str, ylabel: str, caption: str) -> list[tuple[str, Figure]]:
    """`metric` against the buffer in packets, a panel per setting; nothing if nothing was run."""
    panels, all_runs = [], []
    for letter, scenario in SETTINGS.items():
        runs = runs_of(results, scenario)
        if not runs:
            continue
        all_runs += in_order(runs)
        groups = by_controller(runs)
        points = []
        for controller in (c for c in FOUR if c in groups):
            by_size: dict[float, list[Run]] = {}
            for run in groups[controller]:
                by_size.setdefault(run.buffer_packets or 0.0, []).append(run)
            sizes = sorted(by_size)
            values = [mean(by_size[size], metric) for size in sizes]
            look = palette.controller(controller)
            points.append(Points(name_of(controller), look, values, sizes))
        panels.append(Panel(_TITLES[letter], points))
    if not panels:
        return []
    figure = curves(panels, "Buffer (packets)", ylabel, all_runs, log_x=True, ticks=_TICKS)
    return [(caption, figure)]

"""What runs cost before they are made: packets over the bottleneck by packets per second.

The packets follow from the scenario; how many a core simulates in a second is learned from the runs
that were made in this campaign's folder, scenario by scenario.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from .. import quantities, schema
from .cells import Cell
from .folder import write_atomically

#: DATA packets over the bottleneck that a core simulates in a second before anything was learned.
DEFAULT_PACKETS_PER_S: Final = 50_000.0
#: The same through a line of routers with queue management, measured with ecd-icn/fig9 on such a
#: core.
LINE_PACKETS_PER_S: Final = 25_000.0
#: The same of segments over ns-3's TCP, measured on three hops, and over the six of the NCE paper.
TCP_PACKETS_PER_S: Final = 20_000.0
MULTIHOP_PACKETS_PER_S: Final = 10_000.0
#: Packets per core-second that are taken for learned; anything else in the file is damage.
_SLOWEST: Final = 1.0
_FASTEST: Final = 1e9
#: Where that number is from, for people.
DEFAULT_SOURCE: Final = (
    "at 50,000 packets per core-second, measured with copa-icn/fig6a on one x86-64 core, 25,000 "
    "through a line of routers, 20,000 over TCP; nothing was learned here yet"
)
#: What a run takes beside its packets: start of the process, writing of its files, seconds.
START_S: Final = 0.05
#: Bytes of headers (IPv4 and TCP) of a segment.
_TCP_HEADER_BYTES: Final = 40
#: Recoveries that do not cut the window for random losses, mostly.
_KEEP_THEIR_WINDOW: Final = ("cerl", "nce", "no-cut", "newjersey", "door", "rr")
#: Bytes that a link adds to an IP packet.
_LINK_HEADER_BYTES: Final = 2
#: Bottleneck rate where a configuration has none that can be read, bit/s.
_SOME_RATE_BPS: Final = 20e6
#: Length of a run where its configuration has none that can be read, seconds.
_SOME_DURATION_S: Final = 20.0


@dataclass
class _Sum:
    """Packets that were predicted for finished runs, and core-seconds that these took."""

    packets: float = 0.0
    wall_s: float = 0.0


@dataclass
class CostModel:
    """Packets per core-second, learned in `file`."""

    file: Path
    learned: dict[str, _Sum] = field(default_factory=dict)

    @classmethod
    def load(cls, file: Path) -> CostModel:
        """What was learned in `file`; nothing if it is not there or not readable."""
        model = cls(file)
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            for scenario, (packets, wall_s) in found["scenarios"].items():
                if packets > 0 and wall_s > 0 and _SLOWEST <= packets / wall_s <= _FASTEST:
                    model.learned[str(scenario)] = _Sum(float(packets), float(wall_s))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            model.learned.clear()
        return model

    def save(self) -> None:
        """Writes what was learned."""
        rows = {name: [s.packets, s.wall_s] for name, s in sorted(self.learned.items())}
        write_atomically(self.file, json.dumps({"scenarios": rows}, indent=1) + "\n")

    def learn(self, cell: Cell, folder: Path) -> None:
        """Takes a finished run into account. One whose time is not known teaches nothing."""
        try:
            protocol = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            wall_s = float(protocol["wall_s"])
        except (OSError, ValueError, KeyError, TypeError):
            return
        if wall_s > 0:
            known = self.learned.setdefault(cell.scenario, _Sum())
            known.packets += packets(cell.config)
            known.wall_s += wall_s

    def packets_per_s(self, scenario: str) -> float:
        """Packets per core-second of runs of `scenario`: its own, else all scenarios' together."""
        own = self.learned.get(scenario)
        if own is None:
            own = _Sum(
                sum(s.packets for s in self.learned.values()),
                sum(s.wall_s for s in self.learned.values()),
            )
        return own.packets / own.wall_s if own.wall_s > 0 else DEFAULT_PACKETS_PER_S

    def cost_s(self, cell: Cell) -> float:
        """Core-seconds that the run will take."""
        rate = self.packets_per_s(cell.scenario)
        if not self.learned:
            rate = _unlearned(cell.config)
        return START_S + packets(cell.config) / rate

    def total_s(self, cells: Iterable[Cell]) -> float:
        """Core-seconds that the runs will take together."""
        return sum(self.cost_s(c) for c in cells)

    @property
    def source(self) -> str:
        """What the estimate rests on, for people."""
        wall_s = sum(s.wall_s for s in self.learned.values())
        if wall_s <= 0:
            return DEFAULT_SOURCE
        rate = sum(s.packets for s in self.learned.values()) / wall_s
        return f"at {rate:,.0f} packets per core-second, learned from the runs made here"


def _unlearned(config: dict[str, Any]) -> float:
    """Packets per core-second of a run of which nothing is known but its configuration."""
    kind = _get(config, "topology", "kind")
    if _is_tcp(config):
        return MULTIHOP_PACKETS_PER_S if kind == "multihop" else TCP_PACKETS_PER_S
    return LINE_PACKETS_PER_S if kind == "line" else DEFAULT_PACKETS_PER_S


def _is_tcp(config: dict[str, Any]) -> bool:
    flows = [f for f in config.get("flows") or [] if isinstance(f, dict)]
    return bool(flows) and all(f.get("transport") == "tcp" for f in flows)


def packets(config: dict[str, Any]) -> float:
    """DATA packets that the bottleneck carries in a run, about: the link is taken to be full from
    the first start to the end, which is the duration or earlier the end of all sized transfers.
    """
    bottleneck = _get(config, "topology", "bottleneck") or {}
    rate = quantities.rate_bps(_get(bottleneck, "rate")) or _SOME_RATE_BPS
    duration_s = quantities.seconds(config.get("duration")) or _SOME_DURATION_S
    payload = _get(config, *schema.PAYLOAD_PATH)
    if not isinstance(payload, int | float) or payload <= 0:
        payload = schema.DEFAULT_PAYLOAD_BYTES
    packet = payload + schema.DATA_HEADER_BYTES + _LINK_HEADER_BYTES
    if tcp := _is_tcp(config):
        payload = quantities.size_bytes(_get(config, "tcp", "mss")) or payload
        packet = payload + _TCP_HEADER_BYTES + _LINK_HEADER_BYTES
    load = config.get("workload")
    if isinstance(load, dict):
        return _workload_packets(load, len(config.get("flows") or []), payload)
    flows = [f for f in config.get("flows") or [] if isinstance(f, dict)]
    directions: dict[object, list[dict[str, Any]]] = {}
    for flow in flows:
        directions.setdefault(flow.get("direction"), []).append(flow)
    busy_s = 0.0
    for together in directions.values():
        busy_s += _busy_s(together, duration_s, rate * payload / packet)
    per_s = rate / (8 * packet)
    if tcp:
        per_s = min(per_s, sum(_tcp_packets_per_s(config, f) for f in flows))
    return float(busy_s * per_s)


def _tcp_packets_per_s(config: dict[str, Any], flow: dict[str, Any]) -> float:
    """What the largest window and random losses let through of a flow over TCP.

    A window W gives W / R with the round trip R. Random losses of probability p give
    sqrt(1.5 / p) / R (Mathis et al., 1997), or where a sender does not cut for them and repairs one
    in a round trip 1 / (p R), of which measured runs reach half.
    """
    rtprop_s = quantities.seconds(_get(config, "topology", "rtprop")) or 0.0
    if rtprop_s <= 0:
        return math.inf
    window = math.inf
    if cap := _get(config, "tcp", "max_window"):
        window = float(cap)
    loss = _get(config, "topology", "bottleneck", "loss")
    recovery = flow.get("recovery")
    name = recovery.get("name") if isinstance(recovery, dict) else recovery
    if isinstance(loss, int | float) and loss > 0 and name not in (None, "standard"):
        keeps = name in _KEEP_THEIR_WINDOW
        window = min(window, 0.5 / loss if keeps else math.sqrt(1.5 / loss))
    return window / rtprop_s


def _workload_packets(load: dict[str, Any], clients: int, payload: float) -> float:
    """DATA packets of clients that fetch NDCs one after the other, those of a warm-up that is
    replayed without packets left out. Caches and their links are counted as the bottleneck.
    """
    fetched = _count(load, "measured")
    if load.get("warmup_mode") != "replay":
        fetched += _count(load, "warmup")
    size = quantities.size_bytes(load.get("ndc_size")) or 0.0
    return clients * fetched * math.ceil(size / payload)


def _count(config: dict[str, Any], name: str) -> float:
    value = config.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _busy_s(flows: list[dict[str, Any]], duration_s: float, goodput_bps: float) -> float:
    """Seconds for which flows of one direction fill the link."""
    starts = [quantities.seconds(f.get("start")) or 0.0 for f in flows]
    first, last = min(starts), max(starts)
    if first >= duration_s:
        return 0.0
    waited_for = [f for f in flows if not f.get("background")]
    sizes = [None if f.get("repeat") else quantities.size_bytes(f.get("size")) for f in waited_for]
    if not waited_for or any(s is None for s in sizes):
        return duration_s - first
    # Flows in the background take their share of the link while the others are waited for.
    share = len(waited_for) / len(flows)
    transfer_s = sum(s or 0.0 for s in sizes) * 8 / (goodput_bps * share)
    end_s = max(first + transfer_s, last)
    return min(end_s, duration_s) - first


def _get(config: Any, *path: str) -> Any:
    for name in path:
        if not isinstance(config, dict):
            return None
        config = config.get(name)
    return config

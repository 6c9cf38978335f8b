"""Synthetic runs with known answers, written as the simulator writes them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ferrocc_analysis import schema

Function = Callable[[float], float]


@dataclass
class FlowSpec:
    """One flow of a synthetic run: constants or functions of time."""

    controller: str = "copa-icn"
    start_s: float = 0.1
    end_s: float | None = None
    goodput_mbps: float = 10.0
    in_flight: Function = lambda t: 50e3
    swing: float = 5e3
    srtt_plot: Function = lambda t: 40.0
    delta: float | None = 0.5


@dataclass
class RunSpec:
    """A synthetic run."""

    flows: list[FlowSpec] = field(default_factory=lambda: [FlowSpec()])
    duration_s: float = 20.0
    interval_s: float = 0.1
    rate_mbps: float = 20.0
    queue: Function = lambda t: 10.0
    seed: int = 1
    run: int = 1
    scenario: str = "base/topo-1"
    joins: list[dict[str, Any]] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)
    traces: bool = True
    #: Totals of the bottleneck's queue.
    arrivals: Function = lambda t: 0.0
    dropped: Function = lambda t: 0.0
    sent_bytes: Function = lambda t: 0.0
    #: Fields of the summary that are set beside.
    summary: dict[str, Any] = field(default_factory=dict)


def write_run(folder: Path, spec: RunSpec) -> Path:
    """Writes `spec` as a run into `folder` and returns it."""
    folder.mkdir(parents=True)
    flows = []
    for i, f in enumerate(spec.flows, 1):
        end = spec.duration_s if f.end_s is None else f.end_s
        flows.append(
            {
                "id": i,
                "name": f"NDC-{i}",
                "transport": "icn",
                "controller": f.controller,
                "recovery": None,
                "start_s": f.start_s,
                "end_s": end,
                "completed": f.end_s is not None,
                "bytes": int(f.goodput_mbps * 1e6 / 8 * (end - f.start_s)),
                "goodput_mbps": f.goodput_mbps,
                "acked_mbps": f.goodput_mbps,
                "fct_s": None if f.end_s is None else f.end_s - f.start_s,
                "rtt_ms": {"min": 30.0, "mean": 38.0, "p50": 39.0, "p95": 43.21},
                "srtt_ms_mean": 38.5,
                "owd_ms": {"min": 15.0, "mean": 20.0, "p50": 20.0, "p95": 24.0},
                "losses": 3,
                "retransmissions": 4,
                "unnecessary_retransmissions": 1,
                "timeouts": 0,
                "marks": 0,
                "window_cuts": 2,
                "unnecessary_window_cuts": 0,
                "verified": None,
            }
        )
    config = {"seed": spec.seed, "run": spec.run, "flows": [f.controller for f in spec.flows]}
    summary = {
        "schema": schema.SCHEMA_VERSION,
        "scenario": spec.scenario,
        "seed": spec.seed,
        "run": spec.run,
        "ns3_version": "3.44",
        "ferrocc_version": "0.1.0",
        "git": "0" * 40,
        "config": config | spec.config,
        "duration_s": spec.duration_s,
        "events": 1000,
        "flows": flows,
        "links": [
            {
                "name": "bottleneck",
                "from": "IR2",
                "to": "IR1",
                "rate_mbps": spec.rate_mbps,
                "utilisation": 0.987,
                "queue_pkts": {"mean": 12.3, "p95": 20.0, "max": 44},
                "queue_ms": {"mean": 6.5, "p95": 10.0},
                "arrivals": 10000,
                "dropped": 3,
                "marked": 0,
                "loss_rate": 0.0003,
                "error_losses": 0,
            }
        ],
        "caches": [],
        "fairness": {"jain": 0.99, "joins": spec.joins},
        "classification": {},
    }
    summary |= spec.summary
    (folder / schema.SUMMARY).write_text(json.dumps(summary, indent=1))
    if spec.traces:
        _write_traces(folder, spec)
    return folder


def _write_traces(folder: Path, spec: RunSpec) -> None:
    steps = round(spec.duration_s / spec.interval_s)
    times = [round(k * spec.interval_s, 9) for k in range(1, steps + 1)]
    flow_rows, queue_rows = [], []
    started: set[int] = set()
    for t in times:
        for i, f in enumerate(spec.flows, 1):
            if t <= f.start_s:
                continue
            first = i not in started
            started.add(i)
            until = min(t, f.end_s if f.end_s is not None else t)
            delivered = f.goodput_mbps * 1e6 / 8 * (until - f.start_s)
            mean = f.in_flight(t)
            flow_rows.append(
                {
                    "time_s": t,
                    "flow": i,
                    "window_bytes": mean,
                    "in_flight_bytes": mean,
                    "in_flight_min_bytes": mean - f.swing,
                    "in_flight_max_bytes": mean + f.swing,
                    "pacing_mbps": f.goodput_mbps,
                    "rtt_ms": f.srtt_plot(t),
                    "srtt_ms": f.srtt_plot(t),
                    "srtt_plot_ms": f.srtt_plot(t),
                    "owd_ms": "",
                    "delivered_bytes": round(delivered),
                    "goodput_mbps": "" if first else f.goodput_mbps,
                    "losses": 0,
                    "queue_delay_ms": 1.0,
                    "delta": "" if f.delta is None else f.delta,
                    "phase": "steady",
                }
            )
        queue_rows.append(
            {
                "time_s": t,
                "link": "bottleneck",
                "packets": spec.queue(t),
                "bytes": spec.queue(t) * 1360,
                "max_packets": spec.queue(t) + 2,
                "arrivals": round(spec.arrivals(t)),
                "dropped": round(spec.dropped(t)),
                "sent_bytes": round(spec.sent_bytes(t)),
            }
        )
    # The other direction must not be taken for the bottleneck.
    queue_rows += [
        row | {"link": "reverse", "packets": 999, "max_packets": 999} for row in queue_rows
    ]
    ends = [
        {"time_s": f.end_s, "flow": i, "kind": "end", "value": 1, "text": 'done, "all"'}
        for i, f in enumerate(spec.flows, 1)
        if f.end_s is not None
    ]
    start = {"time_s": 0.1, "flow": 1, "kind": "phase", "value": "", "text": "startup"}
    for table, rows in (
        (schema.FLOWS, flow_rows),
        (schema.QUEUE, queue_rows),
        (schema.EVENTS, [start, *ends]),
    ):
        with (folder / table.file).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(table.columns), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """Writes a synthetic run named by its first argument, the others being `RunSpec`'s fields."""

    def make(name: str = "run", **fields: Any) -> Path:
        return write_run(tmp_path / name, RunSpec(**fields))

    return make


@pytest.fixture
def flow() -> type[FlowSpec]:
    """Describes one flow of a synthetic run; see `FlowSpec`."""
    return FlowSpec

"""The names of a run's files, columns and summary fields: the only place that spells them.

A run is a folder with `summary.json` and, if it was traced, `flows.csv`, `queue.csv` and
`events.csv`. A sweep is a folder with `sweep.csv` and one folder per cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from .errors import InputError

#: Version of `summary.json` that this package reads.
SCHEMA_VERSION: Final = 1

SUMMARY: Final = "summary.json"
SWEEP: Final = "sweep.csv"

#: Bytes of headers (IPv4 and ICN) of a full DATA packet.
DATA_HEADER_BYTES: Final = 108
#: Where the resolved configuration says the payload of a full DATA packet, in bytes.
PAYLOAD_PATH: Final = ("transport", "mss_bytes")
#: That payload where the configuration does not say.
DEFAULT_PAYLOAD_BYTES: Final = 1250


@dataclass(frozen=True)
class Table:
    """A CSV file of a run: its name and the types of its columns, in the file's order.

    Columns named in `optional` may be empty where nothing is known; all others have a value in
    every row.
    """

    file: str
    columns: dict[str, type[pl.DataType]]
    optional: frozenset[str] = frozenset()


#: State of each started flow at the end of every trace interval.
FLOWS: Final = Table(
    "flows.csv",
    {
        "time_s": pl.Float64,
        "flow": pl.Int64,
        "window_bytes": pl.Float64,
        "in_flight_bytes": pl.Float64,
        "in_flight_min_bytes": pl.Float64,
        "in_flight_max_bytes": pl.Float64,
        "pacing_mbps": pl.Float64,
        "rtt_ms": pl.Float64,
        "srtt_ms": pl.Float64,
        "srtt_plot_ms": pl.Float64,
        "owd_ms": pl.Float64,
        "delivered_bytes": pl.Float64,
        "goodput_mbps": pl.Float64,
        "losses": pl.Int64,
        "queue_delay_ms": pl.Float64,
        "delta": pl.Float64,
        "phase": pl.String,
        "alpha": pl.Float64,
    },
    frozenset(
        {
            "pacing_mbps",
            "rtt_ms",
            "srtt_ms",
            "srtt_plot_ms",
            "owd_ms",
            "goodput_mbps",
            "queue_delay_ms",
            "delta",
            "alpha",
        }
    ),
)

#: State of each direction of each traced link at the end of every trace interval; counters are
#: totals since the start, `max_packets` is the interval's peak.
QUEUE: Final = Table(
    "queue.csv",
    {
        "time_s": pl.Float64,
        "link": pl.String,
        "packets": pl.Float64,
        "bytes": pl.Float64,
        "max_packets": pl.Float64,
        "arrivals": pl.Int64,
        "dropped": pl.Int64,
        "sent_bytes": pl.Int64,
    },
)

#: What happened to flows: losses, timeouts, window cuts, phases, restarts, ends.
EVENTS: Final = Table(
    "events.csv",
    {
        "time_s": pl.Float64,
        "flow": pl.Int64,
        "kind": pl.String,
        "value": pl.Float64,
        "text": pl.String,
    },
    frozenset({"value", "text"}),
)

#: Fields of `summary.json` and of the objects in it that must be there. More may be.
SUMMARY_FIELDS: Final = (
    "schema",
    "scenario",
    "seed",
    "run",
    "ns3_version",
    "ferrocc_version",
    "config",
    "duration_s",
    "flows",
    "links",
    "fairness",
)
FLOW_FIELDS: Final = (
    "id",
    "name",
    "transport",
    "controller",
    "start_s",
    "end_s",
    "completed",
    "bytes",
    "goodput_mbps",
    "fct_s",
    "rtt_ms",
    "srtt_ms_mean",
    "losses",
    "retransmissions",
    "timeouts",
)
LINK_FIELDS: Final = ("name", "rate_mbps", "utilisation", "queue_pkts", "queue_ms", "loss_rate")
FAIRNESS_FIELDS: Final = ("jain", "joins")

#: Directions of DATA over the bottleneck, in `config.flows[].direction`.
FORWARD: Final = "forward"
OPPOSITE: Final = "opposite"

#: Fields of `config` that tell one run of a cell from another and nothing else.
RANDOM_FIELDS: Final = ("seed", "run")


def check_summary(summary: object, where: str) -> None:
    """Raises `InputError` unless `summary`, parsed JSON of the file `where`, can be read."""
    top = _object(summary, where)
    version = top.get("schema")
    if version != SCHEMA_VERSION:
        raise InputError(
            f"{where}: schema is {version!r}, this ferrocc_analysis reads {SCHEMA_VERSION}"
        )
    _require(top, SUMMARY_FIELDS, where)
    _object(top["config"], f"{where}: config")
    fairness = _object(top["fairness"], f"{where}: fairness")
    _require(fairness, FAIRNESS_FIELDS, f"{where}: fairness")
    _number_in(top, "duration_s", where)
    for flow in _rows(top, "flows", FLOW_FIELDS, where):
        # Null for a flow that the run's end came before.
        if flow["start_s"] is not None:
            _number_in(flow, "start_s", f"{where}: flow {flow['id']}")
    for link in _rows(top, "links", LINK_FIELDS, where):
        _number_in(link, "rate_mbps", f"{where}: link {link['name']}")


def _rows(
    top: dict[str, object], key: str, fields: tuple[str, ...], where: str
) -> list[dict[str, object]]:
    rows = top[key]
    if not isinstance(rows, list) or not rows:
        raise InputError(f"{where}: {key} must be a list with at least one entry")
    checked = []
    for i, row in enumerate(rows):
        checked.append(_object(row, f"{where}: {key}[{i}]"))
        _require(checked[-1], fields, f"{where}: {key}[{i}]")
    return checked


def _number_in(row: dict[str, object], key: str, where: str) -> None:
    value = row[key]
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise InputError(f"{where}: {key} must be a number, not {value!r}")


def _object(value: object, where: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise InputError(f"{where}: must be a JSON object, not {type(value).__name__}")
    return value


def _require(row: dict[str, object], fields: tuple[str, ...], where: str) -> None:
    missing = [f for f in fields if f not in row]
    if missing:
        raise InputError(f"{where}: missing {', '.join(missing)}")

"""Runs as they lie on disk, read lazily and checked."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from . import palette, quantities, schema
from .errors import InputError

#: How far below a given folder runs are looked for.
_MAX_DEPTH = 4
#: A trace may end this many intervals before its flow does; more means that rows are missing.
_TAIL_INTERVALS = 3.0


@dataclass(frozen=True)
class Flow:
    """One transfer of a run, from `summary.json`.

    `end_s` is the transfer's end, at most the run's, which is also the start of a transfer that did
    not start; `index` is its position in the run, from 0.
    """

    index: int
    id: int
    name: str
    controller: str
    transport: str
    start_s: float
    end_s: float
    summary: dict[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Run:
    """One simulation. `summary` is read at once, traces when they are asked for.

    `folder` is where it lies; `name` is how the user would call it (the cell in a sweep).
    """

    folder: Path
    name: str
    summary: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def load(cls, folder: Path, name: str | None = None) -> Run:
        """Reads `folder`'s summary. Raises `InputError` if there is none or it is not valid."""
        path = folder / schema.SUMMARY
        try:
            summary = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(f"{folder}: no {schema.SUMMARY} here, so it is no run") from None
        except json.JSONDecodeError as e:
            raise InputError(
                f"{path}: truncated or not JSON (line {e.lineno} column {e.colno}: {e.msg})"
            ) from None
        except (OSError, UnicodeDecodeError) as e:
            raise InputError(f"{path}: cannot be read ({e})") from None
        schema.check_summary(summary, str(path))
        return cls(folder, name or folder.resolve().name, summary)

    # What it was.

    @property
    def scenario(self) -> str:
        """The scenario's name."""
        return str(self.summary["scenario"])

    @property
    def seed(self) -> int:
        """ns-3's RngSeed."""
        return int(self.summary["seed"])

    @property
    def run(self) -> int:
        """ns-3's RngRun."""
        return int(self.summary["run"])

    @property
    def aqm(self) -> str | None:
        """The queue management of the bottleneck; None if the scenario names none."""
        found = self.setting("topology.bottleneck.aqm")
        return found.get("name") if isinstance(found, dict) else found

    @property
    def duration_s(self) -> float:
        """Simulated seconds."""
        return float(self.summary["duration_s"])

    @property
    def config(self) -> dict[str, Any]:
        """The resolved scenario."""
        config: dict[str, Any] = self.summary["config"]
        return config

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """Its transfers, in the summary's order."""
        return tuple(
            Flow(
                index=i,
                id=int(f["id"]),
                name=str(f["name"]),
                controller=str(f["controller"]),
                transport=str(f["transport"]),
                start_s=_number(f["start_s"], self.duration_s),
                end_s=min(_number(f["end_s"], self.duration_s), self.duration_s),
                summary=f,
            )
            for i, f in enumerate(self.summary["flows"])
        )

    @property
    def links(self) -> list[dict[str, Any]]:
        """Directions of links; the bottleneck in DATA direction is the first."""
        links: list[dict[str, Any]] = self.summary["links"]
        return links

    @property
    def bottleneck(self) -> dict[str, Any]:
        """The bottleneck in DATA direction."""
        return self.links[0]

    @property
    def controllers(self) -> tuple[str, ...]:
        """Names of the controllers in it, each once, in the flows' order."""
        return tuple(dict.fromkeys(f.controller for f in self.flows))

    @property
    def label(self) -> str:
        """What a figure calls it: its controllers."""
        return " + ".join(self.controllers)

    @cached_property
    def cell(self) -> str:
        """Equal for runs that differ in seed and run number only."""
        config = {k: v for k, v in self.config.items() if k not in schema.RANDOM_FIELDS}
        key = [self.scenario, self.controllers, self.summary["ns3_version"], config]
        return json.dumps(key, sort_keys=True)

    @property
    def payload_bytes(self) -> int:
        """Payload of a full DATA packet."""
        return int(_number(self._configured(*schema.PAYLOAD_PATH), schema.DEFAULT_PAYLOAD_BYTES))

    @property
    def rtprop_s(self) -> float | None:
        """Round-trip propagation delay in seconds; None if the configuration does not say."""
        return quantities.seconds(self._configured("topology", "rtprop"))

    @property
    def buffer_packets(self) -> float | None:
        """The most packets that the bottleneck holds, in its queue discipline and in the device
        below; None if the configuration does not say. A limit in bytes counts as full DATA packets.
        """
        limit = self._configured("topology", "bottleneck", "buffer")
        count = quantities.packets(limit)
        if count is None and (size := quantities.size_bytes(limit)) is not None:
            count = float(size // (self.payload_bytes + schema.DATA_HEADER_BYTES))
        if count is None:
            return None
        return count + _number(self._configured("topology", "bottleneck", "device_queue"), 0)

    @property
    def two_way(self) -> bool:
        """Whether some flow's DATA crosses the bottleneck in the other direction."""
        return schema.OPPOSITE in self.directions

    @cached_property
    def directions(self) -> tuple[str, ...]:
        """In which direction of the bottleneck the DATA of each transfer goes, `forward` or
        `opposite`, in the order of `flows`.
        """
        flows = self._configured("flows")
        known = {
            str(f.get("name")): str(f.get("direction", schema.FORWARD))
            for f in (flows if isinstance(flows, list) else [])
            if isinstance(f, dict)
        }
        return tuple(known.get(f.name, schema.FORWARD) for f in self.flows)

    @property
    def opposite_bottleneck(self) -> dict[str, Any] | None:
        """The bottleneck against the DATA direction; None if the summary does not have it."""
        ends = (self.bottleneck["to"], self.bottleneck["from"])
        return next((link for link in self.links if (link["from"], link["to"]) == ends), None)

    @property
    def queue_limit_packets(self) -> float | None:
        """The most packets that the bottleneck holds, as `buffer_packets`; None if no number is:
        where the limit is in bytes and flows go in both directions, small REQs or acknowledgements
        share the queue with DATA.
        """
        limit = self._configured("topology", "bottleneck", "buffer")
        if self.two_way and quantities.packets(limit) is None:
            return None
        return self.buffer_packets

    def setting(self, path: str) -> Any:
        """The value of the resolved configuration at `path`, such as `flows.0.size`; None if there
        is none.
        """
        value: Any = self.config
        for key in path.split("."):
            if isinstance(value, list) and key.isdigit() and int(key) < len(value):
                value = value[int(key)]
            else:
                value = value.get(key) if isinstance(value, dict) else None
        return value

    def _configured(self, *path: str) -> Any:
        """The value at `path` in the configuration; None if there is none."""
        value: Any = self.config
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    # What was traced.

    @cached_property
    def flow_trace(self) -> pl.LazyFrame:
        """`flows.csv`, sorted by flow and time."""
        frame = self._table(schema.FLOWS).sort("flow", "time_s")
        self._check_tail(frame)
        return frame.lazy()

    @cached_property
    def queue_trace(self) -> pl.LazyFrame:
        """`queue.csv`, sorted by link and time."""
        return self._table(schema.QUEUE).sort("link", "time_s").lazy()

    @cached_property
    def event_trace(self) -> pl.LazyFrame:
        """`events.csv`."""
        return self._table(schema.EVENTS).lazy()

    @cached_property
    def aqm_trace(self) -> pl.LazyFrame:
        """`aqm.csv` in the order of the decisions; columns of the state are numbers."""
        path = self.folder / schema.AQM.file
        if not path.is_file():
            raise InputError(
                f"{path}: not there; run the scenario with --set=trace.packets=true to measure it"
            )
        return read_table(path, schema.AQM, more=pl.Float64()).lazy()

    def flow(self, flow: Flow) -> pl.LazyFrame:
        """The rows of `flows.csv` that are `flow`'s, by time."""
        return self.flow_trace.filter(pl.col("flow") == flow.id)

    def bottleneck_queue(self) -> pl.LazyFrame:
        """The rows of `queue.csv` that are the bottleneck's in DATA direction, by time."""
        name = str(self.bottleneck["name"])
        return self.queue_trace.filter(pl.col("link") == name)

    @cached_property
    def interval_s(self) -> float:
        """Time between rows of one flow in seconds (the median); 0 if no flow has two rows."""
        frame = self.flow_trace.collect()
        return _interval(frame)

    def _table(self, table: schema.Table) -> pl.DataFrame:
        path = self.folder / table.file
        if not path.is_file():
            raise InputError(
                f"{path}: not there; run the scenario with --set=trace.enabled=true to draw or "
                "measure it (sweeps write no traces unless asked)"
            )
        return read_table(path, table)

    def _check_tail(self, frame: pl.DataFrame) -> None:
        interval = _interval(frame)
        if interval == 0:
            return  # With a row or none for each flow there is no interval to compare with.
        last = dict(frame.group_by("flow").agg(pl.col("time_s").max()).iter_rows())
        for f in self.flows:
            if f.end_s - f.start_s <= _TAIL_INTERVALS * interval:
                continue
            if f.end_s - last.get(f.id, f.start_s) > _TAIL_INTERVALS * interval:
                raise InputError(
                    f"{self.folder / schema.FLOWS.file}: truncated, flow {f.id} runs to "
                    f"{f.end_s:g} s but its rows end at {last.get(f.id, f.start_s):g} s"
                )


def _number(value: Any, default: float) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if number else float(default)


def _interval(frame: pl.DataFrame) -> float:
    steps = frame.select(pl.col("time_s").diff().over("flow").alias("step")).get_column("step")
    median = steps.drop_nulls().median()
    return float(median) if isinstance(median, (int, float)) else 0.0


def read_table(path: Path, table: schema.Table, more: pl.DataType | None = None) -> pl.DataFrame:
    """Reads a CSV file of a run. With `more`, columns that `table` does not know have that type.

    Raises `InputError` if its columns are not those of `table`, if its last line is cut off, or
    if a value is missing or of the wrong type.
    """
    try:
        data = path.read_bytes()
    except OSError as e:
        raise InputError(f"{path}: cannot be read ({e})") from None
    header, _, body = data.partition(b"\n")
    names = header.decode("utf-8", "replace").strip().split(",")
    wanted = list(table.columns)
    if missing := [n for n in wanted if n not in names]:
        raise InputError(f"{path}: missing column {', '.join(missing)}")
    extra = [n for n in names if n not in wanted]
    types: dict[str, pl.DataType | type[pl.DataType]] = {**table.columns}
    if more is not None:
        types |= dict.fromkeys(extra, more)
    elif extra:
        raise InputError(f"{path}: unknown column {', '.join(extra)}")
    if not body:
        raise InputError(f"{path}: no rows; it is truncated, or the run was too short for one")
    if not data.endswith(b"\n"):
        raise InputError(f"{path}: truncated, the last line is not complete")
    try:
        frame = pl.read_csv(
            io.BytesIO(data),
            schema={n: types[n] for n in names},
            null_values=[""],
        )
    except pl.exceptions.PolarsError as e:
        bad = _bad_row(data, names, table)
        raise InputError(f"{path}: {bad or str(e).splitlines()[0]}") from None
    frame = frame.select(*wanted, *extra)
    for name, count in zip(frame.columns, frame.null_count().row(0), strict=True):
        if count and name in wanted and name not in table.optional:
            raise InputError(f"{path}: {_bad_row(data, names, table) or f'no value in {name}'}")
    return frame


def _bad_row(data: bytes, names: list[str], table: schema.Table) -> str | None:
    """The first row that is not as `table` says, described; for the error message only."""
    rows = csv.reader(io.StringIO(data.decode("utf-8", "replace")))
    next(rows)
    for row in rows:
        line = rows.line_num
        if len(row) != len(names):
            return f"line {line} has {len(row)} fields instead of {len(names)}"
        for name, value in zip(names, row, strict=True):
            if value == "" and name in table.columns and name not in table.optional:
                return f"line {line} has no value in {name}"
            if value and table.columns.get(name) in (pl.Float64, pl.Int64):
                try:
                    float(value) if table.columns[name] == pl.Float64 else int(value)
                except ValueError:
                    return f"line {line}: {name} is '{value}', which is no number"
    return None


def find_runs(path: Path) -> list[Run]:
    """The runs at `path`: itself, or those in the folders below it.

    These are in the order of `sweep.csv` if there is one, else of their paths, where runs beside
    each other stand in the palette's order of controllers.

    Raises `InputError` if there are none, if one is not valid, or if a cell that `sweep.csv`
    lists is missing.
    """
    if not path.exists():
        raise InputError(f"{path}: no such folder")
    if not path.is_dir():
        raise InputError(f"{path}: a file; a run is a folder with {schema.SUMMARY}")
    if (path / schema.SUMMARY).is_file():
        return [Run.load(path)]
    runs = {
        name: Run.load(f, name)
        for f in _folders(path, _MAX_DEPTH)
        for name in [f.relative_to(path).as_posix()]
    }
    if not runs:
        raise InputError(f"{path}: neither a run nor a folder of runs (no {schema.SUMMARY} in it)")
    cells = _sweep_cells(path)
    if missing := [c for c in cells if c not in runs]:
        raise InputError(
            f"{path / missing[0]}: {schema.SWEEP} lists this cell but there is no run in it"
        )
    rank = {name: i for i, name in enumerate(palette.CONTROLLERS)}
    place = {cell: i for i, cell in enumerate(cells)}

    def order(run: Run) -> tuple[object, ...]:
        controllers = [rank.get(c, len(rank)) for c in run.controllers]
        siblings = _natural(Path(run.name).parent)
        return place.get(run.name, len(place)), siblings, controllers, _natural(Path(run.name))

    return sorted(runs.values(), key=order)


def load_runs(paths: Iterable[str | Path]) -> list[Run]:
    """All runs at `paths` in order, each once. Raises `InputError` as `find_runs` does."""
    found: dict[Path, Run] = {}
    for path in paths:
        for run in find_runs(Path(path)):
            found.setdefault(run.folder.resolve(), run)
    return list(found.values())


def group_cells(runs: Sequence[Run]) -> list[list[Run]]:
    """`runs` grouped into cells (equal but for seed and run number), in order of appearance.

    Raises `InputError` if a cell has the same seed and run twice, which would feign certainty.
    """
    cells: dict[str, list[Run]] = {}
    for run in runs:
        cell = cells.setdefault(run.cell, [])
        for other in cell:
            if (other.seed, other.run) == (run.seed, run.run):
                raise InputError(
                    f"{run.folder}: the same run as {other.folder} (seed {run.seed} run {run.run})"
                )
        cell.append(run)
    return list(cells.values())


def _folders(path: Path, depth: int) -> list[Path]:
    found: list[Path] = []
    for child in path.iterdir():
        if not child.is_dir() or child.name.startswith("."):
            continue
        if (child / schema.SUMMARY).is_file():
            found.append(child)
        elif depth > 1:
            found += _folders(child, depth - 1)
    return found


def _natural(path: Path) -> list[tuple[int, str]]:
    """A sort key that puts `2Mbps` before `10Mbps`."""
    text = path.as_posix()
    parts: list[tuple[int, str]] = []
    digits = ""
    for c in text + "\0":
        if c.isdigit():
            digits += c
            continue
        if digits:
            parts.append((len(digits.lstrip("0")), digits.lstrip("0")))
            digits = ""
        parts.append((-1, c))
    return parts


def _sweep_cells(path: Path) -> list[str]:
    """The cells that `sweep.csv` lists, each once, in its order; none if there is no such file."""
    sweep = path / schema.SWEEP
    if not sweep.is_file():
        return []
    try:
        with sweep.open(encoding="utf-8", newline="") as f:
            rows = csv.DictReader(f)
            if "cell" not in (rows.fieldnames or []):
                raise InputError(f"{sweep}: missing column cell")
            return list(dict.fromkeys(row["cell"] for row in rows))
    except (OSError, UnicodeDecodeError, csv.Error) as e:
        raise InputError(f"{sweep}: cannot be read ({e})") from None

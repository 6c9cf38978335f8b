"""The runner over a covering array of its options: each run ends, moves bytes, and adds up."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import Runner, find_runner
from covering import covering_array
from ferrocc_analysis import Run, schema

MOST_RUNS = 60
WORKERS = 2
#: No run may take longer, seconds of wall time.
TIME_LIMIT_S = 120.0
#: Packets over the bottleneck that one run is worth, where its rate would make more.
PACKET_BUDGET = 150_000
#: A full DATA packet with the link's header over IPv6, bits.
PACKET_BITS = 1380 * 8
#: First request, seconds.
START_S = 0.1
#: The first retransmission timeout, seconds (RFC 6298).
INITIAL_RTO_S = 1.0


def controllers() -> list[str]:
    """The controllers that the runner lists, or those that every runner has."""
    always = ["fixed", "newreno", "cubic", "bbr", "copa", "copa-icn"]
    later = ["ecd", "vivace", "switching"]
    runner = find_runner()
    if runner is None:
        return always
    sections = runner("--list").stdout.split("\n\n")
    section = next(s for s in sections if s.startswith("controllers:"))
    listed = {line.split()[0] for line in section.splitlines()[1:]}
    return always + [name for name in later if name in listed]


PARAMETERS: dict[str, list[Any]] = {
    "kind": ["topo-1", "topo-2"],
    "ip": ["ipv4", "ipv6"],
    "controller": controllers(),
    "rate_mbps": [1, 10, 100, 1000],
    "rtprop_ms": [1, 30, 200, 600],
    "flows": [1, 2, 9, 64],
    "buffer": ["5p", "50kB", "1bdp", "10bdp"],
    "loss": [0, 0.001, 0.1],
    "reorder": [0, 0.01, 0.1],
    "content": ["unlimited", "200kB", "200kB verified"],
}
CASES = covering_array(PARAMETERS, MOST_RUNS)


def duration_s(case: dict[str, Any]) -> float:
    """At most 3 RTprop + 2 s, less at rates that make many packets of it."""
    rtprop = case["rtprop_ms"] / 1e3
    affordable = PACKET_BUDGET * PACKET_BITS / (case["rate_mbps"] * 1e6)
    return round(min(3 * rtprop + 2.0, max(affordable, START_S + 2 * rtprop + 0.5)), 3)


def options(case: dict[str, Any], out: Path) -> list[str]:
    """The command line of a case."""
    given = [
        f"--scenario=base/{case['kind']}",
        f"--set=topology.ip={case['ip']}",
        f"--out={out}",
        f"--duration={duration_s(case)}s",
        f"--controller={case['controller']}",
        f"--rate={case['rate_mbps']}Mbps",
        f"--rtprop={case['rtprop_ms']}ms",
        f"--flows={case['flows']}",
        f"--buffer={case['buffer']}",
        f"--loss={case['loss']}",
        f"--reorder={case['reorder']}",
        "--no-progress",
    ]
    if case["content"] != "unlimited":
        given.append(f"--set=flows[*].size={case['content'].split()[0]}")
    if case["content"].endswith("verified"):
        given.append("--verify")
    return given


def name(case: dict[str, Any]) -> str:
    return "-".join(str(v).replace(" ", "-") for v in case.values())


@pytest.fixture(scope="module")
def finished(
    runner: Runner, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[dict[str, Future[tuple[Path, Any]]]]:
    """All chosen cases, running two at a time, by name."""
    folder = tmp_path_factory.mktemp("covering")
    chosen = {
        item.callspec.params["case_name"]
        for item in request.session.items
        if "case_name" in getattr(getattr(item, "callspec", None), "params", {})
    }

    def run(case: dict[str, Any]) -> tuple[Path, Any]:
        out = folder / name(case)
        return out, runner(*options(case, out), timeout_s=TIME_LIMIT_S)

    # Under pytest-xdist each worker would start all: let each run what it is given.
    alone = "PYTEST_XDIST_WORKER" in os.environ
    pool = ThreadPoolExecutor(1 if alone else WORKERS)
    try:
        if alone:
            yield {}
        else:
            yield {name(c): pool.submit(run, c) for c in CASES if name(c) in chosen}
    finally:
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("case_name", [name(c) for c in CASES])
def test_every_combination_runs_to_its_end(case_name, finished, runner, tmp_path):
    case = next(c for c in CASES if name(c) == case_name)
    if case_name in finished:
        out, done = finished[case_name].result()
    else:
        out = tmp_path / "out"
        done = runner(*options(case, out), timeout_s=TIME_LIMIT_S)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    check_summary(case, json.loads((out / "summary.json").read_text()))
    check_traces(case, Run.load(out))
    shutil.rmtree(out)


def check_summary(case: dict[str, Any], summary: dict[str, Any]) -> None:
    assert summary["schema"] == schema.SCHEMA_VERSION
    assert len(summary["flows"]) == case["flows"]
    link = summary["links"][0]
    assert link["rate_mbps"] == case["rate_mbps"]
    # A packet counts as sent when its transmission begins.
    spare = 2 * PACKET_BITS / (case["rate_mbps"] * 1e6 * summary["duration_s"])
    assert 0 <= link["utilisation"] <= 1 + spare
    assert 0 <= link["loss_rate"] <= 1
    assert link["dropped"] <= link["arrivals"]
    if case["loss"] == 0:
        assert link["error_losses"] == 0
    jain = summary["fairness"]["jain"]
    # Nothing to compare: all flows together moved nothing while all were there.
    assert jain is None or 1 / case["flows"] - 1e-9 <= jain <= 1 + 1e-9
    for flow in summary["flows"]:
        assert flow["controller"] == case["controller"]
        assert flow["start_s"] >= START_S
        assert flow["bytes"] >= 0
        if flow["completed"]:
            assert flow["bytes"] == 200_000
            assert flow["fct_s"] == pytest.approx(flow["end_s"] - flow["start_s"], abs=1e-6)
        if flow["completed"] and case["content"].endswith("verified"):
            assert flow["verified"] is True
        if flow["rtt_ms"]["min"]:
            assert flow["rtt_ms"]["min"] >= case["rtprop_ms"] * (1 - 1e-6)
            assert flow["rtt_ms"]["p50"] <= flow["rtt_ms"]["p95"]
        assert flow["retransmissions"] >= flow["unnecessary_retransmissions"] >= 0
    # In topo-2 all flows but the first go the other way, where there is as much room.
    directions = [f["direction"] for f in summary["config"]["flows"]]
    assert directions[0] == "forward"
    assert set(directions[1:]) <= {"opposite" if case["kind"] == "topo-2" else "forward"}
    for direction in ("forward", "opposite"):
        flows = zip(summary["flows"], directions, strict=True)
        total = sum(f["bytes"] for f, d in flows if d == direction) * 8e-6
        assert total <= case["rate_mbps"] * summary["duration_s"]


def check_traces(case: dict[str, Any], run: Run) -> None:
    flows = run.flow_trace.collect()
    for column in ("in_flight_bytes", "in_flight_min_bytes", "delivered_bytes", "goodput_mbps"):
        assert flows[column].min() >= 0, column
    in_order = flows.filter(
        (pl.col("in_flight_min_bytes") > pl.col("in_flight_bytes"))
        | (pl.col("in_flight_bytes") > pl.col("in_flight_max_bytes"))
    )
    assert in_order.height == 0
    steps = flows.group_by("flow").agg(
        pl.col("time_s").diff().min().alias("time"),
        pl.col("delivered_bytes").diff().min().alias("bytes"),
        pl.col("losses").diff().min().alias("losses"),
    )
    assert (steps["time"].drop_nulls() > 0).all()
    assert (steps["bytes"].drop_nulls() >= 0).all()
    assert (steps["losses"].drop_nulls() >= 0).all()
    # While a flow has something to fetch, bytes arrive, be they of one flow or of another.
    until = run.duration_s
    if all(f.summary["completed"] for f in run.flows):
        until = max(f.end_s for f in run.flows)
    total = flows.group_by("time_s").agg(pl.col("delivered_bytes").sum()).sort("time_s")
    moved = total.filter(pl.col("delivered_bytes").diff().fill_null(1) > 0)["time_s"].to_list()
    times = [START_S, *(t for t in moved if START_S < t < until), until]
    pause = max(b - a for a, b in itertools.pairwise(times))
    # A lost first packet costs the initial timeout, and a loss of its repetition twice that.
    timeouts = 3 * INITIAL_RTO_S if case["loss"] else INITIAL_RTO_S
    serialisation = 2 * PACKET_BITS / (case["rate_mbps"] * 1e6)
    assert pause <= timeouts + 2 * case["rtprop_ms"] / 1e3 + serialisation + 2 * run.interval_s


def test_the_array_covers_every_pair_within_its_limits():
    assert len(CASES) <= MOST_RUNS
    for (a, left), (b, right) in itertools.combinations(PARAMETERS.items(), 2):
        met = {(c[a], c[b]) for c in CASES}
        assert met == set(itertools.product(left, right)), (a, b)
    assert covering_array(PARAMETERS, MOST_RUNS) == CASES
    for case in CASES:
        assert duration_s(case) <= 3 * case["rtprop_ms"] / 1e3 + 2.0


def test_an_array_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="pairs do not fit"):
        covering_array({"a": range(4), "b": range(4)}, 10)

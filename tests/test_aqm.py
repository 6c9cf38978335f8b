"""Queue management in scenarios: what is dropped and marked, and that the files agree on it."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

# Early congestion detection that marks whatever waits and never drops.
MARK_ALL = json.dumps(
    {"name": "ecd", "target_ms": 0.001, "interval_ms": 100000, "c": 1.001, "mtu_bytes": 0}
)


def run(runner, out: Path, *options: str) -> dict:
    runner.run(*options, f"--out={out}")
    return json.loads((out / "summary.json").read_text())


def decisions(out: Path) -> list[dict[str, str]]:
    with (out / "aqm.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        ("red", {"unforced", "forced", "overlimit"}),
        ("codel", {"target-exceeded", "overlimit"}),
        ("ecd", {"target-exceeded", "overlimit"}),
    ],
)
def test_the_trace_and_the_summary_tell_the_same(runner, tmp_path, name, reasons):
    out = tmp_path / name
    summary = run(runner, out, f"--scenario=smoke/aqm-{name}", "--set=trace.packets=true")
    assert summary["flows"][0]["completed"]
    assert summary["config"]["topology"]["bottleneck"]["aqm"]["name"] == name
    rows = decisions(out)
    for link in summary["links"]:
        here = [row for row in rows if row["link"] == link["name"]]
        for verdict, total, by in (
            ("drop", "dropped", "dropped_by"),
            ("mark", "marked", "marked_by"),
        ):
            assert sum(link[by].values()) == link[total]
            assert Counter(row["reason"] for row in here if row["verdict"] == verdict) == link[by]
    data = summary["links"][0]
    assert set(data["dropped_by"]) <= reasons
    assert data["dropped"] + data["marked"] > 0, "the AQM has something to do"
    if name == "ecd":
        assert set(data["marked_by"]) == {"early-congestion"}
        assert summary["flows"][0]["marks"] == data["marked"]
        for row in rows:
            sojourn, mark = float(row["sojourn_ms"]), row["verdict"] == "mark"
            assert not mark or (row["packet"] == "data" and sojourn > 5)
            p = float(row["mark_probability"])
            assert p == pytest.approx(min(max((sojourn - 5) / 7.5, 0), 1)) or p == 0
    else:
        assert data["marked"] == 0
        assert summary["flows"][0]["marks"] == 0


def test_without_the_option_no_decision_is_written(runner, tmp_path):
    run(runner, tmp_path / "out", "--scenario=smoke/aqm-codel")
    assert not (tmp_path / "out" / "aqm.csv").exists()


def test_what_cannot_be_marked_is_dropped_as_by_codel(runner, tmp_path):
    drops = []
    for aqm in ("codel", "ecd"):
        out = tmp_path / aqm
        # A window that is larger than what the queue can hold for long, deaf to marks.
        run(
            runner,
            out,
            "--scenario=base/topo-1",
            "--duration=5s",
            "--buffer=200p",
            "--controller=fixed",
            "--set=flows[0].controller.window=150",
            f"--aqm={aqm}",
            "--set=trace.packets=true",
        )
        columns = ("time_s", "link", "at", "packet", "sojourn_ms", "reason")
        rows = [row for row in decisions(out) if row["verdict"] == "drop"]
        drops.append([tuple(row[column] for column in columns) for row in rows])
    assert len(drops[0]) > 10
    assert drops[0] == drops[1]


def test_content_from_a_cache_has_no_marks(runner, tmp_path):
    summary = run(
        runner,
        tmp_path / "out",
        "--scenario=smoke/names-router",
        "--controller=fixed",
        "--set=flows[*].controller.window=60",
        f"--set=topology.bottleneck.aqm={MARK_ALL}",
    )
    first, second = summary["flows"]
    assert first["completed"]
    assert second["completed"]
    assert first["marks"] > 100
    assert second["replica"] == "IR1"
    assert second["marks"] == 0

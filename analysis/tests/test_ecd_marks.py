"""E10 to E12: marks, windows, moves and caches, on traces that are made up."""

from __future__ import annotations

import csv
import random

import polars as pl
import pytest

from ferrocc_analysis import Run, evaluate
from ferrocc_analysis.claims import REGISTRY, Scale, Verdict
from ferrocc_analysis.metrics import ecd_marks

OK, PARTLY, NOT = Verdict.REPRODUCED, Verdict.PARTLY, Verdict.NOT_REPRODUCED
ECD = {"name": "ecd", "target_ms": 5.0, "interval_ms": 100.0, "c": 2.5, "p_max": 1.0}
HEADER = [
    "time_s",
    "link",
    "at",
    "packet",
    "size_bytes",
    "sojourn_ms",
    "verdict",
    "reason",
    "dropping",
]


def verdicts(judged):
    return {r.name: r.verdict for r in judged.measured if r.verdict is not None}


def value(run: Run, name: str) -> float:
    entry = evaluate(run, [name])[name]
    assert entry["value"] is not None, entry["reason"]
    return entry["value"]


def decisions_as_the_paper(slope=1.0, early=False, beyond=1.0):
    """Dequeues a millisecond apart: sojourn times between 2 and 15 ms with shares of marks by
    Equation (1), below the target after each eighty; then 150 ms above the target and one drop.
    """
    rows, time, chance = [], 0.1, random.Random(1)

    def add(sojourn, verdict, dropping=0.0):
        nonlocal time
        time += 0.001
        reason = "" if verdict == "pass" else "why"
        rows.append(
            [time, "bottleneck", "dequeue", "data", 1500, sojourn, verdict, reason, dropping]
        )

    for i in range(20_000):
        if i % 80 < 40:
            add(2.0, "pass")
            continue
        sojourn = chance.uniform(5.0, 15.0)
        p = min(1.0, (sojourn - 5.0) / 7.5) * slope if sojourn <= 12.5 else beyond
        verdict = "mark" if chance.random() < p else "pass"
        add(sojourn, verdict)
    add(2.0, "pass")
    for _ in range(60 if early else 102):
        add(13.0, "mark")
    add(13.0, "drop", 1.0)
    add(13.0, "pass", 1.0)
    add(2.0, "pass")
    return rows


@pytest.fixture
def made(make_run, flow):
    """Makes runs with an `aqm.csv` of these rows."""
    count = 0

    def make(scenario, rows=None, number=1, aqm=ECD, flows=1, controller="ecd", **fields):
        nonlocal count
        count += 1
        config = fields.pop("config", {})
        config |= {
            "topology": {"bottleneck": {"aqm": aqm}},
            "flows": [{"controller": {"name": controller}}] * flows,
        }
        folder = make_run(
            f"r{count}",
            scenario=scenario,
            run=number,
            config=config,
            **({"flows": [flow(controller) for _ in range(flows)], "duration_s": 2.0} | fields),
        )
        if rows is not None:
            with (folder / "aqm.csv").open("w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerows([HEADER, *rows])
        return Run.load(folder)

    return make


def test_what_is_measured_of_marks(made):
    run = made("x", decisions_as_the_paper())
    assert value(run, "marks_below_target") == 0
    assert value(run, "mark_share_error") < 0.05
    assert value(run, "mark_share_above") == 1
    assert value(run, "shortest_before_dropping") == pytest.approx(102, abs=1)
    assert value(run, "dropping_below_target") == 0
    assert ecd_marks.dropped(run).height == 1
    half = made("x", decisions_as_the_paper(slope=0.5))
    assert value(half, "mark_share_error") > 0.1
    rows = decisions_as_the_paper()
    rows[0] = [*rows[0][:6], "mark", "why", 0.0]
    assert value(made("x", rows), "marks_below_target") == 1
    # A packet below the target that leaves the state as it is, and is not the one after entry.
    rows = decisions_as_the_paper()
    rows[-1] = [*rows[-1][:8], 1.0]
    assert value(made("x", rows), "dropping_below_target") == 1


def marks(made, rows, other=None):
    """Results of E10 in which CoDel drops `other` (else the same as the improved CoDel)."""
    results = {}
    for need in REGISTRY["E10-eq1"].needs(Scale.QUICK):
        if need.scenario == "ecd-icn/marking":
            results[need] = [made(need.scenario, rows, n) for n in need.runs]
            continue
        plain = [[*r[:6], "pass" if r[6] == "mark" else r[6], "", r[8]] for r in rows]
        results[need] = [
            made(
                need.scenario,
                plain if aqm == "ecd" or other is None else other,
                n,
                ECD if aqm == "ecd" else {"name": aqm},
            )
            for n in need.runs
            for aqm in ("ecd", "codel")
        ]
    return results


def test_equation_1_as_the_paper_has_it(made):
    judged = REGISTRY["E10-eq1"].judge(marks(made, decisions_as_the_paper()), Scale.QUICK)
    assert judged.verdict is OK, judged.reason
    assert REGISTRY["E10-eq1"].draw(marks(made, decisions_as_the_paper()))


def test_equation_1_where_marks_and_drops_are_others(made):
    wrong = decisions_as_the_paper(slope=0.5, early=True, beyond=0.5)
    judged = REGISTRY["E10-eq1"].judge(marks(made, wrong, decisions_as_the_paper()), Scale.QUICK)
    found = verdicts(judged)
    assert judged.verdict is PARTLY
    assert found["mean distance of the share of marks from Equation (1), target to C target"] is NOT
    assert found["share of marks above C target, outside the dropping state"] is NOT
    assert found["shortest time above target with which the dropping state was entered"] is NOT
    assert found["runs whose drops are those of CoDel, on IP routers"] is NOT
    assert found["packets marked, on IP routers"] is OK


def windows(made, factor=0.75, alpha=0.5, first=2.0, grows=1.0):
    """Results of E11 with a run whose window starts with `first`, doubles, and is cut once to
    `factor` of itself with an alpha of `alpha`.
    """
    results = {}
    for need in REGISTRY["E11-eq56"].needs(Scale.QUICK):
        results[need] = []
        for n in need.runs:
            if need.scenario == "ecd-icn/window":
                run = made(need.scenario, None, n, interval_s=0.02)
                _rewrite(run, factor, alpha, first, grows)
                results[need].append(Run.load(run.folder))
                continue
            for aqm in ("drop-tail", "red", "codel"):
                for controller in ("ecd", "newreno"):
                    # Of these the growth of the window under RED differs between the two.
                    odd = grows != 1 and aqm == "red" and controller == "newreno"
                    results[need].append(_reno(made, need.scenario, n, aqm, controller, odd))
    return results


def _reno(made, scenario, number, aqm, controller, odd):
    run = made(scenario, None, number, {"name": aqm}, controller=controller)
    if odd:
        path = run.folder / "flows.csv"
        frame = pl.read_csv(path).with_columns(window_bytes=pl.col("window_bytes") + 1)
        frame.write_csv(path)
        run = Run.load(run.folder)
    return run


def _rewrite(run, factor, alpha, first, grows):
    """Gives flows.csv a window in slow start for a second, then a cut."""
    path = run.folder / "flows.csv"
    frame = pl.read_csv(path)
    payload = run.payload_bytes
    rows, window, old = [], first, alpha / (15 / 16)
    for i, row in enumerate(frame.iter_rows(named=True)):
        if i < 40:
            window = first + grows * i
            row |= {"phase": "slow-start", "alpha": old, "delivered_bytes": i * payload}
        else:
            if i == 40:
                window *= factor
            row |= {"phase": "congestion-avoidance", "alpha": alpha}
            row["delivered_bytes"] = i * payload
        rows.append(row | {"window_bytes": window * payload, "rtt_ms": 3.0})
    pl.DataFrame(rows, schema=frame.schema | {"alpha": pl.Float64}).write_csv(path)


def test_windows_as_the_paper_has_them(made):
    found = verdicts(REGISTRY["E11-eq56"].judge(windows(made), Scale.QUICK))
    # Alpha changes once in these runs, not once per round trip.
    assert found.pop("changes of alpha per round trip") is NOT
    assert set(found.values()) == {OK}
    assert len(found) == 7
    assert REGISTRY["E11-eq56"].draw(windows(made))


def test_windows_that_do_something_else(made):
    found = verdicts(
        REGISTRY["E11-eq56"].judge(
            windows(made, factor=0.5, alpha=0.2, first=10.0, grows=0.5), Scale.QUICK
        )
    )
    assert found["first window"] is NOT
    assert found["window in slow start - first window - packets received, the farthest"] is NOT
    assert found["window after a cut for marks - (1 - alpha/2) window before, median"] is NOT
    assert found["rows of the traces that are NewReno's up to the first timeout, RED"] is NOT
    assert found["rows of the traces that are NewReno's up to the first timeout, CoDel"] is OK


def moves_and_caches(made, flow, whole=True, ends=5.0, codel=2):
    """Results of E12."""
    results = {}
    for need in REGISTRY["E12-ids"].needs(Scale.QUICK):
        results[need] = []
        for n in need.runs:
            for aqm in ("drop-tail", "red", "codel", "ecd"):
                lost = codel if aqm == "codel" else 1
                caches = [{"name": "R1", "assembled": 10 - lost, "abandoned": lost}]
                fields = {"summary": {"caches": caches}, "duration_s": 10.0}
                if need.scenario == "ecd-icn/moves":
                    faults = [
                        {"at": "1 s", "kind": "receiver-move", "target": "C1", "to": "R2"},
                        {"at": "2.5 s", "kind": "replica-move", "target": "S", "to": "R1"},
                    ]
                    fields["config"] = {"faults": faults}
                else:
                    fields["config"] = {"caches": {"timeout": "10 s"}}
                count = 1 if need.scenario == "ecd-icn/moves" else 6
                run = made(
                    need.scenario,
                    None,
                    n,
                    {"name": aqm},
                    flows=count,
                    **fields,
                )
                results[need].append(_ended(run, whole, ends))
    return results


def _ended(run, whole, ends):
    for f in run.summary["flows"]:
        f |= {"completed": whole, "verified": whole, "end_s": ends}
    return run


def test_moves_and_caches_as_the_paper_has_them(made, flow):
    claim = REGISTRY["E12-ids"]
    judged = claim.judge(moves_and_caches(made, flow), Scale.QUICK)
    assert judged.verdict is OK, judged.reason
    judged = claim.judge(moves_and_caches(made, flow, whole=False, ends=2.0, codel=0), Scale.QUICK)
    assert judged.verdict is NOT
    judged = claim.judge(moves_and_caches(made, flow, ends=2.0), Scale.QUICK)
    assert verdicts(judged)["transfers that were under way at both moves"] is NOT

"""Metrics on runs whose answers are known by construction."""

from __future__ import annotations

import json

import polars as pl
import pytest

from ferrocc_analysis import METRICS, InputError, Run, evaluate, metrics


def value(run: Run, name: str) -> float:
    entry = evaluate(run, [name])[name]
    assert entry["value"] is not None, entry["reason"]
    return entry["value"]


def reason(run: Run, name: str) -> str:
    entry = evaluate(run, [name])[name]
    assert entry["value"] is None
    return entry["reason"]


def test_equation_8_is_the_papers():
    best = [metrics.eq8_mbps(rate) for rate in (20, 50, 60, 100)]
    assert best == pytest.approx([18.41, 46.02, 55.23, 92.05], abs=5e-3)


def test_c1_settled_goodput_against_equation_8(make_run, flow):
    run = Run.load(make_run(flows=[flow(goodput_mbps=18.0)], rate_mbps=20.0))
    assert value(run, "settled_goodput") == pytest.approx(18.0, rel=1e-6)
    assert value(run, "eq8_ratio") == pytest.approx(18.0 / (20 * 1250 / 1358), rel=1e-6)


def test_c1_takes_the_configured_payload(make_run, flow):
    run = Run.load(
        make_run(flows=[flow(goodput_mbps=18.0)], config={"transport": {"mss_bytes": 1392}})
    )
    assert value(run, "eq8_ratio") == pytest.approx(18.0 / (20 * 1392 / 1500), rel=1e-6)


def test_c1_leaves_out_the_first_five_seconds_and_the_last_one(make_run, flow):
    # Delivered linearly from 0.1 s to its end at 12 s: the window is [5, 11].
    run = Run.load(make_run(flows=[flow(goodput_mbps=10.0, end_s=12.0)]))
    assert value(run, "settled_goodput") == pytest.approx(10.0, rel=1e-6)
    short = Run.load(make_run("short", duration_s=6.0))
    assert "more than 6 s" in reason(short, "settled_goodput")


@pytest.fixture
def pair(make_run, flow):
    """Two flows: alone from 0.1 s, both from 2.1 s to 8.1 s."""
    one = flow(
        goodput_mbps=12.0,
        in_flight=lambda t: 90e3 if t < 2.1 else 60e3,
        swing=4e3,
        srtt_plot=lambda t: 10.0 if t < 2.05 else 50.0,
    )
    two = flow(
        goodput_mbps=9.0,
        start_s=2.1,
        end_s=8.1,
        in_flight=lambda t: 20e3,
        swing=1e3,
        srtt_plot=lambda t: 40.0,
    )
    return Run.load(make_run("pair", flows=[one, two]))


def test_c2_in_flight_before_and_after_the_join(pair):
    assert value(pair, "peak_in_flight_before_join") == 94e3
    assert value(pair, "min_in_flight_before_join") == pytest.approx(56e3)
    assert value(pair, "in_flight_gap_after_join") == pytest.approx(40 / 80)


def test_c2_the_smallest_leaves_out_the_start_up(make_run, flow):
    one = flow(in_flight=lambda t: 1e3 if t < 1.05 else 50e3, swing=0.0)
    run = Run.load(make_run(flows=[one, flow(start_s=2.1)]))
    assert value(run, "min_in_flight_before_join") == 50e3


def test_c3_goodput_ratio(pair):
    assert value(pair, "goodput_ratio") == pytest.approx(9 / 12, rel=1e-6)


def test_c3_looks_at_the_second_half_of_the_overlap_only(make_run, flow):
    folder = make_run("step", flows=[flow(), flow(start_s=2.1, end_s=8.1)])
    path = folder / "flows.csv"
    # Flow 2 stands still until 5.1 s, the middle of [2.1, 8.1], and runs at 6 Mbps from there.
    moved = pl.max_horizontal(pl.col("time_s") - 5.1, 0.0).clip(upper_bound=3.0) * 6e6 / 8
    rows = pl.read_csv(path).with_columns(
        delivered_bytes=pl.when(pl.col("flow") == 2)
        .then(moved)
        .otherwise(pl.col("delivered_bytes"))
    )
    rows.write_csv(path)
    summary = json.loads((folder / "summary.json").read_text())
    summary["flows"][1]["bytes"] = int(3.0 * 6e6 / 8)
    (folder / "summary.json").write_text(json.dumps(summary))
    assert value(Run.load(folder), "goodput_ratio") == pytest.approx(0.6, rel=1e-3)


def test_c4_srtt_over_both_flows_from_the_join_to_the_first_end(pair):
    assert value(pair, "srtt_after_join") == pytest.approx(45.0)


def test_c5_convergence_time(make_run, flow):
    joins = [{"t_s": 2.1, "converged_s": 3.1}, {"t_s": 4.1, "converged_s": 7.1}]
    run = Run.load(make_run(joins=joins))
    entry = evaluate(run, ["convergence_time"])["convergence_time"]
    assert entry["value"] == pytest.approx(2.0)
    assert entry["parts"] == pytest.approx([1.0, 3.0])
    assert "notes" not in entry


def test_c5_a_run_that_never_converges_counts_as_its_length(make_run):
    run = Run.load(make_run(joins=[{"t_s": 2.1, "converged_s": None}]))
    entry = evaluate(run, ["convergence_time"])["convergence_time"]
    assert entry["value"] == 20.0
    assert "never converged" in entry["notes"][0]
    assert "shorter than 30 s" in entry["notes"][1]


def test_c5_needs_a_join(make_run):
    assert "joined" in reason(Run.load(make_run()), "convergence_time")


def test_c7_queue_after_the_fourth_join(make_run, flow):
    flows = [flow(start_s=s) for s in (0.1, 2.1, 4.1, 6.1)]

    def queue(t: float) -> float:
        if t < 4.05:
            return 0.0
        if t < 6.05:
            return 3.0 if t > 5.05 else 1.0
        return 40.0 if t <= 10.0 else 500.0

    run = Run.load(make_run(flows=flows, queue=queue))
    assert value(run, "queue_after_fourth_join") == pytest.approx(40.0)
    assert value(run, "min_queue_after_third_join") == 3.0
    # With four flows it must not empty either.
    dip = make_run("dip", flows=flows, queue=lambda t: 2.0 if 9 < t < 9.2 else queue(t))
    assert value(Run.load(dip), "min_queue_after_third_join") == 2.0


def test_c11_queue_against_copas_analysis(make_run, flow):
    run = Run.load(make_run(flows=[flow(delta=0.25)], queue=lambda t: 6.0 if t >= 4.95 else 99.0))
    assert value(run, "settled_queue") == pytest.approx(6.0)
    assert value(run, "queue_in_copa_units") == pytest.approx(6.0 / (1.25 / 0.25))
    other = Run.load(make_run("bbr", flows=[flow("bbr", delta=None)]))
    assert "no delta" in reason(other, "queue_in_copa_units")


def test_metrics_of_two_flows_need_two_flows(make_run):
    run = Run.load(make_run())
    for name in ("goodput_ratio", "srtt_after_join", "peak_in_flight_before_join"):
        assert "needs 2 flows" in reason(run, name)


def test_flows_that_do_not_meet_have_no_overlap(make_run, flow):
    run = Run.load(make_run(flows=[flow(end_s=3.0), flow(start_s=5.0)]))
    assert "do not overlap" in reason(run, "goodput_ratio")


def test_every_metric_says_what_it_is(make_run):
    for name, m in METRICS.items():
        assert m.name == name
        assert m.unit
        assert m.formula
    results = evaluate(Run.load(make_run()))
    assert list(results) == list(METRICS)
    assert results["jain"]["value"] == 0.99
    assert results["mean_queue"]["value"] == 12.3
    assert results["utilisation"]["value"] == 0.987


def test_names_are_unique_and_unknown_ones_are_named(make_run):
    with pytest.raises(ValueError, match="exists already"):
        metrics.metric("jain", unit="1", formula="x")(lambda run: 1.0)
    with pytest.raises(InputError, match="did you mean 'jain'"):
        evaluate(Run.load(make_run()), ["jian"])

"""Metrics of claims and studies on runs whose answers are known by construction."""

from __future__ import annotations

import json

import polars as pl
import pytest

from ferrocc_analysis import Run, evaluate
from ferrocc_analysis.metrics import METRICS, NotApplicable, copa_icn, replicas


def value(run: Run, name: str) -> float:
    entry = evaluate(run, [name])[name]
    assert entry["value"] is not None, entry["reason"]
    return entry["value"]


def reason(run: Run, name: str) -> str:
    entry = evaluate(run, [name])[name]
    assert entry["value"] is None
    return entry["reason"]


def rewritten(folder, **columns):
    """Replaces columns of `flows.csv` by expressions."""
    path = folder / "flows.csv"
    pl.read_csv(path).with_columns(**columns).write_csv(path)
    return Run.load(folder)


def test_mean_in_flight_leaves_out_the_first_second_and_what_follows_the_join(make_run, flow):
    def in_flight(t: float) -> float:
        return 500e3 if t < 1.05 else 60e3 if t < 2.15 else 10e3

    run = Run.load(make_run(flows=[flow(in_flight=in_flight), flow(start_s=2.1)]))
    assert value(run, "mean_in_flight_before_join") == pytest.approx(60e3)


@pytest.fixture
def joins():
    return [
        {"t_s": 2.1, "converged_s": 2.5},
        {"t_s": 4.1, "converged_s": None},
        {"t_s": 6.1, "converged_s": 9.0},
    ]


def test_convergence_within_joins_is_cut_at_the_next_join(make_run, joins):
    run = Run.load(make_run(joins=joins))
    entry = evaluate(run, ["convergence_within_joins"])["convergence_within_joins"]
    # The last one converged, but later than the others had time for.
    assert entry["parts"] == pytest.approx([0.4, 2.0, 2.0])
    assert entry["value"] == pytest.approx(4.4 / 3)
    assert len(entry["notes"]) == 2
    assert value(run, "joins_converged") == pytest.approx(2 / 3)
    assert "joined" in reason(Run.load(make_run("alone")), "joins_converged")


def test_fairness_among_four_over_the_last_two_seconds(make_run, flow):
    rates = [10.0, 10.0, 10.0, 30.0]
    flows = [flow(start_s=0.1 + 2 * i, goodput_mbps=r) for i, r in enumerate(rates)]
    run = Run.load(make_run(flows=flows))
    assert value(run, "jain_of_four") == pytest.approx(60**2 / (4 * 1200))
    assert value(run, "last_of_four") == pytest.approx(30 / 15)
    assert "needs 4 flows" in reason(Run.load(make_run("one")), "jain_of_four")


def test_goodput_beside_opposite_is_the_first_flows_until_the_first_end(make_run, flow):
    late = flow(start_s=2.1, goodput_mbps=8.0, end_s=18.0)
    early = flow(start_s=0.1, goodput_mbps=5.0, end_s=9.0)
    run = Run.load(make_run(flows=[late, early]))
    assert value(run, "goodput_beside_opposite") == pytest.approx(8.0, rel=1e-6)
    gone = Run.load(make_run("gone", flows=[late, flow(start_s=0.1, end_s=2.5)]))
    assert "nothing lies" in reason(gone, "goodput_beside_opposite")


def test_fct_in_units_of_an_equal_share(make_run, flow):
    flows = [flow(start_s=0.0, end_s=None), flow(start_s=8.0, end_s=10.0, goodput_mbps=4.0)]
    settings = {"flows": [{"background": True}, {"background": False}]}
    run = Run.load(make_run(flows=flows, config=settings))
    assert value(run, "fct") == pytest.approx(2.0)
    share = 20 * 1250 / 1358 / 2
    assert value(run, "fct_over_optimum") == pytest.approx(2.0 / (1e6 * 8e-6 / share), rel=1e-6)
    both = Run.load(make_run("both", flows=flows))
    assert "2 flows are not in the background" in reason(both, "fct")
    unfinished = [flow(), flow(start_s=8.0, end_s=None)]
    late = Run.load(make_run("late", flows=unfinished, config=settings))
    assert "was not done" in reason(late, "fct")


@pytest.mark.parametrize(
    ("rate", "delta"), [(0.0, 0.05), (20.0, 0.068), (50.0, 0.1625), (100.0, 0.5), (200.0, 0.5)]
)
def test_equation_7(rate, delta):
    assert copa_icn.delta_formula(rate) == pytest.approx(delta)


def test_delta_against_the_traced_rate(make_run, flow):
    # Pacing is twice the payload's rate: 50 Mbps with headers.
    pacing = 2 * 50.0 * 1250 / 1358
    run = Run.load(make_run(flows=[flow(goodput_mbps=pacing, delta=0.1625)]))
    assert value(run, "delta_error") == pytest.approx(0.0, abs=1e-9)
    off = Run.load(make_run("off", flows=[flow(goodput_mbps=pacing, delta=0.2)]))
    assert value(off, "delta_error") == pytest.approx(0.2 / 0.1625 - 1)
    assert "no rate of 100 Mbps" in reason(run, "delta_at_high_rates")
    fast = Run.load(make_run("fast", flows=[flow(goodput_mbps=300.0, delta=0.5)]))
    assert value(fast, "delta_at_high_rates") == 0.5
    none = Run.load(make_run("none", flows=[flow("cubic", delta=None)]))
    assert "no delta" in reason(none, "delta_error")


def test_target_rate_window_and_queueing_delay(make_run, flow):
    folder = make_run(flows=[flow(delta=0.5, in_flight=lambda t: 125e3, goodput_mbps=9.0)])
    run = Run.load(folder)
    # T_q is 1 ms in synthetic runs: 1 / (0.5 * 1 ms) = 2000 packets of 1358 B.
    assert value(run, "target_rate") == pytest.approx(2000 * 1358 * 8e-6)
    assert value(run, "queueing_delay") == 1.0
    assert value(run, "mean_window") == pytest.approx(100.0)
    assert copa_icn.window_range(run) == pytest.approx((100.0, 100.0))
    # Synthetic queues peak two packets above their length.
    assert copa_icn.longest_settled_queue(run) == 12.0
    assert "no delay can be added" in reason(run, "window_of_added_delay")
    no_queue = rewritten(folder, queue_delay_ms=pl.lit(0.0))
    assert "no queueing delay" in reason(no_queue, "target_rate")


def test_window_of_added_delay(make_run, flow):
    settings = {"topology": {"bottleneck": {"extra_delay_reverse": "40 ms"}}}
    run = Run.load(make_run(flows=[flow(goodput_mbps=10.0)], config=settings))
    assert value(run, "window_of_added_delay") == pytest.approx(10e6 / 8 * 0.04 / 1250, rel=1e-6)


def test_metrics_of_the_second_half(make_run, flow):
    flows = [flow(goodput_mbps=12.0, end_s=18.1), flow(start_s=2.1, goodput_mbps=6.0)]
    run = Run.load(make_run(flows=flows, queue=lambda t: 5.0 if t < 10.05 else 25.0))
    assert value(run, "jain_second_half") == pytest.approx(18**2 / (2 * (144 + 36)))
    assert value(run, "queue_second_half") == pytest.approx(25.0)
    assert value(run, "total_second_half") == pytest.approx(18.0, rel=1e-6)
    assert value(run, "last_share") == pytest.approx(6 / 9, rel=1e-6)


def test_metrics_of_the_summary(make_run, flow):
    run = Run.load(make_run(flows=[flow(goodput_mbps=12.0), flow(goodput_mbps=3.0)]))
    assert value(run, "total_goodput") == 15.0
    assert value(run, "smallest_share") == 0.25
    assert value(run, "rtt_p95") == 43.21
    assert value(run, "drop_rate") == 0.0003


def test_settings_are_read_by_path(make_run):
    run = Run.load(make_run(config={"flows": [{"size": "1 MB"}, {"size": None}]}))
    assert run.setting("flows.0.size") == "1 MB"
    assert run.setting("flows.1.size") is None
    assert run.setting("flows.2.size") is None
    assert run.setting("flows.0.size.unit") is None
    assert run.setting("seed") == 1


def test_a_claims_metric_that_does_not_apply_says_so(make_run):
    with pytest.raises(NotApplicable, match="4 flows"):
        METRICS["jain_of_four"].compute(Run.load(make_run()))


@pytest.fixture
def switched(make_run, flow):
    """A run whose replica changes at 5 s to B, 5 ms farther, and at 10 s back to A."""

    def make(name="switched", window=12.5e3, queueing=0.2, **summary):
        def in_flight(t: float) -> float:
            return window if t in (5.1, 10.1) else 90e3

        settings = {
            "transport": {"initial_window": 10.0},
            "replicas": [
                {"name": "A", "extra_delay": "0 ns"},
                {"name": "B", "extra_delay": "5 ms"},
            ],
            "flows": [{"size": "25 MB"}],
        }
        folder = make_run(name, flows=[flow(in_flight=in_flight, end_s=20.1)], config=settings)
        lines = ["time_s,flow,kind,value,text"]
        for t, value, text in ((0.1, 0, "A"), (5.0, 1, "B"), (10.0, 2, "A")):
            lines.append(f"{t},1,replica,{value},{text}")
        (folder / "events.csv").write_text("\n".join(lines) + "\n")
        path = folder / "summary.json"
        data = json.loads(path.read_text())
        data["flows"][0] |= {"verified": True, "failure": None, "bytes": 25_000_000} | summary
        path.write_text(json.dumps(data))
        return rewritten(folder, queue_delay_ms=pl.lit(queueing))

    return make


def test_c12_changes_of_the_replica(switched):
    run = switched()
    assert replicas.switches(run) == [(5.0, "B"), (10.0, "A")]
    assert value(run, "delivered_whole") == 1.0
    assert value(run, "restarts") == 1.0
    assert value(run, "stale_delay") == pytest.approx(0.2 / 5)


def test_c12_a_window_that_goes_on_is_no_restart(switched):
    assert value(switched(window=20e3), "restarts") == 0.0


def test_c12_a_path_that_is_not_measured_again_shows_as_queueing(switched):
    assert value(switched(queueing=5.5), "stale_delay") == pytest.approx(1.1)


@pytest.mark.parametrize(
    "wrong",
    [{"verified": False}, {"completed": False}, {"failure": "stalled"}, {"bytes": 24_999_999}],
)
def test_c12_content_that_is_not_whole(switched, wrong):
    assert value(switched(**wrong), "delivered_whole") == 0.0


def test_c12_needs_a_change(make_run):
    run = Run.load(make_run())
    assert "never changed" in reason(run, "restarts")
    assert "never changed" in reason(run, "stale_delay")


def test_c12_a_transfer_that_begins_with_the_farther_replica(switched):
    run = switched()
    lines = ["time_s,flow,kind,value,text", "0.1,1,replica,0,B", "10.0,1,replica,1,A"]
    (run.folder / "events.csv").write_text("\n".join(lines) + "\n")
    run = Run.load(run.folder)
    assert replicas.switches(run) == [(10.0, "A")]
    assert "to one that is farther" in reason(run, "stale_delay")

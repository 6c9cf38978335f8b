"""Series and confidence intervals with known answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ferrocc_analysis import Run, stats


def test_the_t_interval_is_the_textbooks():
    values = np.array([[1.0, 5.0, np.nan], [2.0, 5.0, 4.0], [4.5, 5.0, np.nan], [3.0, 5.0, np.nan]])
    mean, low, high = stats.t_interval(values)
    expected = scipy_stats.t.interval(
        0.95, 3, loc=np.mean(values[:, 0]), scale=scipy_stats.sem(values[:, 0])
    )
    assert mean == pytest.approx([2.625, 5.0, 4.0])
    assert (low[0], high[0]) == pytest.approx(expected)
    assert (low[1], high[1]) == pytest.approx((5.0, 5.0))
    assert np.isnan([low[2], high[2]]).all()


def test_of_two_runs_their_numbers_are_shown_and_of_three_the_interval():
    two, three = stats.estimate([1.0, 3.0]), stats.estimate([1.0, 3.0, 2.0])
    # t(0.975, 1) = 12.706 over a standard error of 1: verdicts rest on it all the same.
    assert (two.low, two.high) == pytest.approx((2 - 12.706, 2 + 12.706), abs=1e-3)
    assert two.shown == (1.0, 3.0)
    assert two.scaled(-10).shown == (-30.0, -10.0)
    assert three.shown == (three.low, three.high)
    of_both = stats.ratio(stats.estimate([2.0, 9.0]), two)
    assert of_both.mean == pytest.approx(11 / 4)
    assert of_both.shown == pytest.approx((2.0, 3.0))
    lower = of_both.mapped(-1.0, 1.0)
    assert lower.shown == pytest.approx((-2.0, -1.0))
    assert (lower.low, lower.high) == pytest.approx((1 - of_both.high, 1 - of_both.low))


def test_bins_are_whole_intervals():
    assert stats.bin_width(0.01, 2.0) == pytest.approx(0.01)
    assert stats.bin_width(0.01, 20.0) == pytest.approx(0.05)
    assert stats.bin_width(0.03, 1.0, least_s=0.2) == pytest.approx(0.21)


def test_a_series_at_the_traces_interval_is_the_trace(make_run, flow):
    run = Run.load(make_run(flows=[flow(in_flight=lambda t: 1e3 * t, swing=10.0)]))
    s = stats.flow_series(
        [run], 0, "in_flight_bytes", low="in_flight_min_bytes", high="in_flight_max_bytes",
        width_s=0.1, scale=1e-3,
    )  # fmt: skip
    assert s.time_s == pytest.approx(np.arange(2, 201) * 0.1)
    assert s.value == pytest.approx(s.time_s)
    assert s.low == pytest.approx(s.time_s - 0.01)
    assert s.high == pytest.approx(s.time_s + 0.01)


def test_wider_bins_keep_extremes_and_means(make_run, flow):
    run = Run.load(make_run(flows=[flow(start_s=0.0, in_flight=lambda t: 1e3 * t, swing=0.0)]))
    s = stats.flow_series(
        [run], 0, "in_flight_bytes", low="in_flight_min_bytes", high="in_flight_max_bytes",
        width_s=1.0,
    )  # fmt: skip
    # (0, 1] holds 0.1, 0.2 ... 1.0.
    assert (s.value[0], s.low[0], s.high[0]) == pytest.approx((550.0, 100.0, 1000.0))
    assert len(s.value) == 20


def test_goodput_counts_from_the_start_to_the_end_of_the_flow(make_run, flow):
    run = Run.load(make_run(flows=[flow(goodput_mbps=8.0, start_s=0.13, end_s=9.47)]))
    s = stats.goodput_series([run], 0, width_s=0.2)
    # The trace rounds to whole bytes.
    assert s.value == pytest.approx(np.full(len(s.value), 8.0), abs=1e-3)
    assert s.time_s[-1] <= 9.6 + 1e-9


def test_several_runs_give_their_mean_and_its_interval(make_run, flow):
    runs = [
        Run.load(make_run(f"r{i}", run=i, flows=[flow(srtt_plot=lambda t, i=i: 40.0 + i)]))
        for i in (1, 2, 3)
    ]
    s = stats.flow_series(runs, 0, "srtt_plot_ms", width_s=0.1)
    half = scipy_stats.t.ppf(0.975, 2) * 1.0 / np.sqrt(3)
    assert s.value == pytest.approx(np.full(199, 42.0))
    assert s.high - s.value == pytest.approx(np.full(199, half))
    assert s.value - s.low == pytest.approx(np.full(199, half))


def test_bins_that_only_half_of_the_runs_reach_are_left_out(make_run, flow):
    ends = {1: 10.0, 2: 5.0, 3: 7.0, 4: 5.0}
    runs = [Run.load(make_run(f"r{i}", run=i, flows=[flow(end_s=end)])) for i, end in ends.items()]
    three = stats.flow_series(runs[:3], 0, "srtt_plot_ms", width_s=0.1)
    assert three.time_s[-1] == pytest.approx(7.1)
    four = stats.flow_series(runs, 0, "srtt_plot_ms", width_s=0.1)
    assert four.time_s[-1] == pytest.approx(5.1)
    assert not np.isnan([three.low, three.high]).any()

"""Verdict rules and the intervals that they look at."""

from __future__ import annotations

import math

import pytest

from ferrocc_analysis import stats
from ferrocc_analysis.claims import Verdict, rules
from ferrocc_analysis.stats import Estimate, difference, estimate, ratio

YES, PARTLY, NO = Verdict.REPRODUCED, Verdict.PARTLY, Verdict.NOT_REPRODUCED


def between(low: float, high: float, mean: float | None = None) -> Estimate:
    return Estimate((low + high) / 2 if mean is None else mean, low, high, 5)


def test_an_estimate_is_the_mean_with_students_interval():
    # t(2; 97.5 %) = 4.302653, s = 1, so the half width is 4.302653 / sqrt(3).
    found = estimate([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.high - 2.0 == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert found.low + found.high == pytest.approx(4.0)
    assert found.known


def test_one_run_has_no_interval_and_none_no_estimate():
    found = estimate([4.0])
    assert (found.mean, found.low, found.high, found.known) == (4.0, 4.0, 4.0, False)
    with pytest.raises(ValueError, match="no samples"):
        estimate([])


def test_scaling_turns_the_interval_with_a_negative_factor():
    found = between(1.0, 3.0).scaled(-2.0)
    assert (found.low, found.mean, found.high) == (-6.0, -4.0, -2.0)


def test_a_ratio_is_one_of_means_not_a_mean_of_ratios():
    # The mean of ratios would be (1/1 + 9/3) / 2 = 2.
    found = ratio(estimate([1.0, 9.0]), estimate([1.0, 3.0]))
    assert found.mean == pytest.approx(10 / 4)


def test_the_interval_of_a_ratio_is_the_ratio_estimators():
    one, other = [2.0, 4.0, 7.0], [1.0, 2.0, 3.0]
    r = sum(one) / sum(other)
    rest = [a - r * b for a, b in zip(one, other, strict=True)]
    s = math.sqrt(sum(x * x for x in rest) / 2)
    found = ratio(estimate(one), estimate(other))
    assert found.high - found.mean == pytest.approx(4.302653 * s / (math.sqrt(3) * 2.0), rel=1e-6)


def test_a_ratio_of_proportional_samples_is_certain():
    found = ratio(estimate([2.0, 4.0, 6.0]), estimate([1.0, 2.0, 3.0]))
    assert (found.low, found.mean, found.high) == pytest.approx((2.0, 2.0, 2.0))


def test_ratios_and_differences_pair_runs():
    found = difference(estimate([5.0, 7.0]), estimate([4.0, 6.0]))
    assert (found.low, found.mean, found.high) == (1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="different numbers"):
        ratio(estimate([1.0]), estimate([1.0, 2.0]))
    with pytest.raises(ValueError, match="0 on average"):
        ratio(estimate([1.0, 1.0]), estimate([-1.0, 1.0]))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.37, 0.5, YES), (0.36, 0.5, PARTLY), (0.001, 0.9, PARTLY), (0.0, 0.9, NO), (-0.2, -0.1, NO)],
)
def test_more_than(low, high, verdict):
    assert rules.more_than(between(low, high), 0.37) is verdict


@pytest.mark.parametrize(
    ("value", "verdict"), [(0.15, YES), (0.25, YES), (0.149, NO), (0.251, NO), (0.2, YES)]
)
def test_about_is_within_a_quarter(value, verdict):
    assert rules.about(value, 0.2) is verdict


def test_bounds_are_met_surely_or_on_average():
    assert rules.at_least(between(0.99, 1.0), 0.99) is YES
    assert rules.at_least(between(0.98, 1.02), 0.99) is PARTLY
    assert rules.at_least(between(0.9, 1.0), 0.99) is NO
    assert rules.at_most(between(0.0, 0.1), 0.1) is YES
    assert rules.at_most(between(0.0, 0.15), 0.1) is PARTLY
    assert rules.at_most(between(0.1, 0.3), 0.1) is NO
    assert rules.within(between(0.8, 1.2), 0.8, 1.25) is YES
    assert rules.within(between(0.7, 1.1), 0.8, 1.25) is PARTLY
    assert rules.within(between(0.3, 0.9), 0.8, 1.25) is NO
    assert rules.more_than_one(between(1.01, 2.0)) is YES
    assert rules.more_than_one(between(0.5, 2.0)) is PARTLY
    assert rules.more_than_one(between(0.2, 1.0)) is NO


def test_below_needs_intervals_that_do_not_touch():
    assert rules.below(between(1, 2), between(2.1, 3)) is YES
    assert rules.below(between(1, 2), between(2, 3)) is PARTLY
    assert rules.below(between(1, 3), between(1, 3)) is PARTLY
    assert rules.below(between(2, 4), between(1, 3)) is PARTLY
    assert rules.below(between(3.1, 4), between(1, 3)) is NO


def test_the_lowest_is_so_at_every_point():
    low, high = between(1, 2), between(3, 4)
    near = between(1.5, 3)
    assert rules.lowest([low, low], [[high, high], [high, high]]) is YES
    assert rules.lowest([low, low], [[high, near], [high, high]]) is PARTLY
    assert rules.lowest([low, high], [[high, low]]) is NO
    assert rules.highest([high, high], [[low, low]]) is YES
    assert rules.highest([high, low], [[low, high]]) is NO
    with pytest.raises(ValueError, match="nothing to compare"):
        rules.lowest([], [])
    with pytest.raises(ValueError, match="shorter"):
        rules.lowest([low, low], [[high]])


def test_orders_along_a_sweep():
    one, two, three = between(1, 1.5), between(2, 2.5), between(3, 3.5)
    assert rules.increasing([one, two, three]) is YES
    assert rules.decreasing([three, two, one]) is YES
    assert rules.increasing([one, between(1.2, 2.5), three]) is PARTLY
    assert rules.increasing([one, three, two]) is NO
    with pytest.raises(ValueError, match="nothing to compare"):
        rules.increasing([one])


def test_a_claim_is_as_good_as_its_clauses():
    assert rules.overall([YES, YES]) is YES
    assert rules.overall([YES, NO]) is PARTLY
    assert rules.overall([PARTLY, PARTLY]) is PARTLY
    assert rules.overall([NO, PARTLY]) is PARTLY
    assert rules.overall([NO, NO]) is NO
    with pytest.raises(ValueError, match="needs a clause"):
        rules.overall([])
    assert rules.worst([YES, PARTLY, YES]) is PARTLY
    assert rules.worst([PARTLY, NO]) is NO
    assert rules.holds(True) is YES
    assert rules.holds(False) is NO


def test_the_intervals_level_is_95_percent():
    assert stats.CONFIDENCE == 0.95

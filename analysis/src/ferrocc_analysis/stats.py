"""Series over time and the confidence of their means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import stdtrit

from .runs import Flow, Run

Array = npt.NDArray[np.float64]

#: Shortest bin in which goodput is averaged, in seconds; also the bin of the fairness claims.
GOODPUT_BIN_S = 0.2
#: A goodput bin that a flow's end cuts to less than this share is left out.
_LEAST_BIN_SHARE = 0.25
#: Bins of a series over the whole run at most: more than a page can show.
MAX_POINTS = 400
#: Level of confidence intervals.
CONFIDENCE = 0.95
#: Of fewer runs than this their smallest and largest number are shown: Student's t over two runs
#: gives intervals so wide (12.7 standard errors) that they hide the data.
LEAST_RUNS = 3
# Times are multiples of an interval up to rounding; this share of a bin is that rounding.
_EPS = 1e-6


@dataclass(frozen=True)
class Series:
    """A quantity over time. All arrays have the shape (bins,).

    `time_s` is in seconds, `value`, `low`, `high` are in the quantity's unit. The band from `low`
    to `high` is, over one run, the extremes within each bin (NaN where none are recorded), and
    over `LEAST_RUNS` runs or more the confidence interval of their mean, over fewer their smallest
    and largest value. Bins that only half of the runs reach, or fewer, are left out: flows end at
    different times, and the mean of the slow ones is another quantity.
    """

    time_s: Array
    value: Array
    low: Array
    high: Array
    runs: int


@dataclass(frozen=True)
class Estimate:
    """A mean over `n` runs with its 95 % Student-t interval.

    With one run, or where all runs give the same number, `low` and `high` are the mean itself:
    nothing is known about chance, or there is none. `samples` are the runs' numbers; `extremes`
    the smallest and largest of them, where these are not those of `samples`.
    """

    mean: float
    low: float
    high: float
    n: int
    samples: tuple[float, ...] = ()
    extremes: tuple[float, float] | None = None

    @property
    def shown(self) -> tuple[float, float]:
        """What figures and tables show of it: the interval, or over fewer than `LEAST_RUNS` runs
        the smallest and largest number.
        """
        if self.n >= LEAST_RUNS:
            return self.low, self.high
        if self.extremes is not None:
            return self.extremes
        return (min(self.samples), max(self.samples)) if self.samples else (self.low, self.high)

    @property
    def known(self) -> bool:
        """Whether the interval says anything about chance."""
        return self.n > 1

    def scaled(self, factor: float) -> Estimate:
        """In a unit that is `1 / factor` of this one."""
        return self.mapped(factor, 0.0)

    def mapped(self, factor: float, offset: float) -> Estimate:
        """`factor` times it plus `offset`."""
        low, high = sorted((self.low * factor + offset, self.high * factor + offset))
        extremes = None
        if self.extremes is not None:
            least, most = sorted(e * factor + offset for e in self.extremes)
            extremes = (least, most)
        samples = tuple(s * factor + offset for s in self.samples)
        return Estimate(self.mean * factor + offset, low, high, self.n, samples, extremes)


def estimate(samples: Iterable[float]) -> Estimate:
    """The mean of `samples` (one per run, one at least) and its interval."""
    values = tuple(float(s) for s in samples)
    if not values:
        raise ValueError("no samples")
    mean, low, high = (float(a[0]) for a in t_interval(np.array(values)[:, np.newaxis]))
    if math.isnan(low):
        low = high = mean
    return Estimate(mean, low, high, len(values), values)


def difference(one: Estimate, other: Estimate) -> Estimate:
    """The mean of `one` minus `other`, run by run: equal places are runs of equal number, which
    share their random draws. Both need as many samples.
    """
    return estimate(a - b for a, b in zip(one.samples, other.samples, strict=True))


def ratio(one: Estimate, other: Estimate) -> Estimate:
    """The ratio r of two means over the same runs, mean(a) / mean(b), with its 95 % interval.

    The interval is that of the ratio estimator (Cochran, "Sampling Techniques", section 2.11):
    r -+ t(n - 1) * s / (sqrt(n) * mean(b)), s the standard deviation of a_i - r b_i. A ratio of
    means, not a mean of ratios, which single small b_i would rule. `samples` are a_i / mean(b).
    """
    if len(one.samples) != len(other.samples):
        raise ValueError("the two have different numbers of runs")
    if other.mean == 0:
        raise ValueError("the denominator is 0 on average")
    r = one.mean / other.mean
    rest = estimate(a - r * b for a, b in zip(one.samples, other.samples, strict=True))
    half = (rest.high - rest.low) / 2 / abs(other.mean)
    pairs = list(zip(one.samples, other.samples, strict=True))
    extremes = None
    if all(b * other.mean > 0 for _, b in pairs):
        # The ratio of means lies between the smallest and largest ratio of two numbers.
        each = [a / b for a, b in pairs]
        extremes = (min(each), max(each))
    samples = tuple(a / other.mean for a in one.samples)
    return Estimate(r, r - half, r + half, one.n, samples, extremes)


def t_interval(values: Array, level: float = CONFIDENCE) -> tuple[Array, Array, Array]:
    """Mean and Student-t confidence interval over the first axis, NaN values left out.

    `values` has the shape (runs, bins); each returned array has the shape (bins,). With n values
    of standard deviation s the interval is mean -+ t(n - 1) * s / sqrt(n); with n < 2 it is NaN.
    """
    valid = ~np.isnan(values)
    n = valid.sum(axis=0)
    total = np.where(valid, values, 0.0).sum(axis=0)
    mean = np.full(values.shape[1], np.nan)
    np.divide(total, n, out=mean, where=n > 0)
    squares = np.where(valid, (values - mean) ** 2, 0.0).sum(axis=0)
    half = np.full(values.shape[1], np.nan)
    many = n > 1
    # `stdtrit` is `scipy.stats.t.ppf`, without the second that importing `scipy.stats` takes.
    quantile = np.asarray(stdtrit(n[many] - 1, 0.5 + level / 2), dtype=np.float64)
    half[many] = quantile * np.sqrt(squares[many] / (n[many] - 1) / n[many])
    return mean, mean - half, mean + half


def bin_width(interval_s: float, span_s: float, least_s: float = 0.0) -> float:
    """Width of bins in seconds: a multiple of the trace interval, at least `least_s`, and at most
    `MAX_POINTS` of them in `span_s`.
    """
    if interval_s <= 0:
        return max(least_s, span_s / MAX_POINTS, 1e-9)
    wanted = max(least_s, span_s / MAX_POINTS, interval_s)
    return interval_s * max(1, int(np.ceil(wanted / interval_s - _EPS)))


def flow_series(
    runs: Sequence[Run],
    index: int,
    column: str,
    *,
    width_s: float,
    low: str | None = None,
    high: str | None = None,
    scale: float = 1.0,
) -> Series:
    """A column of `flows.csv` for flow number `index` (from 0) of each of `runs`, times `scale`.

    Each bin holds the column's mean; `low` and `high` name the columns of its extremes.
    """
    frames = [
        _binned(_of_flow(run, run.flows[index]), column, low, high, width_s)
        for run in runs
        if index < len(run.flows)
    ]
    return _combined(frames, scale)


def goodput_series(runs: Sequence[Run], index: int, *, width_s: float) -> Series:
    """Goodput of flow number `index` in Mbps: the bytes delivered within each bin over the part
    of the bin in which the flow was there.
    """
    frames = []
    for run in runs:
        if index >= len(run.flows):
            continue
        flow = run.flows[index]
        per_bin = (
            _of_flow(run, flow)
            .with_columns(_bin(width_s))
            .group_by("bin")
            .agg(pl.col("time_s").last(), pl.col("delivered_bytes").last())
            .sort("bin")
            .with_columns(
                until=pl.min_horizontal("time_s", pl.lit(flow.end_s)),
                since=pl.col("time_s").shift(1, fill_value=flow.start_s),
                before=pl.col("delivered_bytes").shift(1, fill_value=0.0),
            )
            .with_columns(length=pl.col("until") - pl.col("since"))
            .filter(pl.col("length") >= _LEAST_BIN_SHARE * width_s)
            .select(
                "bin",
                "time_s",
                value=(pl.col("delivered_bytes") - pl.col("before")) * 8e-6 / pl.col("length"),
                low=pl.lit(None, dtype=pl.Float64),
                high=pl.lit(None, dtype=pl.Float64),
            )
        )
        frames.append(per_bin)
    return _combined(frames, 1.0)


def queue_series(runs: Sequence[Run], *, width_s: float) -> Series:
    """The bottleneck's queue in packets; over one run with its extremes in each bin."""
    frames = [
        _binned(run.bottleneck_queue(), "packets", "packets", "max_packets", width_s)
        for run in runs
    ]
    return _combined(frames, 1.0)


def cut(series: Series, window: tuple[float, float]) -> Series:
    """The part of `series` within `window`, in seconds, both ends included."""
    keep = (series.time_s >= window[0]) & (series.time_s <= window[1])
    return Series(
        series.time_s[keep], series.value[keep], series.low[keep], series.high[keep], series.runs
    )


def _of_flow(run: Run, flow: Flow) -> pl.LazyFrame:
    """A flow's rows up to its end (rows later than that repeat its last state)."""
    return run.flow(flow).filter(pl.col("time_s") <= flow.end_s + run.interval_s)


def _bin(width_s: float) -> pl.Expr:
    """Bins (k w, (k+1) w]: rows stand at the end of what they describe."""
    return ((pl.col("time_s") / width_s - _EPS).ceil() - 1).cast(pl.Int64).alias("bin")


def _binned(
    frame: pl.LazyFrame, column: str, low: str | None, high: str | None, width_s: float
) -> pl.LazyFrame:
    nothing = pl.lit(None, dtype=pl.Float64)
    return (
        frame.filter(pl.col(column).is_not_null())
        .with_columns(_bin(width_s))
        .group_by("bin")
        .agg(
            pl.col("time_s").mean(),
            value=pl.col(column).mean(),
            low=pl.col(low).min() if low else nothing,
            high=pl.col(high).max() if high else nothing,
        )
        .sort("bin")
    )


def _combined(frames: Sequence[pl.LazyFrame], scale: float) -> Series:
    tables = [t for t in pl.collect_all(list(frames)) if t.height]
    if not tables or 2 * len(tables) <= len(frames):
        empty = np.empty(0)
        return Series(empty, empty, empty, empty, len(frames))
    if len(frames) == 1:
        t = tables[0]
        columns = [
            t.get_column(c).cast(pl.Float64).fill_null(np.nan).to_numpy()
            for c in ("time_s", "value", "low", "high")
        ]
        time, value, low, high = columns
        return Series(time, value * scale, low * scale, high * scale, len(frames))
    bins = np.unique(np.concatenate([t.get_column("bin").to_numpy() for t in tables]))
    times, values = np.full((2, len(tables), len(bins)), np.nan)
    for i, t in enumerate(tables):
        at = np.searchsorted(bins, t.get_column("bin").to_numpy())
        times[i, at] = t.get_column("time_s").to_numpy()
        values[i, at] = t.get_column("value").to_numpy()
    most = 2 * (~np.isnan(values)).sum(axis=0) > len(frames)
    times, values = times[:, most], values[:, most]
    mean, lower, upper = t_interval(values)
    if len(frames) < LEAST_RUNS:
        lower, upper = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    return Series(
        np.nanmean(times, axis=0), mean * scale, lower * scale, upper * scale, len(frames)
    )

"""What the paper does not show: buffers, parts of Copa-ICN left out, other settings."""

from __future__ import annotations

from typing import Final

from ... import figures, quantities
from ...runs import Run
from ..clauses import mean, measured_or_not, row, runs_of, study
from ..comparison import Comparison, Quantity, algorithms, as_study, settings
from ..model import Drawn, Judgement, Need, Results, Scale, Study
from . import buffers, completion
from .common import ASSUMPTIONS, FOUR, JITTER, PAPER, in_order, name_of, numbers

_FIVE: Final = ("copa-icn", "copa", *FOUR[1:])
_CONTROLLER: Final = "flows.0.controller"


# Buffers.

_BUFFER_METRICS: Final = (
    ("goodput_ratio", "goodput of NDC-2 / NDC-1", "1"),
    ("srtt_after_join", "SRTT after the join", "ms"),
    ("in_flight_gap_after_join", "gap between in-flights after the join", "1"),
)


def _buffer_needs(scale: Scale) -> tuple[Need, ...]:
    return () if scale is Scale.QUICK else buffers.needs(scale)


def _judge_buffers(results: Results, scale: Scale) -> Judgement:
    del scale
    rows = []
    lowest: list[str] = []
    for label, by_setting in buffers.by_buffer(results).items():
        smallest = []
        for letter, runs in by_setting.items():
            groups = {c: [r for r in runs if r.label == c] for c in FOUR}
            for metric, name, unit in _BUFFER_METRICS[:2]:
                found = {c: mean(groups[c], metric) for c in FOUR}
                rows += [
                    row(f"{name}, {name_of(c)}, ({letter}), {label}", found[c], unit) for c in FOUR
                ]
                if metric == "srtt_after_join":
                    smallest.append(min(found, key=lambda c: found[c].mean))
        if set(smallest) == {"copa-icn"}:
            lowest.append(label)
    if not rows:
        return study((), "not part of this scale")
    where = ", ".join(lowest) if lowest else "no buffer"
    return study(rows, f"Copa-ICN's SRTT is the lowest in both settings with {where}")


def _draw_buffers(results: Results) -> Drawn:
    drawn = []
    for metric, name, unit in _BUFFER_METRICS:
        label = f"{name[0].upper()}{name[1:]}" + ("" if unit == "1" else f" ({unit})")
        drawn += buffers.draw(results, metric, label, f"{label} by the bottleneck's buffer.")
    return drawn


BUFFERS: Final = Study(
    id="A1-buffer",
    paper=PAPER,
    figure="",
    title="Figures 6 to 8 with other buffers",
    statement=(
        "The paper does not give the buffer of its routers. The same experiments with buffers of "
        "half to four bandwidth-delay products, of 100 and of 1,000 packets."
    ),
    expected="delay of the algorithms that fill buffers grows with the buffer, Copa-ICN's does not",
    assumptions=(*ASSUMPTIONS[1:], JITTER),
    needs=_buffer_needs,
    judge=measured_or_not(_judge_buffers),
    draw=_draw_buffers,
)


# Parts of Copa-ICN.


def _draw_probe(runs: list[Run]) -> Drawn:
    path = f"{_CONTROLLER}.probes"
    in_turn = sorted(runs, key=lambda r: (-int(r.setting(path)), r.run))
    titles = ("With probe", "Without probe")
    figure = figures.time_figure(in_turn, "goodput", (0.0, 10.0), titles=titles)
    return [("Goodput of the four flows.", figure)]


PROBE: Final = as_study(
    Comparison(
        "copa-icn/without-probe",
        settings("copa-icn", f"{_CONTROLLER}.probes", ((2, "with probe"), (0, "without probe"))),
        (
            Quantity("jain_of_four", "Jain's index over [8.1 s, 10 s]", "1"),
            Quantity("last_of_four", "RE4's goodput / equal share", "1"),
            Quantity("queue_after_fourth_join", "mean queue", "packets"),
        ),
        numbers,
        "Four flows that join one after the other, with and without prioritised first requests.",
        more=_draw_probe,
    ),
    id="A2-probe",
    paper=PAPER,
    title="Copa-ICN without the priority probe",
    statement=(
        "The first two requests ask for prioritised DATA, which measures the path without a queue "
        "(section 4.2.3). What happens without that, in the experiment of Figure 10."
    ),
    expected="flows that come later measure too little queueing and get more than their share",
    assumptions=(*ASSUMPTIONS, JITTER),
)


def _opposite(run: Run) -> str:
    return ("none", "one", "two")[len(run.flows) - 1]


ONE_WAY: Final = as_study(
    Comparison(
        "copa-icn/without-one-way-delay",
        settings(
            "copa-icn",
            f"{_CONTROLLER}.queue_delay",
            (("one-way", "one-way delay"), ("round-trip", "round trip")),
        ),
        (Quantity("goodput_beside_opposite", "throughput of RE1", "Mbps"),),
        numbers,
        "RE1's throughput by the number of opposite transfers.",
        _opposite,
        ("none", "one", "two"),
    ),
    id="A3-one-way-delay",
    paper=PAPER,
    title="Copa-ICN without one-way delay",
    statement=(
        "Copa-ICN takes the queueing delay of DATA alone (section 4.2.2). What opposite transfers "
        "do to it where it takes that of the round trip, as Copa does, in the experiment of "
        "Figure 12 at 50 Mbps and 80 ms."
    ),
    expected="with the round trip, opposite transfers take more of RE1's throughput",
    assumptions=(*ASSUMPTIONS, JITTER),
)

FIXED_DELTA: Final = as_study(
    Comparison(
        "copa-icn/fixed-delta",
        settings(
            "copa-icn",
            f"{_CONTROLLER}.delta",
            (("rate", "delta by rate"), (0.5, "delta 0.5"), (0.05, "delta 0.05")),
        ),
        (
            Quantity("convergence_time", "convergence time", "s"),
            Quantity("queue_second_half", "mean queue", "packets"),
            Quantity("total_second_half", "goodput of both", "Mbps"),
        ),
        lambda scale: numbers(Scale.FULL),
        "A second flow joins at 50 Mbps and 80 ms.",
    ),
    id="A4-fixed-delta",
    paper=PAPER,
    title="Copa-ICN with a fixed delta",
    statement=(
        "Delta grows with the rate, so that slow flows push harder (section 4.2.4). The experiment "
        "of Figure 9 at 50 Mbps and 80 ms with delta fixed at either end of its range."
    ),
    expected="slower convergence with 0.5, more queue with 0.05",
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        "a run that never converges counts as its length",
    ),
)

_MEMORIES: Final = (("paper", "10 s (paper)"), ("keep", "kept"), ("reprobe", "again every 8 s"))


def _draw_memory(runs: list[Run]) -> Drawn:
    path = f"{_CONTROLLER}.probe_memory"
    cells = [(label, [r for r in runs if r.setting(path) == value]) for value, label in _MEMORIES]
    figure = figures.flow_figure([("", cells)], "queue", 0, least_bin_s=1.0)
    return [("The bottleneck's queue, means over 1 s.", figure)]


PROBE_MEMORY: Final = as_study(
    Comparison(
        "copa-icn/probe-memory",
        settings(
            "copa-icn",
            f"{_CONTROLLER}.probe_memory",
            _MEMORIES,
        ),
        (
            Quantity("jain_second_half", "Jain's index, second half", "1"),
            Quantity("queue_second_half", "mean queue, second half", "packets"),
            Quantity("drop_rate", "dropped", "%", 100.0),
        ),
        numbers,
        "Four flows that go on for 40 s.",
        more=_draw_memory,
    ),
    id="A5-probe-memory",
    paper=PAPER,
    title="How long the probe's delay is remembered",
    statement=(
        "The smallest delay counts for 10 s, so that transfers that take longer forget what the "
        "probe measured. Beside that: the probe's delay kept until the path changes, and one "
        "request in 8 s prioritised again."
    ),
    expected="without the probe's delay the queue, which never empties, is taken for the path",
    assumptions=(*ASSUMPTIONS, JITTER),
)


# Other settings.


def _draw_small(results: Results) -> Drawn:
    runs = runs_of(results, "copa-icn/small-ndcs")
    if not runs:
        return ()
    figure = completion.curves_by_size(
        runs, ("copa-icn", "copa", "cubic"), "Size of the NDC (kB)", 1e-3
    )
    return [("Completion time of small NDCs in units of that at an equal share.", figure)]


def _size(run: Run) -> str:
    return f"{(quantities.size_bytes(run.setting('flows.5.size')) or 0) * 1e-3:g} kB"


_SMALL: Final = Comparison(
    "copa-icn/small-ndcs",
    algorithms(("copa-icn", "copa", "cubic")),
    (
        Quantity("fct_over_optimum", "FCT / optimum", "1"),
        Quantity("fct", "FCT", "s"),
    ),
    numbers,
    "",
    _size,
    tuple(f"{n} kB" for n in (16, 32, 64, 125, 250, 500)),
)

SMALL: Final = Study(
    id="A6-small-ndcs",
    paper=PAPER,
    figure="",
    title="NDCs of less than 1 MB",
    statement=(
        "The paper's NDCs have 1 MB and more. Its experiment of Figure 13 with NDCs of 16 to "
        "500 kB."
    ),
    expected="completion is ruled by round trips: further from the optimum the smaller the NDC",
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        "five receivers in the background fetch NDCs of 50 MB one after the other",
    ),
    needs=_SMALL.needs,
    judge=measured_or_not(_SMALL.judge),
    draw=_draw_small,
)

COMPETING: Final = as_study(
    Comparison(
        "copa-icn/competing-cubic",
        (
            *algorithms(("copa-icn",), flow=1),
            *settings(
                "copa",
                "flows.1.controller.mode",
                (("fixed", "Copa"), ("auto", "Copa, competitive mode")),
            ),
            *algorithms(("cubic",), flow=1),
        ),
        (
            Quantity("last_share", "goodput of the second flow / equal share", "1"),
            Quantity("queue_second_half", "mean queue, second half", "packets"),
            Quantity("total_second_half", "goodput of both", "Mbps"),
        ),
        numbers,
        "A CUBIC flow that another joins.",
        buffers.label,
        ("1 BDP", "2 BDP"),
    ),
    id="A7-competing-cubic",
    paper=PAPER,
    title="Beside CUBIC",
    statement=(
        "The paper leaves coexistence with loss-based traffic to later work. A CUBIC flow that "
        "fills the buffer, joined by Copa-ICN, by Copa with and without its competitive mode, and "
        "by another CUBIC flow, 50 Mbps and 50 ms."
    ),
    expected="Copa in its competitive mode keeps a share, without it hardly any",
    assumptions=(*ASSUMPTIONS[1:], JITTER, "buffers of one and two bandwidth-delay products"),
)

MANY: Final = as_study(
    Comparison(
        "copa-icn/many-receivers",
        algorithms(_FIVE),
        (
            Quantity("jain", "Jain's index", "1"),
            Quantity("total_goodput", "goodput of all", "Mbps"),
            Quantity("mean_queue", "mean queue", "packets"),
            Quantity("drop_rate", "dropped", "%", 100.0),
        ),
        numbers,
        "64 receivers at 100 Mbps and 50 ms for 20 s.",
    ),
    id="A8-many-receivers",
    paper=PAPER,
    title="64 receivers",
    statement="64 flows at once share 100 Mbps: 7 packets of the path for each.",
    expected="Copa-ICN wants 20 packets in the queue for each flow, more than the buffer holds",
    assumptions=(*ASSUMPTIONS, "flows start within one RTprop, at random"),
)


def _draw_unequal(runs: list[Run]) -> Drawn:
    one = [r for r in in_order(runs, _FIVE) if r.run == min(x.run for x in runs)]
    return [("Goodput of the four flows, one run.", figures.time_figure(one, "goodput"))]


UNEQUAL: Final = as_study(
    Comparison(
        "copa-icn/unequal-rtt",
        algorithms(_FIVE),
        (
            Quantity("jain_second_half", "Jain's index, second half", "1"),
            Quantity("smallest_share", "slowest flow / fastest", "1"),
            Quantity("total_second_half", "goodput of all", "Mbps"),
        ),
        numbers,
        "Four flows with round trips of 50, 70, 100 and 150 ms at 50 Mbps.",
        more=_draw_unequal,
    ),
    id="A9-unequal-rtt",
    paper=PAPER,
    title="Receivers at different distances",
    statement="Four flows whose round trips take 50, 70, 100 and 150 ms share 50 Mbps.",
    expected="shares do not depend on the distance where they follow the queueing delay",
    assumptions=(*ASSUMPTIONS, JITTER),
)

RANDOM_LOSS: Final = as_study(
    Comparison(
        "copa-icn/random-loss",
        algorithms(_FIVE),
        (Quantity("settled_goodput", "goodput over [5 s, end - 1 s]", "Mbps"),),
        numbers,
        "One flow at 50 Mbps and 50 ms on a link that loses packets at random.",
        lambda run: "1 % loss" if run.setting("topology.bottleneck.loss") else "no loss",
        ("no loss", "1 % loss"),
    ),
    id="A10-random-loss",
    paper=PAPER,
    title="1 % random loss",
    statement="One flow alone on a link that loses one packet in a hundred at random.",
    expected="Copa, Copa-ICN and BBR do not take loss for congestion, CUBIC and NewReno do",
    assumptions=ASSUMPTIONS,
)

SKEW: Final = as_study(
    Comparison(
        "copa-icn/skew",
        settings(
            "copa-icn",
            "clock.skew",
            (("-50 ppm", "-50 ppm"), ("0 ppb", "none"), ("50 ppm", "+50 ppm")),
        ),
        (
            Quantity("jain_second_half", "Jain's index, second half", "1"),
            Quantity("queue_second_half", "mean queue, second half", "packets"),
            Quantity("total_second_half", "goodput of all", "Mbps"),
        ),
        numbers,
        "Four flows whose clocks run at another rate than the replica's.",
    ),
    id="A11-skew",
    paper=PAPER,
    title="Clocks that run too fast or too slow",
    statement=(
        "An offset between the clocks cancels out, a difference of their rates does not: 50 ppm "
        "move the one-way delay by 0.5 ms within the 10 s for which its smallest value counts."
    ),
    expected="a receiver whose clock is fast sees queueing that is not there, and the reverse",
    assumptions=(*ASSUMPTIONS, JITTER),
)


STUDIES: Final[tuple[Study, ...]] = (
    BUFFERS,
    PROBE,
    ONE_WAY,
    FIXED_DELTA,
    PROBE_MEMORY,
    SMALL,
    COMPETING,
    MANY,
    UNEQUAL,
    RANDOM_LOSS,
    SKEW,
)

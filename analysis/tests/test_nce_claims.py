"""The NCE paper's metrics and claims: on runs that are made up."""

from __future__ import annotations

import csv
import json

import pytest

from ferrocc_analysis import Run, schema
from ferrocc_analysis.claims import Scale, Verdict, tcp_nce
from ferrocc_analysis.claims.tcp_nce import common
from ferrocc_analysis.metrics import METRICS, NotApplicable

SEVEN = common.SEVEN
REGISTRY = {claim.id: claim for claim in tcp_nce.CLAIMS}
#: A place of each axis that quick runs have, as scenarios write it.
NOTHING = {"total": 0, "exact": 0, "missed": 0, "accuracy": None}


def tally(percent: float) -> dict:
    return {"total": 1000, "exact": round(10 * percent), "missed": 0, "accuracy": percent / 100}


@pytest.fixture
def made(make_run):
    """Makes a run of flows over TCP with equal fields."""
    count = 0

    def make(scenario="tcp-nce/x", recovery="nce", number=1, cap=32, flows=1, **fields) -> Run:
        nonlocal count
        count += 1
        options = fields.pop("options", {})
        bottleneck = fields.pop("bottleneck", {})
        kinds = fields.pop("kinds", {})
        jain = fields.pop("jain", 0.9)
        events = fields.pop("events", None)
        folder = make_run(
            f"r{count}",
            scenario=scenario,
            run=number,
            traces=events is not None,
            duration_s=fields.pop("duration_s", 100.0),
            config={
                "flows": [{"recovery": {"name": recovery} | options}] * flows,
                "tcp": {"max_window": cap},
                "topology": {"bottleneck": bottleneck},
            },
        )
        path = folder / schema.SUMMARY
        summary = json.loads(path.read_text())
        tcp = {
            "transport": "tcp",
            "recovery": recovery,
            "segments_sent": 1000,
            "fast_retransmits": 10,
            "unnecessary_fast_retransmits": 0,
        }
        one = summary["flows"][0] | tcp | fields
        summary["flows"] = [one | {"id": i + 1} for i in range(flows)]
        summary["fairness"]["jain"] = jain
        names = ("congestion", "random", "reordering", "non_congestion")
        summary["classification"] = {k: tally(kinds[k]) if k in kinds else NOTHING for k in names}
        path.write_text(json.dumps(summary))
        if events is not None:
            with (folder / schema.EVENTS.file).open("w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(schema.EVENTS.columns)
                writer.writerows(events)
        return Run.load(folder)

    return make


def value(run: Run, name: str) -> float:
    return METRICS[name].compute(run).value


# Metrics.


def test_rates_are_of_all_segments_that_were_sent(made):
    run = made(
        flows=3,
        unnecessary_retransmissions=50,
        unnecessary_fast_retransmits=20,
        unnecessary_window_cuts=10,
        timeouts=5,
        acked_mbps=2.0,
        duration_s=120.0,
    )
    assert value(run, "unnecessary_retransmission_rate") == pytest.approx(5.0)
    assert value(run, "unnecessary_fast_rate") == pytest.approx(2.0)
    assert value(run, "unnecessary_cuts") == pytest.approx(5.0)
    assert value(run, "timeout_rate") == pytest.approx(2.5)
    assert value(run, "acked_throughput") == pytest.approx(2.0)


def test_accuracies_are_percent_and_need_something_to_tell(made):
    run = made(kinds={"congestion": 80.0, "non_congestion": 40.0, "random": 60.0})
    assert value(run, "accuracy_congestion") == pytest.approx(80.0)
    assert value(run, "accuracy_random") == pytest.approx(60.0)
    assert value(run, "accuracy_non_congestion") == pytest.approx(40.0)
    assert value(run, "accuracy_all") == pytest.approx(60.0)
    with pytest.raises(NotApplicable, match="reordering"):
        value(run, "accuracy_reordering")


def test_what_is_no_tcp_has_none_of_these_metrics(make_run):
    run = Run.load(make_run())
    for name in ("unnecessary_fast_rate", "acked_throughput"):
        with pytest.raises(NotApplicable, match="not all of its flows are over TCP"):
            value(run, name)


def test_cuts_are_counted_from_10_s_to_80_s(made):
    times = [5.0, 10.0, 42.0, 80.0, 81.0]
    events = [(t, 1, "cut", i + 1, "") for i, t in enumerate(times)]
    events.append((50.0, 1, "timeout", 1, ""))
    assert value(made(events=events), "cuts_10_80") == 3
    with pytest.raises(NotApplicable, match="80 s"):
        value(made(events=events, duration_s=60.0), "cuts_10_80")


#: Two delayed repairs, one of them a duplicate ACK early, a reordering, and a congestion.
DELAYS = [
    (1.0, 1, "suspect", 7, ""),
    (1.1, 1, "verdict", 7, "random-loss"),
    (2.0, 1, "suspect", 12, ""),
    (2.1, 1, "verdict", 5, "reordering"),
    (3.0, 1, "suspect", 9, ""),
    (3.1, 1, "verdict", 3, "congestion"),
    (3.2, 1, "cut", 1, ""),
    (4.0, 1, "suspect", 9, ""),
    (4.1, 1, "verdict", 8, "random-loss"),
    (4.2, 1, "cut", 2, ""),
]


def test_delays_are_read_from_events(made):
    run = made(events=DELAYS)
    assert value(run, "delayed_exactly") == pytest.approx(50.0)
    assert value(run, "cuts_per_delayed") == pytest.approx(0.5)
    with pytest.raises(NotApplicable):
        value(made(events=DELAYS[2:7]), "delayed_exactly")


# Claims over a sweep.

PLACES = {
    common.LOSS: lambda text: ("loss", float(text)),
    common.REORDER: lambda text: ("reorder", float(text)),
    common.DELAY: lambda text: ("delay", text),
    common.RATE: lambda text: ("rate", text),
    common.BUFFER: lambda text: ("buffer", text),
}


@pytest.fixture
def judged(made):
    """Judges a claim at the scale `quick` with runs whose fields `spec(recovery, x)` gives; x is
    the axis's number.
    """

    def judge(id_, spec):
        claim = REGISTRY[id_]
        results = {}
        for need in claim.needs(Scale.QUICK):
            (axis,) = [a for a in need.axes if a != common.RECOVERY]
            runs = []
            for recovery in need.axes[common.RECOVERY]:
                for text in need.axes[axis]:
                    bottleneck, flows = {}, 1
                    if axis == common.COUNT:
                        flows = int(text)
                    else:
                        key, read = PLACES[axis](text)
                        bottleneck = {key: read}
                    for cap in (32, None):
                        for number in need.runs:
                            options = {"cap": cap, "number": number, "flows": flows}
                            probe = made(need.scenario, recovery, bottleneck=bottleneck, **options)
                            x = common.place_of(probe, axis)
                            fields = spec(recovery, x)
                            runs.append(
                                made(
                                    need.scenario,
                                    recovery,
                                    bottleneck=bottleneck,
                                    **options,
                                    **fields,
                                )
                            )
            results[need] = runs
        found = claim.judge(results, Scale.QUICK)
        assert claim.draw(results)
        return found

    return judge


def clause(found, *words):
    """The verdicts of the clauses whose names have all of `words`."""
    wanted = {r.verdict for r in found.measured if r.verdict and all(w in r.name for w in words)}
    assert wanted, words
    return wanted


def test_figure_14a_holds_and_fails(judged):
    def as_printed(recovery, x):
        if x <= 3:
            return {"acked_mbps": 1.0 - 0.1 * x}
        of = {"nce": 1.2, "no-cut": 1.3, "cerl": 0.6, "newreno": 0.4, "door": 0.4}
        return {"acked_mbps": of.get(recovery, 0.5) / x}

    found = judged("N2-fig14a", as_printed)
    assert found.verdict is Verdict.REPRODUCED, found.reason
    assert "no-cut" in found.reason
    # The control has no verdict, however good it is.
    assert not [r for r in found.measured if r.verdict and "No cut" in r.name]
    equal = judged("N2-fig14a", lambda recovery, x: {"acked_mbps": 1.0})
    assert clause(equal, "TCP NCE above CERL", "7 %") == {Verdict.NOT_REPRODUCED}
    assert clause(equal, "TCP-DOOR / NewReno") == {Verdict.REPRODUCED}
    assert equal.verdict is Verdict.PARTLY


def test_a_share_of_the_gain_is_partly(judged):
    def half(recovery, x):
        return {"acked_mbps": {"nce": 1.5, "cerl": 1.0}.get(recovery, 0.9)}

    found = judged("N3-fig14b", half)
    assert clause(found, "above NewReno") == {Verdict.PARTLY}
    assert clause(found, "above CERL") == {Verdict.PARTLY}
    assert clause(found, "throughput, TCP NCE /") == {Verdict.REPRODUCED}


def test_figures_15_17_18_and_20_hold_on_what_they_print(judged):
    rate = {"nce": 0.9, "no-cut": 0.9}

    def by_rate(recovery, x):
        lead = 1.0 if recovery != "nce" else 1.1 if x <= 12 else 1.5
        return {"acked_mbps": lead * x / 20}

    assert judged("N4-fig15", by_rate).verdict is Verdict.REPRODUCED
    follows = judged("N8-fig18a", lambda r, x: {"acked_mbps": rate.get(r, 0.5) * x})
    assert follows.verdict is Verdict.REPRODUCED, follows.reason
    slow = judged("N8-fig18a", lambda r, x: {"acked_mbps": 1.0})
    assert clause(slow, "36 Mbps / rate") == {Verdict.NOT_REPRODUCED}
    assert clause(slow, "the fastest of five") == {Verdict.REPRODUCED}
    order = {"nce": 9.0, "rr": 3.0, "pr": 3.1, "door": 2.5, "cerl": 1.0, "veno": 1.1}
    falls = judged("N7-fig17b", lambda r, x: {"acked_mbps": order.get(r, 0.5) / x})
    assert falls.verdict is Verdict.REPRODUCED, falls.reason
    assert judged("N9-fig18b", lambda r, x: {"acked_mbps": order.get(r, 0.5)}).verdict is (
        Verdict.REPRODUCED
    )
    crowd = judged("N11-fig20a", lambda r, x: {"acked_mbps": {"nce": 3.0}.get(r, 1.0) / x})
    assert crowd.verdict is Verdict.REPRODUCED, crowd.reason
    assert judged(
        "N21-abstract", lambda r, x: {"acked_mbps": {"nce": 3.0}.get(r, 1.0)}
    ).verdict is (Verdict.REPRODUCED)
    for id_ in ("N12-fig20b", "N13-fig21a"):
        found = judged(id_, lambda r, x: {"acked_mbps": x * {"nce": 2.0}.get(r, 1.0)})
        assert found.verdict is Verdict.REPRODUCED, found.reason


def test_figure_17a_wants_curves_that_turn(judged):
    def wavy(recovery, x):
        base = {"nce": 5.0, "cerl": 2.0, "no-cut": 6.0}.get(recovery, 1.0)
        turn = 0.2 if recovery in ("rr", "pr") and x == 3 else 0.0
        return {"acked_mbps": base - turn}

    assert judged("N6-fig17a", wavy).verdict is Verdict.REPRODUCED
    flat = judged("N6-fig17a", lambda r, x: {"acked_mbps": 1.0})
    assert clause(flat, "changes of direction") == {Verdict.NOT_REPRODUCED}


def test_figure_19_orders_what_was_sent_for_nothing(judged):
    share = {"nce": 10, "newreno": 20, "veno": 18, "cerl": 17}

    def made_up(recovery, x):
        return {"unnecessary_retransmissions": round(x * share.get(recovery, 14))}

    found = judged("N10-fig19", made_up)
    assert found.verdict is Verdict.REPRODUCED, found.reason
    none = judged("N10-fig19", lambda r, x: {"unnecessary_retransmissions": 0})
    assert Verdict.REPRODUCED not in clause(none, "/ packets sent, TCP NCE")


def test_figures_21b_and_22_want_nce_to_have_least(judged):
    few = {"nce": 1}
    found = judged("N14-fig21b", lambda r, x: {"unnecessary_window_cuts": few.get(r, 4) * int(x)})
    assert found.verdict is Verdict.REPRODUCED
    found = judged("N15-fig22", lambda r, x: {"unnecessary_fast_retransmits": few.get(r, 4)})
    assert found.verdict is Verdict.REPRODUCED
    found = judged("N15-fig22", lambda r, x: {"unnecessary_fast_retransmits": 4})
    assert found.verdict is Verdict.PARTLY


def test_accuracies_of_figures_23_to_25(judged):
    of = {"nce": 95.0, "veno": 60.0, "cerl": 70.0}
    found = judged("N16-fig23", lambda r, x: {"kinds": {"congestion": of.get(r, 100.0)}})
    assert found.verdict is Verdict.REPRODUCED
    found = judged("N16-fig23", lambda r, x: {"kinds": {"congestion": 50.0}})
    assert clause(found, "the smallest") == {Verdict.NOT_REPRODUCED}
    found = judged("N17-fig24", lambda r, x: {"kinds": {"random": of.get(r, 0.0)}})
    assert found.verdict is Verdict.REPRODUCED
    late = {"nce": 60.0, "pr": 30.0, "rr": 20.0, "door": 10.0}
    found = judged("N18-fig25", lambda r, x: {"kinds": {"reordering": late.get(r, 0.0)}})
    assert found.verdict is Verdict.REPRODUCED


def test_places_without_an_event_for_everybody_are_left_out(judged):
    def few(recovery, x):
        # With few connections NCE has no drop.
        return {} if recovery == "nce" and x < 20 else {"kinds": {"congestion": 95.0}}

    found = judged("N16-fig23", few)
    assert not [r for r in found.measured if "6 connections" in r.name]
    assert [r for r in found.measured if "20 connections" in r.name]
    (need,) = REGISTRY["N16-fig23"].needs(Scale.QUICK)
    nobody = REGISTRY["N16-fig23"].judge({need: []}, Scale.QUICK)
    assert nobody.verdict is Verdict.NOT_REPRODUCED
    assert "could not be measured" in nobody.reason
    assert not REGISTRY["N16-fig23"].draw({need: []})


def test_fairness_of_figure_28(judged):
    found = judged("N20-fig28", lambda r, x: {"jain": {"nce": 0.99}.get(r, 0.8)})
    assert found.verdict is Verdict.REPRODUCED
    assert judged("N20-fig28", lambda r, x: {"jain": 0.8}).verdict is Verdict.PARTLY


# Those that are no sweep.


def results_of(id_, make):
    """Results of a claim with one need: `make(number, cap)` gives runs."""
    (need,) = REGISTRY[id_].needs(Scale.QUICK)
    return {need: [run for n in need.runs for cap in (32, None) for run in make(n, cap)]}


@pytest.mark.parametrize(
    ("curve", "rises", "falls"),
    [
        (lambda s: 50 + 40 * s if s <= 0.9 else 70.0, "reproduced", "reproduced"),
        (lambda s: 50 + 40 * s, "reproduced", "not reproduced"),
        (lambda s: 90.0 - 40 * s, "not reproduced", "reproduced"),
    ],
)
def test_figure_8(made, curve, rises, falls):
    def make(number, cap):
        return [
            made("tcp-nce/fig8", "nce", number, cap, options={"share": s / 10},
                 kinds={"non_congestion": curve(s / 10)})
            for s in range(1, 11)
        ]  # fmt: skip

    results = results_of("N1-fig8", make)
    found = REGISTRY["N1-fig8"].judge(results, Scale.QUICK)
    assert clause(found, "90 % / 10 %") == {Verdict(rises)}
    assert clause(found, "100 % / 90 %") == {Verdict(falls)}
    assert REGISTRY["N1-fig8"].draw(results)


def test_figure_16(made):
    def make(cuts):
        def runs(number, cap):
            return [
                made("tcp-nce/fig16", name, number, cap, timeouts=3,
                     events=[(11.0 + i, 1, "cut", i + 1, "") for i in range(count)])
                for name, count in cuts.items()
            ]  # fmt: skip

        return results_of("N5-fig16", runs)

    claim = REGISTRY["N5-fig16"]
    printed = make({"newreno": 14, "nce": 3})
    assert claim.judge(printed, Scale.QUICK).verdict is Verdict.REPRODUCED
    assert claim.draw(printed)
    swapped = claim.judge(make({"newreno": 3, "nce": 14}), Scale.QUICK)
    assert swapped.verdict is Verdict.NOT_REPRODUCED


def test_figure_11(made):
    claim = REGISTRY["N22-fig11"]

    def make(events):
        return results_of("N22-fig11", lambda n, cap: [made("tcp-nce/fig11", events=events)])

    found = claim.judge(make(DELAYS[:7]), Scale.QUICK)
    assert found.verdict is Verdict.REPRODUCED, found.reason
    found = claim.judge(make(DELAYS), Scale.QUICK)
    assert clause(found, "with 7 outstanding") == {Verdict.REPRODUCED}
    assert clause(found, "any number") == {Verdict.NOT_REPRODUCED}
    assert clause(found, "window cuts") == {Verdict.NOT_REPRODUCED}
    found = claim.judge(make(DELAYS[7:]), Scale.QUICK)
    assert clause(found, "with 7 outstanding") == {Verdict.NOT_REPRODUCED}


def test_figure_26(made):
    def make(gain):
        def runs(number, cap):
            return [
                made("tcp-nce/fig26", name, number, cap, options={"verdict_flip": flip},
                     acked_mbps=base * (1.0 + gain * (0.5 - flip)),
                     kinds={"congestion": 50.0, "non_congestion": 100 * (1 - flip)})
                for name, base in (("nce", 2.0), ("cerl", 1.0), ("pr", 0.9))
                for flip in (0.0, 0.25, 0.5)
            ]  # fmt: skip

        return results_of("N19-fig26", runs)

    claim = REGISTRY["N19-fig26"]
    grows = make(1.0)
    assert claim.judge(grows, Scale.QUICK).verdict is Verdict.REPRODUCED
    assert len(claim.draw(grows)) == 2
    falls = claim.judge(make(-1.0), Scale.QUICK)
    assert clause(falls, "accuracy 100 % / 50 %") == {Verdict.NOT_REPRODUCED}

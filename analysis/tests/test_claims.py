"""Claims: their names, what they want run, and their verdicts on runs that are made up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ferrocc_analysis import InputError, Run, claims
from ferrocc_analysis.claims import REGISTRY, STUDIES, Need, Scale, Verdict, select
from ferrocc_analysis.claims.clauses import applicable, judgement, row
from ferrocc_analysis.claims.registry import accepted_names, select_studies
from ferrocc_analysis.metrics import NotApplicable
from ferrocc_analysis.stats import estimate

SCENARIOS = Path(__file__).parents[2] / "scenarios"
EVERYTHING = [*REGISTRY.values(), *STUDIES.values()]


def ids(found):
    return [c.id for c in found]


def verdicts(judged):
    return {r.name: r.verdict for r in judged.measured if r.verdict is not None}


# Names.


def test_claims_are_found_by_paper_id_and_short_id():
    assert ids(select([])) == list(REGISTRY)
    assert ids(select(["copa-icn"])) == [i for i in REGISTRY if i[0] == "C"]
    assert ids(select(["ecd-icn"])) == [i for i in REGISTRY if i[0] == "E"]
    assert ids(select(["C5-fig9", "c2"])) == ["C2-fig6", "C5-fig9"]
    assert select(["ablations"]) == []
    assert ids(select_studies(["ablations"])) == list(STUDIES)
    assert ids(select_studies(["A2", "C2"])) == ["A2-probe"]


def test_unknown_claims_are_named_with_the_nearest():
    with pytest.raises(InputError, match=r"'fig6' is unknown.*did you mean 'C2-fig6'\?"):
        select(["fig6"])
    with pytest.raises(InputError, match=r"'C5-fig8' is unknown.*did you mean 'C5-fig9'"):
        select(["C2", "C5-fig8"])
    assert len(set(accepted_names())) == len(accepted_names())


def test_every_claim_says_what_it_is():
    assert len({c.id for c in EVERYTHING}) == len(EVERYTHING)
    for c in EVERYTHING:
        assert c.paper in ("copa-icn", "ecd-icn")
        assert c.title
        assert c.statement.endswith(".")
        assert c.expected
        assert c.assumptions
    assert all(c.figure for c in REGISTRY.values())


# What is run.


@pytest.mark.parametrize("scale", list(Scale))
@pytest.mark.parametrize("claim", EVERYTHING, ids=lambda c: c.id)
def test_needs_name_scenarios_that_there_are(claim, scale):
    needs = claim.needs(scale)
    assert needs or (scale is Scale.QUICK and claim.id in STUDIES)
    for need in needs:
        assert (SCENARIOS / f"{need.scenario}.json").is_file()
        # Axes of a need choose among the scenario's values.
        for path, values in need.axes.items():
            known = [text(v) for v in field(need.scenario, "sweep", path)]
            assert [v for v in values if text(read(v)) not in known] == [], path
        assert len(set(need.runs)) == len(need.runs) > 0


def read(value: str):
    """A value as the runner reads it: JSON, or else text."""
    try:
        return json.loads(value)
    except ValueError:
        return value


def text(value) -> str:
    return json.dumps(value, sort_keys=True)


def field(scenario: str, *path: str):
    """A field of a scenario file or, if it is not there, of what the scenario extends."""
    file = json.loads((SCENARIOS / f"{scenario}.json").read_text())
    value = file
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return field(file["extends"], *path) if value is None and "extends" in file else value


@pytest.mark.parametrize("claim", EVERYTHING, ids=lambda c: c.id)
def test_scenarios_say_whether_they_are_traced(claim):
    # The runs of a sweep, as which claims have them made, are not traced unless it says so.
    for need in (n for scale in Scale for n in claim.needs(scale)):
        assert field(need.scenario, "trace", "enabled") in (True, False), need.scenario


@pytest.mark.parametrize("claim", REGISTRY.values(), ids=lambda c: c.id)
def test_verdicts_rest_on_enough_runs(claim):
    for scale, least in ((Scale.QUICK, 2), (Scale.DEFAULT, 5), (Scale.FULL, 10)):
        for need in claim.needs(scale):
            # One flow alone has no chance in it.
            assert len(need.runs) >= least or need.runs == (1,), need
    assert len(set(claim.needs(Scale.QUICK))) == len(claim.needs(Scale.QUICK))


def test_needs_are_keys():
    one = Need("x", ("--rate=1Mbps",), (1, 2), {"a": ("1",)})
    assert one == Need("x", ("--rate=1Mbps",), (1, 2), {"a": ("1",)})
    assert len({one, Need("x", ("--rate=1Mbps",), (1, 2), {"a": ("1",)})}) == 1
    assert one != Need("x", ("--rate=1Mbps",), (1, 2), {"a": ("2",)})


# Judgements.


def test_a_judgement_names_what_fails_with_its_value():
    found = judgement(
        [
            row("a", estimate([1.0, 1.0]), "s", "< 2", Verdict.REPRODUCED),
            row("b", estimate([3.0, 3.0]), "s", "< 2", Verdict.NOT_REPRODUCED),
            row("c", 7.0, "s"),
        ],
        "Because",
    )
    assert found.verdict is Verdict.PARTLY
    assert found.reason == (
        "1 of 2 clauses hold; not: b is 3 [3, 3] where < 2 is expected. Because"
    )
    assert (found.measured[2].low, found.measured[2].n) == (None, 1)


@pytest.fixture
def made(make_run):
    """Makes runs of a scenario: `made(scenario, number, **RunSpec's fields)`."""
    count = 0

    def make(scenario: str, number: int, **fields) -> Run:
        nonlocal count
        count += 1
        return Run.load(make_run(f"r{count}", scenario=scenario, run=number, **fields))

    return make


@pytest.fixture
def pairs(made, flow):
    """Runs of Figures 6 to 8 in which every algorithm does what the paper says."""

    def make(srtt=None, equal=("copa-icn",)):
        srtt = {"copa-icn": 30.0, "bbr": 50.0, "newreno": 60.0, "cubic": 70.0} | (srtt or {})
        level = {"copa-icn": 50e3, "bbr": 60e3, "newreno": 90e3, "cubic": 95e3}
        results = {}
        for need in REGISTRY["C2-fig6"].needs(Scale.QUICK):
            letter = need.scenario[-1]
            runs = []
            for name in srtt:
                for number in need.runs:
                    fair = name in equal or (name == "newreno" and letter == "a")
                    share = 1.0 if fair else 0.4

                    def both(t, name=name):
                        return level[name]

                    def second(t, name=name, share=share):
                        return level[name] * share

                    delay = srtt[name] + 0.01 * number
                    one = flow(
                        name, goodput_mbps=9.0, in_flight=both, srtt_plot=lambda t, d=delay: d
                    )
                    two = flow(
                        name,
                        start_s=2.1,
                        end_s=12.0,
                        goodput_mbps=9.0 * share,
                        in_flight=second,
                        srtt_plot=lambda t, d=delay: d,
                    )
                    runs.append(made(need.scenario, number, flows=[one, two]))
            results[need] = runs
        return results

    return make


@pytest.mark.parametrize("name", ["C2-fig6", "C3-fig7", "C4-fig8"])
def test_figures_6_to_8_as_the_paper_has_them(pairs, name):
    judged = REGISTRY[name].judge(pairs(), Scale.QUICK)
    assert judged.verdict is Verdict.REPRODUCED, judged.reason
    assert "all" in judged.reason


def test_figures_6_and_7_where_nothing_converges(pairs):
    results = pairs(equal=())
    found = verdicts(REGISTRY["C2-fig6"].judge(results, Scale.QUICK))
    assert found["gap between in-flights after the join, Copa-ICN, (a)"] is Verdict.NOT_REPRODUCED
    assert found["gap between in-flights after the join, CUBIC, (b)"] is Verdict.REPRODUCED
    ratios = REGISTRY["C3-fig7"].judge(results, Scale.QUICK)
    assert ratios.verdict is Verdict.PARTLY
    assert "Copa-ICN, (a) is 0.4" in ratios.reason


def test_figure_8_with_a_rival_that_is_close(pairs):
    judged = REGISTRY["C4-fig8"].judge(pairs(srtt={"bbr": 40.0}), Scale.QUICK)
    found = verdicts(judged)
    assert judged.verdict is Verdict.PARTLY
    assert found["SRTT of Copa-ICN below BBR's by, (a)"] is Verdict.PARTLY
    assert found["SRTT of Copa-ICN below CUBIC's by, (a)"] is Verdict.REPRODUCED


def test_runs_that_cannot_be_measured_are_not_reproduced(made, flow):
    needs = REGISTRY["C2-fig6"].needs(Scale.QUICK)
    alone = {n: [made(n.scenario, 1, flows=[flow("copa-icn")])] for n in needs}
    judged = REGISTRY["C2-fig6"].judge(alone, Scale.QUICK)
    assert judged.verdict is Verdict.NOT_REPRODUCED
    assert "could not be measured" in judged.reason


def convergence(made, flow, times):
    """Runs of Figure 9: `times` by controller for the four cells."""
    results = {}
    for i, need in enumerate(REGISTRY["C5-fig9"].needs(Scale.QUICK)):
        results[need] = [
            made(
                need.scenario,
                number,
                flows=[flow(name), flow(name, start_s=2.1)],
                joins=[{"t_s": 2.1, "converged_s": 2.1 + of[i] + 0.001 * number}],
            )
            for name, of in times.items()
            for number in need.runs
        ]
    return results


def test_figure_9(made, flow):
    claim = REGISTRY["C5-fig9"]
    # Cells: 20/50, 20/80, 50/50, 50/80.
    good = {"copa-icn": [0.6, 0.8, 0.7, 1.0], "copa": [3.0, 4.0, 3.5, 5.0]}
    judged = claim.judge(convergence(made, flow, good), Scale.QUICK)
    assert judged.verdict is Verdict.REPRODUCED, judged.reason
    assert judged.measured[0].value == pytest.approx(0.2, rel=1e-2)
    fast = {"copa-icn": [0.1, 0.2, 0.15, 0.3], "copa": [3.0, 4.0, 3.5, 5.0]}
    judged = claim.judge(convergence(made, flow, fast), Scale.QUICK)
    assert judged.verdict is Verdict.PARTLY
    assert "faster against Copa than the paper says" in judged.reason


def test_runs_that_never_converge_are_told_with_their_length(made, flow):
    claim = REGISTRY["C5-fig9"]
    good = {"copa-icn": [0.6, 0.8, 0.7, 1.0], "copa": [3.0, 4.0, 3.5, 5.0]}
    results = convergence(made, flow, good)
    assert "never converged" not in claim.judge(results, Scale.QUICK).reason
    need = next(iter(results))
    results[need] = [
        made(
            need.scenario,
            run.run,
            flows=[flow("copa", end_s=length), flow("copa", start_s=2.1, end_s=length)],
            joins=[{"t_s": 2.1, "converged_s": None}],
            duration_s=length,
        )
        if run.label == "copa"
        else run
        for run, length in zip(results[need], (0, 0, 18.0, 40.0), strict=True)
    ]
    judged = claim.judge(results, Scale.QUICK)
    told = (
        "2 of Copa's runs never converged and count as their length, 18.0 s or more: less than 30"
    )
    assert told in judged.reason
    (time,) = (m for m in judged.measured if m.name == "convergence time, Copa, 20 Mbps, 50 ms")
    assert time.value == pytest.approx(29.0)


@pytest.fixture
def four(made, flow):
    """Runs of Figures 10 and 11."""

    def make(queues, rates=(10.0, 10.0, 10.0, 10.0)):
        results = {}
        for need in REGISTRY["C6-fig10"].needs(Scale.QUICK):
            runs = []
            for name, queue in queues.items():
                late = {"copa-icn": (0.4, 0.2, 0.4), "copa": (1.9, 1.8, 0.9)}[name]
                joins = [
                    {"t_s": 2.1 + 2 * i, "converged_s": 2.1 + 2 * i + c} for i, c in enumerate(late)
                ]
                flows = [
                    flow(name, start_s=0.1 + 2 * i, goodput_mbps=r) for i, r in enumerate(rates)
                ]
                runs += [
                    made(
                        need.scenario,
                        number,
                        flows=flows,
                        joins=joins,
                        queue=lambda t, q=queue: q,
                        duration_s=10.0,
                        rate_mbps=50.0,
                    )
                    for number in need.runs
                ]
            results[need] = runs
        return results

    return make


def test_figures_10_and_11(four):
    results = four({"copa-icn": 80.0, "copa": 10.0})
    assert REGISTRY["C6-fig10"].judge(results, Scale.QUICK).verdict is Verdict.REPRODUCED
    assert REGISTRY["C7-fig11"].judge(results, Scale.QUICK).verdict is Verdict.REPRODUCED


def test_figure_11_tells_what_copas_analysis_says(four):
    judged = REGISTRY["C7-fig11"].judge(four({"copa-icn": 20.0, "copa": 10.0}), Scale.QUICK)
    assert judged.verdict is Verdict.PARTLY
    # 1.25 * 4 / delta(12.5 Mbps) and 1.25 * 4 / 0.5.
    assert "87.7 packets for Copa-ICN" in judged.reason
    assert "10.0 packets for Copa" in judged.reason


def test_unfair_shares_are_seen(four):
    results = four({"copa-icn": 80.0, "copa": 10.0}, rates=(10.0, 10.0, 10.0, 20.0))
    found = verdicts(REGISTRY["C6-fig10"].judge(results, Scale.QUICK))
    assert found["Jain's index over [8.1 s, 10 s], Copa-ICN"] is Verdict.NOT_REPRODUCED


def opposite(made, flow, goodputs):
    """Runs of Figure 12: RE1's goodput by controller and number of opposite flows."""
    results = {}
    for need in REGISTRY["C8-fig12"].needs(Scale.QUICK):
        results[need] = [
            made(
                need.scenario,
                number,
                flows=[
                    flow(name, start_s=2.1, goodput_mbps=rate + 0.01 * number),
                    *[flow(name) for _ in range(n)],
                ],
            )
            for name, of in goodputs.items()
            for n, rate in enumerate(of)
            for number in need.runs
        ]
    return results


def test_figure_12(made, flow):
    claim = REGISTRY["C8-fig12"]
    good = {"copa-icn": [20.0, 18.0, 17.4], "copa": [20.0, 12.0, 7.8]}
    judged = claim.judge(opposite(made, flow, good), Scale.QUICK)
    assert judged.verdict is Verdict.REPRODUCED, judged.reason
    bad = {"copa-icn": [20.0, 12.0, 7.8], "copa": [20.0, 18.0, 17.4]}
    found = verdicts(claim.judge(opposite(made, flow, bad), Scale.QUICK))
    name = "share of the undisturbed throughput, Copa-ICN's / Copa's, the smallest of all"
    assert found[name] is Verdict.NOT_REPRODUCED


def completion(made, flow, times):
    """Runs of Figure 13: seconds for 1 and 50 MB by controller."""
    results = {}
    background = {"background": True}
    for need in REGISTRY["C9-fig13"].needs(Scale.QUICK):
        results[need] = [
            made(
                need.scenario,
                number,
                traces=False,
                flows=[
                    *[flow(name, start_s=0.0) for _ in range(5)],
                    flow(
                        name,
                        start_s=8.0,
                        end_s=8.0 + t + 0.01 * number,
                        goodput_mbps=8 * size / (t + 0.01 * number),
                    ),
                ],
                config={"flows": [*[background] * 5, {"size": f"{size} MB"}]},
                duration_s=60.0,
                rate_mbps=100.0,
            )
            for name, of in times.items()
            for size, t in of.items()
            for number in need.runs
        ]
    return results


def test_figure_13(made, flow):
    claim = REGISTRY["C9-fig13"]
    good = {"copa-icn": {1: 0.85, 50: 27.0}, "copa": {1: 1.0, 50: 28.0}}
    judged = claim.judge(completion(made, flow, good), Scale.QUICK)
    assert judged.verdict is Verdict.REPRODUCED, judged.reason
    slow = {"copa-icn": {1: 1.5, 50: 29.0}, "copa": {1: 1.0, 50: 28.0}}
    found = verdicts(claim.judge(completion(made, flow, slow), Scale.QUICK))
    assert found["FCT, Copa-ICN / Copa, the largest of all sizes"] is Verdict.NOT_REPRODUCED
    assert found["FCT, Copa-ICN / Copa, 1 MB"] is Verdict.NOT_REPRODUCED
    assert found["FCT, Copa-ICN / Copa, 50 MB"] is Verdict.REPRODUCED


def test_equation_8(made, flow):
    claim = REGISTRY["C1-eq8"]
    (need,) = claim.needs(Scale.QUICK)

    def runs(goodput):
        config = {"topology": {"rtprop": "30 ms"}}
        return {need: [made(need.scenario, 1, flows=[flow(goodput_mbps=goodput)], config=config)]}

    assert claim.judge(runs(18.38), Scale.QUICK).verdict is Verdict.REPRODUCED
    low = claim.judge(runs(17.0), Scale.QUICK)
    assert low.verdict is Verdict.NOT_REPRODUCED
    assert "20 Mbps, 30 ms (0.923)" in low.reason


def test_equation_7(made, flow):
    claim = REGISTRY["C10-fig3"]
    (need,) = claim.needs(Scale.QUICK)

    def runs(delta):
        paced = 2 * 150 * 1250 / 1358
        flows = [flow(goodput_mbps=paced, delta=delta)]
        return {need: [made(need.scenario, 1, flows=flows, rate_mbps=200.0)]}

    assert claim.judge(runs(0.5), Scale.QUICK).verdict is Verdict.REPRODUCED
    assert claim.judge(runs(0.4), Scale.QUICK).verdict is Verdict.NOT_REPRODUCED


def test_copas_queue(made, flow):
    claim = REGISTRY["C11-copa"]
    (need,) = claim.needs(Scale.QUICK)

    def runs(queue):
        config = {"flows": [{"controller": {"name": "copa", "delta": 0.25}}]}
        flows = [flow("copa", delta=0.25)]
        return {need: [made(need.scenario, 1, flows=flows, config=config, queue=lambda t: queue)]}

    assert claim.judge(runs(5.5), Scale.QUICK).verdict is Verdict.REPRODUCED
    far = claim.judge(runs(9.0), Scale.QUICK)
    assert far.verdict is Verdict.NOT_REPRODUCED
    assert "window between" in far.reason


def test_scales_say_which_verdicts_are_preliminary():
    assert [s.preliminary for s in Scale] == [True, False, False]
    assert [str(s) for s in Scale] == ["quick", "default", "full"]
    assert str(claims.Verdict.NOT_REPRODUCED) == "not reproduced"


def test_runs_that_a_metric_has_no_meaning_for_are_left_out_if_any_has(made, flow):
    one = made("x", 1, flows=[flow()])
    two = made("x", 2, flows=[flow(), flow(start_s=2.1)])
    assert applicable([one, two], "goodput_ratio") == [two]
    with pytest.raises(NotApplicable, match="needs 2 flows"):
        applicable([one], "goodput_ratio")

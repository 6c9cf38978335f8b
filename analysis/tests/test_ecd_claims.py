"""The ECD paper's claims: their verdicts on runs that are made up."""

from __future__ import annotations

import json

import pytest

from ferrocc_analysis import Run
from ferrocc_analysis.claims import REGISTRY, Scale, Verdict
from ferrocc_analysis.claims.ecd_icn.common import LITERAL

OK, PARTLY, NOT = Verdict.REPRODUCED, Verdict.PARTLY, Verdict.NOT_REPRODUCED


def verdicts(judged):
    return {r.name: r.verdict for r in judged.measured if r.verdict is not None}


def named(judged, *words):
    """The verdicts of the clauses whose names have all of `words`."""
    found = [v for name, v in verdicts(judged).items() if all(w in name for w in words)]
    assert found, words
    return set(found)


def values(need, path, default=None):
    """What a need has on an axis, or the scenario's."""
    return need.axes.get(path, default)


def as_json(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def queue_managements(need):
    """(label, configuration's aqm, controller) of what a need runs."""
    printed = any("algorithm-2" in o for o in need.options)
    for text in values(need, "topology.bottleneck.aqm", ["drop-tail", "red", "codel", "ecd"]):
        aqm = as_json(text)
        aqm = aqm if isinstance(aqm, dict) else {"name": aqm}
        variant = "algorithm-2" if printed else "settled"
        label = LITERAL if printed else aqm["name"]
        yield label, aqm, {"name": "ecd", "variant": variant}


@pytest.fixture
def made(make_run):
    """Makes runs of a need: `made(need, counts, spec)` where `spec(label, x, number)` gives the
    fields of a run of so many flows.
    """
    total = 0

    def make(need, places, spec):
        nonlocal total
        runs = []
        for label, aqm, controller in queue_managements(need):
            for x in places:
                for number in need.runs:
                    fields = spec(label, x, number)
                    flows = [{"controller": controller} for _ in fields["flows"]]
                    config = {
                        "topology": {
                            "bottleneck": {"aqm": aqm, "buffer": "200p"} | fields.pop("link", {})
                        },
                        "flows": flows,
                    }
                    config |= fields.pop("config", {})
                    total += 1
                    runs.append(
                        Run.load(
                            make_run(
                                f"r{total}",
                                scenario=need.scenario,
                                run=number,
                                config=config,
                                **fields,
                            )
                        )
                    )
        return runs

    return make


# E1.


@pytest.fixture
def throughput(made, flow, make_run):
    """Runs of Figure 7 with so much of the link used by queue management."""

    def make(shares, tcp=0.9985):
        def spec_of(rate, share, controller="ecd"):
            rate_bytes = rate * 1e6 / 8 * share
            packets = rate_bytes / 1500
            return {
                "flows": [flow(controller)],
                "rate_mbps": rate,
                "link": {"rate": rate},
                "arrivals": lambda t: packets * t,
                "sent_bytes": lambda t: packets * t * 1502,
                "queue": lambda t: 0.0,
            }

        results = {}
        for need in REGISTRY["E1-fig7"].needs(Scale.QUICK):
            rates = [float(r.split()[0]) for r in values(need, "topology.bottleneck.rate", ())]
            if need.scenario == "ecd-icn/fig7-tcp":
                results[need] = [
                    Run.load(
                        make_run(
                            f"tcp-{name}-{rate:g}-{tcp:g}-{len(shares)}",
                            scenario=need.scenario,
                            config={
                                "topology": {
                                    "bottleneck": {"aqm": {"name": "drop-tail"}, "rate": rate}
                                }
                            },
                            **{k: v for k, v in spec_of(rate, tcp, name).items() if k != "link"},
                        )
                    )
                    for name in ("cubic", "TcpCubic")
                    for rate in rates
                ]
            elif need.scenario == "ecd-icn/fig7":
                results[need] = made(
                    need, rates, lambda label, r, n: spec_of(r, shares.get(label, 0.9985))
                )
        return results

    return make


def test_figure_7(throughput):
    claim = REGISTRY["E1-fig7"]
    judged = claim.judge(throughput({}), Scale.QUICK)
    assert judged.verdict is OK, judged.reason
    judged = claim.judge(throughput({"red": 0.9, "ecd": 0.985}), Scale.QUICK)
    assert judged.verdict is PARTLY
    assert named(judged, "utilisation", "RED") == {NOT}
    assert named(judged, "utilisation", "ECD") == {OK}
    # 1.35 % of 100 Mbps are 169 kB/s.
    assert named(judged, "ECD - ", "TCP CUBIC") == {NOT}
    assert named(judged, "Drop Tail - ", "TCP CUBIC") == {OK}
    assert claim.judge(throughput({}, tcp=0.9), Scale.QUICK).verdict is PARTLY


# E2.


@pytest.fixture
def coming_and_going(made, flow):
    """Runs of Figure 8 in which client 1 gets so much of a share by queue management."""

    def make(first=None, total=None):
        def spec(label, x, number):
            share = (first or {}).get(label, 1.0)
            shrink = (total or {}).get(label, 1.0)
            starts, stops = (0.0, 10.0, 20.0), (40.0, 50.0, 60.0)
            flows = [
                flow("ecd", start_s=a, end_s=b, goodput_mbps=g)
                for a, b, g in zip(starts, stops, (6.0 * share, 6.0, 6.0 * shrink), strict=True)
            ]
            return {"flows": flows, "duration_s": 60.0, "interval_s": 0.5}

        return {n: made(n, [3], spec) for n in REGISTRY["E2-fig8"].needs(Scale.QUICK)}

    return make


def test_figure_8_fairness_and_totals(coming_and_going):
    judged = REGISTRY["E2-fig8"].judge(coming_and_going({"red": 0.1}), Scale.QUICK)
    found = verdicts(judged)
    assert found["Jain's index between changes, ECD"] is OK
    assert found["Jain's index between changes, RED"] is NOT
    assert found["Jain's index between changes, ECD / RED"] is NOT
    assert found["Jain's index between changes, ECD / CoDel"] is OK
    # These clients do not take up what others leave, so that the totals of phases differ.
    assert named(judged, "total goodput") == {NOT}
    assert named(judged, "time until shares are fair", "CoDel") == {OK}
    assert named(judged, "time until shares are fair", "RED") == {NOT}


# E3 to E5.


@pytest.fixture
def queues(made, flow):
    """Runs of Figures 9 to 11; `change` replaces (mean, swing, loss rate) by label and number of
    clients.
    """

    def make(change=None):
        as_the_paper = {
            ("drop-tail", 1): (120, 60, 0.001),
            ("drop-tail", 6): (160, 30, 0.004),
            ("drop-tail", 40): (190, 5, 0.01),
            ("red", 1): (30, 20, 0.004),
            ("red", 6): (50, 15, 0.01),
            ("red", 40): (70, 8, 0.03),
            ("codel", 1): (20, 14, 0.004),
            ("codel", 6): (30, 12, 0.01),
            ("codel", 40): (60, 20, 0.03),
            ("ecd", 1): (8, 3, 0.0),
            ("ecd", 6): (10, 4, 0.001),
            ("ecd", 40): (50, 18, 0.02),
        }
        as_the_paper |= {(LITERAL, x): as_the_paper[("ecd", x)] for x in (1, 6, 40)}
        as_the_paper |= change or {}

        def spec(label, x, number):
            mean, swing, loss = as_the_paper[(label, x)]

            def queue(t):
                up = round(t * 10) % 2 == 0
                return mean + 0.01 * number + (swing if up else -swing)

            return {
                "flows": [flow("ecd") for _ in range(x)],
                "queue": queue,
                "arrivals": lambda t: 100_000 * t,
                "dropped": lambda t: 100_000 * loss * (1 + 0.001 * number) * t,
                "duration_s": 10.0,
            }

        return {
            n: made(n, [int(c) for c in values(n, "flow_count")], spec)
            for n in REGISTRY["E3-fig9"].needs(Scale.QUICK)
        }

    return make


@pytest.mark.parametrize("name", ["E3-fig9", "E4-fig10", "E5-fig11"])
def test_figures_9_to_11_as_the_paper_has_them(queues, name):
    judged = REGISTRY[name].judge(queues(), Scale.QUICK)
    assert judged.verdict is OK, judged.reason


def test_figure_9_where_ecd_is_no_better(queues):
    claim = REGISTRY["E3-fig9"]
    judged = claim.judge(
        queues({("ecd", 1): (25, 18, 0), ("drop-tail", 40): (100, 5, 0.01)}), Scale.QUICK
    )
    assert judged.verdict is PARTLY
    assert named(judged, "mean queue, ECD") == {NOT}
    assert named(judged, "standard deviation of the queue, ECD") == {NOT}
    assert named(judged, "mean of Drop Tail's queue / limit") == {NOT}
    assert named(judged, "standard deviation of Drop Tail's queue") == {OK}
    assert named(judged, "mean queue, RED") == {OK}
    judged = claim.judge(queues({("red", 40): (70, 30, 0.03)}), Scale.QUICK)
    assert named(judged, "standard deviation of the queue, RED") == {NOT}
    judged = claim.judge(queues({("ecd", 40): (50, 2, 0.02)}), Scale.QUICK)
    assert named(judged, "standard deviation of ECD's queue") == {NOT}


def test_figure_10_where_ecd_is_lower_but_not_markedly(queues):
    judged = REGISTRY["E4-fig10"].judge(queues({("ecd", 1): (18, 3, 0)}), Scale.QUICK)
    assert judged.verdict is PARTLY
    assert sorted(verdicts(judged).values()) == sorted([OK, NOT])
    judged = REGISTRY["E4-fig10"].judge(queues({("ecd", 40): (65, 3, 0)}), Scale.QUICK)
    assert sorted(verdicts(judged).values()) == sorted([OK, NOT])


def test_figure_11_where_others_lose_nothing(queues):
    nothing = {("codel", 1): (20, 14, 0.0), ("red", 1): (20, 14, 0.0)}
    judged = REGISTRY["E5-fig11"].judge(queues(nothing), Scale.QUICK)
    # Nothing is neither below nothing nor much below it; Drop Tail then loses more.
    assert sorted(verdicts(judged).values()) == sorted([PARTLY, NOT, NOT])
    judged = REGISTRY["E5-fig11"].judge(queues({("ecd", 6): (10, 4, 0.008)}), Scale.QUICK)
    assert judged.verdict is PARTLY
    assert sorted(verdicts(judged).values()) == sorted([OK, OK, NOT])


# E6 to E9.

FCT = {"drop-tail": 1.02, "red": 1.3, "codel": 1.2, "ecd": 1.0, LITERAL: 1.0}


@pytest.fixture
def downloads(made, flow):
    """Runs of Figures 12 to 15: times in units of the paper's by label."""

    def make(claim, times=None, falls=True):
        factors = FCT | (times or {})

        def spec(label, x, number, alphas=False):
            base = (2.0 - x if falls else 1.0 + x) if alphas else x
            delay = factors[label] * base * 1e3 + number
            hits = (x / 3 if falls else 0.5) + 0.001 * number
            load = {
                "failed": 0,
                "fct_ms": {"mean": delay},
                "download_delay_ms": {"mean": delay},
                "packet_delay_ms": {"mean": delay / 100},
                "hit_ratio": hits,
            }
            config = {"workload": {"alpha": x}} if alphas else {}
            count = 3 if alphas else int(x)
            return {
                "flows": [flow("ecd") for _ in range(count)],
                "summary": {"workload": load},
                "config": config,
                "traces": False,
            }

        results = {}
        for need in REGISTRY[claim].needs(Scale.QUICK):
            alphas = values(need, "workload.alpha")
            places = [float(v) for v in alphas or values(need, "flow_count")]
            results[need] = made(
                need, places, lambda *a, by=alphas is not None: spec(*a, alphas=by)
            )
        return results

    return make


@pytest.mark.parametrize("name", ["E6-fig12", "E7-fig13", "E8-fig14", "E9-fig15"])
def test_figures_12_to_15_as_the_paper_has_them(downloads, name):
    times = {"drop-tail": 1.2} if name != "E6-fig12" else {}
    judged = REGISTRY[name].judge(downloads(name, times), Scale.QUICK)
    assert judged.verdict is OK, judged.reason
    assert any("printed algorithm" in r.name for r in judged.measured)


@pytest.mark.parametrize("name", ["E6-fig12", "E7-fig13", "E8-fig14", "E9-fig15"])
def test_figures_12_to_15_where_codel_is_better(downloads, name):
    judged = REGISTRY[name].judge(downloads(name, {"codel": 0.8}), Scale.QUICK)
    assert judged.verdict is (NOT if name in ("E7-fig13", "E8-fig14") else PARTLY)
    assert named(judged, "ECD / CoDel") == {NOT}


def test_figure_12_where_drop_tail_is_not_comparable(downloads):
    judged = REGISTRY["E6-fig12"].judge(downloads("E6-fig12", {"drop-tail": 1.5}), Scale.QUICK)
    assert named(judged, "Drop Tail / ECD") == {NOT}
    assert named(judged, "ECD / CoDel") == {OK}


def test_figure_15_where_skew_does_not_help(downloads):
    judged = REGISTRY["E9-fig15"].judge(
        downloads("E9-fig15", {"drop-tail": 1.2}, falls=False), Scale.QUICK
    )
    assert judged.verdict is PARTLY
    assert named(judged, "largest alpha / smallest", "delay") == {NOT}
    assert named(judged, "hit ratio") == {PARTLY}


def test_wrong_content_is_told(downloads):
    results = downloads("E6-fig12")
    rows = {r.name: r for r in REGISTRY["E6-fig12"].judge(results, Scale.QUICK).measured}
    assert rows["NDCs that did not arrive, and clients with wrong content"].value == 0
    for run in next(iter(results.values())):
        run.summary["flows"][0]["verified"] = False
    rows = {r.name: r for r in REGISTRY["E6-fig12"].judge(results, Scale.QUICK).measured}
    assert rows["NDCs that did not arrive, and clients with wrong content"].value > 0


@pytest.mark.parametrize("name", ["E3-fig9", "E4-fig10", "E5-fig11"])
def test_figures_9_to_11_are_drawn(queues, name):
    drawn = REGISTRY[name].draw(queues())
    assert drawn
    assert all(caption and figure.axes for caption, figure in drawn)


@pytest.mark.parametrize("name", ["E6-fig12", "E7-fig13", "E8-fig14", "E9-fig15"])
def test_figures_12_to_15_are_drawn(downloads, name):
    drawn = REGISTRY[name].draw(downloads(name))
    assert drawn
    assert all(caption and figure.axes for caption, figure in drawn)


def test_figures_7_and_8_are_drawn(throughput, coming_and_going):
    assert REGISTRY["E1-fig7"].draw(throughput({}))
    assert len(REGISTRY["E2-fig8"].draw(coming_and_going())) == 2

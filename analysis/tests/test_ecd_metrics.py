"""Metrics of the ECD paper's figures on runs whose answers are known by construction."""

from __future__ import annotations

import pytest

from ferrocc_analysis import Run, evaluate
from ferrocc_analysis.metrics.ecd_icn import coefficient_of_variation, phases


def entry(run, name):
    return evaluate(run, [name])[name]


def value(run, name):
    found = entry(run, name)
    assert found["value"] is not None, found["reason"]
    return found["value"]


def test_throughput_counts_ip_bytes_from_ten_seconds_on(make_run, flow):
    def packets(t):
        # Nothing before ten seconds, then 1,600 packets of 1,500 B per second: 19.2 Mbps.
        return 1600 * max(0.0, t - 10)

    run = Run.load(
        make_run(arrivals=packets, sent_bytes=lambda t: 1502 * packets(t), rate_mbps=20.0)
    )
    assert value(run, "ip_throughput") == pytest.approx(2400, rel=1e-6)
    assert value(run, "ip_utilisation") == pytest.approx(0.96, rel=1e-6)
    assert (
        "more than 10 s"
        in entry(Run.load(make_run("b", duration_s=9.0)), "ip_utilisation")["reason"]
    )


@pytest.fixture
def three(make_run, flow):
    """Clients from 0, 10 and 20 s to 40, 50 and 60 s with these goodputs."""

    def make(*rates):
        starts, stops = (0.0, 10.0, 20.0), (40.0, 50.0, 60.0)
        flows = [
            flow(start_s=a, end_s=b, goodput_mbps=g)
            for a, b, g in zip(starts, stops, rates, strict=True)
        ]
        return Run.load(make_run(f"r{rates}", flows=flows, duration_s=60.0, interval_s=0.5))

    return make


def test_phases_are_between_starts_and_stops(three):
    found = phases(three(6.0, 6.0, 6.0))
    assert [(p.since_s, p.until_s, len(p.flows)) for p in found] == [
        (0, 10, 1),
        (10, 20, 2),
        (20, 40, 3),
        (40, 50, 2),
        (50, 60, 1),
    ]
    assert found[2].settled == (30, 40)


def test_fairness_total_and_speed_of_phases(three):
    run = three(6.0, 6.0, 2.0)
    # Jain's index of 6, 6; of 6, 6, 2; of 6, 2.
    wanted = [1.0, 14**2 / (3 * 76), 8**2 / (2 * 40)]
    assert entry(run, "jain_of_phases")["parts"] == pytest.approx(wanted)
    assert entry(run, "total_of_phases")["parts"] == pytest.approx([6, 12, 14, 8, 2])
    assert value(run, "total_of_phases") == pytest.approx(2 / 14)
    speed = entry(run, "reconvergence")
    assert speed["parts"] == pytest.approx([1.0, 20.0, 10.0])
    assert len(speed["notes"]) == 2
    assert value(run, "goodput_variation") == pytest.approx(0.0, abs=1e-6)


def test_variation_is_that_of_a_sample():
    assert coefficient_of_variation([1.0, 3.0]) == pytest.approx(2**0.5 / 2)
    assert coefficient_of_variation([1.0]) != coefficient_of_variation([1.0])


def test_statistics_of_the_queue_leave_the_start_out(make_run, flow):
    def queue(t):
        if t < 5:
            return 150.0
        return 30.0 if round(t * 10) % 2 else 10.0

    config = {"topology": {"bottleneck": {"buffer": "98p", "device_queue": 2}}}
    run = Run.load(make_run(queue=queue, config=config))
    assert value(run, "queue_deviation") == pytest.approx(10.0, rel=0.01)
    assert value(run, "queue_fill") == pytest.approx(0.2, rel=0.02)
    assert value(run, "queue_median") in (10.0, 20.0, 30.0)


def test_loss_rate_leaves_the_start_out(make_run, flow):
    run = Run.load(
        make_run(
            arrivals=lambda t: 1000 * t,
            dropped=lambda t: 10 * min(t, 5) + 50 * max(0, t - 5),
        )
    )
    assert value(run, "settled_loss_rate") == pytest.approx(0.05)
    nothing = entry(Run.load(make_run("b")), "settled_loss_rate")
    assert "nothing arrived" in nothing["reason"]


def test_numbers_of_a_workload(make_run, flow):
    load = {"fct_ms": {"mean": 1500.0}, "hit_ratio": 0.25, "failed": 1}
    run = Run.load(make_run(summary={"workload": load}))
    assert value(run, "workload_fct") == 1.5
    assert value(run, "workload_hit_ratio") == 0.25
    assert value(run, "workload_failed") == 1
    assert "no download_delay_ms.mean" in entry(run, "download_delay")["reason"]
    assert "no workload" in entry(Run.load(make_run("b")), "workload_fct")["reason"]


def test_assembly_is_over_all_caches(make_run):
    caches = [
        {"name": "R1", "assembled": 3, "abandoned": 1},
        {"name": "R2", "assembled": 5, "abandoned": 1},
    ]
    run = Run.load(make_run(summary={"caches": caches}))
    assert value(run, "assembly_success") == pytest.approx(0.8)
    assert "no caches" in entry(Run.load(make_run("b")), "assembly_success")["reason"]

"""What really happened to segments, and how senders judged it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

KINDS = ("congestion", "random", "reordering", "non_congestion")
LINK = (
    "--scenario=base/topo-1",
    "--transport=tcp",
    "--controller=newreno",
    "--duration=20s",
    "--set=trace.enabled=false",
)


def run(runner, folder: Path, *options: str, buffer: str = "20p") -> dict:
    runner.run(*LINK, f"--buffer={buffer}", f"--out={folder}", *options)
    return json.loads((folder / "summary.json").read_text())


@pytest.mark.parametrize("recovery", ["standard", "newreno", "nce"])
def test_what_is_lost_is_what_the_links_have_lost(runner, tmp_path, recovery):
    summary = run(
        runner,
        tmp_path / "out",
        f"--recovery={recovery}",
        "--flows=3",
        "--loss=0.01",
        "--reorder=0.01",
    )
    found = summary["classification"]
    link = summary["links"][0]
    assert found["congestion"]["total"] == link["dropped"] > 10
    # Beside data only the handshake and its ACK go that way.
    others = link["error_losses"] - found["random"]["total"]
    assert 0 <= others <= 2 * len(summary["flows"])
    assert found["random"]["total"] > 50
    assert found["reordering"]["total"] > 20
    for kind in KINDS:
        of_flows = [f["classification"][kind] for f in summary["flows"]]
        for what in ("total", "exact", "missed"):
            assert found[kind][what] == sum(f[what] for f in of_flows)
        assert found[kind]["exact"] + found[kind]["missed"] <= found[kind]["total"]
    both = found["random"]["total"] + found["reordering"]["total"]
    assert found["non_congestion"]["total"] == both
    for flow in summary["flows"]:
        assert flow["fast_retransmits"] <= flow["retransmissions"] < flow["segments_sent"]
        assert flow["unnecessary_fast_retransmits"] <= flow["fast_retransmits"]
        assert flow["unnecessary_fast_retransmits"] <= flow["unnecessary_retransmissions"]


def test_without_random_loss_newreno_is_always_right(runner, tmp_path):
    summary = run(runner, tmp_path / "out", "--recovery=newreno")
    found = summary["classification"]
    assert found["congestion"]["exact"] > 10
    assert (
        found["congestion"]["exact"] + found["congestion"]["missed"]
        == (found["congestion"]["total"])
    )
    assert found["random"] == {"total": 0, "exact": 0, "missed": 0, "accuracy": None}
    assert found["reordering"]["total"] == 0
    (flow,) = summary["flows"]
    # Needless retransmissions give duplicate ACKs of their own, which may begin a recovery.
    assert flow["unnecessary_window_cuts"] < flow["window_cuts"] / 3


def test_without_drops_every_cut_is_unnecessary_and_no_cut_makes_none(runner, tmp_path):
    cuts = {}
    for recovery in ("newreno", "no-cut"):
        summary = run(
            runner,
            tmp_path / recovery,
            f"--recovery={recovery}",
            "--loss=0.005",
            "--set=tcp.buffer=100kB",
            buffer="10000p",
        )
        assert summary["links"][0]["dropped"] == 0
        (flow,) = summary["flows"]
        assert flow["unnecessary_window_cuts"] == flow["window_cuts"]
        cuts[recovery] = flow["window_cuts"] - flow["timeouts"]
    assert cuts["newreno"] > 20
    assert cuts["no-cut"] < cuts["newreno"] / 10


def test_a_lost_retransmission_repaired_by_the_timer_is_missed(runner, tmp_path):
    summary = run(runner, tmp_path / "out", "--recovery=no-cut", "--loss=0.1")
    random = summary["classification"]["random"]
    assert summary["flows"][0]["timeouts"] > 5
    assert random["missed"] >= summary["flows"][0]["timeouts"]
    assert random["exact"] + random["missed"] == random["total"]


def test_nce_repairs_at_the_duplicate_ack_that_its_equations_name(runner, tmp_path):
    runner.run(
        "--scenario=base/topo-1",
        "--rate=6Mbps",
        "--rtprop=120ms",
        "--loss=0.02",
        "--duration=60s",
        "--set=flows[0].transport=tcp",
        "--set=flows[0].controller=newreno",
        '--set=flows[0].recovery={"name":"nce","fallback":false}',
        f"--out={tmp_path / 'out'}",
    )
    with (tmp_path / "out" / "events.csv").open() as lines:
        events = [r for r in csv.DictReader(lines) if r["kind"] in ("suspect", "verdict")]
    outstanding, repairs = None, []
    for event in events:
        if event["kind"] == "suspect":
            outstanding = event["value"]
        elif event["text"] == "random-loss":
            repairs.append((outstanding, event["value"]))
    assert len(repairs) > 20
    # The n-th duplicate ACK of n outstanding: n - 3 more than the third.
    assert [r for r in repairs if r[0] != r[1]] == []


def judged(summary: dict) -> tuple[int, int]:
    """Random losses that were judged, and judged as that."""
    found = summary["classification"]["random"]
    return found["total"] - found["missed"], found["exact"]


def test_verdicts_have_the_accuracy_that_is_asked_for(runner, tmp_path):
    shares = []
    for flip in (0, 1):
        option = f'--set=flows[*].recovery={{"name":"cerl","verdict_flip":{flip}}}'
        summary = run(runner, tmp_path / f"{flip}", option, "--loss=0.01", buffer="2000p")
        total, exact = judged(summary)
        assert total > 50
        shares.append(exact / total)
    assert shares == [1, 0]
    done = runner(
        *LINK, '--set=flows[*].recovery={"name":"nce","verdict_flip":1.5}', f"--out={tmp_path}/no"
    )
    assert done.returncode == 2
    assert "verdict_flip" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "no").exists()


def test_nce_takes_rtts_of_duplicate_acks_if_it_is_told_to(runner, tmp_path):
    times = []
    for rtt in ("advancing", "echo"):
        option = f'--set=flows[*].recovery={{"name":"nce","share":0.1,"rtt":"{rtt}"}}'
        summary = run(
            runner,
            tmp_path / rtt,
            option,
            "--loss=0.01",
            "--reorder=0.02",
            "--verify",
            "--set=flows[0].size=1 MB",
        )
        assert summary["flows"][0]["verified"]
        times.append(summary["flows"][0]["fct_s"])
    assert times[0] != times[1]

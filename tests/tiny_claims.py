"""`ferrocc-analysis` with one claim, whose runs take half a second each, in the papers' stead."""

from __future__ import annotations

import sys

from ferrocc_analysis import cli, reproduce
from ferrocc_analysis.claims import Claim, Judgement, Measured, Need, Verdict, registry

#: What its runs are, but for their numbers.
OPTIONS = (
    "--duration=5s",
    "--rate=50Mbps",
    "--set=flows[*].start_jitter=1 rtprop",
    "--set=trace.enabled=true",
)
RUNS = tuple(range(1, 9))
SCENARIO = "base/topo-1"


def _judge(results, scale):
    del scale
    values = [r.flows[0].summary["goodput_mbps"] for runs in results.values() for r in runs]
    mean = sum(values) / len(values)
    row = Measured("goodput", mean, min(values), max(values), "Mbps", len(values), "about 46")
    return Judgement(Verdict.REPRODUCED, (row,), "it is a test")


CLAIM = Claim(
    "T1-tiny",
    "test",
    "",
    "A claim for a test",
    "A flow uses its link.",
    "about 46 Mbps",
    (),
    lambda scale: (Need(SCENARIO, OPTIONS, RUNS),),
    _judge,
    lambda results: [],
)


if __name__ == "__main__":
    registry.REGISTRY = reproduce.REGISTRY = {CLAIM.id: CLAIM}
    registry.STUDIES = reproduce.STUDIES = {}
    sys.exit(cli.run(sys.argv[1:]))

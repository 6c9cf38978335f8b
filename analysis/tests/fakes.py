"""A runner and claims that are none, for the tests of campaigns.

As a program, `fakes.py ARGUMENT...` is `ferrocc-analysis` with the claims below.
"""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.figure import Figure

from conftest import RunSpec, write_run
from ferrocc_analysis import cli, reproduce
from ferrocc_analysis.claims import (
    Claim,
    Judgement,
    Measured,
    Need,
    Results,
    Scale,
    Study,
    Verdict,
    registry,
)
from ferrocc_analysis.claims.model import Drawn

#: What the runner does, with the options `--set=NAME=VALUE` as its scenario: `sleep` (seconds),
#: `fail` (a message), `kill`, `other` (writes another run), `goodput`. It notes every run in
#: `started` beside it, and makes folders as the real one does.
_RUNNER = """#!{python} -S
import itertools, json, os, pathlib, signal, sys, time

here = pathlib.Path(__file__).parent
config = dict(duration="10 s", seed=1, run=1, flows=[dict(start="0 s")])
axes, options = dict(), dict()
for word in sys.argv[1:]:
    key, _, value = word.removeprefix("--").partition("=")
    if key in ("set", "sweep"):
        name, _, value = value.partition("=")
        (config if key == "set" else axes)[name] = json.loads(value)
    else:
        options[key] = value
if options["scenario"] == "fake/unknown":
    print("first line", file=sys.stderr)
    sys.exit('--scenario: unknown scenario "fake/unknown"')
cells = []
for values in itertools.product(*axes.values()):
    settings = dict(zip(axes, values))
    name = ",".join(f"{{k}}={{v}}" for k, v in settings.items())
    cells.append(dict(name=name, settings=settings, config=dict(config, **settings)))
if "plan" in options:
    print(json.dumps(dict(schema=1, scenario=options["scenario"], cells=cells)))
    sys.exit(0)
(cell,) = [c for c in cells if c["name"] == options["cell"]]
config = cell["config"]
out = pathlib.Path(options["out"])
part = out.with_name(f".{{out.name}}.partial")
part.mkdir(exist_ok=True)

def stop(signum, frame):
    part.rmdir()
    sys.exit(128 + signum)

signal.signal(signal.SIGTERM, stop)
with open(here / "started", "a") as log:
    log.write(f"{{os.getpid()}} {{cell['name']}}\\n")
time.sleep(config.get("sleep", 0))
if "kill" in config:
    os.kill(os.getpid(), signal.SIGKILL)
if "fail" in config:
    print("something before", file=sys.stderr)
    sys.exit(config["fail"].replace("OUT", str(out)))
summary = json.loads((here / "summary.json").read_text())
summary.update(scenario=options["scenario"], seed=config["seed"], run=config["run"], config=config)
summary["flows"][0]["goodput_mbps"] = config.get("goodput", 10.0) + config["run"] / 1000
if "other" in config:
    summary["config"] = dict(config, run=99)
(part / "run.json").write_text(json.dumps(dict(wall_s=0.5)))
(part / "summary.json").write_text(json.dumps(summary))
part.rename(out)
"""


def make_runner(folder: Path) -> Path:
    """Writes the runner into `folder`, which is made, and returns it."""
    write_run(folder, RunSpec(traces=False))
    program = folder / "scenarios"
    program.write_text(_RUNNER.format(python=sys.executable))
    program.chmod(0o755)
    return program


def started(runner: Path) -> list[str]:
    """The names of the runs that were started, in order."""
    log = runner.parent / "started"
    return [line.split(" ", 1)[1] for line in log.read_text().splitlines()] if log.exists() else []


def pids(runner: Path) -> list[int]:
    """The processes in which runs were started."""
    log = runner.parent / "started"
    return [int(line.split()[0]) for line in log.read_text().splitlines()] if log.exists() else []


def goodput(results: Results) -> list[float]:
    """Of the first flow of each run."""
    return [r.summary["flows"][0]["goodput_mbps"] for runs in results.values() for r in runs]


def need(*options: str, runs: tuple[int, ...] = (1, 2), scenario: str = "fake/one") -> Need:
    """A need with `--set` of each option."""
    return Need(scenario, tuple(f"--set={o}" for o in options), runs)


def claim(
    id_: str, *needs: Need, verdict: Verdict = Verdict.REPRODUCED, kind: type[Study] = Claim
) -> Study:
    """A claim with a verdict known beforehand, or a study."""

    def judge(results: Results, scale: Scale) -> Judgement:
        values = goodput(results)
        mean = sum(values) / len(values)
        rows = (
            Measured("goodput <of all>", mean, mean - 1, mean + 1, "Mbps", len(values), "about 10"),
            Measured("constant", 2.5, None, None, "1", 1, "", None, f"at scale {scale}"),
        )
        return Judgement(verdict if kind is Claim else None, rows, f"{id_} & its reason")

    def draw(results: Results) -> Drawn:
        figure = Figure(figsize=(2, 1))
        figure.subplots().plot(goodput(results))
        return [(f"goodput of {id_}", figure)]

    return kind(
        id_,
        "paper-b" if id_.startswith("B") else "paper-a",
        "Figure 1",
        f"Title of {id_}",
        f"What the paper says of {id_}: a < b.",
        "about 10 Mbps",
        ("something was assumed",),
        lambda scale: needs,
        judge,
        draw,
    )


#: Two of a paper with runs in common, one of another, one whose runs fail, one that cannot be
#: planned, one that is not reproduced, one whose runs take long, and a study.
CLAIMS = [
    claim("A1-fig1", need()),
    claim("A2-fig2", need(), need("goodput=12")),
    claim("A3-fig3", need(), need('fail="too bad"')),
    claim("A4-fig4", need(scenario="fake/unknown")),
    claim("A5-fig5", need("goodput=5"), verdict=Verdict.PARTLY),
    claim("A6-long", need("sleep=0.2", runs=tuple(range(1, 9)))),
    claim("B1-fig1", need("goodput=11")),
]
STUDIES = [claim("study-a", need("goodput=3"), kind=Study)]


#: A study that has runs at the full scale only.
_ANY = claim("study-b", need("goodput=4"), kind=Study)
STUDIES.append(
    Study(**(vars(_ANY) | {"needs": lambda s: _ANY.needs(s) if s is Scale.FULL else ()}))
)


def install() -> None:
    """Puts the claims above in the stead of the papers'."""
    registry.REGISTRY = {c.id: c for c in CLAIMS}
    registry.STUDIES = {s.id: s for s in STUDIES}
    reproduce.REGISTRY, reproduce.STUDIES = registry.REGISTRY, registry.STUDIES


if __name__ == "__main__":
    install()
    sys.exit(cli.run(sys.argv[1:]))

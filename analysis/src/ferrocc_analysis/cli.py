"""The command line: `ferrocc-analysis` or `python -m ferrocc_analysis`.

Input that cannot be used gives one line on stderr and exit status 2, and nothing is written.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.measure import Measurement

from . import figures, metrics, reproduce, schema, tables
from .campaign import Interrupted
from .errors import InputError, one_of
from .figures.save import make_folder
from .runs import load_runs

#: A figure of all kinds at once.
OVERVIEW = "overview"
#: Other words for kinds.
_KIND_ALIASES = {"throughput": "goodput"}
#: No table is wider, characters.
_WIDEST = 1000

app = typer.Typer(
    help="Figures, tables and metrics of ferrocc runs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...",
        help="Folders of runs (with summary.json), or folders with such folders below, such as a "
        "sweep. Runs that differ in seed and run number only are taken together.",
        show_default=False,
    ),
]


@app.command()
def plot(
    runs: Runs,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the figures. Default: RUN/figures for one RUN, figures for several.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            help=f"Comma-separated: {', '.join(figures.KINDS)}, {OVERVIEW} (all four in a grid)."
        ),
    ] = OVERVIEW,
    format: Annotated[
        str, typer.Option(help=f"Comma-separated: {', '.join(figures.FORMATS)}.")
    ] = "png",
    from_s: Annotated[
        str | None, typer.Option("--from", metavar="T", help="Start at this time, in seconds.")
    ] = None,
    to_s: Annotated[
        str | None, typer.Option("--to", metavar="T", help="End at this time, in seconds.")
    ] = None,
    overlay: Annotated[
        bool,
        typer.Option(
            "--overlay", help="All cells in one panel instead of one each; with a --kind."
        ),
    ] = False,
    name: Annotated[
        str, typer.Option(help="Start of the files' names; the kind follows.", show_default=False)
    ] = "",
) -> None:
    """Draw runs over time (in-flight, goodput, SRTT, bottleneck queue) and print the files made."""
    kinds = _list("--kind", kind, [*figures.KINDS, OVERVIEW], _KIND_ALIASES)
    formats = _list("--format", format, figures.FORMATS)
    if overlay and OVERVIEW in kinds:
        raise InputError(
            f"--overlay: has no effect on kind {OVERVIEW}, give --kind with some of "
            f"{', '.join(figures.KINDS)}"
        )
    if name and Path(name).name != name:
        raise InputError(f"--name: '{name}' is no file's name (accepted: one without a folder)")
    since, until = _seconds("--from", from_s), _seconds("--to", to_s)
    found = load_runs(runs)
    window = None
    if since is not None or until is not None:
        window = (since or 0.0, max(r.duration_s for r in found) if until is None else until)
    # All are drawn before the first is written: a bad trace must not leave half of them.
    drawn = {
        k: figures.overview(found, window)
        if k == OVERVIEW
        else figures.time_figure(found, k, window, overlay=overlay)
        for k in kinds
    }
    if out is None:
        out = runs[0] / "figures" if len(runs) == 1 else Path("figures")
    make_folder(out)
    for k, figure in drawn.items():
        for path in figures.save(figure, out / (f"{name}-{k}" if name else k), formats):
            print(path)


@app.command()
def table(runs: Runs) -> None:
    """Print a table with a row for each flow."""
    found = load_runs(runs)
    versions = dict.fromkeys(
        f"ns-3 {r.summary['ns3_version']}, ferrocc {r.summary['ferrocc_version']}" for r in found
    )
    scenarios = dict.fromkeys(r.scenario for r in found)
    title = f"{', '.join(scenarios)} ({'; '.join(versions)})"
    shown = tables.flow_table(found, title)
    console = Console()
    # A column must never be cut, not even where the lines then wrap.
    least = Measurement.get(console, console.options.update(max_width=_WIDEST), shown).maximum
    Console(width=max(console.width, least)).print(shown)


@app.command("metrics")
def metrics_(
    runs: Runs,
    metric: Annotated[
        str,
        typer.Option(
            help="Comma-separated names, or 'all'. Names: " + ", ".join(metrics.METRICS) + "."
        ),
    ] = "all",
) -> None:
    """Print the metrics that claims are judged by, as JSON."""
    names = None if metric == "all" else _list("--metric", metric, metrics.METRICS)
    result = [
        {
            "name": r.name,
            "scenario": r.scenario,
            "controllers": list(r.controllers),
            "seed": r.seed,
            "run": r.run,
            "metrics": metrics.evaluate(r, names),
        }
        for r in load_runs(runs)
    ]
    formulas = {m.name: m.formula for m in metrics.METRICS.values() if not names or m.name in names}
    print(
        json.dumps(
            {"schema": schema.SCHEMA_VERSION, "formulas": formulas, "runs": result},
            indent=2,
            allow_nan=False,
        )
    )


@app.command("reproduce")
def reproduce_(
    runner: Annotated[
        Path, typer.Option(help="The built program `scenarios`.", show_default=False)
    ],
    claims: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CLAIM|PAPER]...",
            help="Claims by id (C2-fig6, C2), papers (copa-icn), 'ablations'. Default: all.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few, shortened runs; verdicts are preliminary.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="As the papers, with more runs.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Runs at once. Default: the processors.", show_default=False
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for campaign/ (the runs) and report/.")] = Path(
        "out"
    ),
) -> int:
    """Run what claims need, judge them, write report/index.html and report/claims.json.

    Runs that are there are not made again. Exit status: 0 all reproduced, 1 some not, 2 bad input,
    3 a run failed.
    """
    wanted = reproduce.order(
        claims or [], quick=quick, full=full, jobs=jobs, runner=runner, out=out
    )
    return reproduce.reproduce(wanted)


def _seconds(option: str, given: str | None) -> float | None:
    """A time in seconds, with or without its unit. Raises `InputError` if it is none."""
    if given is None:
        return None
    try:
        value = float(given.removesuffix("s"))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{option}: '{given}' is no time, give seconds such as 2.5")
    return value


def _list(
    option: str, given: str, accepted: Collection[str], aliases: Mapping[str, str] | None = None
) -> list[str]:
    """The names in a comma-separated list, each once. Raises `InputError` for one not accepted."""
    parts = (part.strip() for part in given.split(","))
    names = list(dict.fromkeys((aliases or {}).get(part, part) for part in parts))
    for name in names:
        if name not in accepted:
            raise one_of(option, name, accepted)
    return names


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line given (the process's own if None) and returns the exit status."""
    command = typer.main.get_command(app)
    try:
        status = command.main(
            args=None if arguments is None else list(arguments),
            prog_name="ferrocc-analysis",
            standalone_mode=False,
        )
        sys.stdout.flush()
    except (InputError, typer.TyperException) as e:
        text = e.format_message() if isinstance(e, typer.TyperException) else str(e)
        print(
            f"error: {' '.join(text.split())}" if text else "error: nothing to do", file=sys.stderr
        )
        return 2
    except typer.Abort:
        print("\ninterrupted; run the same command again to go on", file=sys.stderr)
        return 130
    except Interrupted as e:
        print("interrupted; run the same command again to go on", file=sys.stderr)
        return 128 + e.signum
    except BrokenPipeError:
        # The reader (such as `head`) has gone; keep the interpreter's exit from failing on it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status if isinstance(status, int) else 0


def main() -> None:
    """Entry point of the program."""
    sys.exit(run())

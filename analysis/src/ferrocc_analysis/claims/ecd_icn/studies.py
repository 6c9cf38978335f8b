"""What the paper does not show: other links, parts of ECD left out, other caches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ... import figures, palette
from ...runs import Run
from ...stats import Estimate
from ..clauses import mean, measured_or_not, row, runs_of, study
from ..comparison import Comparison, Quantity, Variant, as_study, settings
from ..model import Drawn, Judgement, Need, Results, Scale, Study
from .common import (
    AQM,
    ASSUMPTIONS,
    FOUR,
    JITTER,
    NAMES,
    PAPER,
    SETTLED,
    aqm_of,
    by_label,
    in_order,
    look_of,
    name_of,
    numbers,
)

_QUEUE: Final = Quantity("settled_queue", "mean queue", "packets")
_LOSS: Final = Quantity("settled_loss_rate", "loss rate", "%", 100.0)
_FULL: Final = Quantity("settled_goodput", "goodput of all", "Mbps")


def _default(scale: Scale, *needs: Need) -> tuple[Need, ...]:
    return () if scale is Scale.QUICK else needs


def _clients(run: Run) -> str:
    return f"{len(run.flows)}"


# A12: links.

_LINKS: Final = "ecd-icn/links"
#: Options that change one property of the links (buffers in packets), by what they are called.
_CHANGES: Final[Mapping[str, tuple[str, ...]]] = {
    "as chosen": (),
    "10 Mbps": ("--rate=10Mbps",),
    "50 Mbps": ("--rate=50Mbps",),
    "RTprop 20 ms": ("--rtprop=20ms",),
    "RTprop 60 ms": ("--rtprop=60ms",),
    "buffer 100": ("--buffer=100p",),
    "buffer 400": ("--buffer=400p",),
}


def _link_needs(scale: Scale) -> tuple[Need, ...]:
    return _default(
        scale, *(Need(_LINKS, o, numbers(scale), {AQM: FOUR}) for o in _CHANGES.values())
    )


def _by_link(results: Results) -> dict[str, dict[str, list[Run]]]:
    found = {what: by_label(runs_of(results, _LINKS, o)) for what, o in _CHANGES.items()}
    return {what: of for what, of in found.items() if of}


def _judge_links(results: Results, scale: Scale) -> Judgement:
    del scale
    groups = _by_link(results)
    if not groups:
        return study((), "not part of this scale")
    rows, best = [], []
    for quantity in (_QUEUE, _LOSS, _FULL):
        for what, of in groups.items():
            found = {k: mean(of[k], quantity.metric).scaled(quantity.scale) for k in NAMES}
            rows += [
                row(f"{quantity.label}, {name_of(k)}, {what}", v, quantity.unit)
                for k, v in found.items()
            ]
            if quantity is _QUEUE:
                best.append(f"{what}: {name_of(min(found, key=lambda k: found[k].mean))}")
    return study(rows, f"lowest mean queue by link: {'; '.join(best)}")


def _draw_links(results: Results) -> Drawn:
    groups = _by_link(results)
    if not groups:
        return ()
    panels = [
        figures.Panel(
            "",
            [
                figures.Points(
                    name_of(k),
                    look_of(k),
                    [mean(of[k], q.metric).scaled(q.scale) for of in groups.values()],
                )
                for k in NAMES
            ],
            groups=[what.replace(" ", "\n", 1) for what in groups],
            ylabel=f"{q.label[0].upper()}{q.label[1:]} ({q.unit})",
        )
        for q in (_QUEUE, _LOSS)
    ]
    runs = [run for of in groups.values() for run in in_order(r for k in of.values() for r in k)]
    return [
        ("Three clients with one property of the links changed.", figures.bars(panels, "", runs))
    ]


LINKS: Final = Study(
    id="A12-links",
    paper=PAPER,
    figure="",
    title="Other links than those chosen",
    statement=(
        "The rates and delays of the paper's links are not known. Three clients with other rates, "
        "propagation delays and buffers."
    ),
    expected="the order of the queue managements does not depend on the choice",
    assumptions=(*ASSUMPTIONS, JITTER, SETTLED),
    needs=_link_needs,
    judge=measured_or_not(_judge_links),
    draw=_draw_links,
)


# A13: the dropping state.

_DROPPING: Final = "ecd-icn/dropping"


def _dropping(number: int, label: str, chosen: Callable[[dict[str, object]], bool]) -> Variant:
    def of(run: Run) -> bool:
        found = run.setting(AQM)
        return aqm_of(run) == "ecd" and isinstance(found, dict) and chosen(found)

    return Variant(label, palette.variant(palette.aqm("ecd"), number), of, number)


DROPPING: Final = as_study(
    Comparison(
        _DROPPING,
        (
            _dropping(
                0,
                "control law",
                lambda a: a["dropping"] == "control-law" and not a["mark_in_dropping"],
            ),
            _dropping(1, "drops all", lambda a: a["dropping"] == "drop-all"),
            _dropping(2, "marks while it drops", lambda a: bool(a["mark_in_dropping"])),
            Variant("CoDel", palette.aqm("codel"), lambda run: aqm_of(run) == "codel"),
        ),
        (_QUEUE, Quantity("queue_deviation", "deviation of the queue", "packets"), _LOSS),
        numbers,
        "The improved CoDel's dropping state, by the number of clients.",
        _clients,
        ("1", "6", "20", "40"),
    ),
    id="A13-dropping",
    paper=PAPER,
    title="What is dropped in the dropping state",
    statement=(
        "Algorithm 1 drops every packet until one is below the target, while the text leaves the "
        "dropping state to CoDel, which drops one packet at a time and lets the others go unmarked."
        " Both, and the text's with marks on what goes."
    ),
    expected="dropping all loses much more with many clients; marks lower the queue there",
    assumptions=(*ASSUMPTIONS[:4], JITTER, SETTLED),
)


# A14: the receiver.

_ALPHA: Final = "ecd-icn/alpha"


def _receiver(number: int, label: str, **wanted: object) -> Variant:
    def of(run: Run) -> bool:
        return all(run.setting(f"flows.0.controller.{k}") == v for k, v in wanted.items())

    return Variant(label, palette.variant(palette.aqm("ecd"), number), of, number)


_SETTLED: Final = {"variant": "settled", "alpha": 1, "first_mark_immediate": False}
ALPHA: Final = as_study(
    Comparison(
        _ALPHA,
        (
            _receiver(0, "alpha 1 at first", **_SETTLED),
            _receiver(1, "alpha 0 at first", **(_SETTLED | {"alpha": 0})),
            _receiver(2, "cut at the first mark", **(_SETTLED | {"first_mark_immediate": True})),
            _receiver(3, "printed algorithm", variant="algorithm-2"),
        ),
        (_QUEUE, _LOSS, _FULL),
        numbers,
        "How the receiver takes marks, by the number of clients.",
        _clients,
        ("1", "6", "20", "40"),
    ),
    id="A14-alpha",
    paper=PAPER,
    title="How the receiver takes marks",
    statement=(
        "The paper does not say what alpha is at first, and its Algorithm 2 differs from its text. "
        "Alpha of 1 and of 0 at first, a cut at a window's first mark instead of its end, and the "
        "printed algorithm."
    ),
    expected="alpha's first value is forgotten after some windows; the others differ a little",
    assumptions=(*ASSUMPTIONS[:3], JITTER, SETTLED),
)


# A15: placement and eviction.

_POLICIES: Final = "ecd-icn/policies"
#: Names of what is compared.
_PLACEMENTS: Final = ("lce", "lcd", "probabilistic")
_EVICTIONS: Final = ("lru", "lfu", "fifo", "random")


def _policy_needs(scale: Scale) -> tuple[Need, ...]:
    return _default(scale, Need(_POLICIES, (), numbers(scale)))


def _by_policy(results: Results, metric: str) -> dict[str, dict[str, Estimate]]:
    """A metric's means by eviction and placement."""
    runs = runs_of(results, _POLICIES)
    return {
        eviction: {
            placement: mean(
                [
                    r
                    for r in runs
                    if (r.setting("caches.policy"), r.setting("caches.placement"))
                    == (eviction, placement)
                ],
                metric,
            )
            for placement in _PLACEMENTS
        }
        for eviction in _EVICTIONS
    }


_POLICY_ROWS: Final = (
    ("workload_hit_ratio", "hit ratio", "%", 100.0),
    ("download_delay", "mean download delay", "s", 1.0),
)


def _judge_policies(results: Results, scale: Scale) -> Judgement:
    del scale
    if not runs_of(results, _POLICIES):
        return study((), "not part of this scale")
    rows, said = [], []
    for metric, what, unit, factor in _POLICY_ROWS:
        table = _by_policy(results, metric)
        flat = {
            f"{e.upper()}, {p}": v.scaled(factor) for e, of in table.items() for p, v in of.items()
        }
        rows += [row(f"{what}, {name}", v, unit) for name, v in flat.items()]
        most = max(flat, key=lambda n: flat[n].mean)
        least = min(flat, key=lambda n: flat[n].mean)
        said.append(
            f"{what} ({unit}) from {flat[least].mean:.3g} ({least}) "
            f"to {flat[most].mean:.3g} ({most})"
        )
    return study(rows, "; ".join(said))


def _draw_policies(results: Results) -> Drawn:
    runs = runs_of(results, _POLICIES)
    if not runs:
        return ()
    panels = []
    for metric, what, unit, factor in _POLICY_ROWS:
        table = _by_policy(results, metric)
        points = [
            figures.Points(
                eviction.upper() if eviction != "random" else "random",
                palette.variant(palette.aqm("ecd"), i),
                [table[eviction][p].scaled(factor) for p in _PLACEMENTS],
                variant=i,
            )
            for i, eviction in enumerate(_EVICTIONS)
        ]
        ylabel = f"{what[0].upper()}{what[1:]} ({unit})"
        panels.append(figures.Panel("", points, groups=_PLACEMENTS, ylabel=ylabel))
    return [("Caches by placement and by what they evict.", figures.bars(panels, "", runs))]


POLICIES: Final = Study(
    id="A15-policies",
    paper=PAPER,
    figure="",
    title="Other placements and evictions",
    statement=(
        "The paper has caches leave copies everywhere and does not say what they evict. Leave copy "
        "everywhere (LCE), leave copy down (LCD) and copies by chance, with LRU, LFU, FIFO and "
        "random eviction; three clients, alpha 0.8, NDCs of 100 kB."
    ),
    expected="LCE keeps the same content in all three routers, so that the others hit more often",
    assumptions=(
        *ASSUMPTIONS,
        JITTER,
        "the warm-up is made by packets: a replay cannot tell a cache how often content was asked "
        "for",
    ),
    needs=_policy_needs,
    judge=measured_or_not(_judge_policies),
    draw=_draw_policies,
)


# A16: warm-up.

_WARMUP: Final = "ecd-icn/warm-up"
WARMUP: Final = as_study(
    Comparison(
        _WARMUP,
        settings(
            "ecd",
            "workload.warmup_mode",
            (("packets", "by packets"), ("replay", "replayed")),
        ),
        (
            Quantity("workload_hit_ratio", "hit ratio, measured phase", "%", 100.0),
            Quantity("warmup_hit_ratio", "hit ratio, warm-up", "%", 100.0),
            Quantity("workload_fct", "mean FCT", "s"),
        ),
        numbers,
        "Caches warmed up by transfers and by the same requests without packets.",
        lambda run: f"alpha {run.setting('workload.alpha'):g}",
        ("alpha 0.6", "alpha 0.8", "alpha 1.3"),
    ),
    id="A16-warm-up",
    paper=PAPER,
    title="Warm-up by packets and by replay",
    statement=(
        "Quick and default runs replay the 400 requests of the warm-up against the caches instead "
        "of transferring them. The same requests in both ways; three clients, NDCs of 200 kB, so "
        "that packets can be afforded."
    ),
    expected="equal hit ratios in both phases, up to the order in which transfers end",
    assumptions=(*ASSUMPTIONS, JITTER),
)

STUDIES: Final[tuple[Study, ...]] = (LINKS, DROPPING, ALPHA, POLICIES, WARMUP)

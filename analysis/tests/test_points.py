"""Figures of measured values, and studies that compare variants."""

from __future__ import annotations

import pytest

from ferrocc_analysis import Run, figures, palette
from ferrocc_analysis.claims import STUDIES, Scale
from ferrocc_analysis.claims.comparison import (
    Comparison,
    Quantity,
    algorithms,
    as_study,
    settings,
)
from ferrocc_analysis.stats import Estimate, estimate


def texts(figure):
    legend = [t.get_text() for g in figure.legends for t in g.get_texts()]
    return legend, figure.get_supxlabel()


@pytest.fixture
def run(make_run):
    return Run.load(make_run())


def points(label, means, x=(), controller="copa-icn", **more):
    values = [Estimate(m, m - 1, m + 1, 5) for m in means]
    return figures.Points(label, palette.controller(controller), values, x, **more)


def test_curves_have_lines_bands_and_marks(run):
    panel = figures.Panel(
        "title",
        [points("one", [3, 4], [1, 10]), points("two", [5, 6], [1, 10], "copa")],
        [figures.Mark("best", 2.0), figures.Mark("law", [1.0, 9.0], [1.0, 10.0])],
    )
    figure = figures.curves([panel], "Size (MB)", "Time (s)", [run], log_x=True, ticks=[1, 10])
    (ax,) = figure.axes
    legend, footer = texts(figure)
    assert legend == ["one", "two", "best", "law"]
    assert ax.get_xscale() == "log"
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1", "10"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Size (MB)", "Time (s)")
    assert len(ax.collections) == 2
    assert ax.get_lines()[0].get_color() == palette.controller("copa-icn").color
    assert list(ax.get_lines()[1].get_ydata()) == [5, 6]
    assert ax.get_ylim()[0] == 0
    assert "ns-3 3.44" in footer


def test_bands_do_not_flatten_curves_and_two_runs_show_their_numbers(run):
    wide = [Estimate(m, m - 200, m + 200, 5) for m in (3.0, 4.0)]
    look = palette.controller("copa")
    panel = figures.Panel("", [figures.Points("wide", look, wide, [1, 2])])
    (ax,) = figures.curves([panel], "x", "y", [run]).axes
    assert ax.get_ylim() == pytest.approx((0.0, 4.0 + 0.5 * 4.0))
    (ax,) = figures.curves([panel], "x", "y", [run], from_zero=False).axes
    assert ax.get_ylim() == pytest.approx((3.0 - 0.5, 4.0 + 0.5))
    both = figures.Points("two", look, [estimate([1.0, 2.0]), estimate([2.0, 4.0])], [1, 2])
    (ax,) = figures.curves([figures.Panel("", [both])], "x", "y", [run]).axes
    vertices = ax.collections[0].get_paths()[0].vertices
    assert {tuple(v) for v in vertices} == {(1, 1), (1, 2), (2, 2), (2, 4)}


def test_points_of_one_run_have_no_band(run):
    values = [estimate([1.0]), estimate([2.0])]
    single = figures.Points("x", palette.controller("copa"), values, [1, 2])
    figure = figures.curves([figures.Panel("", [single])], "x", "y", [run])
    assert not figure.axes[0].collections


def test_bars_stand_in_groups_with_whiskers(run):
    panel = figures.Panel(
        "",
        [points("one", [3, 4]), points("two", [5, 6], controller="copa")],
        groups=["none", "some"],
    )
    figure = figures.bars([panel], "Time (s)", [run])
    (ax,) = figure.axes
    assert [p.get_height() for p in ax.patches] == [3, 4, 5, 6]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["none", "some"]
    assert sorted(tuple(line.get_ydata()) for line in ax.get_lines()) == [
        (2, 4),
        (3, 5),
        (4, 6),
        (5, 7),
    ]
    # Bars of a group stand beside each other, around the group's place.
    centres = sorted(p.get_x() + p.get_width() / 2 for p in ax.patches)
    assert sum(centres[:2]) / 2 == pytest.approx(0)
    assert sum(centres[2:]) / 2 == pytest.approx(1)


def test_panels_with_labels_of_their_own_have_axes_of_their_own(run):
    panels = [
        figures.Panel("", [points("one", [m])], groups=[""], ylabel=name)
        for name, m in (("small", 1), ("large", 1000))
    ]
    figure = figures.bars(panels, "", [run])
    assert [ax.get_ylabel() for ax in figure.axes] == ["small", "large"]
    assert figure.axes[0].get_ylim()[1] < 10


def test_flow_figure_lays_cells_over_each_other(make_run, flow):
    cells = [
        (label, [Run.load(make_run(f"{label}{n}", flows=[flow(goodput_mbps=r)], run=n))])
        for n, (label, r) in enumerate((("none", 12.0), ("one", 8.0)), 1)
    ]
    figure = figures.flow_figure([("Copa-ICN", cells)], "goodput", 0)
    lines = figure.axes[0].get_lines()
    assert [float(line.get_ydata()[5]) for line in lines] == pytest.approx([12.0, 8.0], rel=1e-3)
    assert texts(figure)[0] == ["none", "one"]
    assert lines[0].get_linestyle() != lines[1].get_linestyle()


def test_a_legends_entry_for_several_colours_has_none_of_them(run):
    panels = [figures.Panel(c, [points("one", [1, 2], [1, 2], c)]) for c in ("copa", "copa-icn")]
    figure = figures.curves(panels, "x", "y", [run])
    (handle,) = figure.legends[0].legend_handles
    assert handle.get_color() not in {palette.controller(c).color for c in ("copa", "copa-icn")}


# Comparisons.


def test_a_comparison_measures_each_variant_in_each_group(make_run, flow):
    inside = Comparison(
        "x",
        algorithms(("copa-icn", "copa")),
        (Quantity("total_goodput", "goodput", "kbps", 1e3),),
        lambda scale: (1, 2),
        "Goodput.",
        lambda run: str(run.setting("loss")),
        ("no", "yes"),
    )
    study = as_study(
        inside, id="A0-x", paper="p", title="t", statement="s", expected="e", assumptions=()
    )
    assert study.needs(Scale.QUICK) == ()
    (need,) = study.needs(Scale.DEFAULT)
    runs = [
        Run.load(
            make_run(
                f"{c}{loss}{n}",
                scenario="x",
                flows=[flow(c, goodput_mbps=rate)],
                run=n,
                config={"loss": loss},
            )
        )
        for c, loss, rate in (
            ("copa-icn", "no", 9.0),
            ("copa-icn", "yes", 8.0),
            ("copa", "no", 7.0),
            ("copa", "yes", 6.0),
        )
        for n in (1, 2)
    ]
    judged = study.judge({need: runs}, Scale.DEFAULT)
    assert judged.verdict is None
    assert [(r.name, r.value, r.n) for r in judged.measured] == [
        ("goodput, Copa-ICN, no", 9000.0, 2),
        ("goodput, Copa, no", 7000.0, 2),
        ("goodput, Copa-ICN, yes", 8000.0, 2),
        ("goodput, Copa, yes", 6000.0, 2),
    ]
    assert judged.reason.startswith("goodput (kbps): no: Copa-ICN 9e+03")
    ((caption, figure),) = study.draw({need: runs})
    assert caption == "Goodput."
    assert [p.get_height() for p in figure.axes[0].patches] == [9e3, 8e3, 7e3, 6e3]


def test_variants_of_a_flows_setting_need_its_controller(make_run, flow):
    (first, second) = settings("copa", "flows.0.mode", (("a", "A"), ("b", "B")))
    copa = Run.load(make_run("copa", flows=[flow("copa")], config={"flows": [{"mode": "a"}]}))
    other = Run.load(make_run("icn", flows=[flow()], config={"flows": [{"mode": "a"}]}))
    assert [v.chosen(copa) for v in (first, second)] == [True, False]
    assert not first.chosen(other)
    assert first.look == palette.controller("copa")
    assert second.look.marker != first.look.marker


@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda s: s.id)
def test_studies_that_were_not_run_say_so(study):
    judged = study.judge({}, Scale.QUICK)
    assert (judged.verdict, judged.measured) == (None, ())
    assert "not part of this scale" in judged.reason
    assert list(study.draw({})) == []

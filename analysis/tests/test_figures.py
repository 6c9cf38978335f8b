"""Figures by the data in their axes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex

from ferrocc_analysis import InputError, Run, figures, palette
from ferrocc_analysis.figures import references


def data_lines(ax):
    """The lines of flows and queues, without the reference lines."""
    return [line for line in ax.get_lines() if line.get_gid() != references.GID]


def reference(ax, label):
    """The positions of the reference lines called `label`: y, or x of those that stand upright."""
    lines = [line for line in ax.get_lines() if line.get_label() == label]
    assert all(line.get_gid() == references.GID for line in lines)
    upright = label == references.JOIN
    return [float((x.get_xdata() if upright else x.get_ydata())[0]) for x in lines]


def legend(figure):
    return [t.get_text() for t in figure.legends[0].get_texts()]


def bands(ax):
    return [c for c in ax.collections if isinstance(c, PolyCollection)]


def band_at(ax, time_s: float, index: int = 0) -> tuple[float, float]:
    """Lower and upper edge of a band at a vertex."""
    vertices = bands(ax)[index].get_paths()[0].vertices
    ys = vertices[np.isclose(vertices[:, 0], time_s), 1]
    return ys.min(), ys.max()


@pytest.fixture
def two(make_run, flow):
    """Two cells: Copa-ICN with two flows, BBR with one."""
    icn = [
        flow("copa-icn", goodput_mbps=9.0, in_flight=lambda t: 1e3 * t, swing=500.0),
        flow("copa-icn", goodput_mbps=6.0, start_s=2.1, end_s=8.1, srtt_plot=lambda t: 30 + t),
    ]
    return [
        Run.load(make_run("icn", flows=icn, queue=lambda t: 10 + t)),
        Run.load(make_run("bbr", flows=[flow("bbr")])),
    ]


def test_in_flight_shows_the_trace_and_its_extremes(two):
    figure = figures.time_figure(two, "in-flight")
    ax = figure.axes[0]
    one, other = data_lines(ax)
    assert one.get_xdata() == pytest.approx(np.arange(2, 201) * 0.1)
    assert one.get_ydata() == pytest.approx(np.arange(2, 201) * 0.1)
    assert other.get_xdata()[[0, -1]] == pytest.approx([2.2, 8.2])
    assert band_at(ax, 10.0) == pytest.approx((9.5, 10.5))


def test_goodput_is_binned_and_the_bottlenecks_rate_is_shown(two):
    ax = figures.time_figure(two, "goodput").axes[0]
    one, other = data_lines(ax)
    assert one.get_ydata() == pytest.approx(np.full(100, 9.0), abs=1e-3)
    assert other.get_ydata() == pytest.approx(np.full(len(other.get_ydata()), 6.0), abs=1e-3)
    # 20 Mbps x 1250 B / (1250 B + 108 B)
    assert reference(ax, "bottleneck rate less headers") == pytest.approx([18.4094], abs=1e-4)


def test_the_time_axis_holds_the_longest_run_whatever_the_order(make_run):
    runs = [Run.load(make_run(f"r{d}", duration_s=d, config={"size": d})) for d in (5.4, 5.0)]
    for shown in (runs, runs[::-1]):
        for figure in (figures.overview(shown), figures.time_figure(shown, "srtt", overlay=True)):
            for ax in figure.axes:
                assert ax.get_xlim() == pytest.approx((0.0, 5.4 * 1.02))


def test_joins_buffer_and_rtprop_are_shown_and_named_once(make_run, flow):
    topology = {"rtprop": "30 ms", "bottleneck": {"buffer": "75 kB", "device_queue": 2}}
    flows = [flow(), flow(start_s=0.15), flow(start_s=2.1), flow(start_s=2.11)]
    config = {"topology": topology, "transport": {"mss_bytes": 500}}
    run = Run.load(make_run(flows=flows, config=config, queue=lambda t: 100.0))
    figure = figures.overview([run])
    _, goodput, srtt, queue = figure.axes
    for ax in figure.axes:
        assert reference(ax, "a flow joins") == [2.1]
    assert reference(goodput, "bottleneck rate less headers") == pytest.approx([20 * 500 / 608])
    assert reference(srtt, "RTprop") == pytest.approx([30.0])
    # 75000 B hold 123 packets of 608 B; the device holds two more.
    assert reference(queue, "buffer limit") == [125.0]
    assert queue.get_ylim()[1] > 125
    names = legend(figure)
    for label in ("a flow joins", "RTprop", "buffer limit", "bottleneck rate less headers"):
        assert names.count(label) == 1


@pytest.mark.parametrize(
    ("buffer", "limit"),
    [("40p", [40.0]), ("2 MB", []), ("1 bdp", []), ("", []), (7, []), ("1.2.3 kB", [])],
)
def test_a_buffer_that_is_unknown_or_would_flatten_the_queue_is_left_out(make_run, buffer, limit):
    config = {"topology": {"bottleneck": {"buffer": buffer}}}
    run = Run.load(make_run(config=config, queue=lambda t: 20.0))
    figure = figures.time_figure([run], "queue")
    assert reference(figure.axes[0], "buffer limit") == limit
    if not limit:
        assert figure.axes[0].get_ylim()[1] < 30


def test_srtt_and_queue_are_the_traces(two):
    _, second = data_lines(figures.time_figure(two, "srtt").axes[0])
    assert second.get_ydata() == pytest.approx(30 + np.asarray(second.get_xdata()))
    ax = figures.time_figure(two, "queue").axes[0]
    (queue,) = data_lines(ax)
    assert queue.get_ydata() == pytest.approx(10 + np.asarray(queue.get_xdata()))
    assert band_at(ax, 10.0) == pytest.approx((20.0, 22.0))


def test_a_window_cuts_the_data(two):
    ax = figures.time_figure(two, "queue", (3.0, 5.0)).axes[0]
    (queue,) = data_lines(ax)
    assert queue.get_xdata()[[0, -1]] == pytest.approx([3.0, 5.0])
    assert ax.get_xlim() == (3.0, 5.0)


def test_algorithms_are_told_by_colour_and_marker_and_flows_by_line_style(two):
    figure = figures.time_figure(two, "goodput")
    one, other = data_lines(figure.axes[0])
    (bbr,) = data_lines(figure.axes[1])
    for line, name in ((one, "copa-icn"), (other, "copa-icn"), (bbr, "bbr")):
        look = palette.controller(name)
        assert (to_hex(line.get_color()), line.get_marker()) == (look.color, look.marker)
    assert one.get_linestyle() != other.get_linestyle()
    assert bbr.get_linestyle() == one.get_linestyle()


def test_cells_of_one_controller_are_told_apart_by_their_names(make_run):
    runs = [
        Run.load(make_run(f"rate={r}Mbps,run={n}", run=n, rate_mbps=r, config={"rate": r}))
        for r in (10, 20)
        for n in (1, 2)
    ]
    titles = [ax.get_title() for ax in figures.time_figure(runs, "queue").axes]
    assert titles == ["Copa-ICN\nrate=10Mbps", "Copa-ICN\nrate=20Mbps"]


def test_titles_leave_out_what_is_equal_and_what_controllers_say(make_run, flow):
    names = [
        f"controller={c},size=9MB,buffer={b}"
        for c in ("copa_mode-fixed", "copa_mode-auto", "cubic")
        for b in ("1bdp", "2bdp")
    ]
    runs = [
        Run.load(
            make_run(
                n,
                flows=[flow("cubic"), flow("copa" if "copa" in n else "cubic")],
                config={"cell": n},
            )
        )
        for n in names
    ]
    figure = figures.overview(runs)
    titles = [ax.get_title() for ax in figure.axes if ax.get_title()]
    assert [t.replace(",\n", ", ") for t in titles] == [
        "CUBIC + Copa\nmode-fixed, buffer=1bdp",
        "CUBIC + Copa\nmode-fixed, buffer=2bdp",
        "CUBIC + Copa\nmode-auto, buffer=1bdp",
        "CUBIC + Copa\nmode-auto, buffer=2bdp",
        "CUBIC\nbuffer=1bdp",
        "CUBIC\nbuffer=2bdp",
    ]


@pytest.mark.parametrize("count", [5, 7, 8])
def test_many_columns_go_into_rows_and_titles_do_not_touch(make_run, count):
    runs = [
        Run.load(make_run(f"rate={n}Mbps,buffer={n}bdp,{'long' * (3 * n)}={n}", config={"n": n}))
        for n in range(count)
    ]
    figure = figures.overview(runs)
    assert len(figure.axes) == 4 * count
    figure.draw_without_rendering()
    rows: dict[float, list] = {}
    for ax in figure.axes:
        if ax.get_title():
            rows.setdefault(round(ax.get_position().y1, 3), []).append(ax.title.get_window_extent())
    assert [len(row) for row in rows.values()] == {5: [5], 7: [4, 3], 8: [4, 4]}[count]
    for row in rows.values():
        assert all(a.x1 < b.x0 for a, b in itertools.pairwise(row))
        assert row[-1].x1 <= figure.bbox.x1
    limits = {ax.get_ylim() for ax in figure.axes if ax.get_title()}
    assert len(limits) == 1


@pytest.mark.parametrize(
    ("buffer", "direction", "limit"),
    [("54 kB", "forward", [39.0]), ("54 kB", "opposite", []), ("39p", "opposite", [39.0])],
)
def test_a_limit_in_bytes_is_no_number_of_packets_in_both_directions(
    make_run, flow, buffer, direction, limit
):
    config = {
        "topology": {"bottleneck": {"buffer": buffer}},
        "flows": [{"name": "NDC-1"}, {"name": "NDC-2", "direction": direction}],
    }
    run = Run.load(make_run(flows=[flow(), flow()], config=config, queue=lambda t: 30.0))
    assert reference(figures.time_figure([run], "queue").axes[0], "buffer limit") == limit


def test_what_several_controllers_share_has_nobodys_colour(make_run, flow):
    run = Run.load(make_run(flows=[flow("copa"), flow("bbr")]))
    (queue,) = data_lines(figures.time_figure([run], "queue").axes[0])
    assert to_hex(queue.get_color()) not in {s.color for s in palette.CONTROLLERS.values()}
    one, other = data_lines(figures.time_figure([run], "goodput").axes[0])
    assert [to_hex(x.get_color()) for x in (one, other)] == [
        palette.controller(c).color for c in ("copa", "bbr")
    ]


def test_the_overview_has_a_row_for_each_kind_and_a_column_for_each_cell(two):
    figure = figures.overview(two)
    axes = np.array(figure.axes).reshape(4, 2)
    assert [ax.get_title() for ax in axes[0]] == ["Copa-ICN", "BBR"]
    assert [ax.get_ylabel() for ax in axes[:, 0]] == [
        "In-flight (kB)", "Goodput (Mbps)", "SRTT (ms)", "Queue (packets)",
    ]  # fmt: skip
    assert [ax.get_xlabel() for ax in axes[-1]] == ["Time (s)"] * 2
    for row in axes:
        assert row[0].get_ylim() == row[1].get_ylim()
        assert row[0].get_ylim()[0] == 0
    assert [len(data_lines(ax)) for ax in axes[0]] == [2, 1]
    assert [len(data_lines(ax)) for ax in axes[3]] == [1, 1]


def test_an_overlay_has_one_panel_and_names_each_line(two):
    figure = figures.time_figure(two, "srtt", overlay=True)
    (ax,) = figure.axes
    assert [line.get_label() for line in data_lines(ax)] == [
        "Copa-ICN NDC-1", "Copa-ICN NDC-2", "BBR",
    ]  # fmt: skip
    assert legend(figure) == [
        "Copa-ICN NDC-1", "Copa-ICN NDC-2", "BBR", "a flow joins",
    ]  # fmt: skip


def test_an_overlay_tells_runs_of_one_controller_apart_and_names_them(make_run, flow):
    flows = [flow("copa"), flow("copa", start_s=2.1)]
    runs = [
        *(Run.load(make_run(f"{d}/cell", flows=flows, config={"rate": d})) for d in "abcde"),
        Run.load(make_run("mixed", flows=[flow("bbr"), flow("copa")])),
        Run.load(make_run("bbr", flows=[flow("bbr")])),
    ]
    figure = figures.time_figure(runs, "srtt", overlay=True)
    lines = data_lines(figure.axes[0])
    looks = [(to_hex(x.get_color()), x.get_marker(), x.get_linestyle()) for x in lines]
    assert len(set(looks)) == len(lines) == 13
    assert len({(color, marker) for color, marker, *_ in looks[:10]}) == 5
    assert to_hex(lines[0].get_color()) == palette.controller("copa").color
    names = [str(line.get_label()) for line in lines]
    assert len(set(names)) == 13
    for d, name in zip("abcde", names[::2], strict=False):
        assert f"/{d}/cell" in name
    assert names[10:] == ["BBR + Copa NDC-1 (BBR)", "BBR + Copa NDC-2 (Copa)", "BBR"]


def test_an_overlay_tells_shared_queues_apart(make_run, flow):
    pairs = (("copa", "bbr"), ("cubic", "newreno"))
    runs = [Run.load(make_run(a, flows=[flow(a), flow(b)])) for a, b in pairs]
    one, other = data_lines(figures.time_figure(runs, "queue", overlay=True).axes[0])
    assert to_hex(one.get_color()) != to_hex(other.get_color())
    assert one.get_marker() != other.get_marker()


def test_a_queue_has_no_flows_in_its_legend(two):
    assert legend(figures.time_figure(two, "queue")) == ["a flow joins"]
    assert "NDC-2" in legend(figures.time_figure(two, "srtt"))


def test_the_legend_says_flow_and_controller(make_run, flow):
    rate = "bottleneck rate less headers"
    single = Run.load(make_run("single"))
    assert legend(figures.overview([single])) == ["NDC-1 (Copa-ICN)", rate]
    mixed = Run.load(make_run("mixed", flows=[flow("copa"), flow("bbr")]))
    assert legend(figures.overview([mixed])) == ["NDC-1 (Copa)", "NDC-2 (BBR)", rate]
    entries = figures.overview([mixed]).legends[0].get_lines()
    assert [to_hex(e.get_color()) for e in entries[:2]] == [
        palette.controller(c).color for c in ("copa", "bbr")
    ]
    assert legend(figures.overview([single, mixed])) == [
        "Copa-ICN", "Copa", "BBR", "NDC-1", "NDC-2", rate,
    ]  # fmt: skip
    many = Run.load(make_run("many", flows=[flow() for _ in range(9)]))
    assert legend(figures.overview([many])) == ["Copa-ICN", rate]


def test_legends_stay_within_their_figure(make_run, flow):
    topology = {"rtprop": "30 ms", "bottleneck": {"buffer": "40p"}}
    flows = [flow(c, start_s=0.1 + i) for i, c in enumerate(("copa-icn", "vivace", "fixed"))]
    runs = [Run.load(make_run(f"r{n}", flows=flows, config={"topology": topology, "n": n}))
            for n in range(2)]  # fmt: skip
    for figure in (
        figures.overview(runs[:1]),
        figures.overview(runs),
        figures.time_figure(runs, "goodput", overlay=True),
    ):
        figure.draw_without_rendering()
        for artist in (figure.legends[0], figure._supxlabel):
            box = artist.get_window_extent()
            assert box.x0 >= 0
            assert box.x1 <= figure.bbox.x1


def test_the_footer_says_what_bands_are(two):
    band = "band: smallest and largest value in each interval"
    assert band in figures.overview(two).get_supxlabel()
    assert band in figures.time_figure(two, "queue").get_supxlabel()
    assert "band" not in figures.time_figure(two, "goodput").get_supxlabel()


def test_the_footer_says_where_the_data_comes_from(two):
    text = figures.overview(two).get_supxlabel().replace("\n", " ")
    for part in ("ns-3 3.44", "ferrocc 0.1.0", "base/topo-1", "seed 1 run 1"):
        assert part in text


def test_several_seeds_give_a_mean_with_a_confidence_band(make_run, flow):
    runs = [
        Run.load(make_run(f"r{i}", run=i, flows=[flow(srtt_plot=lambda t, i=i: 40.0 + i)]))
        for i in (1, 2, 3)
    ]
    figure = figures.time_figure(runs, "srtt")
    (ax,) = figure.axes
    (line,) = data_lines(ax)
    assert line.get_ydata() == pytest.approx(np.full(199, 42.0))
    # t(0.975, 2 degrees of freedom) = 4.3027.
    assert band_at(ax, 10.0) == pytest.approx(
        (42 - 4.3027 / 3**0.5, 42 + 4.3027 / 3**0.5), abs=1e-3
    )
    assert "mean of 3 runs" in figure.get_supxlabel()


def test_two_runs_give_a_mean_between_the_smaller_and_the_larger(make_run, flow):
    runs = [
        Run.load(make_run(f"r{i}", run=i, flows=[flow(srtt_plot=lambda t, i=i: 40.0 + 2 * i)]))
        for i in (1, 2)
    ]
    figure = figures.time_figure(runs, "srtt")
    (ax,) = figure.axes
    assert band_at(ax, 10.0) == pytest.approx((42.0, 44.0))
    assert "means, bands: smallest to largest of 2 runs" in figure.get_supxlabel()


def test_a_wide_band_does_not_flatten_the_mean(make_run, flow):
    runs = [
        Run.load(make_run(f"r{i}", run=i, flows=[flow(srtt_plot=lambda t, v=v: v)]))
        for i, v in enumerate((1.0, 1.0, 100.0), 1)
    ]
    (ax,) = figures.time_figure(runs, "srtt").axes
    # The mean is 34, the interval reaches 34 + 4.3027 x 33 = 176.
    assert band_at(ax, 10.0)[1] == pytest.approx(176.0, abs=0.1)
    assert ax.get_ylim() == pytest.approx((0.0, 1.5 * 34.0))


def test_many_flows_are_drawn_without_markers(make_run, flow):
    run = Run.load(make_run(flows=[flow() for _ in range(20)]))
    lines = data_lines(figures.time_figure([run], "goodput").axes[0])
    assert len(lines) == 20
    assert {line.get_marker() for line in lines} == {"None"}


def test_long_runs_are_thinned_without_losing_extremes(make_run, flow):
    spike = flow(in_flight=lambda t: 900e3 if abs(t - 55.55) < 1e-6 else 50e3, swing=0.0)
    run = Run.load(make_run(flows=[spike], duration_s=100.0, interval_s=0.05))
    ax = figures.time_figure([run], "in-flight").axes[0]
    (line,) = data_lines(ax)
    assert len(line.get_xdata()) <= 400
    assert bands(ax)[0].get_paths()[0].vertices[:, 1].max() == pytest.approx(900.0)


@pytest.mark.parametrize(
    ("kind", "window", "message"),
    [
        ("goodputt", None, "did you mean 'goodput'"),
        ("goodput", (5.0, 5.0), "is empty"),
        ("goodput", (-1.0, 5.0), "is empty"),
        ("goodput", (99.0, 100.0), "the runs end at 20 s"),
    ],
)
def test_bad_requests_are_named(two, kind, window, message):
    with pytest.raises(InputError, match=message):
        figures.time_figure(two, kind, window)


def test_no_runs_no_figure():
    with pytest.raises(InputError, match="no runs"):
        figures.overview([])


def test_files_are_complete_equal_and_alone(two, tmp_path):
    from PIL import Image

    figure = figures.overview(two)
    out = tmp_path / "a" / "b"
    paths = figures.save(figure, out / "overview", ["png", "pdf"])
    assert sorted(p.name for p in out.iterdir()) == ["overview.pdf", "overview.png"]
    image = np.asarray(Image.open(paths[0]).convert("RGB"))
    assert image.shape[1] == pytest.approx(200 * figure.get_figwidth(), abs=2)
    # Something is drawn in the algorithm's colour: the image is not blank.
    want = [int(palette.controller("copa-icn").color[i : i + 2], 16) for i in (1, 3, 5)]
    assert (np.abs(image.astype(int) - want).sum(axis=2) < 12).sum() > 200
    before = [p.read_bytes() for p in paths]
    assert before[1].startswith(b"%PDF")
    figures.save(figures.overview(two), out / "overview", ["png", "pdf"])
    assert [p.read_bytes() for p in paths] == before


def test_an_interrupted_save_leaves_the_old_file(two, tmp_path, monkeypatch):
    figure = figures.time_figure(two, "queue")
    (path,) = figures.save(figure, tmp_path / "queue")
    before = path.read_bytes()

    def fail(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(figure), "savefig", fail)
    with pytest.raises(InputError, match="No space left"):
        figures.save(figure, tmp_path / "queue")
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["queue.png"]


def test_an_unknown_format_is_named(two, tmp_path):
    with pytest.raises(InputError, match="accepted are png, pdf, svg"):
        figures.save(figures.time_figure(two, "queue"), tmp_path / "x" / "queue", ["jpg"])
    assert not (tmp_path / "x").exists()

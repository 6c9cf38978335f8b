from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

import fakes
from ferrocc_analysis import InputError
from ferrocc_analysis.claims import Claim, Judgement, Scale, Study, Verdict
from ferrocc_analysis.report import Entry, judge, missing, page, write_report
from ferrocc_analysis.report.entry import Context, Store
from ferrocc_analysis.report.page import claims_json, number
from ferrocc_analysis.runs import Run

CONTEXT = Context(
    scale="quick",
    preliminary=True,
    command="cargo xtask reproduce A1-fig1 --quick",
    inputs="hash",
    scenarios=("fake/one",),
    seeds=2,
    runs=2,
    provenance=(("ferrocc", "0.1.0"), ("git", "abc"), ("ns3", "3.44")),
)


@pytest.fixture
def results(make_run):
    runs = [Run.load(make_run(f"r{n}", traces=False, run=n)) for n in (1, 2)]
    return {fakes.need(): runs}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "judged")


def judged(study: Study, results, store: Store, scale: Scale = Scale.QUICK) -> Entry:
    entry, pictures = judge(study, results, scale, CONTEXT)
    return store.save(entry, pictures)


class Page(HTMLParser):
    """What a page refers to and shows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("meta", "img", "br", "link"):
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "srcset", "action", "data"):
                self.links.append(value)
            if name == "id":
                self.ids.append(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


# Entries.


def test_an_entry_is_kept_as_it_is(results, store):
    entry = judged(fakes.claim("A1-fig1"), results, store)
    assert store.load("A1-fig1") == entry
    assert (entry.state, entry.verdict, entry.outcome) == ("judged", "reproduced", "reproduced")
    assert entry.rows[0].value == pytest.approx(10.0)
    (picture,) = entry.pictures
    assert store.picture(entry, picture).startswith(b"\x89PNG")
    assert store.load("A2-fig2") is None


def test_an_entry_that_is_not_whole_is_none(results, store):
    entry = judged(fakes.claim("A1-fig1"), results, store)
    place = store.folder / "A1-fig1"
    (place / entry.pictures[0].file).unlink()
    assert store.load("A1-fig1") is None
    for broken in ("{", "[]", "{}", '{"schema": 1}', '{"schema": 99}'):
        (place / "entry.json").write_text(broken)
        assert store.load("A1-fig1") is None


def test_a_new_entry_leaves_no_old_figures(results, store):
    judged(fakes.claim("A1-fig1"), results, store)
    (store.folder / "A1-fig1" / "0123456789abcdef.png").write_bytes(b"old")
    entry = judged(fakes.claim("A1-fig1"), results, store)
    files = {p.name for p in (store.folder / "A1-fig1").iterdir()}
    assert files == {"entry.json", entry.pictures[0].file}


def test_equal_runs_give_equal_entries(results, store, tmp_path):
    one = judged(fakes.claim("A1-fig1"), results, store)
    assert one == judged(fakes.claim("A1-fig1"), results, Store(tmp_path / "other"))


def test_a_judgement_that_breaks_is_told_and_breaks_nothing(results):
    def broken(results, scale):
        raise ZeroDivisionError("no\nruns")

    good = fakes.claim("A1-fig1")
    study = Claim(**(vars(good) | {"judge": broken}))
    entry, pictures = judge(study, results, Scale.QUICK, CONTEXT)
    assert (entry.state, entry.verdict, pictures) == ("incomplete", None, [])
    assert entry.reason == "could not be judged: ZeroDivisionError: no runs"
    silent = Claim(**(vars(good) | {"judge": lambda r, s: Judgement(None, (), "")}))
    assert judge(silent, results, Scale.QUICK, CONTEXT)[0].state == "incomplete"


def test_folders_of_this_machine_stay_out_of_the_report(results):
    run = next(run for runs in results.values() for run in runs)

    def untraced(results, scale):
        raise InputError(f"{run.folder}/flows.csv: not there")

    study = Claim(**(vars(fakes.claim("A1-fig1")) | {"judge": untraced}))
    entry, _ = judge(study, results, Scale.QUICK, CONTEXT)
    assert entry.reason.endswith(f"InputError: {run.folder.name}/flows.csv: not there")
    assert str(run.folder.parent) not in entry.reason


def test_missing_runs_are_named():
    entry = missing(fakes.claim("A1-fig1"), CONTEXT, ["s run=1 (bad)"])
    assert (entry.state, entry.verdict) == ("incomplete", None)
    assert entry.reason == "1 of 2 runs are missing: s run=1 (bad)"
    many = missing(fakes.claim("A1-fig1"), CONTEXT, [f"run {n}" for n in range(5)])
    assert many.reason.endswith("run 0; run 1; run 2; and 2 more")


# The report.


def test_the_page_is_whole_by_itself_and_shows_everything(results, store, tmp_path):
    claims = [fakes.claim("A1-fig1"), fakes.claim("B1-fig1"), fakes.claim("B2-fig2")]
    study = fakes.claim("study-a", kind=Study)
    judged(claims[0], results, store)
    store.save(missing(claims[1], CONTEXT, ["s run=1 (too <bad>)"]))
    judged(study, results, store)
    write_report(tmp_path / "report", [*claims, study], store)
    text = (tmp_path / "report" / "index.html").read_text()
    shown = Page(text)
    assert shown.open == []
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in shown.links)
    assert "link" not in shown.tags
    assert not re.search(r"https?:|@import|url\(", text)
    assert sum(link.startswith("data:") for link in shown.links) == 2
    for link in shown.links:
        assert not link.startswith("#") or link[1:] in shown.ids, link
    for words in (
        "What the paper says of A1-fig1: a < b.",
        "A1-fig1 & its reason",
        "goodput <of all>",
        "10 [9, 11]",
        "something was assumed",
        "goodput of A1-fig1",
        "cargo xtask reproduce A1-fig1 --quick",
        "fake/one",
        "ferrocc 0.1.0, commit abc, ns-3 3.44",
        "too <bad>",
        "preliminary",
        "cargo xtask reproduce B2-fig2",
        "Title of study-a",
    ):
        assert words in shown.text.replace("\N{NO-BREAK SPACE}", " "), words
    for outcome in ("reproduced", "incomplete", "not run"):
        assert f'data-outcome="{outcome}"' in text
    assert str(tmp_path) not in text
    for support in ("prefers-color-scheme: dark", "@media print", 'name="viewport"'):
        assert support in text
    assert text.index('id="studies"') > text.index('id="B2-fig2"')
    assert text.index('id="study-a"') > text.index('id="studies"')


def test_what_was_not_run_is_a_line_below_what_was(results, store, tmp_path):
    claims = [fakes.claim(name) for name in ("A1-fig1", "B1-fig1", "B2-fig2")]
    studies = [fakes.claim(name, kind=Study) for name in ("study-a", "study-b")]
    judged(claims[1], results, store)
    judged(studies[1], results, store)
    write_report(tmp_path, [*claims, *studies], store)
    text = (tmp_path / "index.html").read_text()
    places = [
        text.index(f'id="{n}"') for n in ("B1-fig1", "A1-fig1", "B2-fig2", "study-b", "study-a")
    ]
    assert places == sorted(places)
    lines = re.findall(r"<li id=.*</li>", text)
    assert [re.search('id="([^"]*)"', line)[1] for line in lines] == [
        "A1-fig1", "B2-fig2", "study-a",
    ]  # fmt: skip
    for line, name in zip(lines, ("A1-fig1", "B2-fig2", "study-a"), strict=True):
        for part in (f"Title of {name}", "not run", f"<code>cargo xtask reproduce {name}</code>"):
            assert part in line
    assert text.count("What the paper says") == 2
    assert ">Expected</th>" in text
    assert ">paper: " not in text
    assert ">expected: " in text


def test_the_json_has_claims_and_studies_apart(results, store):
    claim = fakes.claim("A1-fig1", verdict=Verdict.NOT_REPRODUCED)
    study = fakes.claim("study-a", kind=Study)
    entries = {s.id: judged(s, results, store) for s in (claim, study)}
    data = json.loads(claims_json([claim, study, fakes.claim("B1-fig1")], entries))
    assert data["schema"] == 1
    (row,) = data["claims"]
    assert {k: row[k] for k in ("id", "paper", "verdict", "scale", "expected", "ci", "seeds")} == {
        "id": "A1-fig1",
        "paper": "paper-a",
        "verdict": "not reproduced",
        "scale": "quick",
        "expected": "about 10 Mbps",
        "ci": [pytest.approx(9.0), pytest.approx(11.0)],
        "seeds": 2,
    }
    assert row["measured"][0]["name"] == "goodput <of all>"
    assert row["measured"][1]["low"] is None
    assert [s["id"] for s in data["studies"]] == ["study-a"]
    assert data["studies"][0]["verdict"] is None


def test_a_number_that_is_none_is_null(results, store):
    good = fakes.claim("A1-fig1")

    def judge_nan(results, scale):
        row = good.judge(results, scale).measured[0]
        nan = type(row)(**(vars(row) | {"value": float("nan"), "high": float("inf")}))
        return Judgement(Verdict.PARTLY, (nan,), "x")

    entry = judged(Claim(**(vars(good) | {"judge": judge_nan})), results, store)
    assert entry.rows[0].value is None
    assert entry.rows[0].high is None


def test_equal_entries_give_equal_bytes(results, store, tmp_path):
    claim = fakes.claim("A1-fig1")
    judged(claim, results, store)
    for name in ("a", "b"):
        write_report(tmp_path / name, [claim], store)
    for file in (page.PAGE, page.CLAIMS):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_numbers_are_readable():
    values = [None, 0, 0.00001234, 0.123456, 12.3456, 1234.5, 12345678.0, -0.5]
    shown = ["\N{EM DASH}", "0", "1.23e-05", "0.1235", "12.35", "1,234", "1.23e+07", "-0.5"]
    assert [number(v) for v in values] == shown

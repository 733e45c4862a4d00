"""The report is one file that loads nothing, shows what happened and takes every text literally."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from articulus.study import parse_study, run_only
from articulus.study.report import report_text
from articulus.study.report.markup import readable

from .support import BASE, changed

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """Notes elements, identifiers and references, and whether every element is closed in order."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.identifiers: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):  # type: ignore[no-untyped-def]
        held = dict(attributes)
        self.seen.append((tag, held))
        if "id" in held:
            self.identifiers.append(held["id"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):  # type: ignore[no-untyped-def]
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):  # type: ignore[no-untyped-def]
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data):  # type: ignore[no-untyped-def]
        self.texts.append(data)


@pytest.fixture(scope="module")
def report() -> str:
    return report_text(run_only(parse_study(BASE, "arm.toml")))


def test_it_is_well_formed_and_identifiers_are_unique(report: str) -> None:
    page = Page(report)
    assert not page.open
    assert len(set(page.identifiers)) == len(page.identifiers)
    targets = [a["href"] for tag, a in page.seen if tag in ("a", "use") for a in [_plain(a)] if "href" in a]
    assert targets
    assert all(t is not None and t.startswith("#") and t[1:] in page.identifiers for t in targets)


def _plain(attributes: dict[str, str | None]) -> dict[str, str | None]:
    return {name.removeprefix("xlink:"): value for name, value in attributes.items()}


def test_it_loads_nothing(report: str) -> None:
    page = Page(report)
    assert not re.search(r"(?i)https?:|url\((?!#)|@import|//[a-z]", report)
    assert not [tag for tag, _ in page.seen if tag in ("script", "link", "iframe", "object", "embed", "img")]
    assert not [a for _, a in page.seen for name in a if name == "src" or name.startswith("on")]
    policy = next(str(a["content"]) for tag, a in page.seen if tag == "meta" and "http-equiv" in a)
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


def test_it_says_what_a_colleague_needs(report: str) -> None:
    text = " ".join(" ".join(Page(report).texts).split())
    for part in (
        "A two-link arm under PD control.", "The check passes", "energy balance", "PASS", "model hash", "servo", "pd",
        "link2", "revolute", "gyro.rate.2", "articulus run arm.toml", 'model = "two_link"',
    ):  # fmt: skip
        assert part in text, part
    assert "slot: replay" in report
    assert "prefers-color-scheme: dark" in report
    assert len(report) < 2e6


def test_it_has_the_margins_of_a_controller(report: str) -> None:
    """One row for each command; a study without a controller has no such section."""
    section = report[report.index('<section id="margins"') :]
    section = section[: section.index("</section>")]
    for text in ("u.joint1", "u.joint2", "all at once", "Least damped poles", "<svg", "the mechanism moves"):
        assert text in section
    assert r"\mathdefault" not in section
    bare = BASE[: BASE.index("[[component]]")] + BASE[BASE.index("[run]") : BASE.index("[outputs]")]
    assert 'id="margins"' not in report_text(run_only(parse_study(bare, "bare.toml")))


def test_pictures_and_tables_can_be_read_aloud(report: str) -> None:
    page = Page(report)
    pictures = [a for tag, a in page.seen if tag == "svg"]
    assert len(pictures) == 3
    assert all(a["role"] == "img" and a["aria-label"] for a in pictures)
    assert report.count("<table>") == report.count("<caption>") == report.count("<thead>")
    assert all(a.get("scope") in ("col", "row") for tag, a in page.seen if tag == "th")


def test_texts_of_a_figure_stay_as_they_were_drawn() -> None:
    from articulus.simulation.results.plots import plot
    from articulus.study.report.charts import chart

    run = run_only(
        parse_study(changed(('t_end = "0.5 s"', 't_end = "4 ms"'), ('sample = "10 ms"\n', "")))
    ).run
    figure = plot({"": run}, "q")
    page = Page(chart(run, ["q"], "q", "a"))
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert "0.0005" in labels
    assert set(labels) <= {text.strip() for text in page.texts}


EVIL = "<script>alert('&\"x', $y_{$)</script>"


def test_every_text_of_the_user_is_harmless() -> None:
    name = EVIL.replace('"', '\\"')
    text = changed(
        ('purpose = "A two-link arm under PD control."', f'purpose = "{name}"'),
        ('name = "gyro"', f'name = "{name}"'),
        ('signals = ["gyro.rate"]', f'signals = ["{name}.rate"]'),
        ('"energy"]', f'"{name}.rate"]'),
        ('figure = "energy balance"', f'name = "{name}"\nfigure = "energy balance"'),
    )
    report = report_text(run_only(parse_study(text, "<b>.toml")))
    page = Page(report)
    assert not page.open
    assert not [tag for tag, _ in page.seen if tag in ("script", "b")]
    assert "".join(page.texts).count(EVIL) >= 5


def test_a_run_that_fails_is_reported_with_its_likely_cause() -> None:
    outcome = run_only(parse_study(changed(('"60 N m s/rad", 60', "-1e9, -1e9"))))
    assert not outcome.ok
    text = " ".join(Page(report_text(outcome)).texts)
    assert "The run failed" in text
    assert "diverged" in text
    assert "The last good state" in text


def test_ten_seconds_of_noise_stay_below_two_megabytes() -> None:
    noisy = changed(
        ('type = "rate_gyro"\nname = "gyro"\nframe = "link2"',
         'type = "measured"\nname = "gyro"\nnoise = 0.1\nsensor = {type = "rate_gyro", frame = "link2"}'),
        ('t_end = "0.5 s"', "t_end = 10"),
        ('sample = "10 ms"\n', ""),
        ('"energy"]', '"gyro.rate", "u", "energy"]'),
    )  # fmt: skip
    report = report_text(run_only(parse_study(noisy)))
    assert len(report.encode()) < 2_000_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1.6e-05 J", "1.6 × 10⁻⁵ J"),
        ("4.7e+03 kg m^2/s", "4.7 × 10³ kg m²/s"),
        ("2e-10 of 1", "2 × 10⁻¹⁰ of 1"),
        ("cat215b, 036a5b97e12", "cat215b, 036a5b97e12"),
        ("flow/(cm psi^0.5)", "flow/(cm psi^0.5)"),
    ],
)
def test_powers_stand_as_in_print(text: str, shown: str) -> None:
    assert readable(text) == shown

"""The report: one page with everything in it, and nothing in it that a user's text could run."""

import re
from html.parser import HTMLParser

import pytest

from sweep.records import Snapshot, TrialState
from sweep.views.markdown_report import md_report
from sweep.views.markup import Markup, element
from sweep.views.report import html_report
from tests.snapshots import START, SnapshotBuilder, lr_batch_study, make_spec, seconds

NOW = START + seconds(1000)
EVIL = '<script>alert("1")</script><img src=x onerror=alert(1)>'


class Page(HTMLParser):
    """The tags of a page with their attributes, its visible text, and its scripts apart."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.text += data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


def evil_study() -> Snapshot:
    spec = make_spec(
        {"optimizer": [EVIL, "名" * 200], "lr": [0.1]}, name=EVIL, metric=EVIL, description=EVIL
    )
    builder = SnapshotBuilder(spec).complete(0.5, 0.6, optimizer=EVIL, lr=0.1)
    builder.pruned(0.4, optimizer="名" * 200, lr=0.1)
    return builder.failed(optimizer=EVIL, lr=0.1, trial={"message": EVIL}).build()


def of(*states: TrialState) -> Snapshot:
    builder = SnapshotBuilder(make_spec({"batch_size": [64], "lr": [0.1]}))
    for state in states:
        accuracies = () if state is TrialState.WAITING else (0.5,)
        builder.add(state, accuracies, batch_size=64, lr=0.1)
    return builder.build()


def test_the_report_answers_first_and_then_explains() -> None:
    text = Page(html_report([lr_batch_study()], NOW)).text
    order = [
        *("Best test_accuracy: 92.00%, by trial 1.", "6 of 6 finished", "0.18 USD"),
        *("the same data that it is judged by", "The best trials", "the loss was not finite"),
        *("By batch_size", "Not a controlled comparison: optimizer, lr vary too"),
        *("training.epochs", "torch", "0123456789abcdef"),
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_the_report_needs_no_network_and_offers_no_upload() -> None:
    page = html_report([lr_batch_study()], NOW)
    tags = Page(page).tags
    num_figures = sum(attributes.get("class") == "plot" for _, attributes in tags)
    assert not [tag for tag, attributes in tags if "src" in attributes or tag == "link"]
    assert "default-src 'none'" in page
    assert num_figures >= 8
    assert page.count('"showSendToCloud": false') == num_figures


def test_the_library_is_inlined_once_however_many_studies_there_are() -> None:
    one, two = (html_report([lr_batch_study()] * count, NOW) for count in (1, 2))
    assert len(two) - len(one) < 200_000
    ids = [attributes["id"] for tag, attributes in Page(two).tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    assert {"lr-0", "lr-1", "studies-0"} <= set(ids)


def test_no_text_of_a_user_becomes_markup() -> None:
    page = Page(html_report([evil_study()], NOW))
    harmless = Page(html_report([lr_batch_study()], NOW))
    assert page.count("img") == 0
    assert page.count("script") - page.count("figure") == 1  # one for the library
    assert harmless.count("script") - harmless.count("figure") == 1
    assert not [a for _, a in page.tags if any(name.startswith("on") for name in a)]
    assert EVIL in page.text


@pytest.mark.parametrize(
    "snapshot",
    [of(), *(of(state) for state in TrialState), of(TrialState.FAILED, TrialState.FAILED)],
    ids=["no trial", *TrialState, "all failed"],
)
def test_every_stage_of_a_study_has_a_report(snapshot: Snapshot) -> None:
    assert "Study made_up" in html_report([snapshot], NOW)
    assert "## Study made_up" in md_report([snapshot], NOW)


def test_what_cannot_be_drawn_is_said_in_one_line() -> None:
    snapshot = SnapshotBuilder(make_spec({"width": [16]})).complete(0.5, width=16).build()
    text = Page(html_report([snapshot], NOW)).text
    assert "Importance of the params: it takes 10 complete trials; there are 1." in text
    assert "Optimizer: no param with two or more labels was searched." in text


def test_the_same_snapshot_and_moment_give_the_same_page() -> None:
    assert html_report([lr_batch_study()], NOW) == html_report([lr_batch_study()], NOW)


def test_markdown_has_the_tables_and_no_markup_of_a_user() -> None:
    text = md_report([lr_batch_study(), evil_study()], NOW)
    assert "**Best test_accuracy: 92.00%, by trial 1.**" in text
    assert re.search(r"\| 64 \| 3 \| 1 \| 1 \| 1 \| 10\.0 \|", text)
    assert "<script>" not in text


def test_elements_escape_text_and_attributes_but_not_markup() -> None:
    inner = element("b", "1 < 2")
    assert element("p", inner, "&", class_='"x"') == Markup(
        '<p class="&quot;x&quot;"><b>1 &lt; 2</b>&amp;</p>'
    )

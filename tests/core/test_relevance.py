from __future__ import annotations

import pytest

from core.relevance import Hit, Searchable, nearest, relevance, search


def found(query: str, *names: str, late: tuple[str, ...] = ()) -> list[str]:
    rows = [Searchable(name, name.casefold(), "", name in late) for name in names]
    return [name for name, _ in search(query, rows)]


@pytest.mark.parametrize(
    ("name", "hit"),
    [
        ("review", Hit.EXACT),
        ("review-bot", Hit.PREFIX),
        ("code-review", Hit.WORD),
        ("code_review", Hit.WORD),
        ("a.review.b", Hit.WORD),
        ("prereviewer", Hit.PART),
        ("linter", None),
    ],
)
def test_how_well_a_name_fits(name: str, hit: Hit | None):
    assert relevance("review", name, "") == hit


def test_a_hit_in_the_text_is_the_weakest():
    assert relevance("review", "linter", "does a review") is Hit.TEXT


def test_best_hits_come_first_whatever_the_order_of_the_rows():
    names = ("prereviewer", "code-review", "review-bot", "review", "linter")
    assert found("review", *names) == ["review", "review-bot", "code-review", "prereviewer"]


def test_among_equals_what_is_installed_comes_first_and_then_the_old_order_holds():
    names = ("a-review", "b-review", "c-review")
    assert found("review", *names, late=("a-review",)) == ["b-review", "c-review", "a-review"]


def test_case_and_blanks_around_the_query_do_not_matter():
    assert found("  ReView ", "code-review") == ["code-review"]


def test_text_in_other_scripts_is_found():
    assert found("数据", "csv", "数据清洗") == ["数据清洗"]


def test_the_nearest_name_is_named_also_when_only_one_of_its_words_is_near():
    assert nearest("revue", ["linter", "code-review", "notebook"]) == "code-review"
    assert nearest("xyzzy", ["linter", "code-review"]) == ""
    assert nearest("", ["linter"]) == ""

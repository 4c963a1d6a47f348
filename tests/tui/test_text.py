import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.text import (
    LIMIT,
    Part,
    chop,
    clean,
    cut,
    cut_middle,
    fit_parts,
    href,
    pad,
    parts_width,
    spread,
    width,
    wrap,
)

# Plain text is what strategies like best; what matters here is everything else.
HOSTILE = (
    "\x00\x07\x1b\x7f\x85\x9b\u00ad\u0300\u0301\u034f\u061c\u0903\u115f\u1160\u11a8\u180e\u200b"
    "\u200d\u200e\u202a\u202e\u2028\u2029\u2066\u2069\u20e3\u3000\u3164\ufe0f\ufeff\ufff9\ufffb"
    "\ufffe\uffff\ud800\udfff\ue000\U0001f3fd\U0001f468\U0001f1e9\U000e0041\U000e0100\U000f0000"
    "\U0010ffff\t\n\r\v\f 数据é[/]…"
)
foreign = st.text(
    st.one_of(
        st.sampled_from(HOSTILE),
        st.characters(),
        st.characters(categories=["Cs", "Co", "Cf", "Cc", "Mn", "Me", "Mc"]),
    ),
    max_size=60,
)
cells = st.integers(0, 40)
FORBIDDEN = {"Cc", "Cf", "Cs", "Co", "Me", "Zl", "Zp"}


def is_safe(text: str, allowed: str = "") -> bool:
    return not any(unicodedata.category(c) in FORBIDDEN for c in text if c not in allowed)


@given(foreign)
def test_nothing_invisible_or_commanding_is_left(text: str) -> None:
    assert is_safe(clean(text))
    assert is_safe(clean(text, exact=True))
    assert is_safe(clean(text, lines=True), allowed="\n")


@given(foreign)
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert clean(clean(text, exact=True), exact=True) == clean(text, exact=True)
    assert clean(clean(text, lines=True), lines=True) == clean(text, lines=True)


@given(foreign)
def test_no_base_carries_more_than_three_marks(text: str) -> None:
    run = 0
    for char in clean(text):
        run = 0 if cell_len(char) else run + 1
        assert run <= 3


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=80))
def test_plain_text_stays_the_same_object(text: str) -> None:
    assert clean(text) is text


@given(foreign, cells)
def test_nothing_comes_out_wider_than_asked(text: str, room: int) -> None:
    for cutter in (cut, cut_middle):
        assert width(cutter(text, room)) <= room
        assert is_safe(cutter(text, room))
    for line in wrap(text, max(1, room)):
        assert width(line) <= max(1, room)
        assert is_safe(line)


@given(foreign, cells)
def test_what_fits_is_not_cut(text: str, room: int) -> None:
    whole = clean(text)
    if width(whole) <= room and len(text) <= room * 8:
        assert cut(text, room) == whole == cut_middle(text, room)


@given(foreign, cells)
def test_cut_text_says_so(text: str, room: int) -> None:
    if room and width(clean(text)) > room:
        assert "…" in cut(text, room)
        assert "…" in cut_middle(text, room)
        assert "~" in cut(text, room, "~")


@given(foreign, st.integers(2, 40))
def test_pieces_side_by_side_are_the_text(text: str, room: int) -> None:
    whole = clean(text, exact=True)
    pieces = chop(whole, room)
    assert "".join(pieces) == whole
    assert all(width(piece) <= room for piece in pieces)


def test_the_time_that_a_word_takes_grows_no_faster_than_the_word():
    # Measured anew from each piece on, it would take minutes.
    pieces = chop("\u00e9" * 400_000, 40)
    assert (len(pieces), {len(piece) for piece in pieces}) == (10_000, {40})


@given(foreign, st.integers(0, 80))
def test_padded_text_is_exactly_as_wide_as_asked_or_longer(text: str, room: int) -> None:
    assert width(pad(text, room)) == max(room, width(clean(text)))
    assert width(pad(text, room, right=True)) == max(room, width(clean(text)))


parts_of = st.lists(st.tuples(foreign, st.sampled_from(["", "muted", "good"])), max_size=4)


@given(parts_of, parts_of, cells)
def test_a_spread_line_is_exactly_as_wide_as_asked(
    left: list[Part], right: list[Part], room: int
) -> None:
    assert parts_width(spread(left, right, room)) == room


@given(parts_of, cells)
def test_parts_that_fit_are_all_there(parts: list[Part], room: int) -> None:
    fitted = fit_parts(parts, room)
    assert parts_width(fitted) <= room
    if parts_width(parts) <= room and all(len(text) <= room * 8 for text, _ in parts):
        assert [clean(text) for text, _ in parts] == [text for text, _ in fitted]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone", "␛[2Jgone"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x9b31m", "�31m"),
        ("a\x7fb", "a␡b"),
        ("gnp\u202eexe", "gnpexe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("tag\U000e0041\U000e007f", "tag"),
        ("\ufff9shown\ufffahidden\ufffb", "shownhidden"),
        ("\ud800lone", "�lone"),
        ("\ue0b0icon", "�icon"),
        ("no\u00a0break", "no break"),
        ("heart\u2764\ufe0f", "heart❤"),
        ("👩🏽\u200d🚀", "👩🚀"),
        ("e\u0330\u0301\u0302\u0303\u0304", "e\u0330\u0301\u0302"),
        ("\u0301start", "start"),
        ("[bold]not markup[/]", "[bold]not markup[/]"),
        ("  line\n   end\t\r\n", "line end"),
    ],
)
def test_foreign_text_is_shown_so(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_blocks_keep_their_lines_and_expand_tabs() -> None:
    assert clean("a\r\n\tb\x1b\u2028c", lines=True) == "a\n    b␛\nc"


def test_what_is_agreed_to_shows_its_line_ends() -> None:
    assert clean("rm -rf x\n\ty", exact=True) == "rm -rf x␊␉y"


def test_too_long_text_ends_with_the_sign_of_a_cut() -> None:
    assert clean("x" * (LIMIT + 5)) == "x" * (LIMIT - 1) + "…"
    assert clean("é" * 20, limit=8) == "é" * 7 + "…"


def test_an_emoji_takes_two_cells_whatever_is_joined_to_it() -> None:
    assert width(clean("🧾\ufe0f")) == 2
    assert width(clean("👍🏿")) == 2


@pytest.mark.parametrize(
    ("text", "room", "shown"),
    [
        ("~/src/acme/plugins/marketplace.json:118", 26, "~/sr…/marketplace.json:118"),
        (
            "https://auth.example.com/a/very/long/way/to/token",
            34,
            "https://auth.example.com/…to/token",
        ),
        ("https://mcp.example/mcp", 40, "https://mcp.example/mcp"),
        ("数据工坊数据工坊", 9, "数据…工坊"),
    ],
)
def test_both_ends_of_a_path_stay(text: str, room: int, shown: str) -> None:
    assert cut_middle(text, room) == shown


def test_lines_break_at_blanks_and_long_words_where_the_line_ends() -> None:
    assert wrap("Two are installed: https://example.com/averylongname", 16) == [
        "Two are",
        "installed:",
        "https://example.",
        "com/averylongnam",
        "e",
    ]


def test_a_long_path_breaks_after_a_slash_that_is_near() -> None:
    assert wrap("/usr/bin/python /tmp/demo/programs/atlas-docs.py", 22) == [
        "/usr/bin/python",
        "/tmp/demo/programs/",
        "atlas-docs.py",
    ]
    assert chop("/tmp/demo/programs/atlas.py", 11) == ["/tmp/demo/", "programs/", "atlas.py"]


def test_paragraphs_stay_apart() -> None:
    assert wrap("one\n\ntwo three", 5) == ["one", "", "two", "three"]


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://a.example/\x1b]8;;evil",
        "https://a.example/\x07",
        "https://a.example/ two",
        "https://" + "a" * 3000,
    ],
)
def test_only_plain_web_addresses_become_hyperlinks(url: str) -> None:
    assert href(url) == ""
    assert href("https://a.example/x?y=1&z=%20") == "https://a.example/x?y=1&z=%20"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("rm\u200b -rf", "rm⟨U+200B⟩ -rf"),
        ("a\U000e0041b", "a⟨U+E0041⟩b"),
        ("a\tb\n", "a␉b␊"),
    ],
)
def test_what_is_agreed_to_hides_nothing(text: str, shown: str):
    assert clean(text, exact=True) == shown
    assert clean(f"{text}.", exact=True) == f"{shown}.", "seen before or not"
    assert clean(shown, exact=True) == shown

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Static

from tui.text import Tone
from tui.theme import (
    PALETTES,
    THEMES,
    choose_theme,
    content,
    contrast,
    is_plain,
    register_themes,
    style_of,
    theme_defaults,
)

# The least contrast that was measured when the colours were chosen; WCAG AA asks 4.5 of text.
LEAST = {"dusk": 5.0, "paper": 5.2, "stark": 7.0}
TEXT = ("text", "muted", "accent", "good", "care", "bad")
GROUNDS = ("ground", "surface", "panel", "cursor", "blurred")


@pytest.mark.parametrize("name", PALETTES)
@pytest.mark.parametrize("tone", TEXT)
@pytest.mark.parametrize("ground", GROUNDS)
def test_every_tone_can_be_read_on_every_ground(name: str, tone: str, ground: str) -> None:
    palette = PALETTES[name]
    assert contrast(getattr(palette, tone), getattr(palette, ground)) >= LEAST[name]


@pytest.mark.parametrize("name", PALETTES)
def test_edges_stand_out_from_the_ground(name: str) -> None:
    palette = PALETTES[name]
    assert contrast(palette.edge, palette.ground) >= 3
    assert contrast(palette.ground, palette.accent) >= LEAST[name]  # a focused button


@pytest.mark.parametrize("name", PALETTES)
def test_the_cursor_row_stands_out_from_its_neighbours(name: str) -> None:
    palette = PALETTES[name]
    assert contrast(palette.cursor, palette.ground) > contrast(palette.blurred, palette.ground)
    assert contrast(palette.blurred, palette.ground) > 1.1


def test_contrast_is_measured_as_wcag_does() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#ffffff", "#777777") == contrast("#777777", "#ffffff")


@pytest.mark.parametrize(
    ("setting", "background", "colorfgbg", "chosen"),
    [
        ("stark", (255, 255, 255), "0;15", "stark"),
        ("nonsense", (255, 255, 255), "", "paper"),
        (None, (18, 21, 27), "0;15", "dusk"),
        (None, (250, 250, 240), "15;0", "paper"),
        (None, (40, 40, 40), "", "dusk"),
        (None, None, "0;15", "paper"),
        (None, None, "0;default;7", "paper"),
        (None, None, "15;0", "dusk"),
        (None, None, "default", "dusk"),
        (None, None, "", "dusk"),
    ],
)
def test_a_theme_is_chosen_by_setting_then_terminal_then_variable(
    setting: str | None, background: tuple[int, int, int] | None, colorfgbg: str, chosen: str
) -> None:
    assert choose_theme(setting, background, colorfgbg) == chosen


class Themed(App[None]):
    """Every token that our own styles use, on one line."""

    CSS = "Static { color: $rule; background: $row-cursor; border: solid $edge; }"

    def __init__(self, theme: str) -> None:
        super().__init__()
        register_themes(self)
        self.theme = theme

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_defaults()

    def compose(self) -> ComposeResult:
        yield Static(content([("[/] is text\x1b[31m", "muted"), (" key", "key")]))


@pytest.mark.anyio
@pytest.mark.parametrize("theme", [*THEMES, "textual-light"])
async def test_the_styles_work_in_every_theme(theme: str) -> None:
    app = Themed(theme)
    async with app.run_test(size=(60, 5)):
        assert app.current_theme.name == theme
        assert is_plain(app) == (theme == "terminal")


@pytest.mark.anyio
async def test_no_color_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Themed("dusk")
    async with app.run_test(size=(60, 5)):
        assert is_plain(app)


def test_parts_become_content_without_being_parsed() -> None:
    shown = content([("[bold]x[/]", ""), ("\x1b[2J", "bad")])
    assert shown.plain == "[bold]x[/]␛[2J"
    assert [str(span.style) for span in shown.spans] == ["$error"]


@pytest.mark.parametrize("tone", ["", "aside", "link", "strong-good"])
def test_every_tone_has_a_style_of_theme_tokens_only(tone: Tone) -> None:
    for word in style_of(tone).split():
        assert word.startswith("$") or word in ("bold", "underline")

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli.login import _difference
from core.protocol.login import LoginState
from tests.core.cli.conftest import Said
from tests.core.cli.world import server_table


@pytest.mark.parametrize("verb", ["login", "logout"])
def test_what_is_no_http_server_cannot_be_signed_in_to(
    verb: str, config: Path, say: Callable[..., Said]
) -> None:
    config.write_text(server_table("local"))
    code, out, err = say(verb, "nobody")
    assert (code, out) == (1, "") and "No MCP server named 'nobody' found." in err
    code, out, err = say(verb, "local")
    assert (code, out) == (1, "") and "streamable HTTP" in err


def test_a_server_that_does_not_answer_is_told_with_what_was_tried(
    config: Path, say: Callable[..., Said]
) -> None:
    config.write_text('[mcp_servers.g]\nurl = "http://127.0.0.1:1/mcp"\n')
    code, out, err = say("login", "g", "--no-browser", "--timeout", "1")
    assert (code, out) == (1, "")
    assert "GET http://127.0.0.1:1/mcp  no answer  Connection refused" in err
    assert "Error: failed to login to MCP server 'g'" in err


def test_signing_out_without_having_signed_in_is_no_failure(
    config: Path, say: Callable[..., Said]
) -> None:
    config.write_text(
        'mcp_oauth_credentials_store = "file"\n[mcp_servers.g]\nurl = "http://127.0.0.1:1/mcp"\n'
    )
    assert say("logout", "g", "--forget") == (
        0,
        "Nothing was stored for g.\nThe registered client is forgotten.\n",
        "",
    )


def test_what_is_asked_for_beyond_the_last_time_has_a_plus() -> None:
    def shown(*scopes: str, before: tuple[str, ...] = ()) -> str:
        state = LoginState(
            login_id="1", name="g", stage="waiting", scopes=scopes, scopes_before=before
        )
        return _difference(state)

    assert shown("a", "b\x1b") == "a b\\x1b"
    assert shown("a", "b", before=("a",)) == "a +b"
    assert shown() == ""

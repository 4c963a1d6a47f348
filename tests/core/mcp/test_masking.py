from __future__ import annotations

import pytest

from core.mcp.masking import Secrets, masked_arguments, masked_url, secret_values, url_secrets


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:hunter2@h.example/mcp", "https://user:•••@h.example/mcp"),
        ("https://tokenonly@h.example/mcp", "https://•••@h.example/mcp"),
        ("https://h/mcp?apikey=abc&q=1", "https://h/mcp?apikey=•••&q=1"),
        ("https://h/mcp?access_token=abc#f", "https://h/mcp?access_token=•••#f"),
        ("https://h/mcp?apikey=${K}", "https://h/mcp?apikey=${K}"),
        ("https://h/mcp?monkey=1&keyboard=2", "https://h/mcp?monkey=1&keyboard=2"),
        ("not a url", "not a url"),
        ("http://[bad", "http://[bad"),
    ],
)
def test_passwords_and_secret_query_keys_of_urls_are_masked(url: str, shown: str) -> None:
    assert masked_url(url) == shown


def test_what_a_url_hides_is_hidden_everywhere() -> None:
    url = "https://user:hunter22@h/mcp?apikey=abcdefg&q=plain&token=${T}"
    assert url_secrets(url) == ("hunter22", "abcdefg")
    assert url_secrets("https://lonetoken@h/") == ("lonetoken",)
    assert url_secrets("http://[bad") == url_secrets("https://h/mcp") == ()


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["npx", "--api-key", "abc", "-y"], ("npx", "--api-key", "•••", "-y")),
        (["x", "--token=abc"], ("x", "--token=•••")),
        (["x", "--token", "--verbose"], ("x", "--token", "--verbose")),
        (["env", "GITHUB_TOKEN=abc", "HOME=/x"], ("env", "GITHUB_TOKEN=•••", "HOME=/x")),
        (["x", "--token", "${T}"], ("x", "--token", "${T}")),
        (["x", "-H", "Authorization: Bearer abc"], ("x", "-H", "Authorization: •••")),
        (["x", "--url=https://u:p@h/"], ("x", "--url=https://u:•••@h/")),
        (["x", "ghp_0123456789abcdefghij"], ("x", "•••")),
        (["server.py", "--port", "80"], ("server.py", "--port", "80")),
    ],
)
def test_secret_arguments_are_masked_and_others_are_not(
    arguments: list[str], shown: tuple[str, ...]
) -> None:
    assert masked_arguments(arguments) == shown


def test_known_values_are_hidden_wherever_they_stand() -> None:
    secrets = Secrets(["hunter22", "x"])
    secrets.add("hunter22-and-more")
    assert secrets.mask("a hunter22-and-more b hunter22 x") == "a ••• b ••• x"


def test_secret_members_of_a_message_are_hidden_by_name() -> None:
    text = '{"params":{"password":"pa\\"ss","name":"t","progressToken":"7"}}'
    assert Secrets().mask(text) == ('{"params":{"password":"•••","name":"t","progressToken":"7"}}')


def test_values_of_variables_are_secret_unless_they_are_paths_numbers_or_switches() -> None:
    environment = {"DIR": "/srv/data", "PORT": "8080", "DEBUG": "true", "DSN": "db-of-ours"}
    assert list(secret_values({**environment, "API_TOKEN": "/odd"})) == ["db-of-ours", "/odd"]

"""What must not be shown: secrets in command lines, URLs, headers and protocol messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit, urlunsplit

MASK = "•••"
_SECRET_WORD = re.compile(
    r"pass(?:word|wd|phrase)?$|secret|token(?!s|iz)|api[-_]?key|access[-_]?key|private[-_]?key"
    r"|credential|auth(?:orization)?$|bearer|cookie|signature|(?:^|[-_])(?:key|sig|pwd|pat|code)$",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"\b(?:sk-|gh[pousr]_|github_pat_|glpat-|xox[abposr]-|AKIA|npm_|hf_|ya29\.|eyJ)[\w.~+/=-]{12,}"
)
_AUTHORIZATION = re.compile(r"\b(bearer|basic)\s+[^\s\"',}]+", re.IGNORECASE)
_HEADER = re.compile(r"([A-Za-z][\w-]*):\s*\S.*", re.DOTALL)
_PAIR = re.compile(r"(-{0,2}[A-Za-z][\w.-]*)=(.+)", re.DOTALL)
_PLACEHOLDER = re.compile(r"\$\{\w+\}|\$\w+|<[\w -]+>|\{\w+\}")
_MEMBER = re.compile(r'"([\w.-]{1,64})"\s*:\s*"((?:[^"\\]|\\.)*)"')
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_PLAIN = re.compile(r"[-+.\d]+|true|false|[~./].*|file:.*", re.IGNORECASE | re.DOTALL)
_LEAST = 6


def is_secret_name(name: str) -> bool:
    """A variable, flag, header or query key of this name holds a secret."""
    return bool(_SECRET_WORD.search(name))


def masked_url(url: str) -> str:
    """The URL without its password and without the values of secret query keys."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    place = parts.netloc
    if "@" in place:
        user, _, host = place.rpartition("@")
        name, colon, _ = user.partition(":")
        place = f"{name}:{MASK}@{host}" if colon else f"{MASK}@{host}"
    query = "&".join(_query_item(item) for item in parts.query.split("&")) if parts.query else ""
    if place == parts.netloc and query == parts.query:
        return url
    return urlunsplit(parts._replace(netloc=place, query=query))


def url_secrets(url: str) -> tuple[str, ...]:
    """What `masked_url` hides: the password, a lone user name, values of secret query keys."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ()
    found = [parts.password or parts.username or ""]
    for item in parts.query.split("&"):
        key, _, value = item.partition("=")
        if is_secret_name(key) and not _PLACEHOLDER.fullmatch(value):
            found.append(value)
    return tuple(value for value in found if value)


def _query_item(item: str) -> str:
    key, equals, value = item.partition("=")
    hidden = equals and is_secret_name(key) and not _PLACEHOLDER.fullmatch(value)
    return f"{key}={MASK}" if hidden else item


def masked_arguments(arguments: Iterable[str]) -> tuple[str, ...]:
    """A command line with the values of secret flags, headers, variables and URLs masked."""
    shown: list[str] = []
    hide_next = False
    for argument in arguments:
        if hide_next and not argument.startswith("-") and not _PLACEHOLDER.fullmatch(argument):
            shown.append(MASK)
            hide_next = False
            continue
        hide_next = argument.startswith("-") and "=" not in argument and is_secret_name(argument)
        shown.append(_argument(argument))
    return tuple(shown)


def _argument(argument: str) -> str:
    if _URL.fullmatch(argument):
        return masked_url(argument)
    if pair := _PAIR.fullmatch(argument):
        name, value = pair[1], pair[2]
        if is_secret_name(name) and not _PLACEHOLDER.fullmatch(value):
            return f"{name}={MASK}"
        return f"{name}={_argument(value)}"
    if (header := _HEADER.fullmatch(argument)) and is_secret_name(header[1]):
        return f"{header[1]}: {MASK}"
    return _TOKEN.sub(MASK, _AUTHORIZATION.sub(rf"\1 {MASK}", argument))


class Secrets:
    """Values that are known to be secret for one server; hides them, and what looks like one."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: list[str] = []
        self.add(*values)

    def add(self, *values: str) -> None:
        """Remember more; values too short to be told from ordinary words are left out."""
        fresh = {v for v in values if len(v) >= _LEAST} - set(self._values)
        self._values = sorted([*self._values, *fresh], key=len, reverse=True)

    def mask(self, text: str) -> str:
        """`text` with all of them hidden; of JSON also string members with secret names."""
        for value in self._values:
            text = text.replace(value, MASK)
        text = _AUTHORIZATION.sub(rf"\1 {MASK}", text)
        text = _MEMBER.sub(_member, text)
        return _TOKEN.sub(MASK, text)


def _member(match: re.Match[str]) -> str:
    name, value = match[1], match[2]
    if not is_secret_name(name) or not value or name == "progressToken":
        return match[0]
    return f'"{name}":"{MASK}"'


def secret_values(environment: Mapping[str, str]) -> Iterable[str]:
    """Values of variables that may be secret: all but paths, numbers and switches."""
    for name, value in environment.items():
        if is_secret_name(name) or not _PLAIN.fullmatch(value):
            yield value

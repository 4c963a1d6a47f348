"""YAML 1.1 into tokens, told apart and complained about as libyaml does it."""

from __future__ import annotations

import re

from core.plugins.yaml_scalars import BREAKS, Mark, Scalars, Token, YamlFault

_FLOW = "[]{},"
_KEY_SPAN = 1024
_WORD = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)
_HANDLE = re.compile(r"[A-Za-z0-9_-]*!", re.ASCII)
_URI = re.compile(r"[A-Za-z0-9_;/?:@&=+$.!~*'()%-]+", re.ASCII)
_VERBATIM = re.compile(r"[A-Za-z0-9_;/?:@&=+$,.!~*'()\[\]%-]+", re.ASCII)


class _Key:
    """A place where a simple key may have begun."""

    __slots__ = ("mark", "number", "required")

    def __init__(self, number: int, mark: Mark, required: bool) -> None:
        self.number = number
        self.mark = mark
        self.required = required


class Tokens(Scalars):
    """Scans one text, no further than it is asked to."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._indents: list[int] = []
        self._keys: list[_Key | None] = [None]
        self._tokens: list[Token] = []

    def at(self, index: int) -> Token:
        """Token number `index`; a later one may still turn out to make it a key.

        Raises:
            YamlFault: In libyaml's words.
        """
        while self._wants_more(index):
            self._fetch()
        return self._tokens[index]

    def _wants_more(self, index: int) -> bool:
        if index >= len(self._tokens):
            return True
        self._stale()
        if self._tokens[-1].kind == "end":
            return False
        return any(key is not None and key.number == index for key in self._keys)

    # -- keys and indentation ------------------------------------------------------------------

    def _stale(self) -> None:
        for level, key in enumerate(self._keys):
            if key and (key.mark.line < self._line or key.mark.offset + _KEY_SPAN < self._pos):
                if key.required:
                    raise self._no_colon(key)
                self._keys[level] = None

    def _no_colon(self, key: _Key) -> YamlFault:
        return self._fail("could not find expected ':'", "while scanning a simple key", key.mark)

    def _save_key(self) -> None:
        required = not self._flow and self._indent == self._column
        if self._key_allowed:
            self._drop_key()
            self._keys[-1] = _Key(len(self._tokens), self._mark(), required)

    def _drop_key(self) -> None:
        key = self._keys[-1]
        if key and key.required:
            raise self._no_colon(key)
        self._keys[-1] = None

    def _roll(self, column: int, kind: str, mark: Mark, at: int | None = None) -> None:
        if self._flow or self._indent >= column:
            return
        self._indents.append(self._indent)
        self._indent = column
        self._tokens.insert(len(self._tokens) if at is None else at, Token(kind, mark))

    def _unroll(self, column: int) -> None:
        while not self._flow and self._indent > column:
            self._tokens.append(Token("block-end", self._mark()))
            self._indent = self._indents.pop()

    # -- one token -----------------------------------------------------------------------------

    def _fetch(self) -> None:
        self._skip_blanks()
        self._stale()
        self._unroll(self._column)
        char = self._at()
        if not char:
            self._finish()
        elif self._column == 0 and char == "%":
            self._directive()
        elif self._column == 0 and self._text.startswith(("---", "..."), self._pos):
            self._document(char)
        elif char in _FLOW:
            self._flow_token(char)
        elif char in "-?:" and self._block_token(char):
            pass
        elif char in "*&":
            self._anchor(char)
        elif char == "!":
            self._tag()
        elif char in "|>" and not self._flow:
            self._drop_key()
            self._key_allowed = True
            self._tokens.append(self._block_scalar(char))
        elif char in "'\"":
            self._save_key()
            self._key_allowed = False
            self._tokens.append(self._quoted(char))
        elif char in "\t#|>%@`" or (char in "-?:" and self._flow and char != "-"):
            raise YamlFault(
                "found character that cannot start any token",
                self._mark(),
                "while scanning for the next token",
                self._mark(),
            )
        else:
            self._save_key()
            self._key_allowed = False
            self._tokens.append(self._plain())

    def _skip_blanks(self) -> None:
        while True:
            if self._pos == 0 and self._at() == "\ufeff":
                self._pos = self._start = 1
            while self._at() == " " or (
                self._at() == "\t" and (self._flow or not self._key_allowed)
            ):
                self._pos += 1
            if self._at() == "#":
                while self._at() and self._at() not in BREAKS:
                    self._pos += 1
            if not self._at() or self._at() not in BREAKS:
                return
            self._break()
            if not self._flow:
                self._key_allowed = True

    def _finish(self) -> None:
        if self._column:
            self._line += 1
            self._start = self._pos
        self._unroll(-1)
        self._drop_key()
        self._tokens.append(Token("end", self._mark()))

    def _directive(self) -> None:
        self._unroll(-1)
        self._drop_key()
        self._key_allowed = False
        mark = self._mark()
        self._pos += 1
        match = _WORD.match(self._text, self._pos)
        name = match.group() if match else ""
        self._pos += len(name)
        context = "while scanning a directive"
        if not name:
            raise self._fail("could not find expected directive name", context, mark)
        if not self._blank_at(0):
            raise self._fail("found unexpected non-alphabetical character", context, mark)
        if name not in ("YAML", "TAG"):
            raise self._fail("found unknown directive name", context, mark)
        while self._at() and self._at() not in BREAKS:
            self._pos += 1
        self._tokens.append(Token("%", mark))

    def _document(self, char: str) -> None:
        if not self._blank_at(3):
            self._save_key()
            self._key_allowed = False
            self._tokens.append(self._plain())
            return
        self._unroll(-1)
        self._drop_key()
        self._key_allowed = False
        self._tokens.append(Token(char * 3, self._mark()))
        self._pos += 3

    def _flow_token(self, char: str) -> None:
        if char in "[{":
            self._save_key()
            self._flow += 1
            self._keys.append(None)
            self._key_allowed = True
        elif char in "]}":
            self._drop_key()
            if self._flow:
                self._flow -= 1
                self._keys.pop()
            self._key_allowed = False
        else:
            self._drop_key()
            self._key_allowed = True
        self._tokens.append(Token(char, self._mark()))
        self._pos += 1

    def _block_token(self, char: str) -> bool:
        if not self._blank_at(1) and not (self._flow and char in "?:"):
            return False
        if char == "-":
            return self._entry()
        return self._key() if char == "?" else self._value()

    def _entry(self) -> bool:
        mark = self._mark()
        if not self._flow:
            if not self._key_allowed:
                problem = "block sequence entries are not allowed in this context"
                raise YamlFault(problem, mark)
            self._roll(self._column, "block-list", mark)
        self._drop_key()
        self._key_allowed = True
        self._tokens.append(Token("-", mark))
        self._pos += 1
        return True

    def _key(self) -> bool:
        mark = self._mark()
        if not self._flow:
            if not self._key_allowed:
                raise YamlFault("mapping keys are not allowed in this context", mark)
            self._roll(self._column, "block-map", mark)
        self._drop_key()
        self._key_allowed = not self._flow
        self._tokens.append(Token("?", mark))
        self._pos += 1
        return True

    def _value(self) -> bool:
        mark = self._mark()
        key = self._keys[-1]
        if key is not None:
            self._tokens.insert(key.number, Token("?", key.mark))
            self._roll(key.mark.column, "block-map", key.mark, key.number)
            self._keys[-1] = None
            self._key_allowed = False
        else:
            if not self._flow:
                if not self._key_allowed:
                    raise YamlFault("mapping values are not allowed in this context", mark)
                self._roll(self._column, "block-map", mark)
            self._key_allowed = not self._flow
        self._tokens.append(Token(":", mark))
        self._pos += 1
        return True

    def _anchor(self, char: str) -> None:
        self._save_key()
        self._key_allowed = False
        mark = self._mark()
        self._pos += 1
        match = _WORD.match(self._text, self._pos)
        name = match.group() if match else ""
        self._pos += len(name)
        if not name or not (self._blank_at(0) or self._at() in "?:,]}%@`"):
            what = "an alias" if char == "*" else "an anchor"
            problem = "did not find expected alphabetic or numeric character"
            raise self._fail(problem, f"while scanning {what}", mark)
        self._tokens.append(Token(char, mark, name))

    def _tag(self) -> None:
        self._save_key()
        self._key_allowed = False
        mark = self._mark()
        self._pos += 1
        start = self._pos
        context = "while scanning a tag"
        if self._at() == "<":
            self._pos += 1
            self._uri(_VERBATIM, mark)
            if self._at() != ">":
                raise self._fail("did not find the expected '>'", context, mark)
            self._pos += 1
        elif (match := _HANDLE.match(self._text, self._pos)) is not None:
            self._pos = match.end()
            self._uri(_URI, mark)
        else:
            self._uri(_URI, mark, needed=False)
        if not self._blank_at(0) and not (self._flow and self._at() == ","):
            problem = "did not find expected whitespace or line break"
            raise self._fail(problem, context, mark)
        self._tokens.append(Token("!", mark, self._text[start : self._pos]))

    def _uri(self, pattern: re.Pattern[str], mark: Mark, *, needed: bool = True) -> None:
        match = pattern.match(self._text, self._pos)
        if match is not None and match.end() > self._pos:
            self._pos = match.end()
        elif needed:
            raise self._fail("did not find expected tag URI", "while parsing a tag", mark)

"""YAML into nodes: for front matter and `openai.yaml`. Tags are ignored, aliases followed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from core.plugins.yaml_scalars import Mark, Token, YamlFault
from core.plugins.yaml_scan import Tokens

NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_DEPTH = 128


@dataclass(frozen=True)
class Scalar:
    """A word or text. `plain` ones may be null."""

    text: str
    mark: Mark
    plain: bool = False

    @property
    def is_null(self) -> bool:
        """Whether it stands for nothing."""
        return self.plain and self.text in NULLS


@dataclass(frozen=True)
class Sequence:
    """A list."""

    mark: Mark
    items: list[Node] = field(default_factory=list["Node"])


@dataclass(frozen=True)
class Mapping:
    """Pairs in order; keys may repeat."""

    mark: Mark
    pairs: list[tuple[Node, Node]] = field(default_factory=list["tuple[Node, Node]"])

    def get(self, key: str) -> Node | None:
        """The last value under a key."""
        found: Node | None = None
        for name, value in self.pairs:
            if isinstance(name, Scalar) and name.text == key:
                found = value
        return found

    def repeats(self, *keys: str) -> str:
        """The first of `keys` that stands there twice, or ""."""
        seen: set[str] = set()
        for name, _ in self.pairs:
            if isinstance(name, Scalar) and name.text in keys:
                if name.text in seen:
                    return name.text
                seen.add(name.text)
        return ""


Node = Scalar | Sequence | Mapping
Filled = TypeVar("Filled", Sequence, Mapping)

BROKEN = Scalar("", Mark(0, 0, 0))
"""Stands, in what was read before a fault, for a value that never came."""
SECOND_DOCUMENT = "deserializing from YAML containing more than one document is not supported"


def parse_yaml(text: str) -> Node | None:
    """The first document, or None when there is none.

    Raises:
        YamlFault: In libyaml's words; `partial` is what was read up to there.
    """
    return _Parser(Tokens(text)).document()


def joined(node: Sequence | Mapping, partial: object) -> Node:
    """A list or object up to a fault, with the part of the child in which it has come."""
    inner = partial if isinstance(partial, Scalar | Sequence | Mapping) else None
    if isinstance(node, Sequence):
        if inner is not None:
            node.items.append(inner)
    elif node.pairs and node.pairs[-1][1] is BROKEN:
        node.pairs[-1] = (node.pairs[-1][0], inner or BROKEN)
    elif inner is not None:
        node.pairs.append((inner, BROKEN))
    return node


class _Parser:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._next = 0
        self._anchors: dict[str, Node] = {}
        self._depth = 0

    def _peek(self) -> Token:
        return self._tokens.at(self._next)

    def _take(self) -> Token:
        token = self._tokens.at(self._next)
        self._next += 1
        return token

    def document(self) -> Node | None:
        explicit = False
        while self._peek().kind == "%":
            self._take()
            explicit = True
        token = self._peek()
        if token.kind == "---":
            self._take()
            if self._peek().kind in ("end", "...", "---", "%"):
                return None
        elif explicit:
            raise YamlFault("did not find expected <document start>", token.mark)
        elif token.kind == "end":
            return None
        node = self._node(block=True)
        try:
            self._last(node)
        except YamlFault as fault:
            fault.partial = node
            raise
        return node

    def _last(self, node: Node) -> None:
        """Nothing may come after the first document."""
        if self._peek().kind == "...":
            self._take()
        try:
            while self._peek().kind == "...":
                self._take()
            if self._peek().kind == "end":
                return
        except YamlFault:
            pass
        raise YamlFault(SECOND_DOCUMENT, Mark(0, 0, 0))

    def _node(self, *, block: bool, indentless: bool = False) -> Node:
        token = self._peek()
        start = token.mark
        if token.kind == "*":
            self._take()
            if token.text not in self._anchors:
                raise YamlFault("unknown anchor", token.mark)
            return self._anchors[token.text]
        anchor = ""
        said = ""
        while token.kind in ("&", "!") and token.kind not in said:
            anchor = token.text if token.kind == "&" else anchor
            said += token.kind
            self._take()
            token = self._peek()
        self._depth += 1
        if self._depth > _DEPTH:
            raise YamlFault("recursion limit exceeded", token.mark)
        node = self._content(token, start, block, indentless, bool(said))
        self._depth -= 1
        if anchor:
            self._anchors[anchor] = node
        return node

    def _content(
        self, token: Token, start: Mark, block: bool, indentless: bool, tagged: bool
    ) -> Node:
        if indentless and token.kind == "-":
            return self._block_list(start, token.mark, indentless=True)
        match token.kind:
            case "scalar":
                self._take()
                return Scalar(token.text, start, token.plain)
            case "[":
                return self._filled(Sequence(start), self._fill_flow_list)
            case "{":
                return self._filled(Mapping(start), self._fill_flow_map)
            case "block-list" if block:
                self._take()
                return self._block_list(start, token.mark, indentless=False)
            case "block-map" if block:
                return self._filled(Mapping(start), self._fill_block_map)
            case _ if tagged:
                return Scalar("", start, True)
            case _:
                what = "block" if block else "flow"
                problem = "did not find expected node content"
                raise YamlFault(problem, token.mark, f"while parsing a {what} node", start)

    def _filled(self, node: Filled, fill: Callable[[Filled], None]) -> Filled:
        try:
            fill(node)
        except YamlFault as fault:
            fault.partial = joined(node, fault.partial)
            raise
        return node

    def _block_list(self, start: Mark, mark: Mark, *, indentless: bool) -> Node:
        def fill(node: Sequence) -> None:
            while self._peek().kind == "-":
                entry = self._take()
                kind = self._peek().kind
                ends = ("-", "?", ":", "block-end") if indentless else ("-", "block-end")
                empty = Scalar("", entry.mark, True)
                node.items.append(empty if kind in ends else self._node(block=True))
            if indentless:
                return
            token = self._peek()
            if token.kind != "block-end":
                problem = "did not find expected '-' indicator"
                raise YamlFault(problem, token.mark, "while parsing a block collection", mark)
            self._take()

        return self._filled(Sequence(start), fill)

    def _fill_block_map(self, node: Mapping) -> None:
        mark = self._take().mark
        while self._peek().kind == "?":
            key: Node = Scalar("", self._take().mark, True)
            if self._peek().kind not in ("?", ":", "block-end"):
                key = self._node(block=True, indentless=True)
            node.pairs.append((key, BROKEN))
            value: Node = Scalar("", self._peek().mark, True)
            if self._peek().kind == ":":
                value = Scalar("", self._take().mark, True)
                if self._peek().kind not in ("?", ":", "block-end"):
                    value = self._node(block=True, indentless=True)
            node.pairs[-1] = (key, value)
        token = self._peek()
        if token.kind != "block-end":
            problem = "did not find expected key"
            raise YamlFault(problem, token.mark, "while parsing a block mapping", mark)
        self._take()

    def _fill_flow_list(self, node: Sequence) -> None:
        mark = self._take().mark
        while self._peek().kind != "]":
            if node.items:
                self._comma("]", "sequence", mark)
                if self._peek().kind == "]":
                    break
            if self._peek().kind == "?":
                pair = Mapping(self._peek().mark)
                node.items.append(pair)
                self._flow_pair(pair, "]")
            else:
                node.items.append(self._node(block=False))
        self._take()

    def _fill_flow_map(self, node: Mapping) -> None:
        mark = self._take().mark
        while self._peek().kind != "}":
            if node.pairs:
                self._comma("}", "mapping", mark)
                if self._peek().kind == "}":
                    break
            self._flow_pair(node, "}")
        self._take()

    def _comma(self, close: str, what: str, mark: Mark) -> None:
        token = self._peek()
        if token.kind != ",":
            problem = f"did not find expected ',' or '{close}'"
            raise YamlFault(problem, token.mark, f"while parsing a flow {what}", mark)
        self._take()

    def _flow_pair(self, node: Mapping, close: str) -> None:
        empty = Scalar("", self._peek().mark, True)
        key: Node = empty
        if self._peek().kind == "?":
            self._take()
            if self._peek().kind not in (":", ",", close):
                key = self._node(block=False)
        else:
            node.pairs.append((self._node(block=False), empty))
            return
        node.pairs.append((key, BROKEN))
        value: Node = empty
        if self._peek().kind == ":":
            self._take()
            if self._peek().kind not in (",", close):
                value = self._node(block=False)
        node.pairs[-1] = (key, value)

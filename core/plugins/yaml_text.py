"""YAML into nodes: for front matter and `openai.yaml`. Tags are ignored, aliases followed."""

from __future__ import annotations

from dataclasses import dataclass, field

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


def parse_yaml(text: str) -> Node | None:
    """The first document, or None when there is none.

    Raises:
        YamlFault: In libyaml's words.
    """
    return _Parser(Tokens(text)).document()


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
        while self._peek().kind == "...":
            self._take()
        explicit = False
        while self._peek().kind == "%":
            self._take()
            explicit = True
        token = self._peek()
        if token.kind == "---":
            self._take()
        elif explicit:
            raise YamlFault("did not find expected <document start>", token.mark)
        if self._peek().kind in ("end", "...", "---", "%"):
            return None
        node = self._node(block=True)
        while self._peek().kind == "...":
            self._take()
        token = self._peek()
        if token.kind not in ("end", "---", "%"):
            raise YamlFault("did not find expected <document start>", token.mark)
        if token.kind != "end":
            raise YamlFault(
                "deserializing from YAML containing more than one document is not supported",
                Mark(0, 0, 0),
            )
        return node

    def _node(self, *, block: bool, indentless: bool = False) -> Node:
        token = self._peek()
        start = token.mark
        if token.kind == "*":
            self._take()
            if token.text not in self._anchors:
                raise YamlFault("unknown anchor", token.mark)
            return self._anchors[token.text]
        anchor = ""
        tagged = False
        while token.kind in ("&", "!"):
            anchor = token.text if token.kind == "&" else anchor
            tagged = True
            self._take()
            token = self._peek()
        self._depth += 1
        if self._depth > _DEPTH:
            raise YamlFault("recursion limit exceeded", token.mark)
        node = self._content(token, start, block, indentless, tagged)
        self._depth -= 1
        if anchor:
            self._anchors[anchor] = node
        return node

    def _content(
        self, token: Token, start: Mark, block: bool, indentless: bool, tagged: bool
    ) -> Node:
        if indentless and token.kind == "-":
            return self._block_list(token.mark, indentless=True)
        match token.kind:
            case "scalar":
                self._take()
                return Scalar(token.text, token.mark, token.plain)
            case "[":
                return self._flow_list()
            case "{":
                return self._flow_map()
            case "block-list" if block:
                self._take()
                return self._block_list(token.mark, indentless=False)
            case "block-map" if block:
                return self._block_map()
            case _ if tagged:
                return Scalar("", start, True)
            case _:
                what = "block" if block else "flow"
                problem = "did not find expected node content"
                raise YamlFault(problem, token.mark, f"while parsing a {what} node", start)

    def _block_list(self, mark: Mark, *, indentless: bool) -> Node:
        node = Sequence(mark)
        while self._peek().kind == "-":
            entry = self._take()
            if self._peek().kind in ("-", "?", ":", "block-end") and not (
                not indentless and self._peek().kind in ("?", ":")
            ):
                node.items.append(Scalar("", entry.mark, True))
            else:
                node.items.append(self._node(block=True))
        if indentless:
            return node
        token = self._peek()
        if token.kind != "block-end":
            problem = "did not find expected '-' indicator"
            raise YamlFault(problem, token.mark, "while parsing a block collection", mark)
        self._take()
        return node

    def _block_map(self) -> Node:
        mark = self._take().mark
        node = Mapping(mark)
        while self._peek().kind == "?":
            key: Node = Scalar("", self._take().mark, True)
            if self._peek().kind not in ("?", ":", "block-end"):
                key = self._node(block=True, indentless=True)
            value: Node = Scalar("", self._peek().mark, True)
            if self._peek().kind == ":":
                value = Scalar("", self._take().mark, True)
                if self._peek().kind not in ("?", ":", "block-end"):
                    value = self._node(block=True, indentless=True)
            node.pairs.append((key, value))
        token = self._peek()
        if token.kind != "block-end":
            problem = "did not find expected key"
            raise YamlFault(problem, token.mark, "while parsing a block mapping", mark)
        self._take()
        return node

    def _flow_list(self) -> Node:
        mark = self._take().mark
        node = Sequence(mark)
        while self._peek().kind != "]":
            if node.items:
                self._comma("]", "sequence", mark)
                if self._peek().kind == "]":
                    break
            if self._peek().kind == "?":
                pair = Mapping(self._peek().mark)
                pair.pairs.append(self._flow_pair("]"))
                node.items.append(pair)
            else:
                node.items.append(self._node(block=False))
        self._take()
        return node

    def _flow_map(self) -> Node:
        mark = self._take().mark
        node = Mapping(mark)
        while self._peek().kind != "}":
            if node.pairs:
                self._comma("}", "mapping", mark)
                if self._peek().kind == "}":
                    break
            node.pairs.append(self._flow_pair("}"))
        self._take()
        return node

    def _comma(self, close: str, what: str, mark: Mark) -> None:
        token = self._peek()
        if token.kind != ",":
            problem = f"did not find expected ',' or '{close}'"
            raise YamlFault(problem, token.mark, f"while parsing a flow {what}", mark)
        self._take()

    def _flow_pair(self, close: str) -> tuple[Node, Node]:
        empty = Scalar("", self._peek().mark, True)
        key: Node = empty
        if self._peek().kind == "?":
            self._take()
            if self._peek().kind not in (":", ",", close):
                key = self._node(block=False)
        elif self._peek().kind != ":":
            return self._node(block=False), empty
        value: Node = empty
        if self._peek().kind == ":":
            self._take()
            if self._peek().kind not in (",", close):
                value = self._node(block=False)
        return key, value

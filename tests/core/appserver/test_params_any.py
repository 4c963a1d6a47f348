"""Whatever a client sends as parameters, it is taken or refused in words."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from core.appserver.params import NotJson, parse_params
from core.errors import InvalidRequest
from core.method_table import METHODS

WIRE_NAMES = [
    "approvalPolicy", "arguments", "capabilities", "clientInfo", "config", "cursor", "cwd", "cwds",
    "detail", "domain", "enabled", "forceReload", "granular", "id", "kind", "limit",
    "marketplaceKinds", "marketplacePath", "name", "names", "path", "pluginName", "sandbox",
    "searchTerm", "server", "sparsePaths", "target", "threadId", "version",
]  # fmt: skip
SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(WIRE_NAMES) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(max_examples=300)
@given(st.sampled_from(sorted(METHODS)), VALUES)
def test_any_parameters_are_taken_or_refused_in_words(name: str, params: Any):
    text = json.dumps(params)
    try:
        parse_params(METHODS[name], text.encode())
    except InvalidRequest as error:
        assert error.message.startswith("Invalid request: ")
    except NotJson:
        assert "NaN" in text or "Infinity" in text

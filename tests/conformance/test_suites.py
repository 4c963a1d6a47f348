from __future__ import annotations

from tests.conformance.suites import Outcome, read_mcp, read_plugins, suites
from tests.conftest import SHARED

PLUGINS = """ok    list-one
FAIL  list-two: 2 of 9 steps differ
  step 3: {"method": "x"}
    --- expected
    +++ got
  step -1:\x20
ERROR list-three: OracleError: no
3 cases, 2 failed
"""

MCP = """ok        status-one
FAIL      status-two
--- expected
+++ got
@@ -1 +1 @@
-ok
+FAIL
skip      status-three
needs root
1 ok, 1 FAIL, 1 skip
"""


def test_the_plugin_runners_words_are_understood():
    read = read_plugins(PLUGINS)
    assert {name: (one.state, sorted(one.steps)) for name, one in read.items()} == {
        "list-one": ("ok", []),
        "list-two": ("failed", [-1, 3]),
        "list-three": ("failed", []),
    }


def test_the_mcp_runners_words_are_understood():
    read = read_mcp(MCP)
    assert {name: one.state for name, one in read.items()} == {
        "status-one": "ok",
        "status-two": "failed",
        "status-three": "skipped",
    }
    assert isinstance(read["status-two"], Outcome)
    assert "+FAIL" in read["status-two"].detail


def test_without_the_shared_folder_there_are_no_cases():
    for suite in suites(SHARED / "not there").values():
        assert suite.cases() == []

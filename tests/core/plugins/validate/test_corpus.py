"""Real marketplaces, looked over: no crash, in time, and no more errors than Codex itself has."""

from __future__ import annotations

import time
from typing import Any

import pytest

from core.plugins.validate.look import validate
from tests.core.plugins.test_corpus import CORPUS, EXPECTED

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not EXPECTED, reason="the corpus of marketplaces is not here"),
]


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: expected["root"])
def test_the_findings_agree_with_what_codex_made_of_it(expected: dict[str, Any]):
    root = str(CORPUS / expected["root"])
    started = time.monotonic()
    result = validate(root, "/home/nobody")
    assert time.monotonic() - started < 30
    assert result.whole
    if expected["usedManifest"] is None:
        return
    if expected["addOk"]:
        assert result.listed == expected["listed"]
    dropped = {str(entry) for entry in expected["dropped"] or ()}
    left_out = [
        one
        for one in result.findings
        if one.place.startswith("plugins[") and one.codex.startswith(("leaves the", "takes the f"))
    ]
    assert len(left_out) == result.total - result.listed or not expected["addOk"]
    assert len(dropped) <= len(left_out) or not expected["addOk"]
    nothing = (expected["components"] or {}).get("plugins_with_nothing") or 0
    # Codex was asked before an install, which makes skills of some commands.
    assert result.useless <= nothing


def test_every_error_has_a_place_a_cause_and_what_codex_does():
    for expected in EXPECTED:
        for one in validate(str(CORPUS / expected["root"]), "/home/nobody").findings:
            assert one.message and one.path.startswith(str(CORPUS))
            assert one.codex or one.severity != "error"

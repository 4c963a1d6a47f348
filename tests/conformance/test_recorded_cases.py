"""What the real app-server did, recorded, against ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.suites import Outcome, differences, suites
from tests.conftest import SHARED

pytestmark = [pytest.mark.shared, pytest.mark.slow, pytest.mark.timeout(1000)]

SUITES = suites(SHARED)
CASES = [(suite.name, case) for suite in SUITES.values() for case in suite.cases()]


@pytest.fixture(scope="session")
def outcomes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], Outcome]:
    """Outcomes of all cases that this run was asked for; each suite's runner is started once."""
    asked: dict[str, set[str]] = {}
    for item in request.session.items:
        params = getattr(getattr(item, "callspec", None), "params", {})
        if "suite" in params and "case" in params:
            asked.setdefault(params["suite"], set()).add(params["case"])
    scratch = tmp_path_factory.mktemp("recorded")
    return {
        (suite, case): outcome
        for suite, names in asked.items()
        for case, outcome in SUITES[suite].run(sorted(names), _folder(scratch / suite)).items()
    }


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize(("suite", "case"), CASES or [("none", "none")])
def test_our_app_server_behaves_as_the_real_one_did(
    suite: str, case: str, outcomes: dict[tuple[str, str], Outcome]
):
    outcome = outcomes[suite, case]
    meant = [one for one in differences() if (one["suite"], one["case"]) == (suite, case)]
    if outcome.state == "skipped":
        pytest.skip(outcome.detail)
    if not meant:
        assert outcome.state == "ok", outcome.detail
        return
    assert outcome.state == "failed", "a difference that is listed has gone"
    if any("steps" in one for one in meant):
        assert outcome.steps == {step for one in meant for step in one["steps"]}, outcome.detail


def test_every_difference_names_a_case_in_scope_and_says_why():
    for one in differences():
        assert (one["suite"], one["case"]) in CASES
        assert len(one["reason"]) > 20

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from core.errors import ConfigWriteError, CoreError, InternalError, PeerError, Unavailable
from core.protocol.app_info import AppListResult
from core.protocol.base import Empty
from core.protocol.jackfield import IdParams
from core.scope import RequestScope
from core.service.dispatch import Encoded
from core.threads.policy import CODEX
from tests.core.appserver.wire import HELLO, Handler, OpenGate, served

pytestmark = pytest.mark.anyio

RELOAD = "config/mcpServer/reload"


def answering(result: Any) -> Handler:
    async def handle(params: Any, scope: RequestScope) -> Any:
        return result

    return handle


def failing(error: Exception) -> Handler:
    async def handle(params: Any, scope: RequestScope) -> Any:
        raise error

    return handle


async def test_the_handshake_says_who_answers_and_on_which_files():
    async with served({}) as client:
        answer = await client.initialize(experimentalApi=True)
        assert answer["id"] == "hello"
        assert list(answer) == ["id", "result"]
        result = answer["result"]
        assert result["codexHome"] == "/home/dev/.codex"
        assert result["userAgent"].startswith("test/1.2.3 (")
        assert result["userAgent"].endswith(") jackfield (test; 1)")
        assert set(result) == {"userAgent", "codexHome", "platformFamily", "platformOs"}


async def test_nothing_is_served_before_the_handshake_and_it_happens_once():
    async with served({RELOAD: answering({})}) as client:
        refused = await client.call(RELOAD)
        assert refused == {"error": {"code": -32600, "message": "Not initialized"}, "id": 1}
        assert list(refused) == ["error", "id"]
        assert "result" in await client.initialize()
        again = await client.call("initialize", HELLO)
        assert again["error"] == {"code": -32600, "message": "Already initialized"}
        assert await client.call(RELOAD) == {"id": 1, "result": {}}


async def test_a_failed_handshake_may_be_tried_again():
    async with served({}) as client:
        for params, words in (
            (None, "missing field `params`"),
            ({}, "missing field `clientInfo`"),
            ({"clientInfo": {"name": "a"}}, "missing field `version`"),
            ({"clientInfo": 1}, "invalid type: integer `1`, expected struct ClientInfo"),
            (
                {**HELLO, "capabilities": 1},
                "invalid type: integer `1`, expected struct InitializeCapabilities",
            ),
            (
                {**HELLO, "capabilities": {"experimentalApi": None}},
                "invalid type: null, expected a boolean",
            ),
            (
                {**HELLO, "capabilities": {"optOutNotificationMethods": "x"}},
                'invalid type: string "x", expected a sequence',
            ),
            (
                {**HELLO, "capabilities": {"extensions": 5}},
                "invalid type: integer `5`, expected a map",
            ),
            ([], "invalid length 0, expected struct InitializeParams with 2 elements"),
        ):
            answer = await client.call("initialize", params)
            assert answer["error"]["message"] == f"Invalid request: {words}"
        bad = {"clientInfo": {"name": "a\nb", "version": "1"}}
        answer = await client.call("initialize", bad)
        expected = "Invalid clientInfo.name: 'a\nb'. Must be a valid HTTP header value."
        assert answer["error"] == {"code": -32600, "message": expected}
        assert "result" in await client.initialize()


async def test_an_unknown_method_is_told_which_there_are():
    async with served({RELOAD: answering({}), "jackfield/status": answering({})}) as client:
        expected = (
            "Invalid request: unknown variant `nope`, "
            "expected one of `initialize`, `config/mcpServer/reload`, `jackfield/status`"
        )
        before = await client.call("nope")
        assert before["error"] == {"code": -32600, "message": expected}
        await client.initialize()
        assert (await client.call("nope", {}))["error"]["message"] == expected
        unserved = await client.call("app/list", {})
        assert unserved["error"]["message"].startswith(
            "Invalid request: unknown variant `app/list`"
        )


async def test_parameters_are_looked_at_before_anything_else():
    async with served({"jackfield/plugin/detail": answering({})}) as client:
        refused = await client.call("jackfield/plugin/detail", {})
        assert refused["error"]["message"] == "Invalid request: missing field `id`"


async def test_ids_come_back_as_they_were_sent():
    async with served({RELOAD: answering(Empty())}) as client:
        await client.initialize()
        for id in (0, -5, 2**63 - 1, "", "a\U0001f600é\0"):
            assert await client.call(RELOAD, id=id) == {"id": id, "result": {}}


@pytest.mark.parametrize(
    "line",
    [
        b"{bad",
        b"[]",
        b"5",
        b"",
        b"   ",
        b'{"id": null, "method": "config/mcpServer/reload"}',
        b'{"id": 1.5, "method": "config/mcpServer/reload"}',
        b'{"id": 1.0, "method": "config/mcpServer/reload"}',
        b'{"id": true, "method": "config/mcpServer/reload"}',
        b'{"id": 9223372036854775808, "method": "config/mcpServer/reload"}',
        b'{"id": 1, "method": 5}',
        b'{"id": 1}',
        b'{"method": "config/mcpServer/reload"}',
        b'{"method": "bogus"}',
        b'{"id": 77, "result": {}}',
        b'{"id": "x", "result": {}}',
        b'{"id": 77, "error": {"code": 1, "message": "x"}}',
        b'{"id": 1, "method": "config/mcpServer/reload"}{"id": 2, "method": "x"}',
        b'\xef\xbb\xbf{"id": 1, "method": "config/mcpServer/reload"}',
        b'{"id": "\xff", "method": "config/mcpServer/reload"}',
        b'{"id": 1, "method": "config/mcpServer/reload", "params": NaN}',
        b'{"id": 1, "method": "config/mcpServer/reload", "params": {"a": "\\ud800"}}',
        pytest.param(
            b'{"id": 1, "method": "config/mcpServer/reload", "params": ' + b"[" * 100_000,
            id="nested too deep",
        ),
        b'{"id": 1, "method": "jackfield/plugin/detail", "params": {"id": "\xff"}}',
    ],
)
async def test_a_bad_line_gets_no_answer_and_harms_nobody(line: bytes):
    handlers = {RELOAD: answering({}), "jackfield/plugin/detail": answering({})}
    async with served(handlers) as client:
        await client.initialize()
        await client.raw(line + b"\n")
        assert await client.call(RELOAD, id="next") == {"id": "next", "result": {}}


async def test_a_request_may_carry_blanks_a_carriage_return_and_a_version():
    async with served({RELOAD: answering({})}) as client:
        await client.initialize()
        await client.raw(b'  {"jsonrpc": "2.0", "id": 3, "method": "config/mcpServer/reload"} \r\n')
        assert await client.receive() == {"id": 3, "result": {}}


async def test_every_shape_of_result_is_written():
    results: dict[str, Any] = {
        "app/list": AppListResult(data=(), next_cursor=None),
        "jackfield/app/detail": {"detail": {"model": Empty(), "text": "é"}},
        "jackfield/tool/detail": Encoded(b'{"bulk":[1,2]}'),
    }
    async with served({name: answering(result) for name, result in results.items()}) as client:
        await client.initialize()
        listed = await client.call("app/list", {})
        assert listed["result"] == {"data": [], "nextCursor": None}
        detail = await client.call("jackfield/app/detail", {"id": "x"})
        assert detail["result"] == {"detail": {"model": {}, "text": "é"}}
        bulk = await client.call("jackfield/tool/detail", {"id": "x"})
        assert bulk["result"] == {"bulk": [1, 2]}


async def test_errors_are_told_with_code_message_and_data():
    errors: dict[str, Exception] = {
        "app/list": InternalError("backend said no"),
        "app/read": ConfigWriteError("not here", "configLayerReadonly"),
        "app/installed": PeerError(-7, "theirs", {"a": [1]}),
        "jackfield/status": ExceptionGroup("tasks", [ExceptionGroup("", [CoreError("inner")])]),
        "jackfield/problems": ZeroDivisionError("secret"),
        RELOAD: PeerError(5, "no data"),
    }
    async with served({name: failing(error) for name, error in errors.items()}) as client:
        await client.initialize()

        async def told(method: str, params: Any = None) -> dict[str, Any]:
            return (await client.call(method, params))["error"]

        assert await told("app/list", {}) == {"code": -32603, "message": "backend said no"}
        assert await told("app/read", {"appIds": []}) == {
            "code": -32600,
            "data": {"config_write_error_code": "configLayerReadonly"},
            "message": "not here",
        }
        assert await told("app/installed", {}) == {
            "code": -7,
            "data": {"a": [1]},
            "message": "theirs",
        }
        assert await told("jackfield/status") == {"code": -32603, "message": "inner"}
        assert await told("jackfield/problems") == {"code": -32603, "message": "internal error"}
        assert await told(RELOAD) == {"code": 5, "message": "no data"}


@pytest.mark.parametrize("capable", [False, True])
async def test_an_experimental_method_needs_the_capability(capable: bool):
    async with served({"plugin/search": answering({})}) as client:
        await client.initialize(experimentalApi=capable)
        unfit = await client.call("plugin/search", {})
        assert unfit["error"]["message"] == "Invalid request: missing field `searchTerm`"
        answer = await client.call("plugin/search", {"searchTerm": "x"})
        if capable:
            assert answer["result"] == {}
        else:
            words = "plugin/search requires experimentalApi capability"
            assert answer["error"] == {"code": -32600, "message": words}


async def test_handlers_learn_who_asks():
    seen: list[RequestScope] = []

    async def handle(params: IdParams, scope: RequestScope) -> Any:
        assert params.id == "x"
        seen.append(scope)
        return {}

    async with served({"jackfield/plugin/detail": handle}) as client:
        await client.initialize(extensions={"io.x": {"a": 1}}, unknown=[2])
        await client.call("jackfield/plugin/detail", {"id": "x"})
    caller = seen[0].caller
    assert (caller.policy, caller.name, caller.version) == (CODEX, "test", "1")
    assert caller.capabilities == {"extensions": {"io.x": {"a": 1}}, "unknown": [2]}


async def test_notifications_keep_their_place_around_the_answer():
    async def handle(params: Any, scope: RequestScope) -> Any:
        scope.notify("first", {"n": 1})
        scope.after_answer(lambda: scope.notify("third", {"n": 3}))
        scope.after_answer(lambda: scope.after_answer(lambda: scope.notify("fourth", {})))
        scope.notify("second", Empty())
        return {}

    async with served({RELOAD: handle}) as client:
        await client.initialize()
        await client.send({"id": 1, "method": RELOAD})
        got = [await client.receive() for _ in range(5)]
        assert [one.get("method", "answer") for one in got] == [
            "first",
            "second",
            "answer",
            "third",
            "fourth",
        ]
        assert got[0] == {"method": "first", "params": {"n": 1}, "emittedAtMs": 12500}
        assert list(got[0]) == ["method", "params", "emittedAtMs"]


async def test_notifications_that_a_client_does_not_want_stay_away():
    async def handle(params: Any, scope: RequestScope) -> Any:
        scope.notify("unwanted", {})
        scope.notify("wanted", {})
        return {}

    gate = OpenGate({"summary": "bad", "details": None})
    async with served({RELOAD: handle}, gate) as client:
        await client.initialize(optOutNotificationMethods=["unwanted", "configWarning"])
        assert (await client.call(RELOAD))["method"] == "wanted"
        assert (await client.receive())["id"] == 1


async def test_what_is_wrong_with_the_configuration_is_told_after_the_handshake():
    warnings = [{"summary": "a", "details": None}, {"summary": "b", "details": "c", "path": "/x"}]
    async with served({}, OpenGate(*warnings)) as client:
        await client.initialize()
        told = [await client.receive(), await client.receive()]
    assert [one["method"] for one in told] == ["configWarning"] * 2
    assert [one["params"] for one in told] == warnings


async def test_a_gate_stands_before_the_handler():
    class Shut(OpenGate):
        async def check(self, method: str, params: Any) -> None:
            raise InternalError("failed to reload config: x")

    async with served({RELOAD: failing(AssertionError())}, Shut()) as client:
        await client.initialize()
        answer = await client.call(RELOAD)
        assert answer["error"]["message"] == "failed to reload config: x"


async def test_requests_to_the_client_count_from_zero_and_are_settled_before_going_on():
    async def handle(params: IdParams, scope: RequestScope) -> Any:
        answer = await scope.ask("mcpServer/elicitation/request", {"threadId": params.id})
        scope.notify("after", {})
        return {"answer": answer}

    async with served({"jackfield/plugin/detail": handle}) as client:
        await client.initialize()
        for number, id in enumerate(("t1", "t2")):
            asked = await client.call("jackfield/plugin/detail", {"id": id}, id=0)
            assert asked == {
                "method": "mcpServer/elicitation/request",
                "id": number,
                "params": {"threadId": id},
            }
            assert list(asked) == ["method", "id", "params"]
            await client.send({"id": number, "result": {"action": "accept"}})
            resolved = await client.receive()
            assert resolved["method"] == "serverRequest/resolved"
            assert resolved["params"] == {"threadId": id, "requestId": number}
            assert (await client.receive())["method"] == "after"
            answer = await client.receive()
            assert answer == {"id": 0, "result": {"answer": {"action": "accept"}}}


@pytest.mark.parametrize(
    ("reply", "code", "message"),
    [
        ({"error": {"code": -1, "message": "no"}}, -1, "no"),
        ({"error": {}}, -32603, ""),
        ({"error": 5}, -32603, "the client's answer cannot be read"),
    ],
)
async def test_a_client_that_refuses_a_request_fails_it(
    reply: dict[str, Any], code: int, message: str
):
    async def handle(params: Any, scope: RequestScope) -> Any:
        return await scope.ask("x", {})

    async with served({RELOAD: handle}) as client:
        await client.initialize()
        asked = await client.call(RELOAD)
        await client.send({"id": asked["id"], **reply})
        assert (await client.receive())["error"] == {"code": code, "message": message}


async def test_a_question_that_is_given_up_is_settled():
    async def handle(params: Any, scope: RequestScope) -> Any:
        with anyio.move_on_after(0.01):
            await scope.ask("x", {"threadId": "t"})
        return {}

    async with served({RELOAD: handle}) as client:
        await client.initialize()
        assert (await client.call(RELOAD))["method"] == "x"
        settled = await client.receive()
        assert settled["params"] == {"threadId": "t", "requestId": 0}
        assert (await client.receive())["id"] == 1


async def test_whoever_asks_a_client_that_has_gone_is_told():
    scopes: list[RequestScope] = []
    failures: list[Exception] = []

    async def handle(params: Any, scope: RequestScope) -> Any:
        scopes.append(scope)
        return {}

    async def ask() -> None:
        try:
            await scopes[0].ask("x", {})
        except Unavailable as error:
            failures.append(error)

    async with anyio.create_task_group() as thread:
        async with served({RELOAD: handle}) as client:
            await client.initialize()
            await client.call(RELOAD)
            thread.start_soon(ask)
            assert (await client.receive())["method"] == "x"
        scopes[0].notify("too/late", {})
        await ask()
    assert [str(error) for error in failures] == ["the client has gone"] * 2


def test_messages_are_one_line_each():
    from core.protocol.jsonrpc import notification_line, refusal_line

    for line in (
        notification_line("x", json.dumps({"a": "\n\u2028"}).encode(), 1),
        refusal_line("i", -1, "a\nb", {"c": "\n"}),
    ):
        assert line.count(b"\n") == 1
        assert line.endswith(b"}\n")

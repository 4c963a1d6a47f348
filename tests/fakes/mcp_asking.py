"""An MCP server on stdio that asks the person, tells its progress and changes its resources.

    python -S tests/fakes/mcp_asking.py [--log FILE]

Tools: `ask` (a form), `visit` (a page), `agree` (a form without fields), `take_back` (asks, then
takes the question back), `steps` (progress to the end), `wait` (progress, then nothing until it is
cancelled), `kill` (dies in the call), `touch` (says that `note:1` has changed), `echo`.
Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from typing import Any

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "colour": {
            "type": "string",
            "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}],
        },
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
    },
    "required": ["name"],
}
PAGE = "https://auth.example:8443/authorize?state=0123456789"
TOOLS = ("ask", "visit", "agree", "take_back", "steps", "wait", "kill", "touch", "echo")
ABLE = {"tools": {}, "resources": {"subscribe": True}, "prompts": {}, "completions": {}}


def argv(**options: Any) -> list[str]:
    """The command line that runs this server."""
    command = [sys.executable, "-S", os.path.abspath(__file__)]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    return command


def declared(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    if name == "echo":
        schema["properties"] = {"text": {"type": "string"}, "times": {"type": "integer"}}
        schema["required"] = ["text"]
    return {"name": name, "inputSchema": schema}


class Server:
    def __init__(self, log: str | None) -> None:
        self.log = log
        self.version = 0
        self.asked = 0

    def send(self, **message: Any) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def receive(self) -> dict[str, Any]:
        line = sys.stdin.readline()
        if not line:
            os._exit(0)
        if self.log:
            with open(self.log, "a") as log:
                log.write(line)
        return json.loads(line)

    def ask(self, **params: Any) -> dict[str, Any]:
        """Ask, and wait for the answer."""
        number = self.question(**params)
        while (message := self.receive()).get("id") != number:
            pass
        return message.get("result") or message["error"]

    def question(self, **params: Any) -> str:
        self.asked += 1
        number = f"question-{self.asked}"
        self.send(id=number, method="elicitation/create", params=params)
        return number

    def run(self) -> None:
        while True:
            message = self.receive()
            if "id" in message and "method" in message:
                method = message["method"].replace("/", "_")
                do = getattr(self, f"do_{method}", None)
                if do is None:
                    self.send(id=message["id"], error={"code": -32601, "message": "no method"})
                else:
                    do(message["id"], message.get("params") or {})

    def do_initialize(self, number: Any, params: dict[str, Any]) -> None:
        info = {"name": "asking", "version": "1"}
        version = params["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": ABLE, "serverInfo": info}
        self.send(id=number, result=result)

    def do_tools_list(self, number: Any, params: dict[str, Any]) -> None:
        self.send(id=number, result={"tools": [declared(name) for name in TOOLS]})

    def do_resources_list(self, number: Any, params: dict[str, Any]) -> None:
        self.send(id=number, result={"resources": [{"uri": "note:1", "name": "a note"}]})

    def do_resources_templates_list(self, number: Any, params: dict[str, Any]) -> None:
        template = {"uriTemplate": "note:{id}{?lang}", "name": "any note"}
        self.send(id=number, result={"resourceTemplates": [template]})

    def do_resources_read(self, number: Any, params: dict[str, Any]) -> None:
        text = f"{params['uri']} as of {self.version}"
        self.send(id=number, result={"contents": [{"uri": params["uri"], "text": text}]})

    def do_resources_subscribe(self, number: Any, params: dict[str, Any]) -> None:
        self.send(id=number, result={})

    do_resources_unsubscribe = do_resources_subscribe

    def do_prompts_list(self, number: Any, params: dict[str, Any]) -> None:
        who = {"name": "who", "required": True}
        self.send(id=number, result={"prompts": [{"name": "greet", "arguments": [who]}]})

    def do_prompts_get(self, number: Any, params: dict[str, Any]) -> None:
        text = f"Hello {params['arguments']['who']}"
        message = {"role": "user", "content": {"type": "text", "text": text}}
        self.send(id=number, result={"messages": [message]})

    def do_completion_complete(self, number: Any, params: dict[str, Any]) -> None:
        names = [name for name in ("Ann", "Anton") if name.startswith(params["argument"]["value"])]
        self.send(id=number, result={"completion": {"values": names}})

    def do_ping(self, number: Any, params: dict[str, Any]) -> None:
        self.send(id=number, result={})

    def do_tools_call(self, number: Any, params: dict[str, Any]) -> None:
        said = getattr(self, f"tool_{params['name']}")(params)
        if said is not None:
            content = [{"type": "text", "text": json.dumps(said, sort_keys=True)}]
            self.send(id=number, result={"content": content})

    def tool_ask(self, params: dict[str, Any]) -> Any:
        return self.ask(message="Who are you?", requestedSchema=FORM)

    def tool_visit(self, params: dict[str, Any]) -> Any:
        return self.ask(mode="url", message="Sign in there", url=PAGE, elicitationId="e1")

    def tool_agree(self, params: dict[str, Any]) -> Any:
        return self.ask(message="Shall I?", requestedSchema={"type": "object", "properties": {}})

    def tool_take_back(self, params: dict[str, Any]) -> Any:
        number = self.question(message="Who are you?", requestedSchema=FORM)
        while not os.path.exists(f"{self.log}.back"):
            time.sleep(0.01)
        self.send(method="notifications/cancelled", params={"requestId": number})
        return "taken back"

    def tool_steps(self, params: dict[str, Any]) -> Any:
        self.tell(params, 1, 4)
        return "done"

    def tool_wait(self, params: dict[str, Any]) -> None:
        self.tell(params, 1, 4)

    def tell(self, params: dict[str, Any], done: int, total: int) -> None:
        token = params["_meta"]["progressToken"]
        told = {"progressToken": token, "progress": done, "total": total, "message": "a quarter"}
        self.send(method="notifications/progress", params=told)

    def tool_kill(self, params: dict[str, Any]) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def tool_touch(self, params: dict[str, Any]) -> Any:
        self.version += 1
        self.send(method="notifications/resources/updated", params={"uri": "note:1"})
        return self.version

    def tool_echo(self, params: dict[str, Any]) -> Any:
        return params["arguments"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--log")
    Server(parser.parse_args().log).run()


if __name__ == "__main__":
    main()

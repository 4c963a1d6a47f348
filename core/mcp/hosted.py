"""The hosted apps server, asked once: a connection of its own, one tools/list, the end."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
from anyio.abc import TaskGroup

from core.errors import InternalError
from core.mcp.faults import StartFailed
from core.mcp.incoming import ServerSide
from core.mcp.links import Links, Plumbing
from core.mcp.opening import Opened, Opening
from core.mcp.slots import HandshakeSlots
from core.mcp.spec import Endpoint, ServerSpec
from core.protocol.facts import Evidence
from core.seams import HostedServer, HostedTool
from core.threads.policy import ThreadPolicy

HOSTED_NAME = "codex_apps"
TOKEN_VARIABLE = "CODEX_CONNECTORS_TOKEN"


def hosted_spec(server: HostedServer, *, limit: float) -> ServerSpec:
    """The hosted server as a server like any other; `limit` in seconds for its start."""
    target = Endpoint(
        url=server.url,
        headers=server.headers,
        bearer=server.bearer_token,
        bearer_variable=TOKEN_VARIABLE if server.bearer_token else "",
        sign_in=False,
        hosted=True,
        strict_redirects=True,
    )
    return ServerSpec(name=HOSTED_NAME, target=target, start_timeout=limit)


class HostedLister:
    """The `HostedTools` of a core."""

    def __init__(self, plumbing: Plumbing, slots: HandshakeSlots) -> None:
        self._plumbing, self._slots = plumbing, slots

    async def list_hosted_tools(
        self, server: HostedServer, *, policy: ThreadPolicy, deadline: float
    ) -> Sequence[HostedTool]:
        """See `core.seams.HostedTools`."""
        links = Links(self._plumbing, policy)
        opening = Opening(maker=links, policy=policy, slots=self._slots, threaded=False)
        spec = hosted_spec(server, limit=deadline)
        try:
            with anyio.fail_after(deadline):
                return await opening.run(spec, ServerSide(name=HOSTED_NAME), _tools)
        except StartFailed as failed:
            said = Evidence(wire=failed.reason)
            raise InternalError(failed.reason, evidence=said) from failed
        except TimeoutError:
            raise InternalError(f"no answer within {deadline:g} s") from None


async def _tools(opened: Opened, tasks: TaskGroup) -> Sequence[HostedTool]:
    return [HostedTool(raw=item) for item in opened.tools.items.values()]

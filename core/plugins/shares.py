"""Which local plugins are shared copies of remote ones."""

from __future__ import annotations

import os
from typing import Any

from core.config.paths import Home
from core.errors import InternalError
from core.plugins.json_shape import Record, Shape, around, read_exactly
from core.plugins.json_text import Scanner
from core.plugins.json_tokens import EOF_VALUE, JsonFault
from core.plugins.layout import os_reason, read_file
from core.protocol.facts import Evidence
from core.protocol.plugins import ShareContext


class _Path:
    """An absolute path, its dots resolved."""

    def read(self, scanner: Scanner) -> str:
        if scanner.peek() != 0x22:
            scanner.wrong_type("path string")
        text = scanner.string()
        if not os.path.isabs(text):
            raise scanner.fault("AbsolutePathBuf deserialized without a base path")
        return os.path.normpath(text)


class _Paths:
    """Paths by any key."""

    def read(self, scanner: Scanner) -> dict[str, str]:
        first = scanner.peek()
        if first == -1:
            raise scanner.peek_fault(EOF_VALUE)
        if first != 0x7B:
            scanner.wrong_type("a map")

        def pairs() -> dict[str, str]:
            read: dict[str, str] = {}
            path = _Path()
            while scanner.next_key(first=not read):
                key = scanner.string()
                scanner.colon()
                read[key] = path.read(scanner)
            return read

        return around(scanner, pairs, scanner.end_object)


_PATHS: Shape = _Paths()
_FILE = Record("LocalPluginSharePathMapping", {"localPluginPathsByRemotePluginId": _PATHS})
_PREFIX = "failed to load plugin share local path mapping: "


def shared_paths(home: Home) -> dict[str, ShareContext]:
    """Share contexts by local path.

    Raises:
        InternalError: The file cannot be used, in the words of Codex 0.171.0.
    """
    path = str(home.share_paths_file)
    evidence = Evidence(file=path)
    try:
        data = read_file(path)
        data.decode()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InternalError(_PREFIX + os_reason(error), evidence=evidence) from None
    except UnicodeDecodeError:
        reason = "stream did not contain valid UTF-8"
        raise InternalError(_PREFIX + reason, evidence=evidence) from None
    try:
        value: Any = read_exactly(data, _FILE)
    except JsonFault as fault:
        reason = f"failed to parse plugin share local path mapping {path}: {fault}"
        raise InternalError(_PREFIX + reason, evidence=evidence) from None
    mapping: dict[str, str] = value.get("localPluginPathsByRemotePluginId", {})
    return {mapping[key]: ShareContext(remote_plugin_id=key) for key in sorted(mapping)}

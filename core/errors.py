"""Errors that may leave the core: each has the JSON-RPC code and text that the wire needs."""

from __future__ import annotations

from typing import Any, cast

from core.protocol.facts import Evidence

INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL = -32603


class CoreError(Exception):
    """A failure with a place, told to whoever asked. Never carries secrets.

    Attributes:
        code: JSON-RPC error code, as the real app-server answers it.
        message: One sentence without a final stop; the exact wire text where there is one.
        words: For people, at most about 60 cells; the message where nothing shorter was given.
        data: The `data` member of the wire error, or None.
        evidence: Where the cause lies, when a place is known.
        hint: What to do next, for people; never on the wire.
    """

    code = INTERNAL

    def __init__(
        self,
        message: str,
        *,
        code: int | None = None,
        data: Any = None,
        evidence: Evidence | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code
        self.message = self.words = message
        self.data = data
        self.evidence = evidence
        self.hint = hint


class InvalidRequest(CoreError):
    """The request cannot be served as asked: bad parameter, unknown thing, refused by a rule."""

    code = INVALID_REQUEST


class InvalidParams(CoreError):
    """The few refusals that the real app-server answers with −32602."""

    code = INVALID_PARAMS


class InternalError(CoreError):
    """Something failed while working: configuration, start, call, backend, file system."""

    code = INTERNAL


class ConfigWriteError(InvalidRequest):
    """A configuration write that was refused; nothing was written.

    `data` is `{"config_write_error_code": reason}` with one of `configValidationError`,
    `configVersionConflict`, `configLayerReadonly`, `configPathNotFound`.
    """

    def __init__(self, message: str, reason: str, *, evidence: Evidence | None = None) -> None:
        super().__init__(message, data={"config_write_error_code": reason}, evidence=evidence)
        self.reason = reason


class PeerError(CoreError):
    """An MCP server's own JSON-RPC error, passed on unchanged: code, message and data."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message, code=code, data=data)


class Unavailable(CoreError):
    """The other side lacks this method or cannot offer it now; `message` says why."""

    code = INVALID_REQUEST


class SignInNeeded(InternalError):
    """What is stored for a server is of no use any more; only a new sign-in helps."""


def core_error_in(error: BaseException) -> CoreError | None:
    """The first of our errors in what was raised, out of groups of tasks too; None without one."""
    if isinstance(error, CoreError):
        return error
    if isinstance(error, BaseExceptionGroup):
        inner = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return next((found for one in inner if (found := core_error_in(one)) is not None), None)
    return None

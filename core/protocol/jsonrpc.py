"""The envelope: one JSON object per line, as `codex app-server` 0.171.0 frames it.

There is no `jsonrpc` member on either side, though one in what a client sends is ignored. A line
that is no message is answered by nothing at all, so `parse_line` just says None.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

RequestId = int | str
"""Echoed as sent; integers are 64 bits wide."""

_Integer = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class _Envelope(msgspec.Struct):
    id: _Integer | str | msgspec.UnsetType = msgspec.UNSET
    method: str | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class Request(msgspec.Struct, frozen=True):
    """Somebody asks. `params`: JSON text, b"" when the member is missing."""

    id: RequestId
    method: str
    params: bytes


class Notification(msgspec.Struct, frozen=True):
    """Somebody tells. `params` as in `Request`."""

    method: str
    params: bytes


class Answer(msgspec.Struct, frozen=True):
    """What came back for a request of ours: `result` is JSON text."""

    id: RequestId
    result: bytes


class Refusal(msgspec.Struct, frozen=True):
    """A request of ours was refused: `error` is JSON text."""

    id: RequestId
    error: bytes


Message = Request | Notification | Answer | Refusal

_DECODER = msgspec.json.Decoder(_Envelope)


def parse_line(line: bytes) -> Message | None:
    """The message of a line, its payload still as JSON text; None when it is none.

    Whatever is wrong with a line (no JSON, no object, a fractional or null id, nested too deep)
    has the same outcome.
    """
    try:
        envelope = _DECODER.decode(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None
    if envelope.method is not msgspec.UNSET:
        params = b"" if envelope.params is msgspec.UNSET else bytes(envelope.params)
        if envelope.id is msgspec.UNSET:
            return Notification(envelope.method, params)
        return Request(envelope.id, envelope.method, params)
    if envelope.id is msgspec.UNSET:
        return None
    if envelope.result is not msgspec.UNSET:
        return Answer(envelope.id, bytes(envelope.result))
    if envelope.error is not msgspec.UNSET:
        return Refusal(envelope.id, bytes(envelope.error))
    return None


class _AnswerOut(msgspec.Struct):
    id: RequestId
    result: msgspec.Raw


class _ErrorOut(msgspec.Struct, omit_defaults=True):
    code: int
    data: msgspec.Raw | msgspec.UnsetType
    message: str


class _RefusalOut(msgspec.Struct):
    error: _ErrorOut
    id: RequestId


class _NotificationOut(msgspec.Struct, rename="camel"):
    method: str
    params: msgspec.Raw
    emitted_at_ms: int


class _RequestOut(msgspec.Struct):
    method: str
    id: int
    params: msgspec.Raw


def _plain(value: Any) -> Any:
    """Pydantic models inside JSON values, told by what they can do: this module loads none."""
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise TypeError(f"cannot be written as JSON: {type(value).__name__}")
    return dump(mode="json", by_alias=True)


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)


def encode_value(value: Any) -> bytes:
    """JSON text, without line breaks, of a pydantic model, a msgspec Struct or a JSON value."""
    dump_json = getattr(value, "model_dump_json", None)
    if dump_json is not None:
        text: str = dump_json(by_alias=True)
        return text.encode()
    return _ENCODER.encode(value)


def answer_line(id: RequestId, result: bytes) -> bytes:
    """The line that answers a request; `result` is JSON text."""
    return _ENCODER.encode(_AnswerOut(id, msgspec.Raw(result))) + b"\n"


def refusal_line(id: RequestId, code: int, message: str, data: Any = None) -> bytes:
    """The line that refuses a request; `data` is left out when None."""
    raw = msgspec.UNSET if data is None else msgspec.Raw(encode_value(data))
    return _ENCODER.encode(_RefusalOut(_ErrorOut(code, raw, message), id)) + b"\n"


def notification_line(method: str, params: bytes, emitted_at_ms: int) -> bytes:
    """The line that tells a client something; milliseconds since the epoch."""
    return _ENCODER.encode(_NotificationOut(method, msgspec.Raw(params), emitted_at_ms)) + b"\n"


def request_line(id: int, method: str, params: bytes) -> bytes:
    """The line that asks a client something."""
    return _ENCODER.encode(_RequestOut(method, id, msgspec.Raw(params))) + b"\n"

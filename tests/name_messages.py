"""Messages of name servers, read and written in Python: a second opinion on the Rust code.

The format is documented in `rust-core/src/icn/message.rs`. Nothing here is shared with that code
but the format and the names of errors.
"""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass

FIXED = struct.Struct(">BBBBI20sB")
HOLDER = struct.Struct(">QI")
TAIL = struct.Struct(">HI")
MAX_LENGTH = 1232
TYPES = (
    "REGISTER",
    "REGISTERED",
    "DEREGISTER",
    "RESOLVE",
    "ANSWER",
    "ERROR",
    "SUBSCRIBE",
    "ANNOUNCE",
)
ERRORS = ("unknown name", "malformed", "refused")
TRUNCATED = 1


class MessageError(ValueError):
    """Bytes are no message; the text is the error's name."""


@dataclass(frozen=True)
class Message:
    """A message; locators are (address, cost, lifetime in ms), a holder is (number, moves)."""

    type: str
    transaction: int
    eid: bytes
    locators: tuple[tuple[str, int, int], ...] = ()
    truncated: bool = False
    error_code: str | None = None
    holder: tuple[int, int] | None = None


def parse(data: bytes) -> Message:
    """The message that `data` is. Raises `MessageError`."""
    if len(data) > MAX_LENGTH:
        raise MessageError("message too long")
    if len(data) < FIXED.size:
        raise MessageError("truncated message")
    version, kind, flags, code, transaction, eid, count = FIXED.unpack_from(data)
    if version != 1:
        raise MessageError("unknown version")
    if not 1 <= kind <= len(TYPES):
        raise MessageError("unknown message type")
    name = TYPES[kind - 1]
    if flags != 0 and (name, flags) != ("ANSWER", TRUNCATED):
        raise MessageError("unknown flag")
    if (name == "ERROR" and not 1 <= code <= len(ERRORS)) or (name != "ERROR" and code):
        raise MessageError("bad error code")
    if (count > 0) == (name in ("RESOLVE", "ERROR")):
        raise MessageError("bad number of locators")
    if name == "SUBSCRIBE" and count != 1:
        raise MessageError("bad number of locators")
    at, locators, holder = FIXED.size, [], None
    if name == "REGISTER":
        if at + HOLDER.size > len(data):
            raise MessageError("truncated message")
        holder = HOLDER.unpack_from(data, at)
        at += HOLDER.size
    for _ in range(count):
        if at >= len(data):
            raise MessageError("truncated message")
        length = {4: 4, 6: 16}.get(data[at])
        if length is None:
            raise MessageError("unknown address family")
        end = at + 1 + length + TAIL.size
        if end > len(data):
            raise MessageError("truncated message")
        address = ipaddress.ip_address(data[at + 1 : at + 1 + length])
        cost, lifetime = TAIL.unpack_from(data, at + 1 + length)
        locators.append((str(address), cost, lifetime))
        at = end
    if at < len(data):
        raise MessageError("message too long")
    if (name == "SUBSCRIBE" and any(eid)) or (name == "ANNOUNCE" and transaction):
        raise MessageError("bad EID or transaction")
    if name == "SUBSCRIBE" and locators[0][1]:
        raise MessageError("bad locator")
    if name == "DEREGISTER" and any(cost or lifetime for _, cost, lifetime in locators):
        raise MessageError("bad locator")
    error = ERRORS[code - 1] if name == "ERROR" else None
    return Message(name, transaction, eid, tuple(locators), bool(flags), error, holder)


def emit(message: Message) -> bytes:
    """The bytes of `message`, whose locators fit."""
    code = 0 if message.error_code is None else 1 + ERRORS.index(message.error_code)
    out = FIXED.pack(
        1,
        1 + TYPES.index(message.type),
        TRUNCATED if message.truncated else 0,
        code,
        message.transaction,
        message.eid,
        len(message.locators),
    )
    if message.holder is not None:
        out += HOLDER.pack(*message.holder)
    for address, cost, lifetime in message.locators:
        packed = ipaddress.ip_address(address).packed
        out += bytes([4 if len(packed) == 4 else 6]) + packed + TAIL.pack(cost, lifetime)
    return out

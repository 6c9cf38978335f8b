"""The ICN header, read and written in Python: a second opinion on the Rust code.

The format is documented in `rust-core/src/wire/mod.rs`. Nothing here is shared with that code but
the format and the names of errors.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

IP_PROTOCOL = 0x99
NEXT_HEADER_TRANSPORT = 1
REQ, DATA = 1, 2
FLAG_MARK, FLAG_PROBE, FLAG_TIMESTAMP = 1, 2, 4
PAD1, PADN, LOST, TIMESTAMP, NDC_SIZE, MSS, REFUSAL = range(7)
#: Why a router could not bind a REQ: name unknown, name server unreachable, no replica.
REFUSALS = (1, 2, 3)
#: Lengths of the padded ICN header by message type, in bytes.
LEAST_LENGTH = {REQ: 86, DATA: 88}

ID_HEADER = struct.Struct(">B20s20s")
TRANSPORT_HEADER = struct.Struct(">BBHHQQI")
SEGMENT = struct.Struct(">QI")
CHECKSUM_AT = ID_HEADER.size + 4
FLAGS_AT = ID_HEADER.size + 1


class WireError(ValueError):
    """Bytes are no ICN header; the message is the error's name."""


@dataclass(frozen=True)
class Header:
    """An ICN header. Fields that a message type does not have keep their defaults."""

    type: int
    source: bytes
    destination: bytes
    packet_number: int
    offset: int
    length: int
    mark: bool = False
    probe: bool = False
    timestamp_request: bool = False
    mss: int | None = None
    lost: tuple[tuple[int, int], ...] = ()
    timestamp_ns: int | None = None
    ndc_size: int | None = None
    refusal: int | None = None


def parse(data: bytes) -> tuple[Header, int]:
    """The header that `data` starts with, and its length. Raises `WireError`."""
    if len(data) < ID_HEADER.size + 4:
        raise WireError("truncated header")
    next_header, source, destination = ID_HEADER.unpack_from(data)
    if next_header != NEXT_HEADER_TRANSPORT:
        raise WireError("unknown next header")
    (transport_length,) = struct.unpack_from(">H", data, ID_HEADER.size + 2)
    if transport_length < TRANSPORT_HEADER.size:
        raise WireError("bad header length")
    end = ID_HEADER.size + transport_length
    if len(data) < end:
        raise WireError("truncated header")
    kind, flags, _, _, number, offset, length = TRANSPORT_HEADER.unpack_from(data, ID_HEADER.size)
    options = _options(data[ID_HEADER.size + TRANSPORT_HEADER.size : end])
    if kind not in (REQ, DATA):
        raise WireError("unknown message type")
    common = (kind, source, destination, number, offset, length)
    probe = bool(flags & FLAG_PROBE)
    if kind == REQ:
        segments = tuple(SEGMENT.iter_unpack(options.get(LOST, b"")))
        mss = int.from_bytes(options[MSS], "big") if MSS in options else None
        wants_timestamp = bool(flags & FLAG_TIMESTAMP)
        header = Header(
            *common, probe=probe, timestamp_request=wants_timestamp, mss=mss, lost=segments
        )
    else:
        stamp = options.get(TIMESTAMP)
        size = options.get(NDC_SIZE)
        refusal = options.get(REFUSAL, b"\0")[0]
        header = Header(
            *common,
            mark=bool(flags & FLAG_MARK),
            probe=probe,
            timestamp_ns=None if stamp is None else int.from_bytes(stamp, "big", signed=True),
            ndc_size=None if size is None else int.from_bytes(size, "big"),
            refusal=refusal if refusal in REFUSALS else None,
        )
    return header, end


def _options(data: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    at = 0
    while at < len(data):
        kind = data[at]
        if kind == PAD1:
            at += 1
            continue
        if at + 1 >= len(data) or at + 2 + data[at + 1] > len(data):
            raise WireError("bad option length")
        value = data[at + 2 : at + 2 + data[at + 1]]
        at += 2 + len(value)
        if kind in (PADN,) or kind > REFUSAL:
            continue
        right = {
            LOST: len(value) > 0 and len(value) % SEGMENT.size == 0,
            TIMESTAMP: len(value) == 8,
            NDC_SIZE: len(value) == 8,
            MSS: len(value) == 2,
            REFUSAL: len(value) == 1,
        }[kind]
        if not right:
            raise WireError("bad option length")
        if kind in found:
            raise WireError("repeated option")
        found[kind] = value
    return found


def emit(header: Header, payload: bytes) -> bytes:
    """The bytes of `header` in front of `payload`, with the checksum of both."""
    options = b""
    if header.type == REQ:
        flags = header.probe * FLAG_PROBE | header.timestamp_request * FLAG_TIMESTAMP
        if header.lost:
            segments = b"".join(SEGMENT.pack(*s) for s in header.lost)
            options += bytes([LOST, len(segments)]) + segments
        if header.mss is not None:
            options += bytes([MSS, 2]) + header.mss.to_bytes(2, "big")
    else:
        flags = header.mark * FLAG_MARK | header.probe * FLAG_PROBE
        if header.timestamp_ns is not None:
            options += bytes([TIMESTAMP, 8]) + header.timestamp_ns.to_bytes(8, "big", signed=True)
        if header.ndc_size is not None:
            options += bytes([NDC_SIZE, 8]) + header.ndc_size.to_bytes(8, "big")
        if header.refusal is not None:
            options += bytes([REFUSAL, 1, header.refusal])
    fixed = ID_HEADER.size + TRANSPORT_HEADER.size
    pad = LEAST_LENGTH[header.type] - fixed - len(options)
    if pad == 1:
        options += bytes([PAD1])
    elif pad > 1:
        options += bytes([PADN, pad - 2]) + bytes(pad - 2)

    def packed(checksum: int) -> bytes:
        return (
            ID_HEADER.pack(NEXT_HEADER_TRANSPORT, header.source, header.destination)
            + TRANSPORT_HEADER.pack(
                header.type,
                flags,
                TRANSPORT_HEADER.size + len(options),
                checksum,
                header.packet_number,
                header.offset,
                header.length,
            )
            + options
        )

    return packed(checksum(packed(0), payload))


def checksum(header: bytes, payload: bytes) -> int:
    """RFC 1071 over ID header, transport header (checksum and mark as zero) and payload, each
    padded to 16 bits."""
    clean = bytearray(header)
    clean[CHECKSUM_AT : CHECKSUM_AT + 2] = b"\0\0"
    clean[FLAGS_AT] &= ~FLAG_MARK
    total = 0
    for part in (clean[: ID_HEADER.size], clean[ID_HEADER.size :], payload):
        padded = bytes(part) + b"\0" * (len(part) % 2)
        total += sum(struct.unpack(f">{len(padded) // 2}H", padded))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def stored_checksum(header: bytes) -> int:
    """The checksum field of a whole ICN header."""
    return int.from_bytes(header[CHECKSUM_AT : CHECKSUM_AT + 2], "big")


# Captures.

PCAP_MAGICS = {0xA1B2C3D4: 1e-6, 0xA1B23C4D: 1e-9}
LINKTYPE_PPP, LINKTYPE_ETHERNET, LINKTYPE_RAW = 9, 1, 101
_LINK_HEADERS = {LINKTYPE_PPP: 2, LINKTYPE_ETHERNET: 14, LINKTYPE_RAW: 0}


@dataclass(frozen=True)
class Captured:
    """An ICN packet of a capture: its time in seconds, its header as bytes and as fields."""

    time_s: float
    ip_length: int
    dscp: int
    raw: bytes
    header: Header
    payload: bytes


def read_pcap(path: Path) -> Iterator[Captured]:
    """The ICN packets of a pcap file. Raises `ValueError` if it is none or is cut off."""
    data = path.read_bytes()
    for order in "<>":
        (magic,) = struct.unpack_from(f"{order}I", data)
        if magic in PCAP_MAGICS:
            break
    else:
        raise ValueError(f"{path}: no pcap file")
    (link_type,) = struct.unpack_from(f"{order}I", data, 20)
    skip = _LINK_HEADERS[link_type & 0xFFFF]
    at = 24
    while at < len(data):
        seconds, fraction, kept, length = struct.unpack_from(f"{order}IIII", data, at)
        packet = data[at + 16 : at + 16 + kept]
        if len(packet) != kept:
            raise ValueError(f"{path}: cut off")
        at += 16 + kept
        ip = packet[skip:]
        version = ip[0] >> 4
        if version == 4:
            protocol, start, traffic_class = ip[9], 4 * (ip[0] & 15), ip[1]
            ip_length = int.from_bytes(ip[2:4], "big")
        elif version == 6:
            protocol, start, traffic_class = ip[6], 40, int.from_bytes(ip[:2], "big") >> 4 & 0xFF
            ip_length = start + int.from_bytes(ip[4:6], "big")
        else:
            continue
        if kept != length or protocol != IP_PROTOCOL:
            continue
        body = ip[start:ip_length]
        header, end = parse(body)
        time = seconds + fraction * PCAP_MAGICS[magic]
        yield Captured(time, ip_length, traffic_class >> 2, body[:end], header, body[end:])

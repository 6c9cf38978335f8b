"""The shared wire vectors against the Python reading of the format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import icn_wire

FILES = [Path(__file__).parent / "vectors" / "wire.json"]
VECTORS: dict[str, list[dict[str, Any]]] = {
    kind: [v for f in FILES for v in json.loads(f.read_text())[kind]]
    for kind in ("valid", "invalid")
}


def names(vectors: list[dict[str, Any]]) -> list[str]:
    return [v["name"] for v in vectors]


def expected(vector: dict[str, Any]) -> icn_wire.Header:
    fields = dict(vector["fields"])
    kind = {"REQ": icn_wire.REQ, "DATA": icn_wire.DATA}[fields.pop("type")]
    if "lost" in fields:
        fields["lost"] = tuple(tuple(s) for s in fields["lost"])
    return icn_wire.Header(
        kind,
        bytes.fromhex(vector["source"]),
        bytes.fromhex(vector["destination"]),
        vector["packet_number"],
        vector["offset"],
        vector["length"],
        **fields,
    )


def test_there_are_vectors():
    types = {v["fields"]["type"] for v in VECTORS["valid"]}
    assert types == {"REQ", "DATA"}
    assert VECTORS["invalid"]


@pytest.mark.parametrize("vector", VECTORS["valid"], ids=names(VECTORS["valid"]))
def test_valid_headers_are_read_and_written_alike(vector):
    raw, payload = bytes.fromhex(vector["header"]), bytes.fromhex(vector["payload"])
    header, length = icn_wire.parse(raw + payload)
    assert header == expected(vector)
    assert length == len(raw)
    assert icn_wire.checksum(raw, payload) == icn_wire.stored_checksum(raw)
    assert icn_wire.emit(header, payload) == raw


@pytest.mark.parametrize("vector", VECTORS["invalid"], ids=names(VECTORS["invalid"]))
def test_invalid_headers_are_rejected_for_the_same_reason(vector):
    with pytest.raises(icn_wire.WireError) as error:
        icn_wire.parse(bytes.fromhex(vector["header"]))
    assert str(error.value) == vector["error"]


def test_sizes_at_the_ip_layer_are_the_papers():
    least = {
        v["fields"]["type"]: len(bytes.fromhex(v["header"])) + 20
        for v in VECTORS["valid"]
        if not v["fields"].get("lost")
    }
    assert least == {"REQ": 106, "DATA": 108}


def test_the_mark_is_outside_the_checksum_and_nothing_else_is():
    vector = next(v for v in VECTORS["valid"] if v["fields"]["type"] == "DATA" and v["payload"])
    raw, payload = bytes.fromhex(vector["header"]), bytes.fromhex(vector["payload"])
    for bit in range(8 * len(raw)):
        at, mask = bit // 8, 1 << bit % 8
        if icn_wire.CHECKSUM_AT <= at < icn_wire.CHECKSUM_AT + 2:
            continue
        flipped = bytearray(raw)
        flipped[at] ^= mask
        same = icn_wire.checksum(bytes(flipped), payload) == icn_wire.stored_checksum(raw)
        assert same == (at == icn_wire.FLAGS_AT and mask == icn_wire.FLAG_MARK), bit

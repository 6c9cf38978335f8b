"""The shared vectors of name servers' messages against the Python reading of the format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import name_messages

FILE = Path(__file__).parent / "vectors" / "names.json"
VECTORS: dict[str, list[dict[str, Any]]] = json.loads(FILE.read_text())


def names(kind: str) -> list[str]:
    return [v["name"] for v in VECTORS[kind]]


def test_there_is_a_vector_of_each_type_and_error():
    assert {v["type"] for v in VECTORS["valid"]} == set(name_messages.TYPES)
    errors = {v["error_code"] for v in VECTORS["valid"]}
    assert errors == {*name_messages.ERRORS, None}
    assert len(VECTORS["invalid"]) > 10


@pytest.mark.parametrize("vector", VECTORS["valid"], ids=names("valid"))
def test_valid_messages_are_read_and_written_alike(vector):
    expected = name_messages.Message(
        vector["type"],
        vector["transaction"],
        bytes.fromhex(vector["eid"]),
        tuple(tuple(locator) for locator in vector["locators"]),
        vector["truncated"],
        vector["error_code"],
        vector["holder"] and (int(vector["holder"][0], 16), vector["holder"][1]),
    )
    raw = bytes.fromhex(vector["bytes"])
    assert name_messages.parse(raw) == expected
    assert name_messages.emit(expected) == raw


@pytest.mark.parametrize("vector", VECTORS["invalid"], ids=names("invalid"))
def test_invalid_messages_are_rejected_for_the_same_reason(vector):
    with pytest.raises(name_messages.MessageError) as error:
        name_messages.parse(bytes.fromhex(vector["bytes"]))
    assert str(error.value) == vector["error"]

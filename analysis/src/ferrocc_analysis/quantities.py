"""Quantities as the resolved configuration writes them: a number and a unit, `"30 ms"`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_NUMBER: Final = re.compile(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*([A-Za-z]+)\s*")
_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
_RATES: Final = {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12}
_BYTES: Final = {
    "B": 1.0,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
}


def seconds(text: object) -> float | None:
    """A time in seconds; None if `text` is none."""
    return _read(text, _SECONDS)


def size_bytes(text: object) -> float | None:
    """A size in bytes; None if `text` is none."""
    return _read(text, _BYTES)


def rate_bps(text: object) -> float | None:
    """A rate in bit/s; None if `text` is none."""
    return _read(text, _RATES)


def packets(text: object) -> float | None:
    """A number of packets (`"200p"`); None if `text` is none."""
    return _read(text, {"p": 1.0})


def _read(text: object, units: Mapping[str, float]) -> float | None:
    match = _NUMBER.fullmatch(text) if isinstance(text, str) else None
    if match is None or match[2] not in units:
        return None
    try:
        return float(match[1]) * units[match[2]]
    except ValueError:
        return None

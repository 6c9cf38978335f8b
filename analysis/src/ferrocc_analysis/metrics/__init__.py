"""Numbers of one run by which claims about it are judged; see `base` for how they are made."""

from . import (  # noqa: F401 (they register their metrics)
    copa_icn,
    ecd_icn,
    ecd_marks,
    replicas,
    tcp_nce,
)
from .base import (
    METRICS,
    Metric,
    NotApplicable,
    Value,
    delivered_bytes,
    eq8_mbps,
    evaluate,
    goodput_mbps,
    mean_of,
    mean_queue_packets,
    metric,
)

__all__ = [
    "METRICS",
    "Metric",
    "NotApplicable",
    "Value",
    "delivered_bytes",
    "eq8_mbps",
    "evaluate",
    "goodput_mbps",
    "mean_of",
    "mean_queue_packets",
    "metric",
]

"""What came of claims: kept one by one, shown together as a page and as JSON."""

from .entry import Entry, Row
from .judging import judge, missing
from .page import write_report

__all__ = ["Entry", "Row", "judge", "missing", "write_report"]

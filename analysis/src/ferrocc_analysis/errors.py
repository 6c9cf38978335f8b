"""What goes wrong with input, as one line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final

#: Names that an error proposes at most.
_MOST_HINTS: Final = 3


class InputError(ValueError):
    """Input that cannot be used.

    The message is one line: which file or option, what was given, what is accepted. The command
    line prints it to stderr and exits with status 2.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


def one_of(what: str, given: str, accepted: Iterable[str]) -> InputError:
    """An error for a name that is none of `accepted`; names those that contain it as a whole word
    (`fig6` is one of `C2-fig6`), or else the nearest one if any is near.
    """
    names = list(accepted)
    word = re.compile(rf"(?<![a-z0-9]){re.escape(given.strip().lower())}(?![0-9])")
    near = [n for n in names if given.strip() and word.search(n.lower())][:_MOST_HINTS]
    near = near or difflib.get_close_matches(given, names, n=1)
    hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    return InputError(f"{what}: '{given}' is unknown, accepted are {', '.join(names)}{hint}")

"""What goes wrong with input, as one line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """Input that cannot be used.

    The message is one line: which file or option, what was given, what is accepted. The command
    line prints it to stderr and exits with status 2.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


def one_of(what: str, given: str, accepted: Iterable[str]) -> InputError:
    """An error for a name that is none of `accepted`; names the nearest one if any is near."""
    names = list(accepted)
    near = difflib.get_close_matches(given, names, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return InputError(f"{what}: '{given}' is unknown, accepted are {', '.join(names)}{hint}")

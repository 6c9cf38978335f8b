"""How far the runs are, on standard error."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TextIO

#: Where standard error is no terminal, a line is written so often at most, seconds.
_LINE_EVERY_S: Final = 30.0
#: From this share on what is seen counts alone; before, also what was predicted beforehand.
_TRUSTED_SHARE: Final = 0.25


@dataclass
class Progress:
    """The share of the cost that is done, and when the rest will be. `predicted_s` is the guess
    that was made beforehand.
    """

    runs: int
    cost_s: float
    predicted_s: float
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    now: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._start = self._written = self.now()
        self._shown = ""

    def left_s(self, done_s: float) -> float:
        """Seconds that are left when `done_s` core-seconds of the predicted cost are done."""
        elapsed = self.now() - self._start
        share = done_s / self.cost_s if self.cost_s > 0 else 1.0
        if share <= 0:
            return max(self.predicted_s, 0.0)
        trust = min(share / _TRUSTED_SHARE, 1.0)
        total = trust * elapsed / share + (1 - trust) * max(self.predicted_s, elapsed)
        return max(total - elapsed, 0.0)

    def show(self, runs: int, done_s: float) -> None:
        """Shows that `runs` runs are done, which took `done_s` of the predicted cost."""
        share = done_s / self.cost_s if self.cost_s > 0 else 1.0
        text = (
            f"{runs} of {self.runs} runs, {share:.0%} of {duration(self.cost_s)} core time, "
            f"{duration(self.left_s(done_s))} left"
        )
        if self.stream.isatty():
            if text != self._shown:
                self.stream.write(f"\r{text}\033[K")
                self.stream.flush()
                self._shown = text
        elif self.now() - self._written >= _LINE_EVERY_S:
            self._written = self.now()
            print(text, file=self.stream, flush=True)

    def clear(self) -> None:
        """Takes the display away."""
        if self._shown:
            self.stream.write("\r\033[K")
            self.stream.flush()
            self._shown = ""


@contextlib.contextmanager
def status(text: str) -> Iterator[None]:
    """Shows what is going on meanwhile, if standard error is a terminal."""
    terminal = sys.stderr.isatty()
    if terminal:
        sys.stderr.write(f"\r{text}\033[K")
        sys.stderr.flush()
    try:
        yield
    finally:
        if terminal:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def duration(seconds: float) -> str:
    """A time for people: `8 s`, `3 min`, `2 h 10 min`."""
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"

"""How far an upload or an operation is: a line on standard error that is written anew, where somebody looks at it."""
from __future__ import annotations

import sys
import time
from typing import Callable, Optional, TextIO, Union

from .sizes import bytes_text

# What `progress` may be: None, a bar where standard error is a terminal or a notebook; True, a bar; False, none; a
# function of what is done and the total, which is None where nobody knows it.
Shown = Union[None, bool, Callable[[int, Optional[int]], None]]

WIDTH = 30
PERIOD_S = 0.1


class Progress:
    """begin, update as often as one likes, end. This one shows nothing."""

    def begin(self, total: Optional[int]) -> None:
        pass

    def update(self, done: int, total: Optional[int] = None, unit: Optional[str] = None) -> None:
        pass

    def end(self, words: str = "") -> None:
        pass


class Reported(Progress):
    """Calls a function of the caller."""

    def __init__(self, report: Callable[[int, Optional[int]], None]) -> None:
        self._report = report
        self._total: Optional[int] = None

    def begin(self, total: Optional[int]) -> None:
        self._total = total

    def update(self, done: int, total: Optional[int] = None, unit: Optional[str] = None) -> None:
        self._report(done, total if total is not None else self._total)


class Bar(Progress):
    """`nightly-etl [=====>      ]  42 %  1.2 MiB of 2.9 MiB`"""

    def __init__(self, title: str, unit: str = "B", out: Optional[TextIO] = None) -> None:
        self._title, self._unit, self._out = title, unit, out or sys.stderr
        self._total: Optional[int] = None
        self._width, self._next, self._shown = 0, 0.0, ""

    def begin(self, total: Optional[int]) -> None:
        self._total, self._next = total, 0.0

    def update(self, done: int, total: Optional[int] = None, unit: Optional[str] = None) -> None:
        total = total if total is not None else self._total
        now = time.monotonic()
        if now < self._next and done != total:
            return
        self._next = now + PERIOD_S
        self._write(self._line(done, total, unit or self._unit))

    def _line(self, done: int, total: Optional[int], unit: str) -> str:
        if not total:
            return "%s  %s" % (self._title, _amount(done, unit))
        share = min(1.0, done / total)
        full = int(share * WIDTH)
        bar = ("=" * full + ">" * (full < WIDTH)).ljust(WIDTH)
        done_of_total = "%s of %s" % (_amount(done, unit) if unit == "B" else done, _amount(total, unit))
        return "%s [%s] %3d %%  %s" % (self._title, bar, int(share * 100), done_of_total)

    def _write(self, line: str) -> None:
        if line != self._shown:
            self._out.write("\r" + line.ljust(self._width))
            self._out.flush()
            self._width, self._shown = len(line), line

    def end(self, words: str = "") -> None:
        if words:
            self._write("%s  %s" % (self._title, words))
        if self._shown:
            self._out.write("\n")
            self._out.flush()


def _amount(number: int, unit: str) -> str:
    if unit != "B":
        return "%d %s" % (number, unit)
    return bytes_text(number)


def _watched() -> bool:
    """Whether somebody looks at standard error: a terminal, or the output of a notebook's cell."""
    return type(sys.stderr).__module__.startswith("ipykernel") or bool(getattr(sys.stderr, "isatty", lambda: False)())


def progress_of(shown: Shown, title: str, unit: str = "B") -> Progress:
    if callable(shown):
        return Reported(shown)
    if shown or (shown is None and _watched()):
        return Bar("".join(c if c.isprintable() else "?" for c in title), unit)
    return Progress()

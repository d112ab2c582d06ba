"""Runs of an export as they arrive."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence

from .errors import InvalidReply
from .record import class_of

if TYPE_CHECKING:
    import pandas

    from . import schemas

# What a run has of its own is long here, and seldom what a table is for. A frame has it if it is asked for.
LEFT_OUT = ("spark_properties", "stages")
TOGETHER = 500  # lines that become part of a frame at once


class ExportedRuns(Iterator["schemas.RunRecord"]):
    """An iterator over runs. The request is made when the first is asked for."""

    def __init__(self, groups: Iterator[List[bytes]]) -> None:
        self._groups = groups
        self._runs: Iterator[schemas.RunRecord] = iter(())

    def __iter__(self) -> ExportedRuns:
        return self

    def __next__(self) -> schemas.RunRecord:
        while True:
            for run in self._runs:
                return run
            record = class_of("RunRecord")
            self._runs = iter([record.from_json(raw) for raw in _parsed(next(self._groups))])

    def close(self) -> None:
        """Ask for no more of them."""
        self._runs = iter(())
        close = getattr(self._groups, "close", None)
        if close is not None:
            close()

    def to_frame(self, columns: Optional[Sequence[str]] = None) -> pandas.DataFrame:
        """All runs, or those that are left, as a data frame of pandas. It grows while they arrive, so that memory holds
        the frame and a few runs.

        - columns: which, in this order; see provisor.frames.frame. By default all but `stages` and `spark_properties`,
          which may be larger than all the others together
        """
        from .frames import Frame
        made = Frame("RunRecord", columns, without=LEFT_OUT)
        try:
            made.extend([made.raw_of(run) for run in self._runs])
            lines: List[bytes] = []
            for group in self._groups:
                lines += group
                if len(lines) >= TOGETHER:
                    made.extend(_parsed(lines))
                    lines.clear()
            made.extend(_parsed(lines))
        finally:
            self.close()
        return made.finish()


def _parsed(lines: List[bytes]) -> List[Dict[str, Any]]:
    """Parsed together, runs share the names of their members, which would be most of their memory."""
    try:
        raws: List[Dict[str, Any]] = json.loads(b"[%s]" % b",".join(lines))
    except (ValueError, RecursionError):
        raws = []
    if len(raws) != len(lines) or not all(type(raw) is dict for raw in raws):
        raise InvalidReply("a line of the export is no JSON object: is the URL right?")
    return raws

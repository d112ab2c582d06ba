"""Logs of states, replayed through a call for decisions."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, List

from .errors import InvalidReply
from .record import class_of

if TYPE_CHECKING:
    import pandas

    from . import schemas


class ReplayedDecisions:
    """What was decided.

    - lines: a record for each line of the log that the reply has, with `line` and `action` or `error`
    - summary: of all lines
    """

    lines: List[Any]
    summary: schemas.DecisionSummary

    def __init__(self, kind: str, body: bytes) -> None:
        try:
            raws = [json.loads(line) for line in body.split(b"\n") if line]
            self.summary = class_of("DecisionSummary").from_json(raws[-1]["summary"])
        except (ValueError, RecursionError, LookupError, TypeError) as error:
            raise InvalidReply("the reply has no summary: is the URL right?") from error
        self._kind = kind
        self.lines = [class_of(kind).from_json(raw) for raw in raws[:-1]]

    def __repr__(self) -> str:
        found = self.summary
        return "<%d lines, %d refused; of %d recorded decisions %d differ>" % (found.lines, found.refused, found.recorded, found.different)

    def to_frame(self) -> pandas.DataFrame:
        """A row for each line of the reply."""
        from .frames import frame_of
        return frame_of(self._kind, self.lines)

    def summary_frame(self) -> pandas.DataFrame:
        """A row for each kind of decision: how often it was made, and differs from what was done."""
        from .frames import frame_of
        return frame_of("DecisionSummaryDecision", self.summary.decisions)

"""Server-sent events of an operation, resumed after a cut."""
from __future__ import annotations

import json
import time
from typing import Any, Callable, Dict, Iterator, NamedTuple, Optional

from .errors import ConnectionFailed, InvalidReply, ProvisorError
from .record import class_of
from .transport import Stream

ENDS = frozenset(("succeeded", "failed", "cancelled"))
RETRY_S_MAX = 30.0
SOUND_S = 10.0  # a stream that stood for so long was one


class Event(NamedTuple):
    id: Optional[int]
    kind: str
    data: str


class Parser:
    """Lines to events, as the standard of server-sent events has them. retry_s: what the service last asked for."""

    def __init__(self) -> None:
        self.retry_s = 2.0
        self._fields: Dict[str, Any] = {}

    def take(self, raw: bytes) -> Optional[Event]:
        """The event that this line ends, if it ends one."""
        line = raw.decode("utf-8", "replace").rstrip("\r")
        if not line:
            fields, self._fields = self._fields, {}
            return Event(fields.get("id"), fields.get("event", "message"), fields["data"]) if "data" in fields else None
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "data":
            self._fields["data"] = self._fields["data"] + "\n" + value if "data" in self._fields else value
        elif name == "event":
            self._fields["event"] = value
        elif name == "id" and value.isdigit():
            self._fields["id"] = int(value)
        elif name == "retry" and value.isdigit():
            self.retry_s = min(RETRY_S_MAX, int(value) / 1000)
        return None


def follow(open_stream: Callable[[Optional[int]], Stream], last: Optional[int], cuts_max: int,
           sleep: Callable[[float], None] = time.sleep) -> Iterator[Any]:
    """The events after number `last`, until the last one there is. A stream that is cut is opened again behind the event
    that came last; cuts_max: how often in a row without an event, where streams do not even stand for a while."""
    cuts = 0
    while True:
        parser, began = Parser(), time.monotonic()
        try:
            with open_stream(last) as stream:
                if stream.status == 204:
                    return
                for line in stream.lines():
                    event = parser.take(line)
                    if event is None:
                        continue
                    cuts, last = 0, event.id if event.id is not None else last
                    made = _record(event)
                    yield made
                    if made.status in ENDS:
                        return
            cut: ProvisorError = ConnectionFailed("the stream of events ended before the operation")
        except ConnectionFailed as error:
            cut = error
        cuts = 1 if time.monotonic() - began > SOUND_S else cuts + 1
        if cuts > cuts_max:
            raise cut
        sleep(parser.retry_s)


def _record(event: Event) -> Any:
    try:
        return class_of("OperationEvent").from_json(json.loads(event.data))
    except (ValueError, TypeError):
        raise InvalidReply("an event of an operation is no JSON object") from None

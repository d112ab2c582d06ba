"""Results in few words: one line for `repr`, and several for IPython's terminal. `to_dict()` has everything.

    <Advice nightly-etl: met, 7 executors, 1 min 55 s (1 min 36 s to 2 min 17 s)>
    <Run nightly-etl: 16 executors, 51.6 s, problem size 64, 4 cores per executor, succeeded, ...>
"""
from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Sequence

from .tables import plain_text, shown

if TYPE_CHECKING:
    from .record import Record

LINE_MAX = 100  # letters
LINES_MAX = 40
FEW = 5  # items of a list that are shown
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"

# Members that say what a record is about, and those that say most of it; the others follow in the order of the contract.
SUBJECTS = ("application", "name", "id", "code")
FIRST = ("verdict", "status", "outcome", "token", "secret", "secrets", "message", "executors", "duration_s", "predicted_duration_s")
UNITS = (("_bytes_per_s", "bytes/s"), ("_per_s", "1/s"), ("_percent", "%"), ("_bytes", "bytes"), ("_ms", "ms"), ("_s", "s"))


def quantity(name: str, value: Any) -> str:
    """`duration_s` of 51.6 as "51.6 s", `executors` of 16 as "16 executors", any other number as "problem size 64"."""
    for ending, unit in UNITS:
        if name.endswith(ending):
            plain = name[: -len(ending)]
            text = "%s %s" % (shown(value), unit)
            return text if plain in ("duration", "predicted_duration") else "%s %s" % (plain.replace("_", " "), text)
    words = name.replace("_", " ")
    if isinstance(value, int) and name.endswith("s") and " " not in words:
        return "%d %s" % (value, _one(words) if value == 1 else words)
    return "%s %s" % (words, shown(value))


def _one(words: str) -> str:
    """The singular: of "losses" as well as of "entries" and "alternatives"."""
    return words[:-3] + "y" if words.endswith("ies") else words[:-2] if words.endswith(("sses", "xes")) else re.sub("s$", "", words)


def part(name: str, value: Any) -> Optional[str]:
    """A member in words; None if it says nothing in few words."""
    if isinstance(value, bool):
        return ("" if value else "not ") + name.replace("_", " ")
    if isinstance(value, (int, float)):
        return quantity(name, value)
    if isinstance(value, str):
        return value if name in FIRST else "%s %s" % (name.replace("_", " "), value)
    if isinstance(value, list) and value:
        words = name.replace("_", " ")
        return "%d %s" % (len(value), _one(words) if len(value) == 1 else words)
    return None


def _known(record: Record) -> Iterator[Sequence[Any]]:
    """(name, JSON) of the members that came, the telling ones first. Nothing is converted."""
    from .record import _SECRETS
    raw = record.__dict__["_raw"]
    names = [name for name in FIRST if name in record._names] + [name for name in record._names if name not in FIRST]
    for name in names:
        value = raw.get(record._names[name])
        if value is not None:
            yield name, "%s <hidden>" % name if name in _SECRETS else value


def subject(record: Record) -> Optional[str]:
    """What the record is about, and under which name it has that."""
    return next((name for name in SUBJECTS if isinstance(record.__dict__["_raw"].get(name), str)), None)


def one_line(kind: str, about: Optional[str], parts: Sequence[str]) -> str:
    """`<Kind about: part, part, ...>`, of at most LINE_MAX letters."""
    head = "<" + kind + (" " + _flat(about) if about else "")
    text, used = head[: LINE_MAX - 4], 0
    for said in parts:
        more = (": " if used == 0 else ", ") + _flat(said)
        if len(text) + len(more) > LINE_MAX - 4:
            break
        text, used = text + more, used + 1
    if used == 0 and parts:
        return (text + ": " + _flat(parts[0]))[: LINE_MAX - 2] + ELLIPSIS + ">"
    return text + (", " + ELLIPSIS if used < len(parts) else ELLIPSIS if len(text) < len(head) else "") + ">"


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", plain_text(text))


def line(record: Record) -> str:
    """The record in one line."""
    name = subject(record)
    parts = [part(member, value) for member, value in _known(record) if member != name]
    about = record.__dict__["_raw"][name] if name is not None else None
    return one_line(type(record).__name__, about, [said for said in parts if said])


def lines(record: Record) -> List[str]:
    """The record in several lines, of which none is long: its members, of lists the first items."""
    from .record import Record
    found = [repr(record)]
    for name, value in record._shown():
        if value is None or isinstance(value, list) and not value:
            continue
        if isinstance(value, list) and isinstance(value[0], Record):
            found.append("%s: %d" % (name, len(value)))
            found += ["  " + repr(item) for item in value[:FEW]] + (["  " + ELLIPSIS] if len(value) > FEW else [])
        else:
            text = "%s: %s" % (name, repr(value) if isinstance(value, Record) else _flat(shown(value)))
            found.append(text if len(text) <= LINE_MAX else text[: LINE_MAX - 1] + ELLIPSIS)
    more = len(found) - LINES_MAX
    return found if more <= 0 else found[:LINES_MAX] + ["%s %d more lines; to_dict() has all" % (ELLIPSIS, more)]


class Several(List[Any]):
    """A list of a reply. It is a list in all, but of many items it shows the first."""

    def __repr__(self) -> str:
        if len(self) <= FEW:
            return super().__repr__()
        return "[%s, %s %d in all]" % (", ".join(map(repr, self[:FEW])), ELLIPSIS, len(self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """In IPython's terminal: an item a line."""
        shown_items = ["  %r" % item for item in self[: 4 * FEW]]
        more = len(self) - len(shown_items)
        printer.text("\n".join(["["] + shown_items + (["  %s %d more" % (ELLIPSIS, more)] if more else []) + ["]"]))


def seconds(value: Any, seconds_up_to: float = 90.05) -> str:
    """As the service and the command line write durations: 45.46 as "45.5 s", 114.84 as "1 min 55 s", 3900 as "1 h 05 min"."""
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return "unknown"
    if abs(value) < seconds_up_to:
        return "%s s" % ("%.3g" % value)
    for whole, part, names in ((60, 1, "%d min %02d s"), (3600, 60, "%d h %02d min"), (86400, 3600, "%d d %d h")):
        count = math.floor(abs(value) / part + 0.5)
        if whole == 86400 or count * part < (3600 if whole == 60 else 172800):
            break
    more, rest = divmod(count, whole // part)
    text = names % (more, rest)
    return ("-" if value < 0 else "") + (text if rest else " ".join(text.split()[:2]))


def interval_of_seconds(low: Any, high: Any) -> str:
    """Both ends in one form: "63.2 to 87 s", "1 min 36 s to 2 min 17 s", "45 s to 12 min 17 s"."""
    if low is None or high is None:
        return "interval unknown" if low is high else "up to %s" % seconds(high) if low is None else "%s or more" % seconds(low)
    if high < 90.05:
        return "%s to %s" % (seconds(low)[:-2], seconds(high))
    return "%s to %s" % ("%.0f s" % low if low < 59.5 else seconds(low, 59.5), seconds(high))

"""What notebooks show of results: tables with captions. Every text of a reply is escaped; nothing has a style or a script of its own."""
from __future__ import annotations

import datetime
import html
import re
from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, Optional, Sequence, Tuple

if TYPE_CHECKING:
    from .record import Record

ROWS_MAX = 60
LIST_MAX = 300
TEXT_MAX = 4000  # letters


def shown(value: Any) -> str:
    """A value as text: four digits of a number or all before the point, an instant to the second, what is unknown as a dash."""
    if value is None:
        return "\N{EN DASH}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "%d" % value if value.is_integer() and abs(value) < 1e15 else "%.4g" % value if abs(value) < 1000 else "%.0f" % value
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ", "seconds")
    if isinstance(value, (list, tuple)):
        parts = [shown(v) for v in value[:20]]
        return _cut(", ".join(parts) + (", \N{HORIZONTAL ELLIPSIS} (%d)" % len(value) if len(value) > 20 else ""), LIST_MAX)
    if isinstance(value, Mapping):
        return _cut(", ".join("%s: %s" % (k, shown(v)) for k, v in value.items()), LIST_MAX)
    return _cut(str(value), TEXT_MAX)


def interval(value: Any) -> Any:
    """Two ends, of which either may be open."""
    if not isinstance(value, list) or len(value) != 2:
        return value
    low, high = value
    if low is None or high is None:
        return None if low is high else "at least %s" % shown(low) if high is None else "at most %s" % shown(high)
    return "%s to %s" % (shown(low), shown(high))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def plain_text(text: str) -> str:
    """Signs that would steer a terminal, or change the direction of what follows, are replaced."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def escaped(text: str) -> str:
    """For HTML."""
    return html.escape(plain_text(text))


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Any]], total: Optional[int] = None) -> str:
    """A table whose first column heads its rows.

    rows: of which ROWS_MAX are shown; total: how many there are, if rows has not all of them."""
    kept: List[Sequence[Any]] = []
    count = 0
    for row in rows:
        count += 1
        if len(kept) < ROWS_MAX:
            kept.append(row)
    more = max(count, total or 0) - len(kept)
    text = ["<table><caption>%s</caption><thead><tr>" % escaped(caption)]
    text += ['<th scope="col">%s</th>' % escaped(head) for head in heads]
    text.append("</tr></thead><tbody>")
    for row in kept:
        first, others = row[0], row[1:]
        cells = "".join("<td>%s</td>" % escaped(shown(value)) for value in others)
        text.append('<tr><th scope="row">%s</th>%s</tr>' % (escaped(shown(first)), cells))
    if more > 0:
        text.append('<tr><td colspan="%d">and %d more</td></tr>' % (len(heads), more))
    return "".join(text) + "</tbody></table>"


def sentences(caption: str, said: Sequence[str]) -> str:
    """What the service says in sentences, in full; nothing where it says nothing."""
    if not said:
        return ""
    rows = "".join("<tr><td>%s</td></tr>" % escaped(sentence) for sentence in said[:ROWS_MAX])
    more = "<tr><td>and %d more</td></tr>" % (len(said) - ROWS_MAX) if len(said) > ROWS_MAX else ""
    return "<table><caption>%s</caption><tbody>%s%s</tbody></table>" % (escaped(caption), rows, more)


def words(name: str) -> str:
    """`StagePlan` as `Stage plan`."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+", name)
    return " ".join(p if p.isupper() and len(p) > 1 else p.lower() for p in parts).capitalize() if parts else name


def members(record: Record, prefix: str = "") -> List[Tuple[str, Any]]:
    """Names and values, those of objects within it by a path (`recommendation.executors`); lists of objects are left out."""
    from .record import Record
    found: List[Tuple[str, Any]] = []
    for name, value in record._shown():
        if isinstance(value, Record):
            found += members(value, prefix + name + ".")
        elif not _is_records(value):
            found.append((prefix + name, value))
    return found


def lists(record: Record, prefix: str = "") -> List[Tuple[str, List[Record]]]:
    """Lists of objects, likewise."""
    from .record import Record
    found: List[Tuple[str, List[Record]]] = []
    for name, value in record._shown():
        if isinstance(value, Record):
            found += lists(value, prefix + name + ".")
        elif _is_records(value):
            found.append((prefix + name, value))
    return found


def _is_records(value: Any) -> bool:
    from .record import Record
    return isinstance(value, list) and bool(value) and all(isinstance(v, Record) for v in value)


def records_table(caption: str, records: Sequence[Record], total: Optional[int] = None) -> str:
    """A row for each record, a column for each member that some record has."""
    rows = [dict(members(record)) for record in records[:ROWS_MAX]]
    heads = list(dict.fromkeys(name for row in rows for name in row)) or ["empty"]
    cells = [[row.get(head) for head in heads] for row in rows]
    return table(caption, heads, cells, total if total is not None else len(records))


def record_html(record: Record) -> str:
    """The members of a record, then a table for each list of objects in it."""
    text = table(words(type(record).__name__), ["member", "value"], members(record))
    return text + "".join(records_table(name, rows) for name, rows in lists(record))

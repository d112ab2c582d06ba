"""Values of Python as the JSON and the query parameters of a request."""
from __future__ import annotations

import datetime
import enum
import json
import os
import urllib.parse
from typing import Any, Dict, Iterable, List, Mapping, Tuple


class Unset(enum.Enum):
    """The type of UNSET: not given, where None would say null."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset.UNSET


def plain(value: Any) -> Any:
    """What json understands, for what it does not: records, instants, sequences, and the numbers of numpy."""
    from .record import Record
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, datetime.datetime):
        return instant_text(value)
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    for method in ("tolist", "item"):  # numpy, without its being there
        if hasattr(value, method):
            return plain(getattr(value, method)())
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (set, frozenset)):
        return [plain(inner) for inner in sorted(value)]  # else one set would be several requests
    if isinstance(value, Iterable):
        return [plain(inner) for inner in value]
    raise TypeError("%s cannot be sent as JSON" % type(value).__name__)


def json_bytes(body: Any) -> bytes:
    """The body of a request. ValueError for a number that JSON does not have (nan, inf)."""
    return _ENCODER.encode(body).encode()


_ENCODER = json.JSONEncoder(default=plain, allow_nan=False, separators=(",", ":"))


def instant_text(value: datetime.datetime) -> str:
    """RFC 3339 in UTC. One without a zone is local time, as everywhere in Python."""
    return value.astimezone(datetime.timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")


def given(members: Mapping[str, Any], nullable: Mapping[str, Any]) -> Dict[str, Any]:
    """The members of a body that were given: of the first, None is not."""
    body = {name: value for name, value in members.items() if value is not None}
    body.update((name, value) for name, value in nullable.items() if value is not UNSET)
    return body


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return instant_text(value)
    if isinstance(value, enum.Enum):
        return str(value.value)
    return str(value)


def _texts(value: Any) -> List[str]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return [_text(value)]
    return [_text(inner) for inner in value]


def query_value(value: Any) -> str:
    """One parameter: several values are separated by commas."""
    return ",".join(_texts(value))


def query_text(single: Mapping[str, Any], repeated: Mapping[str, Any]) -> str:
    """`?name=value&...`, or nothing. Several values of `single` are separated by commas; of `repeated` each is a
    parameter, a mapping as `key:value`."""
    pairs: List[Tuple[str, str]] = []
    for name, value in single.items():
        if value is not None:
            pairs.append((name, query_value(value)))
    for name, value in repeated.items():
        if isinstance(value, Mapping):
            value = ["%s:%s" % pair for pair in value.items()]
        if value is not None:
            pairs += [(name, text) for text in _texts(value)]
    return "?" + "&".join(["%s=%s" % (name, urllib.parse.quote(text, "")) for name, text in pairs]) if pairs else ""


def segment(value: Any) -> str:
    """A name or id as a segment of a path. Dots would be taken for the folder above by some proxies."""
    if value is None:
        raise TypeError("a name or an id is None")
    text = _text(value)
    if not text:
        raise ValueError("a name or an id is empty")
    quoted = urllib.parse.quote(text, safe="")
    return quoted.replace(".", "%2E") if quoted in (".", "..") else quoted

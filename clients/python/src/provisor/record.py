"""What the service answers, as objects.

A Record is a dataclass over the JSON that came. Members are converted when they are first read, so a large reply
costs no more than what is looked at: instants become datetime, objects become Records, null is None. Members that
this version of the package does not know are kept in `extra`.

Classes with methods of their own (provisor.results) extend the class of the same name of provisor.schemas and stand
in for it everywhere, inside of other replies too.
"""
from __future__ import annotations

import datetime
import importlib
import re
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Dict, FrozenSet, Iterator, List, Mapping, Optional, Set, Tuple

if TYPE_CHECKING:
    from .caller import Caller

Convert = Callable[[Any], Any]


class Reply:
    """How a reply came: its status and headers (names in lower case)."""

    __slots__ = ("status", "headers", "client")

    def __init__(self, status: int, headers: Mapping[str, str], client: Optional[Caller] = None) -> None:
        """client: which was asked, for results that have to ask more (of a model's curve, say)."""
        self.status, self.headers, self.client = status, headers, client

    @property
    def etag(self) -> Optional[str]:
        """Version of the resource, for if_match and if_none_match."""
        return self.headers.get("etag")

    @property
    def request_id(self) -> Optional[str]:
        """By which the service's log knows the request."""
        return self.headers.get("x-request-id")

    @property
    def log_outcome(self) -> Optional[str]:
        """What became of an event log: stored, duplicate or replaced."""
        return self.headers.get("x-log-outcome")

    @property
    def log_reason(self) -> Optional[str]:
        """The log of the same run that was replaced, or the more complete one that is stored; None if no other log was compared."""
        return self.headers.get("x-log-reason")

    def __repr__(self) -> str:
        return "Reply(%d)" % self.status


class Record:
    """Base of all results. Two are equal if they are of one class and the JSON is the same."""

    _names: ClassVar[Mapping[str, str]] = {}  # attribute -> member
    _required: ClassVar[FrozenSet[str]] = frozenset()
    _constants: ClassVar[Mapping[str, Any]] = {}  # member -> its only value
    _converters: ClassVar[Mapping[str, Convert]] = {}

    @classmethod
    def _fits(cls, value: Mapping[str, Any]) -> bool:
        """Whether the object has the members that are required, and those that are constant with their values."""
        return cls._required <= value.keys() and all(value.get(k) == v for k, v in cls._constants.items())

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _classes[cls.__name__] = cls

    def __init__(self, **members: Any) -> None:
        from .encode import plain
        unknown = [name for name in members if name not in self._names]
        if unknown:
            raise TypeError("%s has no member %s" % (type(self).__name__, ", ".join(unknown)))
        self.__dict__["_raw"] = {self._names[name]: plain(value) for name, value in members.items()}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any], reply: Optional[Reply] = None) -> Any:
        """A record over the JSON object, which is not copied."""
        if not isinstance(raw, dict):
            raise TypeError("%s is made of a JSON object, not of %s" % (cls.__name__, type(raw).__name__))
        made = object.__new__(cls)
        made.__dict__["_raw"] = raw
        if reply is not None:
            made.__dict__["_reply"] = reply
        return made

    if not TYPE_CHECKING:  # a type checker is to see declared members only

        def __getattr__(self, name):
            raw, member = self.__dict__.get("_raw"), self._names.get(name)
            if raw is None or member is None:
                raise AttributeError("%s has no member %r" % (type(self).__name__, name))
            if member in raw:
                value = raw[member]
                convert = self._converters.get(name)
                if convert is not None and value is not None:
                    value = convert(value)
                elif isinstance(value, list):
                    value = many(lambda item: item)(value)
            elif member in self._required:
                raise AttributeError("this %s came without %r, which `fields` may have left out" % (type(self).__name__, name))
            else:
                value = None
            self.__dict__[name] = value
            return value

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("%s cannot be changed; to_dict() gives a copy that can" % type(self).__name__)

    def __delattr__(self, name: str) -> None:
        raise AttributeError("%s cannot be changed; to_dict() gives a copy that can" % type(self).__name__)

    @property
    def extra(self) -> Dict[str, Any]:
        """Members that this version of the package does not know, as they came."""
        known = set(self._names.values())
        return {name: value for name, value in self.__dict__["_raw"].items() if name not in known}

    @property
    def reply(self) -> Optional[Reply]:
        """Status and headers, of what was a reply by itself; None for the parts of one."""
        found = self.__dict__.get("_reply")
        return found if isinstance(found, Reply) else None

    def to_dict(self) -> Dict[str, Any]:
        """The JSON as it came: a copy, which may be changed."""
        return {name: _copied(value) for name, value in self.__dict__["_raw"].items()}

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self._names})

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return bool(self.__dict__["_raw"] == other.__dict__["_raw"])

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Tuple[Any, ...]:
        return _remade, (type(self).__module__, type(self).__name__, self.__dict__["_raw"])

    def _shown(self) -> Iterator[Tuple[str, Any]]:
        for name, member in self._names.items():
            if member in self.__dict__["_raw"]:
                yield name, "<hidden>" if name in _SECRETS else getattr(self, name)

    def __repr__(self) -> str:
        """What it is, in one line; to_dict() has all of it."""
        from .brief import line
        return line(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """In IPython's terminal, in several lines."""
        from .brief import lines
        printer.text("\n".join(lines(self)))

    def _repr_html_(self) -> str:
        """Tables, which notebooks show."""
        from .tables import record_html
        return record_html(self)


# Tokens and secrets of webhooks are shown once; they do not belong in logs and cells of notebooks.
_SECRETS = frozenset(("token", "secret", "secrets"))

# By name; a class of provisor.results takes the place of the one it extends.
_classes: Dict[str, Any] = {}
# Names whose modules in provisor.results have been read, too: a program may have read those of provisor.schemas alone.
_read: Set[str] = set()


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_copied(inner) for inner in value]
    return value


def _remade(module: str, name: str, raw: Dict[str, Any]) -> Any:
    return getattr(importlib.import_module(module), name).from_json(raw)


def class_of(name: str) -> Any:
    """The class for a schema of the contract."""
    if name not in _read:
        from . import results, schemas
        topic = schemas.TOPICS[name]
        importlib.import_module("." + topic, schemas.__name__)
        if topic in results.TOPICS:
            importlib.import_module("." + topic, results.__name__)
        _read.add(name)
    return _classes[name]


def class_among(names: str, value: Mapping[str, Any]) -> Any:
    """The class of the first of these schemas, "A|B", that the object fits; the last one, if it fits none."""
    classes = [class_of(name) for name in names.split("|")]
    return next((made for made in classes if made._fits(value)), classes[-1])


# --- converters: what a member is made of ------------------------------------------------------------


def one(name: str) -> Convert:
    """An object of that schema. What is no object is left as it is: a newer service may know better."""
    return lambda value: class_of(name).from_json(value) if isinstance(value, dict) else value


def any_of(*names: str) -> Convert:
    """An object of the first of these schemas that it fits."""

    def convert(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        for name in names:
            made = class_of(name)
            if made._fits(value):
                return made.from_json(value)
        return value

    return convert


def many(convert: Convert) -> Convert:
    """A list of such values."""

    def converted(value: Any) -> Any:
        from .brief import Several
        return Several(None if v is None else convert(v) for v in value) if isinstance(value, list) else value

    return converted


def mapped(convert: Convert) -> Convert:
    """Such values by name."""
    return lambda value: {k: None if v is None else convert(v) for k, v in value.items()} if isinstance(value, dict) else value


_INSTANT = re.compile(r"(\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2})(?:\.(\d+))?(Z|z|[+-]\d{2}:\d{2})")


def instant(value: Any) -> Any:
    """RFC 3339 as an aware datetime (to the microsecond)."""
    match = _INSTANT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return value
    zone = "+00:00" if match[3] in "Zz" else match[3]
    try:
        return datetime.datetime.fromisoformat("%s.%s%s" % (match[1], (match[2] or "0")[:6].ljust(6, "0"), zone))
    except ValueError:  # a leap second, a day that does not exist
        return value

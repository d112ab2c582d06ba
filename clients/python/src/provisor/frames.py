"""Lists of results as data frames of pandas: a row for each result, a column for each member.

    provisor.frames.frame(client.advise("nightly-etl").alternatives)

Members of objects have columns of their own (`recommendation.executors`), entries of free names too
(`labels.machine_type`). Types follow the contract: a member that may be null is a nullable Int64 or boolean, or a float
with NaN, so that what is unknown is never 0; instants are in UTC.

Columns grow piece by piece in typed arrays, of which the frame is made without a copy: a list that comes as a stream is
never there as a whole.
"""
from __future__ import annotations

import dataclasses
import importlib
import itertools
import re
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Type, Union

from .columns import Bools, Column, Floats, Instants, Integers, Objects, Texts
from .record import _SECRETS, Record, class_of

if TYPE_CHECKING:
    import pandas

TOGETHER = 1000  # records that are taken apart at once
ENTRIES_MAX = 256  # columns for the free names of one member; with more, it is one column of dicts

Named = Iterator[Tuple[str, Column]]


def frame(records: Iterable[Record], columns: Optional[Sequence[str]] = None) -> pandas.DataFrame:
    """The records, which are of one class, as a data frame.

    - columns: which, in this order: members (`executors`), members of objects (`recommendation.executors`), or an object
      for all of its members; by default all members that the contract has, and behind them those that came besides
    """
    given = iter(records)
    first = next(given, None)
    if first is None:
        return frame_of(Record, (), columns)
    return frame_of(type(first), itertools.chain((first,), given), columns)


def frame_of(kind: Union[str, Type[Record]], records: Iterable[Record], columns: Optional[Sequence[str]] = None, *,
             fields: Optional[Sequence[str]] = None) -> pandas.DataFrame:
    """As frame; there are columns without records too.

    - kind: the class of the records, or its name
    - fields: the members that the service was asked for, if not for all
    """
    made = Frame(kind, columns, only=fields)
    given = iter(records)
    while True:
        some = list(itertools.islice(given, TOGETHER))
        if not some:
            return made.finish()
        made.extend([made.raw_of(record) for record in some])


def load_pandas() -> Any:
    """pandas, which is asked for where it is needed and nowhere else."""
    try:
        return importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError("data frames need pandas: pip install pandas, or Debian's python3-pandas (%s)" % error) from error


class Frame:
    """A frame that grows.

    - columns: as in frame
    - only: which members, in the order of the contract; as `fields` of a request
    - without: members that are left out unless `columns` has them
    """

    def __init__(self, kind: Union[str, Type[Record]], columns: Optional[Sequence[str]] = None, *, only: Optional[Sequence[str]] = None,
                 without: Sequence[str] = ()) -> None:
        self._pandas = load_pandas()
        self._kind: Type[Record] = class_of(kind) if isinstance(kind, str) else kind
        if not issubclass(self._kind, Record):
            raise TypeError("a frame is made of results, not of %s" % self._kind.__name__)
        self._columns = list(dict.fromkeys([columns] if isinstance(columns, str) else columns)) if columns is not None else None
        self._root = _Object(self._kind, "", _Choice(only if columns is None else self._columns, without), (), False)
        self._checked = False
        self._chosen = only is not None

    def raw_of(self, record: Any) -> Dict[str, Any]:
        """The JSON of a record of this frame's class."""
        if not isinstance(record, self._kind):
            raise TypeError("a frame of %s has no place for %s" % (self._kind.__name__, type(record).__name__))
        raw: Dict[str, Any] = record.__dict__["_raw"]
        return raw

    def extend(self, raws: List[Dict[str, Any]]) -> None:
        """Take in further results; nothing of these is kept that could be changed from outside."""
        self._root.extend(raws)
        if raws and not self._checked:  # so that a mistake does not show only after a long export
            self._check()

    def _check(self) -> None:
        self._checked = True
        names = [name for name, _ in self._root.columns()]
        for wanted in self._columns or ():
            if wanted not in names and not any(name.startswith(wanted + ".") for name in names) and not self._root.knows(wanted):
                raise ValueError("%s has no member %s" % (self._kind.__name__, wanted))

    def finish(self) -> pandas.DataFrame:
        """The frame, for which this is given up."""
        if not self._checked and self._kind is not Record:
            self._check()
        columns: Dict[str, Column] = {}
        for name, column in self._root.columns(came=self._columns is None and not self._chosen and self._root.is_partial()):
            columns.setdefault(name, column)
        rows = self._root.rows
        self._root.parts.clear()
        if self._columns is not None:
            columns = dict(self._ordered(columns))
        made: Dict[str, Any] = {}
        for name in list(columns):
            made[name] = columns.pop(name).finish(self._pandas)
        return self._pandas.DataFrame(made, index=self._pandas.RangeIndex(rows), copy=False)

    def _ordered(self, columns: Dict[str, Column]) -> Named:
        for wanted in self._columns or ():
            found = [name for name in columns if name == wanted or name.startswith(wanted + ".")]
            if not found and self._kind is Record:
                yield wanted, Objects()
            for name in found:
                yield name, columns[name]


class _Choice:
    """Which columns there are to be."""

    def __init__(self, names: Optional[Sequence[str]], without: Sequence[str]) -> None:
        self.names, self.without = None if names is None else frozenset(names), frozenset(without)

    def has(self, name: str) -> bool:
        """The column, or that of something within."""
        if self.names is None:
            return name not in self.without and name.rpartition(".")[2] not in _SECRETS
        return self.all_of(name) or any(wanted.startswith(name + ".") for wanted in self.names)

    def all_of(self, name: str) -> bool:
        """The column, and of an object all within."""
        if self.names is None:
            return self.has(name)
        parts = name.split(".")
        return any(".".join(parts[:count]) in self.names for count in range(1, len(parts) + 1))

    def within(self, name: str) -> List[str]:
        """What is wanted of an object of free names."""
        return [wanted[len(name) + 1:] for wanted in self.names or () if wanted.startswith(name + ".")]


class _Object:
    """The members of an object."""

    def __init__(self, kind: Type[Record], name: str, choice: _Choice, above: Tuple[type, ...], may_miss: bool) -> None:
        self.name, self.choice, self.rows = name, choice, 0
        self.prefix = name + "." if name else ""
        self.parts: Dict[str, Any] = {}
        self.seen: Set[str] = set()  # members that came
        self.known = frozenset(kind._names.values())
        self.required = kind._required
        self.strange: Optional[Objects] = None  # where the contract says object, and something else came
        types = {field.name: str(field.type) for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else {}
        for attribute, member in kind._names.items():
            inner = self.prefix + member
            if choice.has(inner):
                self.parts[member] = _part(types[attribute], may_miss or member not in kind._required, inner, choice, (*above, kind))

    def knows(self, name: str) -> bool:
        """Whether the contract has a member of this name, or leaves its name to others."""
        member, _, rest = name.partition(".")
        part = self.parts.get(member)
        if not rest or part is None:
            return part is not None
        return isinstance(part, _Entries) or (isinstance(part, _Object) and part.knows(rest))

    def extend(self, values: List[Any]) -> None:
        raws = values
        if any(type(value) is not dict for value in values):
            raws = [value if type(value) is dict else {} for value in values]
            self._take_strange(values)
        elif self.strange is not None:
            self.strange.skip(len(values))
        came: Set[str] = set()
        came = came.union(*raws)
        self.seen |= came
        for member in sorted(came - self.known - self.parts.keys()):
            if self.choice.all_of(self.prefix + member):
                self.parts[member] = Objects()
                self.parts[member].skip(self.rows)
        for member, part in self.parts.items():
            part.extend([raw.get(member) for raw in raws])
        self.rows += len(values)

    def _take_strange(self, values: List[Any]) -> None:
        odd = [None if type(value) is dict else value for value in values]
        if self.strange is None and any(value is not None for value in odd):
            self.strange = Objects()
            self.strange.skip(self.rows)
        if self.strange is not None:
            self.strange.extend(odd)

    def skip(self, rows: int) -> None:
        self.extend([None] * rows)

    def is_partial(self) -> bool:
        """Whether there are results, and `fields` left out some of what the contract promises."""
        return self.rows > 0 and not self.required <= self.seen

    def columns(self, came: bool = False) -> Named:
        """came: of what came only."""
        for member, part in self.parts.items():
            if came and self.rows and member not in self.seen:
                continue
            if isinstance(part, _Object):
                yield from part.columns(came and bool(part.seen))
            elif isinstance(part, _Entries):
                yield from part.columns()
            else:
                yield self.prefix + member, part
        if self.strange is not None:
            yield self.name, self.strange


class _Entries:
    """An object whose names are free: labels, say."""

    def __init__(self, name: str, make: Callable[[], Column], choice: _Choice) -> None:
        self.name, self.rows, self._make = name, 0, make
        self._free = choice.all_of(name)
        self._entries: Dict[str, Column] = {key: make() for key in choice.within(name)}
        self._whole: Optional[Objects] = None

    def extend(self, values: List[Any]) -> None:
        if self._whole is None and self._free:
            self._meet(values)
        if self._whole is not None:
            self._whole.extend(values)
        else:
            for key, column in self._entries.items():
                column.extend([value.get(key) if value else None for value in values])
        self.rows += len(values)

    def _meet(self, values: List[Any]) -> None:
        if any(value is not None and type(value) is not dict for value in values):
            self._give_up()
            return
        names: Set[str] = set()
        for key in names.union(*[value for value in values if value]) - self._entries.keys():
            self._entries[key] = self._make()
            self._entries[key].skip(self.rows)
        if len(self._entries) > ENTRIES_MAX:
            self._give_up()

    def _give_up(self) -> None:
        """One column of dicts instead of many."""
        self._whole = Objects()
        dicts: List[Dict[str, Any]] = [{} for _ in range(self.rows)]
        while self._entries:
            key, column = self._entries.popitem()
            for row, value in zip(dicts, column.so_far()):
                if value is not None:
                    row[key] = value
        self._whole.extend(dicts)

    def skip(self, rows: int) -> None:
        self.extend([None] * rows)

    def columns(self) -> Named:
        if self._whole is not None:
            yield self.name, self._whole
        else:
            for key in sorted(self._entries):
                yield "%s.%s" % (self.name, key), self._entries[key]


_PLAIN: Mapping[str, Callable[[bool], Column]] = {
    "int": Integers, "float": Floats, "bool": Bools, "str": Texts, "datetime.datetime": Instants,
}
_OPTIONAL = re.compile(r"^Optional\[(.*)\]$")
_LISTED = re.compile(r"(Union\[)?(Literal\[[^][]*\](, )?)+\]?")


def _part(type_text: str, may_miss: bool, name: str, choice: _Choice, above: Tuple[type, ...]) -> Any:
    """What takes the values of a member. type_text: its annotation in provisor.schemas; may_miss: the member, or the object
    that it is of."""
    from .schemas import TOPICS
    text = _OPTIONAL.sub(r"\1", type_text)
    may_miss = may_miss or text != type_text
    if text in _PLAIN:
        return _PLAIN[text](may_miss)
    if _LISTED.fullmatch(text):
        return Texts(may_miss, listed=True)
    if text.startswith("Dict[str, "):
        inner = _OPTIONAL.sub(r"\1", text[len("Dict[str, "):-1])
        if inner in _PLAIN:
            return _Entries(name, lambda: _PLAIN[inner](True), choice)
    kind = text.rpartition(".")[2]
    if kind in TOPICS and class_of(kind) not in above:
        return _Object(class_of(kind), name, choice, above, may_miss)
    return Objects()

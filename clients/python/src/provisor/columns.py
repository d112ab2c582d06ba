"""Columns that grow, piece by piece, and become arrays of pandas. Used by frames.py alone.

Each takes values of JSON. One that its type has no place for (an integer of more than 64 bits, an instant of the year
9999, what a newer service sends) makes it a column of objects, in which all values are as they are.
"""
from __future__ import annotations

import datetime
from array import array
from typing import Any, ClassVar, Dict, FrozenSet, List, Optional

from .record import _copied, instant

_NONE: type = type(None)
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MICROSECOND = datetime.timedelta(microseconds=1)
_NO_INSTANT = -2**63  # NaT of pandas
_TEXTS_MAX = 1024  # so many different texts are kept once each, whatever their share


def _nanoseconds(text: Any) -> int:
    """Since 1970. TypeError for what is no instant."""
    nanoseconds: int = (instant(text) - _EPOCH) // _MICROSECOND * 1000
    return nanoseconds


def _is_unicode(texts: List[str]) -> bool:
    """Half a pair of surrogates, which JSON may hold, is no category: pandas compares these by their UTF-8."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


class Column:
    """may_miss: whether the contract allows null, and so whether the type has it."""

    def __init__(self, may_miss: bool = True) -> None:
        self.may_miss = may_miss
        self.objects: Optional[List[Any]] = None

    def extend(self, values: List[Any]) -> None:
        if self.objects is None:
            try:
                self._take(values)
                return
            except (TypeError, ValueError, OverflowError):
                self.objects = self._values()
                self._drop()
        self.objects.extend(map(self._object, values))

    def skip(self, rows: int) -> None:
        """So many values are unknown."""
        self.extend([None] * rows)

    def so_far(self) -> List[Any]:
        return self._values() if self.objects is None else self.objects

    def finish(self, pandas: Any) -> Any:
        """The array, for which this is given up."""
        if self.objects is not None:
            made = pandas.Series(self.objects, dtype=object).array
            self.objects = None
            return made
        return self._array(pandas)

    # What a type is made of. _take leaves all as it was when it raises.

    def _take(self, values: List[Any]) -> None:
        raise NotImplementedError

    def _values(self) -> List[Any]:
        raise NotImplementedError

    def _drop(self) -> None:
        raise NotImplementedError

    def _array(self, pandas: Any) -> Any:
        raise NotImplementedError

    def _object(self, value: Any) -> Any:
        return value


class Objects(Column):
    """Lists, and what the contract does not say more about: copies, which are nobody else's."""

    def __init__(self, may_miss: bool = True) -> None:
        super().__init__(may_miss)
        self.objects = []

    def _object(self, value: Any) -> Any:
        return _copied(value)


class _Masked(Column):
    """Numbers of one type, and which of them are missing."""

    code: ClassVar[str] = "q"
    kinds: ClassVar[FrozenSet[type]] = frozenset((int,))
    fill: ClassVar[int] = 0

    def __init__(self, may_miss: bool = True) -> None:
        super().__init__(may_miss)
        self.data, self.mask = array(self.code), bytearray()

    def _take(self, values: List[Any]) -> None:
        kinds = set(map(type, values))
        missing = _NONE in kinds
        kinds.discard(_NONE)
        if not kinds <= self.kinds:
            raise TypeError
        self.data.extend(array(self.code, [self.fill if value is None else value for value in values] if missing else values))
        self.mask.extend([value is None for value in values] if missing else bytes(len(values)))

    def _values(self) -> List[Any]:
        return [None if missing else self._shown(value) for value, missing in zip(self.data, self.mask)]

    def _shown(self, value: Any) -> Any:
        return value

    def _drop(self) -> None:
        self.data, self.mask = array(self.code), bytearray()

    def _nullable(self) -> bool:
        return self.may_miss or any(self.mask)


class Integers(_Masked):
    """Int64 if one may be null; else int64."""

    def _array(self, pandas: Any) -> Any:
        import numpy
        data = numpy.frombuffer(self.data, dtype="int64")
        if not self._nullable():
            return data
        return pandas.arrays.IntegerArray(data, numpy.frombuffer(self.mask, dtype=bool))


class Bools(_Masked):
    """boolean if one may be null; else bool."""

    code = "b"
    kinds = frozenset((bool,))

    def _shown(self, value: Any) -> Any:
        return bool(value)

    def _array(self, pandas: Any) -> Any:
        import numpy
        data = numpy.frombuffer(self.data, dtype=bool)
        if not self._nullable():
            return data
        return pandas.arrays.BooleanArray(data, numpy.frombuffer(self.mask, dtype=bool))


class Floats(Column):
    """float64, NaN where null."""

    def __init__(self, may_miss: bool = True) -> None:
        super().__init__(may_miss)
        self._drop()

    def _take(self, values: List[Any]) -> None:
        kinds = set(map(type, values))
        if not kinds <= {int, float, _NONE}:
            raise TypeError
        nan = float("nan")
        self.data.extend(array("d", [nan if value is None else value for value in values] if _NONE in kinds else values))

    def _values(self) -> List[Any]:
        return [None if value != value else value for value in self.data]

    def _drop(self) -> None:
        self.data = array("d")

    def _array(self, pandas: Any) -> Any:
        import numpy
        return numpy.frombuffer(self.data, dtype="float64")


class Instants(Column):
    """datetime64[ns, UTC], NaT where null."""

    def __init__(self, may_miss: bool = True) -> None:
        super().__init__(may_miss)
        self._drop()

    def _take(self, values: List[Any]) -> None:
        self.data.extend(array("q", [_NO_INSTANT if value is None else _nanoseconds(value) for value in values]))

    def _values(self) -> List[Any]:
        return [None if value == _NO_INSTANT else _EPOCH + _MICROSECOND * (value // 1000) for value in self.data]

    def _drop(self) -> None:
        self.data = array("q")

    def _array(self, pandas: Any) -> Any:
        import numpy
        return pandas.DatetimeIndex(numpy.frombuffer(self.data, dtype="datetime64[ns]")).tz_localize("UTC").array

    def _object(self, value: Any) -> Any:
        return instant(value)


class Texts(Column):
    """Categories if the contract lists the values, or if there are at least ten rows for each distinct one; else objects. Equal texts
    are kept once as long as there are few."""

    def __init__(self, may_miss: bool = True, listed: bool = False) -> None:
        super().__init__(may_miss)
        self.listed = listed
        self._drop()

    def _take(self, values: List[Any]) -> None:
        if not set(map(type, values)) <= {str, _NONE}:
            raise TypeError
        codes = self.codes
        for value in set(values) - codes.keys():
            codes[value] = len(codes) - 1
        self.data.extend([codes[value] for value in values])
        if len(codes) > _TEXTS_MAX and 4 * len(codes) > len(self.data):
            self.objects = self._values()
            self._drop()

    def _values(self) -> List[Any]:
        texts: List[Optional[str]] = [*list(self.codes)[1:], None]
        return [texts[code] for code in self.data]

    def _drop(self) -> None:
        self.data = array("i")
        self.codes: Dict[Optional[str], int] = {None: -1}

    def _array(self, pandas: Any) -> Any:
        import numpy
        codes = numpy.frombuffer(self.data, dtype="int32")
        texts = [text for text in self.codes if text is not None]
        if (self.listed or 10 * len(texts) <= len(codes) > 0) and _is_unicode(texts):
            order = sorted(range(len(texts)), key=texts.__getitem__)
            place = numpy.empty(len(texts) + 1, dtype="int32")
            place[order] = numpy.arange(len(texts), dtype="int32")
            place[-1] = -1
            return pandas.Categorical.from_codes(place[codes], categories=pandas.Index([texts[at] for at in order], dtype=object))
        return pandas.Series(self._values(), dtype=object).array

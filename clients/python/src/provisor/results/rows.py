"""Data frames of what replies hold in several levels: a row for each of the innermost."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, Optional, Sequence, Tuple

from ..frames import load_pandas

if TYPE_CHECKING:
    import pandas

# Types that have a place for what is unknown.
TYPES: Mapping[type, str] = {float: "float64", int: "Int64", bool: "boolean", str: "object"}


def rows_frame(columns: Sequence[Tuple[str, type]], rows: Iterable[Sequence[Any]]) -> pandas.DataFrame:
    """columns: name and type; rows: a value for each, None where it is unknown."""
    made = load_pandas()
    given: List[Sequence[Any]] = list(rows)
    values = {}
    for place, (name, kind) in enumerate(columns):
        values[name] = made.Series([row[place] for row in given], dtype=TYPES[kind])
    return made.DataFrame(values, columns=[name for name, _ in columns])


def ends(interval: Optional[Sequence[Optional[float]]]) -> Tuple[Optional[float], Optional[float]]:
    """Of an interval; None where it is open or unknown."""
    low, high = interval if interval is not None else (None, None)
    return low, high

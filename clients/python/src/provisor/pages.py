"""Collections: the items of all pages, fetched as they are asked for."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Generic, Iterator, List, Optional, Sequence, TypeVar

from .errors import Invalid

if TYPE_CHECKING:
    import pandas

T = TypeVar("T")
PAGE_SIZE = 200  # the most that a service allows unless it is configured otherwise


class Pages(Generic[T]):
    """An iterator over the items. next_cursor: where to go on after the last page that was fetched; None at the end."""

    def __init__(self, fetch: Callable[[Optional[str], Optional[int]], Dict[str, Any]], convert: Callable[[Any], T],
                 limit: Optional[int], cursor: Optional[str], page_size: Optional[int], kind: str, fields: Optional[Sequence[str]]) -> None:
        self._fetch, self._convert, self._kind, self._fields = fetch, convert, kind, fields
        self._left, self._size = limit, page_size or PAGE_SIZE
        self._chosen = page_size is not None
        self._items: Iterator[T] = iter(())
        self._begun = False
        self.next_cursor = cursor

    def __iter__(self) -> Pages[T]:
        return self

    def __next__(self) -> T:
        while True:
            for item in self._items:
                return item
            page = self.page()
            if page is None:
                raise StopIteration
            self._items = iter(page)

    def page(self) -> Optional[List[T]]:
        """The items of the next page; None after the last one."""
        if self._left == 0 or (self._begun and self.next_cursor is None):
            return None
        raw = self._raw_page()
        self._begun, self.next_cursor = True, raw.get("next_cursor")
        items = raw.get("items") or []
        if self._left is not None:
            items = items[: self._left]
            self._left -= len(items)
        return [self._convert(item) for item in items]

    def to_frame(self, columns: Optional[Sequence[str]] = None) -> pandas.DataFrame:
        """All items, or those that are left, as a data frame of pandas.

        - columns: which, in this order; see provisor.frames.frame. By default all, or those that `fields` asked for
        """
        from .frames import frame_of
        return frame_of(self._kind, self, columns, fields=self._fields)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        """Nothing is fetched for it."""
        if self._left == 0 or (self._begun and self.next_cursor is None):
            state = "all pages fetched"
        else:
            state = "more pages to fetch" if self._begun else "nothing fetched yet"
        return "<Pages of %s: %s; iterate, list() or to_frame()>" % (self._kind, state)

    def _raw_page(self) -> Dict[str, Any]:
        size: Optional[int] = self._size if self._left is None else min(self._size, self._left)
        try:
            return self._fetch(self.next_cursor, size)
        except Invalid as error:
            if self._chosen or self._begun or [e.parameter for e in error.errors] != ["limit"]:
                raise
            self._chosen = True
            self._size = 50  # this service allows less
            return self._raw_page()

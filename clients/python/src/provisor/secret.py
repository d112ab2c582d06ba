"""A token where it is kept."""
from __future__ import annotations

from typing import Any, NoReturn


class Secret:
    """A text that no repr, log, traceback or pickle shows."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(...)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token cannot be pickled")

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

"""Bodies that are read from files while they are sent: no more of them than a piece is in memory."""
from __future__ import annotations

import errno
import io
import os
import stat
from typing import IO, Any, Iterable, Iterator, Optional, Union

from .progress import Progress
from .transport import Body

PIECE_BYTES = 256 * 1024

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes], Iterable[bytes]]


class Upload(Body):
    """source: the path of a file, a file opened for reading bytes, bytes, or an iterable of bytes. A file that cannot be
    read again from where it stood, and an iterable, are sent once: no attempt follows a failed one."""

    def __init__(self, source: Source, progress: Progress) -> None:
        self._progress, self._source = progress, source
        self._start = 0
        self._file: Optional[Any] = None
        if isinstance(source, (str, os.PathLike)):
            about = os.stat(source)
            if stat.S_ISDIR(about.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(source))
            self.again = stat.S_ISREG(about.st_mode)
            self.length = about.st_size if self.again else None
        elif isinstance(source, (bytes, bytearray, memoryview)):
            self._file = io.BytesIO(source)
            self.length = len(self._file.getbuffer())
        elif hasattr(source, "read"):
            self._file = source
            self._measure()
        else:
            self.again = False

    def _measure(self) -> None:
        """What is left of the open file."""
        file: Any = self._file
        try:
            self._start = file.tell()
            end = file.seek(0, os.SEEK_END)
            file.seek(self._start)
            self.length = end - self._start
        except (OSError, AttributeError, ValueError):
            self.again = False

    def pieces(self) -> Iterator[bytes]:
        self._progress.begin(self.length)
        sent = 0
        for piece in self._read():
            yield piece
            sent += len(piece)
            self._progress.update(sent)
        if self.length is not None and sent != self.length:
            raise ValueError("the file became shorter while it was sent")

    def _read(self) -> Iterator[bytes]:
        if isinstance(self._source, (str, os.PathLike)):
            with open(self._source, "rb") as file:
                yield from self._read_file(file)
        elif self._file is not None:
            if self.again:
                self._file.seek(self._start)
            yield from self._read_file(self._file)
        else:
            for piece in self._source:
                if piece:  # an empty one would end the body
                    yield bytes(piece)

    def _read_file(self, file: Any) -> Iterator[bytes]:
        left = self.length
        while left is None or left > 0:
            piece = file.read(PIECE_BYTES if left is None else min(PIECE_BYTES, left))
            if not piece:
                return
            if not isinstance(piece, bytes):
                raise TypeError("the file is to be opened for bytes, with mode 'rb'")
            left = None if left is None else left - len(piece)
            yield piece

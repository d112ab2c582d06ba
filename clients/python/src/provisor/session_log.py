"""The event log of a PySpark session: where it is, and how it is read once the session has ended.

Spark writes the last events, and gives the log its name, in SparkContext.stop(). What only a running session knows
(its configuration, the ids, the Hadoop configuration) is asked for before; the gateway to the JVM outlives the session,
so that logs in HDFS and object stores can be copied by Hadoop's own FileSystem afterwards.
"""
from __future__ import annotations

import bisect
import contextlib
import io
import os
import re
import shutil
import tarfile
import tempfile
import urllib.parse
import urllib.request
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from .uploads import Source

DEFAULT_FOLDER = "file:///tmp/spark-events"
CODECS = ("zstd", "lz4", "snappy", "lzf")
IN_PROGRESS = ".inprogress"


class LogMissing(Exception):
    """The event log is not where Spark should have written it."""


# --- what lies in a folder ----------------------------------------------------------------------------


class LocalFolder:
    """A folder of the driver's machine."""

    def __init__(self, path: str) -> None:
        self.shown = self._path = os.path.abspath(path)

    def holds(self, name: str) -> bool:
        return os.path.exists(os.path.join(self._path, name))

    @contextlib.contextmanager
    def local(self, name: str) -> Iterator[str]:
        path = os.path.join(self._path, name)
        inner = [os.path.join(path, part) for part in os.listdir(path)] if os.path.isdir(path) else []
        for found in (path, *inner):
            # Spark writes none, and in a folder that all may write to, one could lead to any file of this user.
            if os.path.islink(found):
                raise LogMissing("%s is a symbolic link, which is not followed" % found)
        yield path


class HadoopFolder:
    """A folder of any file system that the session's Hadoop reads. The JVM copies the log into a temporary folder: byte by
    byte through the gateway would take far longer."""

    def __init__(self, uri: str, jvm: Any, configuration: Any) -> None:
        # Hadoop's Path takes text as it is, where Spark gives it a URI, in which %20 is a space.
        self.shown, self._uri = without_secrets(uri), urllib.parse.unquote(uri)
        self._jvm, self._configuration = jvm, configuration

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._uri + "/" + name)

    def holds(self, name: str) -> bool:
        path = self._path(name)
        return bool(path.getFileSystem(self._configuration).exists(path))

    @contextlib.contextmanager
    def local(self, name: str) -> Iterator[str]:
        scratch = tempfile.mkdtemp(prefix="provisor-")
        try:
            source, to = self._path(name), os.path.join(scratch, name)
            target = self._jvm.org.apache.hadoop.fs.Path("file:///" + to.replace(os.sep, "/").lstrip("/"))
            # Not deleted at its source; by the file system that writes no checksums beside it.
            source.getFileSystem(self._configuration).copyToLocalFile(False, source, target, True)
            yield to
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def without_secrets(text: str) -> str:
    """Without what stands for user and password in URIs (s3a://key:secret@bucket)."""
    return re.sub(r"(?<=://)[^/\s]*@", "", text)


def _folder(setting: str, context: Any) -> Union[LocalFolder, HadoopFolder]:
    """Spark takes a path without a scheme for one of the driver's machine."""
    parts = urllib.parse.urlsplit(setting)
    if parts.scheme == "file":
        return LocalFolder(urllib.request.url2pathname(parts.path))
    if len(parts.scheme) < 2:  # none, or the drive of a path of Windows
        return LocalFolder(setting)
    return HadoopFolder(setting.rstrip("/"), context._jvm, context._jsc.hadoopConfiguration())


# --- a rolling log as one file ------------------------------------------------------------------------


class Joined(io.RawIOBase):
    """Bytes and the beginnings of files, (path, bytes), read as if they were one file; can be read again."""

    def __init__(self, name: str, parts: List[Union[bytes, Tuple[str, int]]]) -> None:
        self.name, self._parts = name, parts
        self._starts, self._position, self._end = [], 0, 0
        for part in parts:
            self._starts.append(self._end)
            self._end += len(part) if isinstance(part, bytes) else part[1]
        self._open: Tuple[int, Optional[io.BufferedReader]] = (-1, None)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._position = offset + (0, self._position, self._end)[whence]
        return self._position

    def _file(self, index: int, path: str) -> io.BufferedReader:
        at, file = self._open
        if at != index or file is None:
            if file is not None:
                file.close()
            file = open(path, "rb")
            self._open = (index, file)
        return file

    def readinto(self, buffer: Any) -> int:
        if self._position >= self._end:
            return 0
        index = bisect.bisect_right(self._starts, self._position) - 1
        part, within = self._parts[index], self._position - self._starts[index]
        if isinstance(part, bytes):
            piece = part[within:within + len(buffer)]
        else:
            file = self._file(index, part[0])
            file.seek(within)
            piece = file.read(min(len(buffer), part[1] - within))
        buffer[:len(piece)] = piece
        self._position += len(piece)
        return len(piece)

    def close(self) -> None:
        if self._open[1] is not None:
            self._open[1].close()
        super().close()


def tar_of(folder: str) -> Joined:
    """The parts of a rolling log as a tar, which is made while it is read. As long as they were when it was begun."""
    parts: List[Union[bytes, Tuple[str, int]]] = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        size = os.path.getsize(path)
        if not name.startswith("events_") or size == 0:
            continue
        entry = tarfile.TarInfo("%s/%s" % (os.path.basename(folder), name))
        entry.size = size
        parts += [entry.tobuf(tarfile.PAX_FORMAT), (path, size), bytes(-size % tarfile.BLOCKSIZE)]
    if not parts:
        raise LogMissing("the folder %s has no events yet" % folder)
    return Joined(os.path.basename(folder), [*parts, bytes(2 * tarfile.BLOCKSIZE)])


# --- of a session -------------------------------------------------------------------------------------


def _attempt(conf: Dict[str, str], context: Any) -> Optional[str]:
    if conf.get("spark.app.attempt.id"):
        return conf["spark.app.attempt.id"]
    try:  # Spark before 3.2 has it in the JVM only
        found = context._jsc.sc().applicationAttemptId()
        return str(found.get()) if found.isDefined() else None
    except Exception:
        return None


def _file_name(text: str) -> str:
    """As Spark writes an id into the name of a file."""
    return re.sub(r"[.${}'\"]", "_", re.sub(r"[ :/]", "-", text)).lower()


def _names(base: str, conf: Dict[str, str]) -> List[str]:
    """Names that the log may have, the likeliest first: versions of Spark differ in what they do unless configured."""
    rolling = "eventlog_v2_" + base
    codec = conf.get("spark.eventLog.compression.codec", "").rsplit(".", 1)[-1].lower()
    codecs = sorted(CODECS, key=lambda known: not codec.startswith(known))
    single = [base + "." + known for known in codecs]
    single = [base, *single] if conf.get("spark.eventLog.compress", "").lower() == "false" else [*single, base]
    finished = [*single, rolling] if conf.get("spark.eventLog.rolling.enabled", "").lower() == "false" else [rolling, *single]
    return finished + [name + IN_PROGRESS for name in single]


class SessionLog:
    """Of a session that runs. enabled: whether it writes one at all."""

    def __init__(self, context: Any) -> None:
        conf = dict(context.getConf().getAll())
        self.enabled = conf.get("spark.eventLog.enabled", "").strip().lower() == "true"
        self.application_id = str(context.applicationId)
        self.application_name = conf.get("spark.app.name")
        attempt = _attempt(conf, context)
        self._base = _file_name(self.application_id) + ("_" + _file_name(attempt) if attempt else "")
        self._names = _names(self._base, conf)
        self._folder = _folder(conf.get("spark.eventLog.dir") or DEFAULT_FOLDER, context) if self.enabled else None

    @property
    def folder(self) -> str:
        """spark.eventLog.dir, as messages have it."""
        return self._folder.shown if self._folder is not None else ""

    @contextlib.contextmanager
    def content(self) -> Iterator[Source]:
        """What Client.ingest takes. The log as far as it goes, while the session runs."""
        if self._folder is None:
            raise LogMissing("the session writes no event log")
        name = next((name for name in self._names if self._folder.holds(name)), None)
        if name is None:
            raise LogMissing("no event log of %s is in %s" % (self._base, self._folder.shown))
        with self._folder.local(name) as path:
            if not os.path.isdir(path):
                yield path
                return
            with contextlib.closing(tar_of(path)) as joined:
                yield joined

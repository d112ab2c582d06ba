"""One connection to the service. http.client reads the replies; what is here beside that is what it lacks: one deadline
for the whole of a reply, a reply that comes before the request is sent, and errors that say whether another attempt helps.
A parser of our own gained nothing for stored advice, where the service's work dominates (0.75 of what wrk gets, and 0.76
with http.client), and only something for dry runs (0.70 and 0.55).

A reply is read to its end before the connection may be used again. Nothing here repeats a request or knows a token.
"""
from __future__ import annotations

import base64
import http.client
import io
import select
import socket
import ssl
import time
import urllib.parse
import urllib.request
from typing import Any, Callable, Dict, Iterable, Iterator, NamedTuple, NoReturn, Optional, Union

PIECE_BYTES = 65536


class Broken(Exception):
    """No reply came, or only a part of it.

    sent       whether any of the request may have reached the service
    lasting    whether another attempt would end the same way (a certificate that is not accepted)
    """

    def __init__(self, message: str, sent: bool, timed_out: bool = False, lasting: bool = False) -> None:
        super().__init__(message)
        self.sent, self.timed_out, self.lasting = sent, timed_out, lasting


class Patience:
    """How long to wait: for all that is to come together, or for each piece of it (`each`)."""

    __slots__ = ("seconds", "end")

    def __init__(self, seconds: float, each: bool = False) -> None:
        self.seconds, self.end = seconds, None if each else time.monotonic() + seconds

    def left(self) -> float:
        """Seconds for the next wait; never 0, which would mean not to wait at all."""
        return self.seconds if self.end is None else max(0.001, self.end - time.monotonic())


class Endpoint(NamedTuple):
    """Where the service is, and the way there."""

    url: str
    host: str
    port: int
    prefix: str  # of all paths
    authority: str  # for the header Host
    tls: Optional[ssl.SSLContext]
    proxy: Optional[str]  # URL of a proxy


def endpoint(url: str, tls: Optional[ssl.SSLContext]) -> Endpoint:
    """url: as settings.check_url gives it. Proxies are those of the environment."""
    parts = urllib.parse.urlsplit(url)
    host = parts.hostname or ""
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy and urllib.request.proxy_bypass(host):
        proxy = None
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return Endpoint(url, host, port, parts.path, parts.netloc, tls if parts.scheme == "https" else None, proxy)


class Head(NamedTuple):
    status: int
    headers: Dict[str, str]  # names in lower case
    keep: bool  # whether the connection stays open, and may be used again if it is quiet() then
    body: http.client.HTTPResponse


class _Wire(io.RawIOBase):
    """What arrives on a socket. patience: how long each read may wait; None: not at all."""

    def __init__(self, source: socket.socket) -> None:
        self.socket, self.ended = source, False
        self.patience: Optional[Patience] = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        self.socket.settimeout(0 if self.patience is None else self.patience.left())
        try:
            size = self.socket.recv_into(buffer)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return None
        self.ended = size == 0
        return size


class _Reader(io.BufferedReader):
    """Stays open from reply to reply, although http.client closes it after each."""

    def makefile(self, mode: str) -> _Reader:
        """What http.client asks of a socket."""
        return self

    def close(self) -> None:
        pass


class Connection:
    def __init__(self, to: Endpoint, patience: Patience) -> None:
        self.idle_since = 0.0
        try:
            self._connect(to, patience)
        except ssl.SSLCertVerificationError as error:
            raise Broken("the certificate of %s is not accepted: %s" % (to.authority, error.verify_message), False, lasting=True) from None
        except socket.timeout:
            raise Broken("%s cannot be reached in time" % to.authority, False, timed_out=True) from None
        except OSError as error:
            raise Broken("%s cannot be reached: %s" % (to.authority, error.strerror or error), False) from None

    # --- the way there ---

    def _use(self, made: socket.socket) -> None:
        self._socket, self._wire = made, _Wire(made)
        self._reader = _Reader(self._wire, PIECE_BYTES)

    def _connect(self, to: Endpoint, patience: Patience) -> None:
        host, port, authorization = to.host, to.port, ""
        if to.proxy:
            proxy = urllib.parse.urlsplit(to.proxy if "//" in to.proxy else "//" + to.proxy)
            host, port = proxy.hostname or "", proxy.port or 3128
            if proxy.username is not None:
                user = "%s:%s" % (urllib.parse.unquote(proxy.username), urllib.parse.unquote(proxy.password or ""))
                authorization = "Proxy-Authorization: Basic %s\r\n" % base64.b64encode(user.encode()).decode()
        made = socket.create_connection((host, port), timeout=patience.left())
        try:
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._use(made)
            if to.tls is not None:
                if to.proxy:
                    self._tunnel(to, authorization, patience)
                made.settimeout(patience.left())
                self._use(to.tls.wrap_socket(made, server_hostname=to.host))
        except BaseException:
            made.close()
            raise

    def _tunnel(self, to: Endpoint, authorization: str, patience: Patience) -> None:
        name = "[%s]" % to.host if ":" in to.host else to.host
        lines = "CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\n%s\r\n" % (name, to.port, name, to.port, authorization)
        self._socket.sendall(lines.encode("latin-1"))
        head = self.read_head(patience)
        if not 200 <= head.status < 300 or not self.quiet():
            raise Broken("the proxy answers %d for %s" % (head.status, to.authority), False)

    # --- a request ---

    def close(self) -> None:
        self._socket.close()

    def quiet(self) -> bool:
        """Whether nothing has arrived that is not read: no bytes, and not the end of the connection."""
        self._wire.patience = None
        try:
            return not self._reader.peek(1) and not self._wire.ended
        except OSError:
            return False

    def _wait(self, seconds: float) -> bool:
        """Wait until there is something to read or room to write; False: neither in this time."""
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(self._socket, select.POLLIN | select.POLLOUT)
            return bool(poll.poll(seconds * 1000))
        found = select.select([self._socket], [self._socket], [], seconds)
        return bool(found[0] or found[1])

    def send(self, head: Callable[[], bytes], body: Union[bytes, Iterable[bytes]], chunked: bool, patience: Patience) -> bool:
        """Write it all; False: the reply came before all was sent, or the other side reads no more. Then the connection is
        good for that reply alone. head: makes the bytes, which hold the token, where no frame keeps them."""
        if isinstance(body, bytes):
            small = body
            return self._write(lambda: head() + small, patience)
        if not self._write(head, patience):
            return False
        for piece in body:  # what reading it raises is no failure of the connection
            if not self._write_unless_answered(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece, patience):
                return False
        return not chunked or self._write(lambda: b"0\r\n\r\n", patience)

    def _write_unless_answered(self, piece: bytes, patience: Patience) -> bool:
        """Write a piece of a body; False as soon as a reply comes. Who sends one may have stopped to read."""
        left = memoryview(piece)
        try:
            while left:
                if not self.quiet():
                    return False
                self._socket.settimeout(0)
                try:
                    left = left[self._socket.send(left):]
                except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    if not self._wait(patience.left()):
                        raise socket.timeout from None
        except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
            return False
        except OSError as error:
            self._broken(error)
        return True

    def _write(self, made: Callable[[], bytes], patience: Patience) -> bool:
        try:
            self._socket.settimeout(patience.left())
            self._socket.sendall(made())
        except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
            return False
        except OSError as error:
            self._broken(error)
        return True

    # --- a reply ---

    def _broken(self, error: Exception) -> NoReturn:
        if isinstance(error, socket.timeout):
            raise Broken("no reply in time", True, timed_out=True) from None
        if isinstance(error, http.client.RemoteDisconnected):
            raise Broken("the connection was closed without a reply", True) from None
        if isinstance(error, OSError):
            raise Broken("the connection broke: %s" % (error.strerror or error), True) from None
        if self._wire.ended:
            raise Broken("the reply was cut", True) from None
        raise Broken("what answers is no HTTP", True, lasting=True) from None

    def read_head(self, patience: Patience) -> Head:
        self._wire.patience = patience
        while True:
            found = http.client.HTTPResponse(self._reader)  # type: ignore[arg-type]
            try:
                found.begin()
            except (OSError, ValueError, http.client.HTTPException) as error:
                self._broken(error)
            if self._wire.ended:  # which http.client takes for the end of the head
                raise Broken("the reply was cut", True)
            if found.status >= 200:
                return _head(found)

    def read_all(self, head: Head, patience: Patience) -> bytes:
        return b"".join(self.pieces(head, patience))

    def pieces(self, head: Head, patience: Patience) -> Iterator[bytes]:
        """The body as it comes; Broken when it ends too early."""
        body = head.body
        read = body.read1 if body.length is None else body.read
        self._wire.patience = patience
        try:
            while True:
                piece = read(PIECE_BYTES)
                if not piece:
                    break
                yield piece
        except (OSError, ValueError, http.client.HTTPException) as error:
            self._broken(error)
        if body.length:
            raise Broken("the reply was cut", True)


def _head(found: http.client.HTTPResponse) -> Head:
    """Stricter than http.client about where the reply ends."""
    headers: Dict[str, str] = {}
    for name, value in found.headers.raw_items():
        name = name.lower()
        headers[name] = headers[name] + ", " + value if name in headers else value
    coding, length = headers.get("transfer-encoding", "chunked"), headers.get("content-length", "0")
    if coding.strip().lower() != "chunked":
        raise Broken("the reply has the transfer coding %.40s" % coding, True, lasting=True)
    if found.headers.defects or not length.isascii() or not length.isdigit() or len(length) > 18:
        raise Broken("what answers is no HTTP", True, lasting=True)
    return Head(found.status, headers, not found.will_close, found)

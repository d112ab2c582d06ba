"""HTTP/1.1 over one connection: as much of it as a client of one service needs, in less time than http.client takes.

A reply is read to its end before the connection may be used again. Nothing here repeats a request or knows a token.
"""
from __future__ import annotations

import base64
import select
import socket
import ssl
import time
import urllib.parse
import urllib.request
from typing import Callable, Dict, Iterable, Iterator, NamedTuple, NoReturn, Optional, Tuple, Union

HEAD_BYTES_MAX = 65536
LINE_BYTES_MAX = 1024
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
    keep: bool  # whether the connection stays open


class Connection:
    def __init__(self, to: Endpoint, patience: Patience) -> None:
        self._buffer = b""
        self.idle_since = 0.0
        try:
            self._socket = self._connect(to, patience)
        except ssl.SSLCertVerificationError as error:
            raise Broken("the certificate of %s is not accepted: %s" % (to.authority, error.verify_message), False, lasting=True) from None
        except socket.timeout:
            raise Broken("%s cannot be reached in time" % to.authority, False, timed_out=True) from None
        except OSError as error:
            raise Broken("%s cannot be reached: %s" % (to.authority, error.strerror or error), False) from None

    # --- the way there ---

    def _connect(self, to: Endpoint, patience: Patience) -> socket.socket:
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
            if to.tls is None:
                return made
            if to.proxy:
                self._tunnel(made, to, authorization, patience)
            made.settimeout(patience.left())
            return to.tls.wrap_socket(made, server_hostname=to.host)
        except BaseException:
            made.close()
            raise

    def _tunnel(self, made: socket.socket, to: Endpoint, authorization: str, patience: Patience) -> None:
        name = "[%s]" % to.host if ":" in to.host else to.host
        self._socket = made
        made.sendall(("CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\n%s\r\n" % (name, to.port, name, to.port, authorization)).encode("latin-1"))
        head = self.read_head(patience)
        if not 200 <= head.status < 300 or self._buffer:
            raise Broken("the proxy answers %d for %s" % (head.status, to.authority), False)

    # --- bytes ---

    def close(self) -> None:
        self._socket.close()

    def quiet(self) -> bool:
        """Whether nothing came while the connection was not used: neither its end nor what nobody asked for."""
        return not self._buffer and not self._arrived()

    def _ready(self, write: bool, seconds: float) -> bool:
        """Wait until there is something to read or, where asked for, room to write; False: not in this time."""
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(self._socket, select.POLLIN | (select.POLLOUT if write else 0))
            return bool(poll.poll(seconds * 1000))
        found = select.select([self._socket], [self._socket] if write else [], [], seconds)
        return bool(found[0] or found[1])

    def _arrived(self) -> bool:
        """Whether there is something to read already (tickets of TLS are no such thing), or the end."""
        pending = getattr(self._socket, "pending", None)
        if not self._ready(False, 0) and not (pending and pending()):
            return False
        self._socket.settimeout(0)
        try:
            more = self._socket.recv(PIECE_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        except OSError:
            return True
        self._buffer += more
        return True

    def _broken(self, error: BaseException) -> NoReturn:
        if isinstance(error, socket.timeout):
            raise Broken("no reply in time", True, timed_out=True) from None
        raise Broken("the connection broke: %s" % (getattr(error, "strerror", None) or error), True) from None

    def _more(self, patience: Patience) -> bool:
        """Read what comes next into the buffer; False: the end."""
        try:
            self._socket.settimeout(patience.left())
            more = self._socket.recv(PIECE_BYTES)
        except OSError as error:
            self._broken(error)
        self._buffer = self._buffer + more if self._buffer else more
        return bool(more)

    # --- a request ---

    def send(self, head: Callable[[], bytes], body: Union[bytes, Iterable[bytes]], chunked: bool, patience: Patience) -> bool:
        """Write it all; False: the reply came before all was sent, or the other side reads no more. Then the connection is
        good for that reply alone. head: makes the bytes, which hold the token, where no frame keeps them."""
        if isinstance(body, bytes):
            small = body
            return self._write(lambda: head() + small, patience)
        if not self._write(head, patience):
            return False
        for piece in body:  # what reading it raises is no failure of the connection
            if not self._write_or_hear(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece, patience):
                return False
        return not chunked or self._write(lambda: b"0\r\n\r\n", patience)

    def _write_or_hear(self, piece: bytes, patience: Patience) -> bool:
        """Write a piece of a body; False as soon as a reply comes. Who sends one may have stopped to read."""
        left = memoryview(piece)
        try:
            while left:
                if self._arrived():
                    return False
                self._socket.settimeout(0)
                try:
                    left = left[self._socket.send(left):]
                except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    if not self._ready(True, patience.left()):
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

    def read_head(self, patience: Patience) -> Head:
        while True:
            end = self._buffer.find(b"\r\n\r\n")
            if end >= 0:
                text, self._buffer = self._buffer[:end].decode("latin-1"), self._buffer[end + 4:]
                head = _parse_head(text)
                if head.status >= 200:
                    return head
            elif len(self._buffer) > HEAD_BYTES_MAX:
                raise Broken("what answers is no HTTP", True, lasting=True)
            elif not self._more(patience):
                raise Broken("the connection was closed without a reply", True)

    def read_all(self, head: Head, patience: Patience) -> Tuple[bytes, bool]:
        """The body, and whether the connection may be used again."""
        length = head.headers.get("content-length")
        if length is None or "transfer-encoding" in head.headers or head.status in (204, 304):
            body = b"".join(self.pieces(head, patience))
        else:
            size = _size(length)
            while len(self._buffer) < size:
                if len(self._buffer) > PIECE_BYTES:  # many pieces: joined once
                    body = b"".join(self._counted(size, patience))
                    break
                if not self._more(patience):
                    raise Broken("the reply was cut", True)
            else:
                body, self._buffer = self._buffer[:size], self._buffer[size:]
        return body, self.reusable(head)

    def reusable(self, head: Head) -> bool:
        """After a reply was read to its end."""
        return head.keep and not self._buffer

    def pieces(self, head: Head, patience: Patience) -> Iterator[bytes]:
        """The body as it comes; Broken when it ends too early."""
        coding, length = head.headers.get("transfer-encoding"), head.headers.get("content-length")
        if head.status in (204, 304):
            return iter(())
        if coding is not None:
            if coding.strip().lower() != "chunked":
                raise Broken("the reply has the transfer coding %.40s" % coding, True, lasting=True)
            return self._chunks(patience)
        return self._counted(_size(length), patience) if length is not None else self._until_closed(patience)

    def _counted(self, left: int, patience: Patience) -> Iterator[bytes]:
        while left:
            if not self._buffer and not self._more(patience):
                raise Broken("the reply was cut", True)
            piece, self._buffer = self._buffer[:left], self._buffer[left:]
            left -= len(piece)
            yield piece

    def _until_closed(self, patience: Patience) -> Iterator[bytes]:
        while self._buffer or self._more(patience):
            piece, self._buffer = self._buffer, b""
            yield piece

    def _chunks(self, patience: Patience) -> Iterator[bytes]:
        while True:
            line = self._line(patience).split(b";")[0].strip()
            try:
                size = int(line, 16) if line.isalnum() else -1
            except ValueError:
                size = -1
            if size < 0:
                raise Broken("the reply is no HTTP", True, lasting=True)
            if size == 0:
                while self._line(patience):
                    pass
                return
            yield from self._counted(size, patience)
            if self._line(patience):
                raise Broken("the reply is no HTTP", True, lasting=True)

    def _line(self, patience: Patience) -> bytes:
        while True:
            end = self._buffer.find(b"\r\n")
            if end >= 0:
                line, self._buffer = self._buffer[:end], self._buffer[end + 2:]
                return line
            if len(self._buffer) > LINE_BYTES_MAX:
                raise Broken("the reply is no HTTP", True, lasting=True)
            if not self._more(patience):
                raise Broken("the reply was cut", True)


def _size(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise Broken("the reply is no HTTP", True, lasting=True)
    return int(text)


def _parse_head(text: str) -> Head:
    lines = text.split("\r\n")
    first = lines[0]
    if not first.startswith("HTTP/1.") or not first[9:12].isdigit() or first[8:9] != " ":
        raise Broken("what answers is no HTTP", True, lasting=True)
    headers: Dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        name = name.lower()
        if not colon:
            raise Broken("what answers is no HTTP", True, lasting=True)
        value = value.strip()
        headers[name] = headers[name] + ", " + value if name in headers else value
    connection = headers.get("connection", "").lower()
    keep = "close" not in connection and (first[7] != "0" or "keep-alive" in connection)
    return Head(int(first[9:12]), headers, keep)

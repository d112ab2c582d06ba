"""Requests to one service: a pool of connections that all threads share, and another try where that does no harm.

Another try is made
    of every request   that the service turned away without carrying it out (429, or 503 with Retry-After),
    of those that can be repeated (GET, PUT and DELETE, what only computes, what has an Idempotency-Key)
                       after 502, 503, 504 and when the connection broke or no reply came in time.
A wait is drawn between 0 and 0.2 s, and twice as much after each attempt, on top of Retry-After; more than 30 s are not
waited. Redirects are not followed: the token is for one URL.
"""
from __future__ import annotations

import json
import logging
import os
import random
import time
import warnings
from typing import Any, Callable, Deque, Dict, Iterable, Iterator, List, NamedTuple, NoReturn, Optional, Tuple, Union
from collections import deque

from .connection import Broken, Connection, Endpoint, Head, Patience
from .errors import ApiError, ConnectionFailed, InvalidReply, TimedOut, TokenWarning, api_error
from .secret import Secret

log = logging.getLogger("provisor")

IDLE_MAX = 16  # connections that are kept
IDLE_S_MAX = 60.0  # the service closes them after 75
FIRST_WAIT_S = 0.2
WAIT_S_MAX = 30.0
LINE_MAX = 1 << 28  # bytes of a line of a stream


class Request(NamedTuple):
    method: str
    target: str  # path and query, behind the URL's own path
    repeatable: bool  # may be made twice
    secured: bool  # takes the token
    headers: Tuple[Tuple[str, str], ...] = ()
    body: Optional[Union[bytes, "Body"]] = None
    wait_s: float = 0.0  # how long the service was asked to hold the reply
    silence_s: float = 0.0  # how long a stream may be silent, where that is longer than the timeout

    @property
    def name(self) -> str:
        """As messages have it."""
        return "%s %s" % (self.method, self.target.partition("?")[0])


class Body:
    """A body that is sent in pieces. length: None where it is not known; again: whether pieces() can be called again."""

    length: Optional[int] = None
    again = True

    def pieces(self) -> Iterable[bytes]:
        raise NotImplementedError


class Answer(NamedTuple):
    status: int
    headers: Dict[str, str]
    body: bytes
    attempts: int


class Stream:
    """A reply that is read as it comes. Closed when it is at its end, by close(), or as a context."""

    def __init__(self, transport: Transport, connection: Connection, head: Head, patience: Patience, where: str) -> None:
        self.status, self.headers, self.where = head.status, head.headers, where
        self._transport, self._connection, self._head, self._patience = transport, connection, head, patience
        self._done = False

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._connection.pieces(self._head, self._patience)
        except Broken as error:
            self.close()
            _fail(self.where, error)
        if not self._done:
            self._done = True
            self._transport.release(self._connection, self._head.keep)

    def groups(self) -> Iterator[List[bytes]]:
        """Lines without their ends, as many together as came together."""
        rest: List[bytes] = []
        size = 0
        for piece in self:
            if b"\n" in piece:
                rest.append(piece)
                *lines, last = b"".join(rest).split(b"\n")
                rest, size = [last] if last else [], len(last)
                yield lines
            else:
                rest.append(piece)
                size += len(piece)
                if size > LINE_MAX:
                    raise InvalidReply("a line of the reply is longer than %d bytes: is the URL right?" % LINE_MAX)
        if rest:
            yield [b"".join(rest)]

    def lines(self) -> Iterator[bytes]:
        """Lines without their ends."""
        for group in self.groups():
            yield from group

    def close(self) -> None:
        if not self._done:
            self._done = True
            self._connection.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


class Transport:
    """May be used by several threads, and after a fork."""

    def __init__(self, to: Endpoint, token: Optional[Secret], timeout_s: float, retries: int, user_agent: str,
                 sleep: Callable[[float], None] = time.sleep) -> None:
        self.to, self.timeout_s, self.retries = to, timeout_s, retries
        self.sleep = sleep
        self._idle: Deque[Connection] = deque()
        self._process, self._closed, self._warned = os.getpid(), False, False
        common = "Host: %s\r\nUser-Agent: %s\r\n" % (to.authority, user_agent)
        self._token, self._plain = token, Secret(common)
        self._secured = Secret(common + ("Authorization: Bearer %s\r\n" % token.reveal() if token else ""))
        self._prefix = (to.url[: len(to.url) - len(to.prefix)] if to.proxy and to.tls is None else "") + to.prefix

    # --- connections ---

    def _take(self, patience: Patience) -> Connection:
        """One that is not in use, or a new one."""
        if self._process != os.getpid():  # the parent's, which goes on using them
            self._idle, self._process = deque(), os.getpid()
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return Connection(self.to, patience)
            if time.monotonic() - connection.idle_since < IDLE_S_MAX and connection.quiet():
                return connection
            connection.close()

    def release(self, connection: Connection, reusable: bool) -> None:
        if not reusable or self._closed or len(self._idle) >= IDLE_MAX:
            connection.close()
            return
        connection.idle_since = time.monotonic()
        self._idle.append(connection)

    def close(self) -> None:
        """Close what is not in use; further requests make new connections, which are not kept."""
        self._closed = True
        while True:
            try:
                self._idle.pop().close()
            except IndexError:
                return

    # --- one attempt ---

    def _head(self, request: Request) -> bytes:
        """The bytes before the body. They hold the token, so nobody keeps them in a variable (tracebacks may show those)."""
        lines = "".join("%s: %s\r\n" % header for header in request.headers)
        body = request.body
        if isinstance(body, bytes):
            lines += "Content-Length: %d\r\n" % len(body)
        elif body is not None:
            lines += "Transfer-Encoding: chunked\r\n" if body.length is None else "Content-Length: %d\r\n" % body.length
        elif request.method in ("POST", "PUT", "PATCH"):
            lines += "Content-Length: 0\r\n"
        return "".join((request.method, " ", self._prefix, request.target, " HTTP/1.1\r\n",
                        (self._secured if request.secured else self._plain).reveal(), lines, "\r\n")).encode("latin-1")

    def _begin(self, request: Request, connection: Connection, patience: Patience) -> Tuple[Head, bool]:
        """Send it and read the head of the reply; whether the connection is sound after that."""
        body = request.body
        if body is None or isinstance(body, bytes):
            sound = connection.send(lambda: self._head(request), body or b"", False, patience)
        else:
            sound = connection.send(lambda: self._head(request), body.pieces(), body.length is None, Patience(self.timeout_s, each=True))
            patience = Patience(self.timeout_s + request.wait_s)
        return connection.read_head(patience), sound

    def _attempt(self, request: Request) -> Tuple[Head, bytes]:
        patience = Patience(self.timeout_s + request.wait_s)
        connection = self._take(patience)
        try:
            head, sound = self._begin(request, connection, patience)
            if not isinstance(request.body, (bytes, type(None))):
                patience = Patience(self.timeout_s)
            body = connection.read_all(head, patience)
        except BaseException:
            connection.close()
            raise
        self.release(connection, head.keep and sound)
        return head, body

    def _attempt_stream(self, request: Request) -> Tuple[Head, Stream]:
        patience = Patience(self.timeout_s, each=True)
        connection = self._take(patience)
        try:
            head, _ = self._begin(request, connection, patience)
        except BaseException:
            connection.close()
            raise
        patience = Patience(max(self.timeout_s, request.silence_s), each=True)
        return head, Stream(self, connection, head, patience, self._where(request))

    # --- all attempts ---

    def _where(self, request: Request) -> str:
        return "%s of %s" % (request.name, self.to.url)

    def exchange(self, request: Request) -> Answer:
        """The reply, whatever its status. ConnectionFailed if none came."""
        (head, body), attempts = self._tried(request, self._attempt)
        self._warn_of_token_end(head.headers.get("provisor-token-expires"))
        return Answer(head.status, head.headers, body, attempts)

    def _warn_of_token_end(self, instant: Optional[str]) -> None:
        """Once for each client."""
        if instant and not self._warned:
            self._warned = True
            warnings.warn_explicit("the token of provisor ends at %s: renew it before then" % instant, TokenWarning, "provisor", 0)

    def open(self, request: Request) -> Stream:
        """A reply of success that is read as it comes; ApiError for any other."""
        found, _ = self._tried(request, self._attempt_stream)
        head: Head = found[0]
        stream: Stream = found[1]
        if head.status >= 300:
            body = b"".join(stream)
            self.refuse(request, Answer(head.status, head.headers, body, 1))
        return stream

    def _tried(self, request: Request, attempt: Callable[[Request], Any]) -> Tuple[Any, int]:
        again = not isinstance(request.body, Body) or request.body.again
        number = 0
        while True:
            number += 1
            wait: Optional[float] = None
            try:
                found = attempt(request)
                head = found[0]
                if head.status < 429 and not (head.status == 409 and number > 1) or not again:
                    return found, number
                wait = self._wait(number, _retry_after(head.headers)) if _worth_it(request, head, number) else None
                if wait is None:
                    return found, number
                if isinstance(found[1], Stream):
                    found[1].close()
                reason = "answers %d" % head.status
            except Broken as error:
                if not error.lasting and again and (request.repeatable or not error.sent):
                    wait = self._wait(number, 0.0)
                if wait is None:
                    _fail(self._where(request), error)
                reason = str(error)
            log.info("%s: %s; again in %.1f s", self._where(request), reason, wait)
            self.sleep(wait)

    def _wait(self, attempt: int, retry_after_s: float) -> Optional[float]:
        """Seconds until the next attempt; None: there is none."""
        if attempt > self.retries or retry_after_s > WAIT_S_MAX:
            return None
        ceiling = min(WAIT_S_MAX, FIRST_WAIT_S * 2.0 ** (attempt - 1))
        return min(WAIT_S_MAX, retry_after_s + ceiling * random.random())

    # --- what a reply means ---

    def refuse(self, request: Request, answer: Answer) -> NoReturn:
        raise self.error_of(request, answer)

    def error_of(self, request: Request, answer: Answer) -> ApiError:
        problem: Any = None
        if "json" in answer.headers.get("content-type", ""):
            # A proxy may repeat what it was sent, in its words for people.
            token = self._token.reveal().encode() if self._token is not None else b""
            try:
                problem = json.loads(answer.body.replace(token, b"(the token)") if token else answer.body)
            except (ValueError, RecursionError):
                pass
        return api_error(self._where(request), answer.status, problem if isinstance(problem, dict) else None, answer.headers)

    def json(self, request: Request, answer: Answer) -> Any:
        try:
            return json.loads(str(answer.body, "utf-8"))
        except (ValueError, RecursionError):  # the latter: lists within lists without end
            raise InvalidReply("%s answers with something that is no JSON: is the URL right?" % self._where(request)) from None

    def __repr__(self) -> str:
        return "Transport(%r)" % self.to.url


def _worth_it(request: Request, head: Head, attempt: int) -> bool:
    """Whether the same request may get another reply, and may be made again."""
    if head.status == 429:
        return True
    if head.status == 503 and "retry-after" in head.headers and "json" in head.headers.get("content-type", ""):
        return True
    if head.status == 409:  # the first attempt, whose connection broke, may be under way still
        return attempt > 1 and "retry-after" in head.headers and request.repeatable
    return head.status in (502, 503, 504) and request.repeatable


def _retry_after(headers: Dict[str, str]) -> float:
    """Seconds that the header asks for; a date is not what the service sends, and counts as nothing."""
    text = headers.get("retry-after", "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0.0


def _fail(where: str, error: Broken) -> NoReturn:
    kind = TimedOut if error.timed_out else ConnectionFailed
    raise kind("%s: %s" % (where, error), error.sent) from None

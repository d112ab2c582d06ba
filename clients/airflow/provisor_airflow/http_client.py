"""HTTP to the service: one call, tried again where that does no harm. Only the standard library is needed.

Errors are distinguished by what a caller can do about them: the service cannot be reached (ProvisorUnavailable: passes
by itself, so a job need not stop for it), or it rejects the call (ProvisorRefused: a wrong token, an invalid request, an
untrusted certificate), which lasts until somebody changes something.
"""
from __future__ import annotations

import email.utils
import http.client
import json
import logging
import random
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Callable, Mapping, NamedTuple

log = logging.getLogger(__name__)

TRIED_AGAIN = (408, 429, 502, 503, 504)
BODY_BYTES_MAX = 16 << 20
FIRST_WAIT_S = 0.5
MOST_WAIT_S = 30.0


class ProvisorError(Exception):
    """What a call ended with in place of a reply."""


class ProvisorUnavailable(ProvisorError):
    """The service cannot be reached, is overloaded, or failed by itself; retry_after_s: what it asks for, if it does."""

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ProvisorRefused(ProvisorError):
    """The service, or this side, refuses; status is None where no reply came."""

    def __init__(self, message: str, status: int | None = None, errors: list[Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.errors = errors or []


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: Any


def retry_after_s(headers: Mapping[str, str] | None) -> float | None:
    """The header Retry-After as seconds from now: a number, or a date of HTTP."""
    text = (headers.get("Retry-After") if headers else None) or ""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The token goes to the address that it was given for, and nowhere else."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Client:
    """Calls of one service with one token; may be used from several threads.

    timeout_s   for connecting, and for each wait for bytes
    patience_s  for a call as a whole: no further attempt begins after it
    """

    def __init__(
        self,
        base_url: str,
        token: str | None,
        *,
        context: ssl.SSLContext | None = None,
        timeout_s: float = 30.0,
        patience_s: float = 90.0,
        attempts: int = 5,
        user_agent: str = "provisor-airflow",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urllib.parse.urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise ProvisorRefused("the address of the service must be http(s)://host[:port], without user and query")
        # Checked here: http.client would quote it in its exception.
        token = (token or "").strip()
        if not token or not all(0x20 < ord(c) < 0x7F for c in token):
            raise ProvisorRefused("there is no token of provisor, or it has characters that no token has")
        self.base_url = base_url.rstrip("/")
        self._token = token
        self._timeout_s, self._patience_s, self._attempts = timeout_s, patience_s, attempts
        self._user_agent, self._sleep = user_agent, sleep
        self._warned = False
        self._opener = urllib.request.build_opener(
            _NoRedirects, urllib.request.HTTPSHandler(context=context or ssl.create_default_context())
        )

    def __repr__(self) -> str:
        return "Client(%r)" % self.base_url

    def get(self, path: str, **query: str) -> Reply:
        return self._call("GET", path + ("?" + urllib.parse.urlencode(query) if query else ""), None, {})

    def post(self, path: str, body: Any, key: str | None = None) -> Reply:
        """key: the Idempotency-Key, by which the service knows an attempt from another question."""
        return self._call("POST", path, body, {"Idempotency-Key": '"%s"' % (key or uuid.uuid4())})

    def _call(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Reply:
        end = time.monotonic() + self._patience_s
        for attempt in range(1, self._attempts + 1):
            try:
                return self._attempt(method, path, body, headers)
            except _Passing as passing:
                failure, wait = passing.error, passing.error.retry_after_s
            if wait is None:
                wait = min(MOST_WAIT_S, FIRST_WAIT_S * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0)
            if attempt == self._attempts or time.monotonic() + wait > end:
                raise failure
            log.info("%s; again in %.1f s", failure, wait)
            self._sleep(wait)
        raise AssertionError("unreachable")

    def _attempt(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Reply:
        request = urllib.request.Request(self.base_url + path, method=method)
        for name, value in {"Accept": "application/json", "User-Agent": self._user_agent, **headers}.items():
            request.add_header(name, value)
        request.add_unredirected_header("Authorization", "Bearer " + self._token)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        where = "%s of %s" % (path.partition("?")[0], self.base_url)
        try:
            with self._opener.open(request, timeout=self._timeout_s) as response:
                self._warn_of_token_end(response.headers.get("Provisor-Token-Expires"))
                return Reply(response.status, response.headers, _read_json(response, where))
        except urllib.error.HTTPError as error:
            with error:
                raise _failure_of(error, where) from None
        except ssl.SSLCertVerificationError as error:
            raise ProvisorRefused("%s: the certificate is not accepted: %s" % (where, error.verify_message)) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, ssl.SSLCertVerificationError):
                message = "%s: the certificate is not accepted: %s" % (where, reason.verify_message)
                raise ProvisorRefused(message) from None
            if type(reason) is ssl.SSLError:  # its subclasses are connections that ended
                message = "%s: the server speaks no TLS that this side understands: %s" % (where, reason.reason or reason)
                raise ProvisorRefused(message) from None
            raise _Passing(ProvisorUnavailable("%s cannot be reached: %s" % (where, reason or type(error).__name__))) from None


    def _warn_of_token_end(self, instant: str | None) -> None:
        """Once for each client."""
        if instant and not self._warned:
            self._warned = True
            log.warning("the token of provisor ends at %s: put a new one into the connection before then", instant)


class _Passing(Exception):
    """A failure after which the same call may be tried again."""

    def __init__(self, error: ProvisorUnavailable) -> None:
        super().__init__(str(error))
        self.error = error


def _read_json(response: Any, where: str) -> Any:
    content = response.read(BODY_BYTES_MAX + 1)
    if len(content) <= BODY_BYTES_MAX and getattr(response, "length", None):
        raise _Passing(ProvisorUnavailable("%s: the reply was cut" % where))
    try:
        if len(content) > BODY_BYTES_MAX:
            raise ValueError
        return json.loads(content) if content else None
    except ValueError:
        raise ProvisorRefused("%s answers with something that is no JSON: is the address right?" % where, response.status) from None


def _failure_of(error: urllib.error.HTTPError, where: str) -> Exception:
    """What a reply with an error means."""
    detail, errors = "", []
    try:
        problem = json.loads(error.read(65536))
        detail, errors = str(problem.get("detail") or problem.get("title") or ""), problem.get("errors") or []
        places = [str(fault.get("pointer") or fault.get("parameter") or "") for fault in errors]
        detail += " (%s)" % ", ".join(place for place in places if place) if any(places) else ""
    except (ValueError, TypeError, AttributeError, OSError, http.client.HTTPException):
        pass
    message = "%s answers %d%s" % (where, error.code, ": " + detail if detail else "")
    if error.code in TRIED_AGAIN:
        return _Passing(ProvisorUnavailable(message, retry_after_s(error.headers)))
    if error.code >= 500:
        return ProvisorUnavailable(message)
    return ProvisorRefused(message, error.code, errors if isinstance(errors, list) else [])

"""What can go wrong, by what a caller can do about it.

    ProvisorError
        ConfigurationError     the URL, the token or a file of the configuration is wrong
        ConnectionFailed       no reply came: the service is away, or the connection broke
            TimedOut           ... in time
        InvalidReply           something answers that is not provisor (the page of a proxy)
        NotModified            if_none_match: the version that one has is the current one
        OperationEnded         work that was waited for did not succeed
            OperationFailed, OperationCancelled
        ApiError               the service refuses; status, problem and errors say why
            BadRequest (400), Unauthorized (401), Forbidden (403), NotFound (404), Conflict (409), Gone (410),
            PreconditionFailed (412), TooLarge (413), UnsupportedMediaType (415), Invalid (422), TooManyRequests (429),
            ServerError (5xx)
                Unavailable (502, 503, 504)
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Type

from .record import Record, Reply, class_of

if TYPE_CHECKING:
    from . import schemas


class ProvisorError(Exception):
    """Base of all of them."""


class TokenWarning(UserWarning):
    """The token of the client ends soon."""


class ConfigurationError(ProvisorError):
    """The URL, the token or a file of the configuration is wrong."""


class ConnectionFailed(ProvisorError):
    """No reply came. sent: whether the service may have carried out the request."""

    def __init__(self, message: str, sent: bool = False) -> None:
        super().__init__(message)
        self.sent = sent

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (str(self), self.sent)


class TimedOut(ConnectionFailed):
    """No reply came in time."""


class InvalidReply(ProvisorError):
    """Something answers that is not provisor."""


class NotModified(ProvisorError):
    """The version that one has is the current one."""


class OperationEnded(ProvisorError):
    """Work that was waited for did not succeed; operation says why."""

    def __init__(self, message: str, operation: Record) -> None:
        super().__init__(message)
        self.operation: Any = operation

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (str(self), self.operation)


class OperationFailed(OperationEnded):
    """It failed."""


class OperationCancelled(OperationEnded):
    """It was cancelled."""


class ApiError(ProvisorError):
    """The service refuses."""

    def __init__(self, request: str, status: int, body: Optional[Dict[str, Any]], headers: Optional[Dict[str, str]] = None) -> None:
        self._made_of = (request, status, body, headers)
        self.request, self.status = request, status
        self.reply = Reply(status, headers or {})
        self.problem: Optional[schemas.Problem] = class_of("Problem").from_json(body, self.reply) if body is not None else None
        super().__init__(self._message())

    @property
    def errors(self) -> List[schemas.ProblemError]:
        """Each fault with its place: a JSON Pointer into the body, a parameter or a header field."""
        found = self.problem.errors if self.problem is not None else None
        return found if isinstance(found, list) else []

    @property
    def pointers(self) -> List[str]:
        """The JSON Pointers of the faults."""
        return [error.pointer for error in self.errors if error.pointer is not None]

    @property
    def code(self) -> str:
        """The stable word for the kind of problem, such as `invalid`; empty where no problem came."""
        kind = self.problem.to_dict().get("type") if self.problem is not None else None
        return kind.rsplit("/", 1)[-1] if isinstance(kind, str) else ""

    def _message(self) -> str:
        said = self.problem.to_dict() if self.problem is not None else {}
        text = "%s answers %d" % (self.request, self.status)
        detail = said.get("detail") or said.get("title")
        text += ": %s" % detail if detail else ""
        for error in said.get("errors") or []:
            if isinstance(error, dict):
                place = error.get("pointer") if error.get("pointer") is not None else error.get("parameter") or error.get("header")
                text += "\n  %s: %s" % (place, error.get("detail"))
        return text + ("\n  request id: %s" % said["request_id"] if said.get("request_id") else "")

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), self._made_of


class BadRequest(ApiError):
    """Not HTTP or JSON as it should be, a broken parameter, a cursor of something else."""


class Unauthorized(ApiError):
    """No token, or one that is unknown, expired or revoked."""


class Forbidden(ApiError):
    """The token lacks the scope."""


class NotFound(ApiError):
    """It does not exist in the team of the token."""


class Conflict(ApiError):
    """It exists already, or conflicts with what exists."""


class Gone(ApiError):
    """It existed, and its result is no longer kept."""


class PreconditionFailed(ApiError):
    """The resource has another version than if_match."""


class TooLarge(ApiError):
    """The body is larger than allowed."""


class UnsupportedMediaType(ApiError):
    """The media type or content coding of the body is not supported."""


class Invalid(ApiError):
    """Well-formed but wrong; errors names the places."""


class TooManyRequests(ApiError):
    """The team has as many as it may have at once, after all retries."""


class ServerError(ApiError):
    """The service failed by itself."""


class Unavailable(ServerError):
    """Not just now, after all retries."""


_BY_STATUS: Dict[int, Type[ApiError]] = {
    400: BadRequest, 401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict, 410: Gone, 412: PreconditionFailed,
    413: TooLarge, 415: UnsupportedMediaType, 422: Invalid, 429: TooManyRequests, 502: Unavailable, 503: Unavailable, 504: Unavailable,
}


def api_error(request: str, status: int, body: Optional[Dict[str, Any]], headers: Dict[str, str]) -> ApiError:
    """The exception for a reply that is no success."""
    kind = _BY_STATUS.get(status, ServerError if status >= 500 else ApiError)
    return kind(request, status, body, headers)

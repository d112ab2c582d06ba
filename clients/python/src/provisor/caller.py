"""What the methods of all calls have in common: from parameters to a request, and from a reply to what it means."""
from __future__ import annotations

import math
import uuid
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from .encode import json_bytes, query_text, query_value, segment
from .errors import InvalidReply, NotModified
from .pages import Pages
from .record import Reply, class_of
from .transport import Answer, Body, Request, Transport


class Call(NamedTuple):
    """A call of the contract. repeat: "always", "key" (with an Idempotency-Key) or "never"."""

    operation: str
    method: str
    template: str
    repeat: str
    secured: bool

    def target(self, path: Tuple[str, ...]) -> str:
        """The path with its parameters filled in."""
        if not path:
            return self.template
        parts = self.template.replace("}", "{").split("{")
        parts[1::2] = map(segment, path)
        return "".join(parts)


class Caller:
    """Base of the generated methods."""

    _transport: Transport

    def _request(self, call: Call, *, path: Tuple[str, ...] = (), query: Optional[Mapping[str, Any]] = None,
                 repeated: Optional[Mapping[str, Any]] = None, body: Any = None, accept: str = "application/json",
                 content_type: str = "application/json", idempotency_key: Optional[str] = None, if_match: Optional[str] = None,
                 if_none_match: Optional[str] = None, wait_s: Optional[float] = None,
                 more_headers: Tuple[Tuple[str, str], ...] = ()) -> Request:
        headers: List[Tuple[str, str]] = [("Accept", accept), *more_headers]
        repeatable = call.repeat == "always"
        if call.repeat == "key" and idempotency_key is None and query and query.get("dry_run"):
            repeatable = True  # nothing is stored, and so no key either
        elif call.repeat == "key":
            headers.append(("Idempotency-Key", '"%s"' % _value(idempotency_key or str(uuid.uuid4()))))
            repeatable = True
        elif if_match is not None or (if_none_match is not None and call.method == "PUT"):
            repeatable = False  # repeated after it was carried out, it would fail: the version has changed
        if if_match is not None:
            headers.append(("If-Match", _value(if_match)))
        if if_none_match is not None:
            headers.append(("If-None-Match", _value(if_none_match)))
        if wait_s is not None:
            headers.append(("Prefer", "wait=%d" % math.ceil(wait_s)))
        if body is not None and not isinstance(body, (bytes, Body)):
            body = json_bytes(body)
        if body is not None:
            headers.append(("Content-Type", content_type))
        target = call.target(path)
        if query or repeated:
            target += query_text(query or {}, repeated or {})
        return Request(call.method, target, repeatable, call.secured, tuple(headers), body, wait_s or 0.0)

    def _exchange(self, request: Request) -> Answer:
        """The reply of success; every other one is an exception."""
        answer = self._transport.exchange(request)
        if answer.status == 304:
            raise NotModified("%s: the version that you have is the current one" % request.name)
        if answer.status >= 300:
            self._transport.refuse(request, answer)
        return answer

    def _object(self, request: Request, answer: Answer) -> Dict[str, Any]:
        raw = self._transport.json(request, answer)
        if not isinstance(raw, dict):
            raise InvalidReply("%s answers with something else than an object: is the URL right?" % request.name)
        return raw

    def _one(self, call: Call, kind: Optional[str], **request: Any) -> Any:
        """An object; a dict where kind is None."""
        made = self._request(call, **request)
        answer = self._exchange(made)
        raw = self._object(made, answer)
        return raw if kind is None else class_of(kind).from_json(raw, Reply(answer.status, answer.headers, self))

    def _none(self, call: Call, **request: Any) -> None:
        made = self._request(call, **request)
        answer = self._transport.exchange(made)
        # Gone is what was wanted, if an attempt whose reply was lost did it.
        if answer.status >= 300 and not (call.method == "DELETE" and answer.status == 404 and answer.attempts > 1):
            self._transport.refuse(made, answer)

    def _text(self, call: Call, **request: Any) -> str:
        return self._exchange(self._request(call, accept="*/*", **request)).body.decode("utf-8", "replace")

    def _pages(self, call: Call, kind: str, *, limit: Optional[int], cursor: Optional[str], page_size: Optional[int],
               query: Optional[Mapping[str, Any]] = None, **request: Any) -> Pages[Any]:
        if limit is not None and limit < 0:
            raise ValueError("limit is less than 0")

        def fetch(cursor: Optional[str], size: Optional[int]) -> Dict[str, Any]:
            made = self._request(call, query={**(query or {}), "limit": size, "cursor": cursor}, **request)
            return self._object(made, self._exchange(made))

        fields = (query or {}).get("fields")
        return Pages(fetch, lambda raw: class_of(kind).from_json(raw) if isinstance(raw, dict) else raw, limit, cursor, page_size,
                     kind, None if fields is None else query_value(fields).split(","))


def _value(text: str) -> str:
    """A value of a header field: no line may end in it."""
    if not text.isascii() or not text.isprintable():
        raise ValueError("a header field holds a character that it cannot")
    return text

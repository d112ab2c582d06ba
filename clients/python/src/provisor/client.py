"""The client: the calls of the contract, and what goes beyond one request and one reply of JSON."""
from __future__ import annotations

import datetime
import os
import ssl
import sys
import tempfile
import time
import urllib.parse
from typing import TYPE_CHECKING, Any, Iterable, Iterator, List, Mapping, NoReturn, Optional, Union

from .calls import CALLS, Calls
from .connection import endpoint
from .encode import json_bytes, plain
from .errors import ConfigurationError, InvalidReply
from .events import follow
from .exports import ExportedRuns
from .progress import Progress, Shown, progress_of
from .record import Record
from .replays import ReplayedDecisions
from .settings import read_settings
from .transport import Transport
from .uploads import Source, Upload
from .version import __version__

if TYPE_CHECKING:
    from . import requests, results, schemas

NDJSON = "application/x-ndjson"
HOLD_S = 2.0
SILENCE_S = 60.0  # a stream of events has a comment every 15 s at least
Instant = Union[datetime.datetime, str]
Labels = Union[str, Mapping[str, str], Iterable[str]]


class Client(Calls):
    """A service and the token with which it is asked. May be shared by threads; connections are kept open for further
    calls and closed by close(), or at the end of a `with`.

    Without arguments it asks the service that the command line client asks: by the environment (PROVISOR_URL,
    PROVISOR_TOKEN or PROVISOR_TOKEN_FILE, PROVISOR_PROFILE, PROVISOR_CA_FILE), else by what `provisor login` stored.

    - url: where the service is
    - token: the bearer token; better left to the environment than written into a notebook
    - profile: the section of the configuration files
    - timeout: seconds for one attempt of a request, what it uploads aside; 60 unless the profile says otherwise
    - ca_file: certificates to trust instead of the system's
    - retries: how often a request is repeated when the service is overloaded or away, and no harm is in it; 4 unless the
      profile says otherwise
    - user_agent: put in front of the name of this package
    - progress: whether uploads and waiting show how far they are, unless the call itself specifies it
    """

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, *, profile: Optional[str] = None,
                 timeout: Optional[float] = None, ca_file: Union[str, os.PathLike[str], None] = None, retries: Optional[int] = None,
                 user_agent: Optional[str] = None, progress: Shown = None) -> None:
        settings = read_settings(url, token, profile, os.fspath(ca_file) if ca_file else None, timeout, retries)
        if not settings.timeout_s > 0 or settings.retries < 0:
            raise ConfigurationError("timeout is to be greater than 0, and retries 0 or more")
        agent = "provisor-python/%s Python/%d.%d" % (__version__, *sys.version_info[:2])
        agent = "%s %s" % (user_agent, agent) if user_agent else agent
        if not agent.isascii() or not agent.isprintable():
            raise ConfigurationError("user_agent holds a character that a header field cannot")
        self._progress = progress
        self._transport = Transport(endpoint(settings.url, _tls(settings.url, settings.ca_file)), settings.token, settings.timeout_s,
                                    settings.retries, agent)

    @property
    def url(self) -> str:
        """Where the service is."""
        return self._transport.to.url

    def close(self) -> None:
        """Close the connections. The client can still be used, with a new connection for each call."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return "Client(%r)" % self.url

    def __reduce__(self) -> NoReturn:
        raise TypeError("a client cannot be pickled, for it holds a token: make one in each process")

    # --- event logs and runs ---

    def ingest(self, application: str, log: Source, *, problem_size: Optional[float] = None, executors: Optional[int] = None,
               cores_per_executor: Optional[int] = None, advice_id: Optional[str] = None, label: Optional[Labels] = None,
               idempotency_key: Optional[str] = None, progress: Shown = None) -> schemas.Run:
        """Send the event log of a run, which is stored; the run's reply.log_outcome says whether it was new.

        - log: the path of a file, a file opened for bytes, bytes or an iterable of bytes; compressed or not
        - problem_size, executors, cores_per_executor: what the log does not record
        - advice_id: the advice that the run followed
        - progress: see Client
        """
        return self._ingest("ingestEventLog", (application,), log, progress, idempotency_key, label, problem_size=problem_size,
                            executors=executors, cores_per_executor=cores_per_executor, advice_id=advice_id)

    def ingest_named(self, log: Source, *, problem_size: Optional[float] = None, executors: Optional[int] = None,
                     cores_per_executor: Optional[int] = None, advice_id: Optional[str] = None, label: Optional[Labels] = None,
                     idempotency_key: Optional[str] = None, progress: Shown = None) -> schemas.Run:
        """As ingest, for the application that the log names, by the team's rules for names."""
        return self._ingest("ingestNamedEventLog", (), log, progress, idempotency_key, label, problem_size=problem_size,
                            executors=executors, cores_per_executor=cores_per_executor, advice_id=advice_id)

    def _ingest(self, operation: str, path: Any, log: Source, progress: Shown, idempotency_key: Optional[str], label: Optional[Labels],
                **query: Any) -> schemas.Run:
        source = _title(log)
        named = () if source == NAMELESS else (("X-Log-Source", urllib.parse.quote(source, safe="")),)
        found: schemas.Run = self._upload(operation, "Run", log, progress, content_type="application/octet-stream", path=path, query=query,
                                          repeated={"label": label}, idempotency_key=idempotency_key, more_headers=named)
        return found

    def _upload(self, operation: str, kind: str, source: Source, shown: Shown, **request: Any) -> Any:
        progress = progress_of(self._progress if shown is None else shown, _title(source))
        try:
            return self._one(CALLS[operation], kind, body=Upload(source, progress), **request)
        finally:
            progress.end()

    def import_runs(self, application: str, runs: Union[Source, Iterable[Union[requests.RunRecord, Record]]], *,
                    idempotency_key: Optional[str] = None, progress: Shown = None) -> schemas.ImportOutcome:
        """Store runs that were exported, or that another program wrote.

        - runs: NDJSON, as a source of ingest; or an iterable of runs, which are written as such
        """
        found: schemas.ImportOutcome = self._upload("importRuns", "ImportOutcome", _lines_of(runs), progress, content_type=NDJSON,
                                                    path=(application,), idempotency_key=idempotency_key)
        return found

    def export_runs(self, application: str, *, label: Optional[Labels] = None, since: Optional[Instant] = None,
                    until: Optional[Instant] = None) -> ExportedRuns:
        """All runs with all that is known of them, oldest first, as they arrive: they need not fit into memory. An iterator,
        whose to_frame() makes a data frame of them instead.

        - label: `key:value`, or a mapping; all must match
        - since, until: started at this instant or later, and before that one
        """
        return ExportedRuns(self._exported(application, label, since, until))

    def export_lines(self, application: str, *, label: Optional[Labels] = None, since: Optional[Instant] = None,
                     until: Optional[Instant] = None) -> Iterator[bytes]:
        """As export_runs, each run as a line of JSON without its end."""
        for lines in self._exported(application, label, since, until):
            yield from lines

    def _exported(self, application: str, label: Optional[Labels], since: Optional[Instant],
                  until: Optional[Instant]) -> Iterator[List[bytes]]:
        request = self._request(CALLS["exportRuns"], path=(application,), query={"since": since, "until": until}, repeated={"label": label},
                                accept=NDJSON)
        with self._transport.open(request) as stream:
            for group in stream.groups():
                lines = [line for line in group if line]
                if lines:
                    yield lines

    def export_to_file(self, application: str, file: Union[str, os.PathLike[str]], *, label: Optional[Labels] = None,
                       since: Optional[Instant] = None, until: Optional[Instant] = None) -> int:
        """As export_runs, into a file of NDJSON, which is there when all of it is there; how many runs they are."""
        count, path = 0, os.fspath(file)
        handle, beside = tempfile.mkstemp(prefix=os.path.basename(path) + ".", dir=os.path.dirname(path) or ".")
        try:
            with open(handle, "wb") as out:
                for line in self.export_lines(application, label=label, since=since, until=until):
                    out.write(line + b"\n")
                    count += 1
            os.replace(beside, path)
        except BaseException:
            os.unlink(beside)
            raise
        return count

    # --- workloads ---

    def create_workload(self, trace: Source, format: str, *, name: Optional[str] = None, map_bytes: Optional[float] = None,
                        reduce_bytes: Optional[float] = None, map_bytes_per_s: Optional[float] = None,
                        shuffle_bytes_per_s: Optional[float] = None, output_bytes_per_s: Optional[float] = None,
                        task_overhead_s: Optional[float] = None, idempotency_key: Optional[str] = None,
                        progress: Shown = None) -> schemas.Workload:
        """Store a trace of jobs for simulations, read from a file while it is sent.

        - trace: the path of a file, a file opened for reading bytes, bytes, or an iterable of bytes; plain or compressed
        - format: pigeon, swim, google_2011, google_2019 or provisor
        - name: for people; need not be unique
        - map_bytes and those that follow: how tasks and durations follow from the bytes of a trace of SWIM
        """
        query = {"format": format, "name": name, "map_bytes": map_bytes, "reduce_bytes": reduce_bytes, "map_bytes_per_s": map_bytes_per_s,
                 "shuffle_bytes_per_s": shuffle_bytes_per_s, "output_bytes_per_s": output_bytes_per_s, "task_overhead_s": task_overhead_s}
        found: schemas.Workload = self._upload("createWorkload", "Workload", trace, progress, content_type="application/octet-stream",
                                               query=query, idempotency_key=idempotency_key)
        return found

    def workload_from_runs(self, applications: Iterable[str], *, since: Optional[Instant] = None, until: Optional[Instant] = None,
                           name: Optional[str] = None, idempotency_key: Optional[str] = None) -> schemas.Workload:
        """Store a workload whose jobs are runs of these applications.

        - applications: a list of their names
        - since, until: submitted at this instant or later, and before that one
        - name: of the workload, for people; need not be unique
        """
        if applications is None or isinstance(applications, (str, bytes)):
            raise TypeError("a list of applications is needed, not one text or None: %r" % (applications,))
        body = {"from": "runs", "applications": plain(applications), "since": since, "until": until, "name": name}
        found: schemas.Workload = self._one(CALLS["createWorkload"], "Workload", body=json_bytes(body), content_type="application/json",
                                            idempotency_key=idempotency_key)
        return found

    # --- decisions ---

    def replay_slot_decisions(self, log: Union[Source, Iterable[Union[requests.FreshState, requests.OmoState, Mapping[str, Any]]]], *,
                              lines: Optional[str] = None, include: Optional[Iterable[str]] = None,
                              progress: Shown = None) -> ReplayedDecisions:
        """What each free slot of a log of states should have served, with a summary.

        - log: NDJSON, as a source of ingest, each line a state as slot_decision takes it; or an iterable of states. A state may have
          `taken`, what the scheduler did
        - lines: which the reply has: all, different (from what was taken, or contradicting the line before, and errors) or none
        - include: `figures` for the whole decision of each line, with its figures
        """
        return self._replay("decideSlot", "SlotLogReplyLine", log, lines, include, progress)

    def replay_speculation_decisions(
            self, log: Union[Source, Iterable[Union[requests.EsplashState, requests.LateState, Mapping[str, Any]]]], *,
            lines: Optional[str] = None, include: Optional[Iterable[str]] = None, progress: Shown = None) -> ReplayedDecisions:
        """Which slow task should have had a copy in each state of a log, with a summary.

        - log: NDJSON, as a source of ingest, each line a state as speculation_decision takes it; or an iterable of states. A state may have
          `taken`, which task got a copy
        - lines: which the reply has: all, different (from what was taken, or contradicting the line before, and errors) or none
        - include: `figures` for the whole decision of each line, with its figures
        """
        return self._replay("decideSpeculation", "SpeculationLogReplyLine", log, lines, include, progress)

    def _replay(self, operation: str, kind: str, log: Any, lines: Optional[str],
                include: Optional[Iterable[str]], shown: Shown) -> ReplayedDecisions:
        source = _lines_of(log)
        progress = progress_of(self._progress if shown is None else shown, _title(source))
        request = self._request(CALLS[operation], body=Upload(source, progress), content_type=NDJSON, accept=NDJSON,
                                query={"lines": lines, "include": include})
        try:
            return ReplayedDecisions(kind, self._exchange(request).body)
        finally:
            progress.end()

    # --- prices ---

    def put_price_book_csv(self, price_book: str, csv: Union[str, bytes], *, currency: Optional[str] = None, if_match: Optional[str] = None,
                           if_none_match: Optional[str] = None, idempotency_key: Optional[str] = None) -> schemas.PriceBook:
        """As put_price_book, by CSV with the names of the members as its heading."""
        body = csv.encode() if isinstance(csv, str) else csv
        found: schemas.PriceBook = self._one(CALLS["putPriceBook"], "PriceBook", path=(price_book,), query={"currency": currency},
                                             body=body, content_type="text/csv", if_match=if_match, if_none_match=if_none_match,
                                             idempotency_key=idempotency_key)
        return found

    # --- operations ---

    def operation_events(self, id: str, *, last_event_id: Optional[int] = None) -> Iterator[schemas.OperationEvent]:
        """What becomes of an operation, event by event until its last, with those that were. After a cut the stream
        resumes behind the last event received.

        - last_event_id: only events after this one
        """
        def open_stream(last: Optional[int]) -> Any:
            headers = (("Last-Event-ID", str(last)),) if last is not None else ()
            request = self._request(CALLS["streamOperationEvents"], path=(id,), accept="text/event-stream", more_headers=headers)
            return self._transport.open(request._replace(silence_s=SILENCE_S))

        return follow(open_stream, last_event_id, max(1, self._transport.retries), self._transport.sleep)

    def wait(self, operation: Union[str, results.Operation], *, timeout: Optional[float] = None, progress: Shown = None,
             check: bool = True) -> results.Operation:
        """The operation when it has ended.

        - operation: it, or its id
        - timeout: seconds after which TimeoutError is raised; the operation goes on
        - check: raise OperationFailed or OperationCancelled unless it succeeded
        """
        id = operation if isinstance(operation, str) else operation.id
        if isinstance(operation, str) or not operation.ended:
            self._watch(id, operation if isinstance(operation, str) else operation.kind, timeout, progress)
        ended = self.operation(id)
        if check:
            ended.raise_for_failure()
        return ended

    def _watch(self, id: str, title: str, timeout: Optional[float], shown: Shown) -> None:
        progress = progress_of(self._progress if shown is None else shown, title, "steps")
        end = None if timeout is None else time.monotonic() + timeout
        status = ""
        try:
            if end is not None:
                self._poll(id, end, progress)
                return
            for event in self.operation_events(id):
                status = event.status
                progress.update(event.progress.done, event.progress.total, event.progress.unit)
        finally:
            progress.end(status)

    def _poll(self, id: str, end: float, progress: Progress) -> None:
        """As the stream, by requests that the service holds for a moment, so that the time is kept to."""
        while True:
            left = end - time.monotonic()
            operation = self.operation(id, wait_s=max(0.0, min(HOLD_S, left)))
            progress.update(operation.progress.done, operation.progress.total, operation.progress.unit)
            if operation.ended:
                return
            if time.monotonic() >= end:
                raise TimeoutError("%s %s is still %s" % (operation.kind, id, operation.status))

    # --- health and documents ---

    def documentation_root(self) -> str:
        """Where the documentation begins: a path on the service."""
        return self._location("getDocumentationRoot", ())

    def documentation(self, path: str, *, if_none_match: Optional[str] = None) -> bytes:
        """A page or file of the documentation, such as `glossary/`."""
        request = self._request(CALLS["getDocumentation"], path=("page",), accept="*/*", if_none_match=if_none_match)
        target = CALLS["getDocumentation"].template.replace("{path}", urllib.parse.quote(path.lstrip("/")))
        return self._exchange(request._replace(target=target)).body

    def problem_type(self, name: str) -> str:
        """Where it is explained what a problem means and what one can do: a path on the service."""
        return self._location("getProblemType", (name,))

    def _location(self, operation: str, path: Any) -> str:
        request = self._request(CALLS[operation], path=path, accept="*/*")
        answer = self._transport.exchange(request)
        if not 300 <= answer.status < 400 or "location" not in answer.headers:
            if answer.status >= 400:
                self._transport.refuse(request, answer)
            raise InvalidReply("%s answers %d" % (request.name, answer.status))
        return answer.headers["location"]


def _tls(url: str, ca_file: Optional[str]) -> Optional[ssl.SSLContext]:
    if not url.startswith("https:"):
        return None
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError("the certificates in %s cannot be read: %s" % (ca_file, error.strerror or error)) from None


NAMELESS = "upload"  # a source without a name of its own


def _title(source: Any) -> str:
    """What a bar calls it."""
    if isinstance(source, (str, os.PathLike)):
        return os.path.basename(os.fspath(source))
    name = getattr(source, "name", None)
    return os.path.basename(name) if isinstance(name, str) else NAMELESS


def _lines_of(runs: Any) -> Any:
    """Runs as lines; what is NDJSON already stays as it is."""
    if isinstance(runs, (str, os.PathLike, bytes, bytearray, memoryview)) or hasattr(runs, "read"):
        return runs
    return (run if isinstance(run, bytes) else json_bytes(run) + b"\n" for run in runs)

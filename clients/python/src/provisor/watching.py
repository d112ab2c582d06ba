"""provisor.watch: a PySpark session's own event log is sent when the session ends, and what to change is shown.

The session's stop() is wrapped, so that a `with` block and SparkContext.stop() end in the same place; where nobody calls
it, it is called as Python exits. Nothing that goes wrong here comes out of stop(): it is a warning, after a bounded time.
(The module is not called watch, for that would take the place of the function as soon as it is imported.)
"""
from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import math
import os
import sys
import threading
import warnings
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, TypeVar, Union

from .client import Client
from .errors import Forbidden, ProvisorError
from .session_log import LogMissing, SessionLog, without_secrets
from .session_report import SessionReport, report_on

Show = Union[bool, Callable[[SessionReport], object]]
T = TypeVar("T")

TIMEOUT_S = 60.0
CHECK_S = 5.0
STOP_S = 60.0  # that Spark may take to stop as Python exits, besides what the log takes
LINE_MAX = 400
# What Spark calls sessions that nobody named.
NAMELESS = frozenset(("pyspark-shell", "pysparkshell", "spark shell", "databricks shell"))

EVENT_LOG_OFF = """the Spark application writes no event log, so that nothing can be learnt from it, and spark.eventLog.enabled cannot be \
changed in a running session. Set it where the session is built, after spark.stop() if one runs:
    SparkSession.builder.config("spark.eventLog.enabled", "true").config("spark.eventLog.dir", "file:///tmp/spark-events")
or in spark-defaults.conf. The directory must exist; without spark.eventLog.dir it is /tmp/spark-events."""
CONNECT = """a session of Spark Connect does not say where its event log is, for the driver runs on the server. Send its log from there, \
by `provisor ingest` on the directory of spark.eventLog.dir."""


class WatchWarning(UserWarning):
    """What provisor could not do for a session, which goes on as if it were not watched."""


def _warn(text: str) -> None:
    try:
        warnings.warn_explicit(text, WatchWarning, "provisor", 0)
    except Exception:  # where warnings are errors: not those of a session's end
        with contextlib.suppress(Exception):
            print("provisor: " + text, file=sys.stderr)


def _why(error: BaseException) -> str:
    """Of an exception of Java, the message without its trace."""
    if isinstance(error, (ProvisorError, LogMissing, TimeoutError)):
        return str(error)
    lines = [line.strip(" :") for line in str(error).splitlines() if line.strip() and not line.startswith(("\tat ", "\t..."))]
    return without_secrets("%s: %s" % (type(error).__name__, " ".join(lines)[:LINE_MAX]))


def _bounded(work: Callable[[], T], seconds: float) -> T:
    """What work() returns or raises; TimeoutError after so many seconds, when its thread is left to itself."""
    done: List[T] = []
    failed: List[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="provisor-watch", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # Python 3.12 starts none while it exits; the client has timeouts of its own
        return work()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise TimeoutError("it took more than %g s (timeout_s)" % seconds)
    return done[0]


def _positive(name: str, value: Optional[float]) -> None:
    if value is not None and not (math.isfinite(value) and value > 0):
        raise ValueError("%s is to be greater than 0" % name)


class Watch:
    """A watched session.

    - state: "watching"; then "reported", "failed" or "cancelled"; "off" where there is nothing to watch
    - report: how the run went, and what to change; None before the session ended
    - problem: why the state is "failed" or "off"
    - application, problem_size, deadline_s, labels, advice_id, apply: may be changed until the session ends, by a job that learns
      its problem size on its way, for example
    """

    def __init__(self, session: Any, log: Optional[SessionLog], client: Optional[Client], show: Show, timeout_s: float) -> None:
        self.state, self.problem = "watching", ""
        self.report: Optional[SessionReport] = None
        self.application: Optional[str] = None
        self.problem_size: Optional[float] = None
        self.deadline_s: Optional[float] = None
        self.labels: Optional[Dict[str, str]] = None
        self.advice_id: Optional[str] = None
        self.apply: List[str] = []
        self.show, self.timeout_s = show, timeout_s
        self._session, self._log, self._client = session, log, client
        self._lock, self._depth, self._process = threading.Lock(), 0, os.getpid()
        self._hooks: Dict[int, Any] = {}

    @property
    def application_id(self) -> Optional[str]:
        """Spark's id of the session."""
        return self._log.application_id if self._log is not None else None

    def cancel(self) -> None:
        """Leave the session alone: nothing is sent when it ends."""
        with self._lock:
            if self.state != "watching":
                return
            self.state = "cancelled"
        self._unhook()

    def ingest_now(self) -> SessionReport:
        """Send the log as far as it goes, and report on that; the whole log replaces it when the session ends. After the
        end, send it again, once what failed then is mended. Unlike what is done at the end, this raises what fails."""
        if self._log is None or not self._log.enabled:
            raise ProvisorError(self.problem)
        if self.state == "watching":
            return self._sent(True)
        report = self._sent(False)
        self.state, self.problem, self.report = "reported", "", report
        return report

    def __repr__(self) -> str:
        said = ["application=%r" % self.application] if self.application else []
        said += ["problem=%r" % self.problem] if self.problem else []
        said += ["report=%r" % self.report] if self.report is not None else []
        return "Watch(%s)" % ", ".join([repr(self.application_id), repr(self.state), *said])

    # --- hooks ---

    def _hook(self, context: Any, at_exit: bool) -> None:
        for owner in (self._session, context):
            if id(owner) not in self._hooks:
                self._wrap(owner, context)
        if at_exit:
            atexit.register(self._at_exit)

    def _wrap(self, owner: Any, context: Any) -> None:
        original = owner.stop

        @functools.wraps(original)
        def stop(*arguments: Any, **named: Any) -> Any:
            with self._lock:
                self._depth += 1  # the session's stop() calls the context's
            stopped = False
            try:
                result = original(*arguments, **named)
                stopped = True
                return result
            finally:
                with self._lock:
                    self._depth -= 1
                    outermost = self._depth == 0
                # A stop() that failed may be called again, unless it took the JVM's context down all the same.
                if outermost and (stopped or getattr(context, "_jsc", None) is None):
                    self._ended()

        owner.stop = stop
        self._hooks[id(owner)] = (owner, stop)

    def _unhook(self) -> None:
        for owner, stop in self._hooks.values():
            if vars(owner).get("stop") is stop:  # somebody else may have wrapped it again
                del owner.stop
        self._hooks.clear()
        atexit.unregister(self._at_exit)

    def _at_exit(self) -> None:
        """Nobody stopped the session. Its log has no end before it is stopped."""
        if self.state != "watching" or self._process != os.getpid():  # a child that was forked has no session
            return
        try:
            # stop() sends the log, too, within timeout_s of its own.
            _bounded(self._session.stop, STOP_S + self.timeout_s)
        except Exception as error:
            _warn("the session could not be stopped: %s" % _why(error))

    # --- the end ---

    def _ended(self) -> None:
        with self._lock:
            if self.state != "watching" or self._process != os.getpid():  # the session is that of the parent
                return
            self.state, self.problem = "failed", "it was interrupted"
        try:
            self._unhook()
            report = _bounded(lambda: self._sent(False), self.timeout_s)
        except Exception as error:
            self.problem = _why(error)
            _warn("the run of %s was not reported: %s\nIts event log stays in %s; ingest_now() of the watch, or `provisor ingest`, "
                  "sends it later." % (self.application_id, self.problem, self._log.folder if self._log is not None else "its place"))
            return
        self.state, self.problem, self.report = "reported", "", report
        try:
            self._display(report)
        except Exception as error:
            _warn("the report could not be shown: %s" % _why(error))

    def _asked(self) -> Client:
        return self._client or Client(timeout=self.timeout_s, retries=2)

    def _sent(self, unfinished: bool) -> SessionReport:
        assert self._log is not None
        more: Dict[str, Any] = {"problem_size": self.problem_size, "advice_id": self.advice_id, "label": self.labels}
        client = self._asked()
        try:
            with self._log.content() as content:
                run = client.ingest(self.application, content, **more) if self.application else client.ingest_named(content, **more)
            return report_on(client, run, self.labels, self.deadline_s, unfinished, self.apply)
        finally:
            if client is not self._client:
                client.close()

    def _display(self, report: SessionReport) -> None:
        if callable(self.show):
            self.show(report)
        elif self.show and _notebook():
            importlib.import_module("IPython.display").display(report)
        elif self.show:  # standard output may be what the program is for
            print(report, file=sys.stderr, flush=True)

    def _check(self) -> None:
        """Whether the service will take the log, said while something can be done about it."""
        def ask() -> None:
            client = self._asked()
            try:
                with contextlib.suppress(Forbidden):  # may write and not read
                    list(client.apps(limit=1))
            finally:
                if client is not self._client:
                    client.close()
        try:
            _bounded(ask, min(CHECK_S, self.timeout_s))
        except Exception as error:
            _warn("as things are, the run could not be reported: %s" % _why(error))


def _notebook() -> bool:
    """Whether IPython runs this program."""
    module = sys.modules.get("IPython")
    return module is not None and module.get_ipython() is not None


# --- watch --------------------------------------------------------------------------------------------

_watches: Dict[str, Watch] = {}  # by Spark's id
_latest: List[Watch] = []


def latest() -> Optional[Watch]:
    """The watch that was made last."""
    return _latest[0] if _latest else None


def context_of(session: Any) -> Any:
    """The SparkContext of a session, or of a SparkContext."""
    return session if hasattr(type(session), "applicationId") else session.sparkContext


def _off(session: Any, problem: str, log: Optional[SessionLog] = None) -> Watch:
    watch = Watch(session, log, None, False, TIMEOUT_S)
    watch.state, watch.problem = "off", problem
    _warn(problem)
    return watch


def _new(session: Any, client: Optional[Client], show: Show, at_exit: bool, timeout_s: float) -> Watch:
    if any(kind.__module__.startswith("pyspark.sql.connect") for kind in type(session).__mro__):  # Databricks Connect extends it
        return _off(session, CONNECT)
    try:
        stops = hasattr(session, "stop")
    except Exception:
        stops = True  # what follows says why not
    if not stops:
        raise TypeError("watch() takes a SparkSession or a SparkContext, not %s" % type(session).__name__)
    try:
        context = context_of(session)
        log = SessionLog(context)
    except Exception as error:
        return _off(session, "the SparkSession cannot be watched: it has ended, or does not say where its event log is (%s)" % _why(error))
    known = _watches.get(log.application_id)
    if known is not None and known.state != "cancelled":
        return known
    if not log.enabled:
        return _off(session, EVENT_LOG_OFF, log)
    watch = Watch(session, log, client, show, timeout_s)
    try:
        watch._hook(context, at_exit)
    except Exception as error:
        watch._unhook()
        return _off(session, "stop() of the SparkSession cannot be watched (%s)" % _why(error), log)
    _watches[log.application_id] = watch
    return watch


def watch(spark: Any, client: Optional[Client] = None, application: Optional[str] = None, problem_size: Optional[float] = None,
          deadline_s: Optional[float] = None, labels: Optional[Mapping[str, str]] = None, *, advice_id: Optional[str] = None,
          apply: Optional[Iterable[str]] = None, show: Show = True, at_exit: Optional[bool] = None, timeout_s: float = TIMEOUT_S) -> Watch:
    """When this PySpark session ends, send its event log, and show how the run went and what to change next time.

    The session ends by its stop(), by the end of a `with`, or by the exit of Python. Whatever fails is a WatchWarning.
    Called twice for one session, it returns the same watch, with what the second call specifies.

    - spark: a SparkSession or a SparkContext
    - client: which service to ask; Client() unless specified
    - application: under which to store the run; by default the name of the session, by the team's rules for names
    - problem_size: how much there was to do, if what is measured from the log does not say it
    - deadline_s: for which to advise
    - labels: of the run
    - advice_id: the advice that the session follows
    - apply: kinds of proposals that `report.properties` have: memory, speculation, partitions
    - show: False, or a function that takes the report, instead of showing it in the notebook or on standard error
    - at_exit: whether to stop the session as Python exits, without which its log has no end. By default, except on Databricks,
      where sessions outlive their programs
    - timeout_s: how long the end of the session may be held up
    """
    for name, value in (("problem_size", problem_size), ("deadline_s", deadline_s), ("timeout_s", timeout_s)):
        _positive(name, value)
    if at_exit is None:
        at_exit = "DATABRICKS_RUNTIME_VERSION" not in os.environ
    known = len(_watches)
    made = _new(spark, client, show, at_exit, timeout_s)
    made.application = application or made.application
    made.problem_size = problem_size or made.problem_size
    made.deadline_s = deadline_s or made.deadline_s
    made.labels = dict(labels) if labels is not None else made.labels
    made.advice_id = advice_id or made.advice_id
    made.apply = list(apply) if apply is not None else made.apply
    _latest[:] = [made]
    if len(_watches) != known:
        session_name = made._log.application_name if made._log is not None else None
        if made.application is None and (session_name or "").lower() in NAMELESS:
            _warn("all sessions without a name are one application, %r: specify application=, or name the session, for advice "
                  "about this one alone" % session_name)
        made._check()
    return made

"""%provisor in IPython and notebooks, after `%load_ext provisor`."""
from __future__ import annotations

import importlib
import shlex
from typing import Any, Callable, Dict, List, Optional, Tuple

from .client import Client
from .errors import ProvisorError
from .settings import seconds
from .watching import Watch, latest, watch

# As argparse takes them.
ARGUMENTS: Tuple[Tuple[Tuple[str, ...], Dict[str, Any]], ...] = (
    (("command",), {"nargs": "?", "default": "status", "choices": ("status", "watch", "advise", "speedup"),
                    "help": "watch: report on the session when it ends; advise, speedup: ask about an application; "
                    "without one, how things stand"}),
    (("name",), {"nargs": "?", "help": "the application, for advise and speedup; by default that of the watched session"}),
    (("--application",), {"metavar": "NAME", "help": "the same, for watch"}),
    (("--problem-size",), {"type": float, "metavar": "N", "help": "how much there is to do"}),
    (("--deadline",), {"metavar": "TIME", "help": "seconds, or 1h30m"}),
    (("--label",), {"action": "append", "metavar": "KEY:VALUE", "help": "of the run; for speedup, of the runs looked at; may be repeated"}),
    (("--session",), {"default": "spark", "metavar": "VARIABLE", "help": "the variable that holds the session (spark)"}),
    (("--profile",), {"metavar": "NAME", "help": "the section of the configuration files"}),
)


class Magic:
    """What the magic does, in one shell."""

    def __init__(self, shell: Any, usage_error: Callable[[str], Exception]) -> None:
        self._shell, self._usage_error = shell, usage_error

    # --- commands ---

    def run(self, words: Any, cell: Optional[str]) -> Any:
        if cell is not None and words.command not in ("watch", "status"):
            raise self._usage_error("%%provisor runs a cell and reports on its session: its options are those of watch")
        if cell is not None:
            return self._cell(words, cell)
        if words.command == "watch":
            return self._watch(words)
        if words.command == "status":
            return self._status(words)
        with Client(profile=words.profile) as client:
            if words.command == "advise":
                more = {name: value for name, value in (("problem_size", words.problem_size), ("deadline_s", self._deadline(words)),
                                                        ("labels", self._labels(words))) if value is not None}
                return client.advise(self._name(words), **more)
            return client.speedup(self._name(words), label=words.label, problem_sizes=[words.problem_size] if words.problem_size else None)

    def _watch(self, words: Any) -> Watch:
        session = self._shell.user_ns.get(words.session)
        if session is None:
            raise self._usage_error("there is no session in the variable %s: make it, or name another one by --session" % words.session)
        return watch(session, Client(profile=words.profile) if words.profile else None, words.application or words.name, words.problem_size,
                     self._deadline(words), self._labels(words))

    def _cell(self, words: Any, cell: str) -> Any:
        """Run it, and report on the session so far. A session that it ends has reported by itself."""
        before = self._shell.user_ns.get(words.session)
        if before is not None:
            self._watch(words)
        ran = self._shell.run_cell(cell)
        if not ran.success:
            return None  # the shell has shown why
        if self._shell.user_ns.get(words.session) is not before or before is None:
            self._watch(words)
        watched = latest()
        return watched.ingest_now() if watched is not None and watched.state == "watching" else None

    # --- how things stand ---

    def _status(self, words: Any) -> None:
        print("\n".join([self._service(words), *self._session(words)]))

    def _service(self, words: Any) -> str:
        try:
            with Client(profile=words.profile, timeout=5, retries=0) as client:
                try:
                    list(client.apps(limit=1))
                except ProvisorError as error:
                    return "service: %s\nNext: mend that. `provisor login` in a terminal stores where the service is, and a token." % error
                return "service: %s accepts the token" % client.url
        except ProvisorError as error:
            return "service: %s\nNext: `provisor login` in a terminal." % error

    def _session(self, words: Any) -> List[str]:
        watched = latest()
        if watched is None:
            missing = self._shell.user_ns.get(words.session) is None
            later = ", once there is a session in the variable %s" % words.session if missing else ""
            return ["session: none is watched", "Next: %provisor watch" + later]
        lines = ["session: %s, %s" % (watched.application_id or "unknown", watched.state)]
        if watched.state == "watching":
            lines.append("Next: spark.stop() when the work is done; its log is sent then, and what to change is shown.")
        if watched.problem:
            lines.append(watched.problem)
        if watched.report is not None:
            lines += ["", str(watched.report)]
        return lines

    # --- words ---

    def _name(self, words: Any) -> str:
        watched = latest()
        of_session = (watched.report.application if watched.report is not None else watched.application) if watched is not None else None
        name = words.name or words.application or of_session
        if not name:
            raise self._usage_error("which application? %%provisor %s NAME" % words.command)
        return str(name)

    def _deadline(self, words: Any) -> Optional[float]:
        if words.deadline is None:
            return None
        found = seconds(words.deadline)
        if found is None:
            raise self._usage_error("--deadline is a time, such as 90, 90s or 1h30m")
        return found

    def _labels(self, words: Any) -> Optional[Dict[str, str]]:
        pairs = [text.partition(":") for text in words.label or ()]
        if not all(key and colon for key, colon, _ in pairs):
            raise self._usage_error("--label is KEY:VALUE")
        return {key: value for key, _, value in pairs} or None


def load(shell: Any) -> None:
    """Register the magic with a shell of IPython."""
    arguments = importlib.import_module("IPython.core.magic_arguments")
    usage_error = importlib.import_module("IPython.core.error").UsageError
    magic = Magic(shell, usage_error)

    def provisor(line: str, cell: Optional[str] = None) -> Any:
        """Ask provisor, and watch the PySpark session of this notebook."""
        try:
            words = parser.parse_args(shlex.split(line))
            return magic.run(words, cell)
        except (ProvisorError, ValueError) as error:
            raise usage_error(str(error)) from None  # which IPython shows without a trace

    function: Any = provisor
    for names, how in reversed(ARGUMENTS):
        function = arguments.argument(*names, **how)(function)
    function = arguments.magic_arguments("provisor")(function)
    parser = function.parser
    shell.register_magic_function(function, "line_cell", "provisor")

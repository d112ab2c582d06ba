"""What a session's run says about the next one, as text and as HTML for notebooks."""
from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Dict, List, Literal, NamedTuple, Optional, Sequence, Tuple

from .brief import interval_of_seconds, seconds
from .errors import NotFound, ProvisorError
from .sizes import problem_size_text
from .tables import escaped
from .tables import table as html_table

if TYPE_CHECKING:
    from . import schemas
    from .client import Client

WIDTH = 100
INCLUDE: Sequence[Literal["alternatives", "spark", "data_needed"]] = ("alternatives", "spark", "data_needed")
# Warnings about what the request left to the service: it is that of this run, which is what was meant.
EXPECTED = frozenset(("problem_size_of_latest_run", "labels_of_latest_run", "labels_not_used"))

Rows = List[Sequence[str]]


class Table(NamedTuple):
    """rows: as long as the heads, the first cell of each being its name."""

    title: str
    heads: Sequence[str]
    rows: Rows


class SessionReport:
    """Printed, or shown by a notebook, it says how the run went and what to change next time.

    - run: as it is stored
    - outcome: what became of the log: stored, duplicate or replaced
    - advice, bottlenecks: None where the service did not answer; problems says why
    """

    def __init__(self, run: schemas.Run, advice: Optional[schemas.Advice], bottlenecks: Optional[List[schemas.Bottleneck]],
                 problems: Sequence[str] = (), unfinished: bool = False) -> None:
        self.run, self.advice, self.bottlenecks, self.unfinished = run, advice, bottlenecks, unfinished
        self.problems = list(problems)
        self.outcome: Optional[str] = run.reply.log_outcome if run.reply is not None else None

    @property
    def application(self) -> str:
        """Under which the run is stored."""
        return self.run.application

    @property
    def properties(self) -> Dict[str, str]:
        """Spark properties of the recommendation, for the builder of the next session; empty if there is none, or if no number of
        executors is predicted to meet the deadline. Proposals are not among them, unless `apply` of the watch lists their kind.

        Instances that the advice removes are the initial executors here: a builder cannot unset what another place sets, and more
        than `maxExecutors` would end Spark at its start.
        """
        spark = self.advice.spark if self.advice is not None else None
        if spark is None or (self.advice is not None and self.advice.verdict not in ("met", "at_risk")):
            return {}
        properties, initial = dict(spark.properties), spark.properties.get("spark.dynamicAllocation.initialExecutors")
        if initial is not None and any(c.key == "spark.executor.instances" and c.new is None for c in spark.changes):
            properties["spark.executor.instances"] = initial
        return properties

    # --- what is said ---

    def _lead(self) -> List[str]:
        run = self.run
        text = "This run %s" % ("has taken" if self.unfinished else "took" if run.succeeded else "failed after")
        text += " %s" % _seconds(run.duration_s)
        if run.executors is not None:
            text += " on %s" % _count(run.executors, "executor")
            text += " of %s" % _count(run.cores_per_executor, "core") if run.cores_per_executor is not None else ""
        if run.problem_size is not None:
            text += ", problem size %s" % problem_size_text(run.problem_size, run.problem_size_measured_by)
        return [text + (", and goes on." if self.unfinished else "."), *self._verdict()]

    def _verdict(self) -> List[str]:
        advice = self.advice
        if advice is None:
            return []
        said = [reason.message for reason in advice.reasons[:1]]
        if advice.deadline_s is not None:
            said.insert(0, "Deadline %s: %s." % (_seconds(advice.deadline_s), advice.verdict.replace("_", " ")))
        remedies = advice.remedies
        if remedies is not None and remedies.deadline_s is not None:
            said.append("A deadline of %s could be met with confidence." % _seconds(remedies.deadline_s))
        if remedies is not None and remedies.max_executors is not None:
            said.append("%s would meet the deadline." % _count(remedies.max_executors, "executor"))
        return said

    def _comparison(self) -> Optional[Table]:
        """This run against the recommendation."""
        run = self.run
        if self.advice is None or self.advice.recommendation is None:
            return None
        found = self.advice.recommendation
        rows = [
            ("executors", _number(run.executors), _number(found.executors)),
            ("cores per executor", _number(run.cores_per_executor), _number(found.cores_per_executor)),
            ("duration", _seconds(run.duration_s),
             "%s (%s)" % (_seconds(found.predicted_duration_s), interval_of_seconds(*found.interval_s))),
            ("executor time", _product(run.executors, run.duration_s), _product(found.executors, found.predicted_duration_s)),
        ]
        if found.deadline_probability is not None:
            rows.append(("in time", _in_time(run, self.advice), "with probability %.3g" % found.deadline_probability))
        if found.cost is not None:
            last, pricing = self.advice.last_run, self.advice.pricing
            currency = " " + pricing.currency if pricing is not None and pricing.currency else ""
            cost = last.cost if last is not None and last.run_id == run.id else None
            rows.append(("cost", "unknown" if cost is None else "%.4g%s" % (cost, currency), "%.4g%s" % (found.cost, currency)))
        return Table("This run and the next one", ("", "this run", "next time"), list(rows))

    def _changes(self) -> Optional[Table]:
        spark = self.advice.spark if self.advice is not None else None
        if spark is None or not spark.changes:
            return None
        rows: Rows = [(change.key, "not set" if change.old is None else change.old,
                       "remove" if change.new is None else change.new, change.reason) for change in spark.changes]
        return Table("Spark properties to change", ("property", "was", "next time", "why"), rows)

    def _lost(self) -> Optional[Table]:
        if not self.bottlenecks:
            return None
        rows: Rows = [("" if found.lost_s is None else _seconds(found.lost_s), found.finding.message, found.cure)
                      for found in self.bottlenecks]
        return Table("Where time was lost", ("at most", "what", "what helps"), rows)

    def _notes(self) -> List[str]:
        said = []
        if self.advice is not None:
            spark = self.advice.spark
            if spark is not None and not spark.changes:
                said.append("No Spark property needs to be changed.")
            for proposal in (spark.proposals or []) if spark is not None else []:
                said.append("Proposed, not applied: %s=%s (%s). apply=[\"%s\"] applies it." % (
                    proposal.key, proposal.new, proposal.reason, proposal.kind))
            needed = self.advice.data_needed
            if needed is not None:
                said.append("%s more would make the advice more reliable: %s.%s" % (
                    _count(needed.runs, "run"), needed.why.rstrip("."), _suggested(needed.suggested)))
            said += [warning.message for warning in self.advice.warnings if warning.code not in EXPECTED]
        if self.bottlenecks is not None and not self.bottlenecks:
            said.append("No stage lost time worth speaking of.")
        if not self.unfinished:
            said += [warning.message for warning in self.run.warnings]
        return said + self.problems

    def _title(self) -> str:
        return "provisor: %s" % _plain(self.application)

    # --- as text ---

    def __str__(self) -> str:
        lines = [self._title(), "", *_wrapped(self._lead())]
        comparison, changes, lost = self._comparison(), self._changes(), self._lost()
        if comparison is not None:
            lines += ["", *_columns(comparison)]
        if changes is not None:
            lines += ["", changes.title]
            for key, old, new, why in changes.rows:
                lines += ["  %s: %s -> %s" % (_plain(key), _plain(old), _plain(new)), *_wrapped([why], "      ")]
        if lost is not None:
            lines += ["", lost.title]
            for at_most, what, cure in lost.rows:
                lines += _wrapped(["%s %s" % (what, cure)], "      ", "  at most %s: " % at_most if at_most else "  ")
        notes = self._notes()
        return "\n".join(lines + ([""] + _wrapped(notes) if notes else []))

    def __repr__(self) -> str:
        return "SessionReport(application=%r, run=%r, outcome=%r, verdict=%r)" % (
            self.application, self.run.id, self.outcome, self.advice.verdict if self.advice is not None else None)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """In IPython's terminal."""
        printer.text(str(self))

    # --- as HTML ---

    def _repr_html_(self) -> str:
        tables = [table for table in (self._comparison(), self._changes(), self._lost()) if table is not None]
        parts = ["<p><strong>%s</strong></p>" % escaped(self._title())]
        parts += ["<p>%s</p>" % escaped(text) for text in self._lead()]
        parts += [html_table(*table) for table in tables]
        notes = self._notes()
        if notes:
            parts.append("<ul>%s</ul>" % "".join("<li>%s</li>" % escaped(note) for note in notes))
        return "<div>%s</div>" % "".join(parts)


# --- made of ------------------------------------------------------------------------------------------


def report_on(client: Client, run: schemas.Run, labels: Optional[Dict[str, str]], deadline_s: Optional[float],
              unfinished: bool, apply: Sequence[str] = ()) -> SessionReport:
    """Of a run that was stored. What the service does not answer is among the problems: the run is stored all the same."""
    problems: List[str] = []
    advice: Optional[schemas.Advice] = None
    bottlenecks: Optional[List[schemas.Bottleneck]] = None
    # Changes are to be against this run, even if it failed or a later one is stored already.
    current = {"current": run.spark_properties} if run.spark_properties else None
    more: Dict[str, Any] = {name: value for name, value in (("labels", labels), ("problem_size", run.problem_size),
                                                            ("deadline_s", deadline_s), ("constraints", current),
                                                            ("apply", list(apply))) if value}
    try:
        advice = client.advise(run.application, include=INCLUDE, **more)
    except ProvisorError as error:
        problems.append("There is no advice: %s" % error)
    try:
        found = client.diagnose(run.application, run_id=run.id, fields="bottlenecks").bottlenecks
        bottlenecks = found.items if found is not None and found.run_id == run.id else None
    except NotFound:  # a run without stages has nothing to look for
        pass
    except ProvisorError as error:
        problems.append("The bottlenecks are not known: %s" % error)
    return SessionReport(run, advice, bottlenecks, problems, unfinished)


# --- numbers and lines --------------------------------------------------------------------------------


def _number(value: Optional[float]) -> str:
    return "unknown" if value is None else "%g" % value


def _count(number: int, what: str) -> str:
    return "%d %s%s" % (number, what, "" if number == 1 else "s")


def _seconds(value: Optional[float]) -> str:
    return "an unknown time" if value is None else seconds(value)


def _product(executors: Optional[int], each_s: Optional[float]) -> str:
    return "unknown" if executors is None or each_s is None else _seconds(executors * each_s)


def _in_time(run: schemas.Run, advice: schemas.Advice) -> str:
    if advice.deadline_s is None or run.duration_s is None:
        return "unknown"
    return "yes" if run.succeeded and run.duration_s <= advice.deadline_s else "no"


def _suggested(runs: Sequence[schemas.AdviceDataNeededSuggested]) -> str:
    said = ["%s at problem size %g" % (_count(run.executors, "executor"), run.problem_size) for run in runs]
    return " Most would help: %s." % ", ".join(said) if said else ""


def _plain(text: str) -> str:
    """Names and messages may hold what would steer a terminal."""
    return "".join(c if c.isprintable() else " " for c in text)


def _wrapped(texts: Sequence[str], indent: str = "", first: Optional[str] = None) -> List[str]:
    lines: List[str] = []
    for text in texts:
        lines += textwrap.wrap(_plain(text), WIDTH, initial_indent=indent if first is None else first, subsequent_indent=indent,
                               break_long_words=False, break_on_hyphens=False)
    return lines


def _columns(table: Table) -> List[str]:
    rows: List[Tuple[str, ...]] = [tuple(map(_plain, row)) for row in (table.heads, *table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.heads))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]

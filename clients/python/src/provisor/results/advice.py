"""Advice."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Tuple

from .. import schemas
from ..sizes import problem_size_text
from ..tables import interval, plain_text, sentences, shown, table
from .rows import ends, rows_frame

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from ..plots import Plot


class Advice(schemas.Advice):
    __doc__ = schemas.Advice.__doc__

    def plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """Time against cost of the alternatives, with the recommended executors, the deadline and the last run.

        The cost is in money where a price is known, else the time that executors are held."""
        from ..plots.advice import advice_plot
        return advice_plot(self, ax)

    def to_frame(self) -> pandas.DataFrame:
        """A row for each alternative, fastest first."""
        columns = [("executors", int), ("predicted_duration_s", float), ("low_s", float), ("high_s", float),
                   ("deadline_probability", float), ("cost", float), ("recommended", bool)]
        best = self.recommendation.executors if self.recommendation is not None else None
        return rows_frame(columns, [(a.executors, a.predicted_duration_s, *ends(a.interval_s), a.deadline_probability, a.cost,
                                     a.executors == best) for a in self.alternatives or []])

    def __repr__(self) -> str:
        from ..brief import interval_of_seconds, line, one_line, seconds
        best = _got(self, "recommendation")
        if _got(self, "verdict") is None or best is None or _got(best, "executors") is None:
            return line(self)
        low, high = (_got(best, "interval_s") or [None, None])[:2]
        time = seconds(_got(best, "predicted_duration_s"))
        if low is not None and high is not None:
            time += " (%s)" % interval_of_seconds(low, high)
        count = "%d executor%s" % (best.executors, "" if best.executors == 1 else "s")
        return one_line("Advice", _got(self, "application"), [self.verdict.replace("_", " "), count, time])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """In IPython's terminal: the answer and its reasons. to_dict() has all of it."""
        lines = [_headline(self)] + ["%s: %s" % (name, shown(value)) for name, value in _answer(self)]
        for member in ("reasons", "warnings"):
            lines += ["- " + shown(finding.message) for finding in _got(self, member) or []]
        printer.text("\n".join(plain_text(line) for line in lines))

    def _repr_html_(self) -> str:
        """What `fields` left out is left out here, too."""
        text = table(_headline(self), ["", "value"], _answer(self)) + _said(self, "reasons", "Reasons")
        names = ["executors", "predicted_duration_s", "interval_s", "deadline_probability", "cost"]
        rows = [[interval(value) if name == "interval_s" else value for name, value in ((n, _got(a, n)) for n in names)]
                for a in _got(self, "alternatives") or []]
        if rows:
            text += table("Alternatives", ["executors", "duration (s)", "interval (s)", "in time with probability", "cost"], rows)
        text += _data_needed(self) + _spark(self)
        for name, caption in (("next_experiments", "Runs that would make it more certain"), ("stages", "Quotas of the stages")):
            records = _got(self, name)
            if records:
                from ..tables import records_table
                text += records_table(caption, records)
        scaling = _got(self, "autoscaling")
        if scaling is not None:
            text += scaling._repr_html_()
        return text + _said(self, "warnings", "Warnings")


class Autoscaling(schemas.Autoscaling):
    __doc__ = schemas.Autoscaling.__doc__

    def plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """The executors over time that dynamic allocation holds, beside fixed numbers of them."""
        from ..plots.advice import autoscaling_plot
        return autoscaling_plot(self, ax)

    def to_frame(self) -> pandas.DataFrame:
        """A row for each change of the executors in each case."""
        columns = [("allocation", str), ("at_s", float), ("executors", int)]
        return rows_frame(columns, [(case.allocation, step.at_s, step.executors) for case in self.cases for step in case.timeline])

    def _repr_html_(self) -> str:
        heads = ["allocation", "duration (s)", "in time with probability", "executor time (s)", "cost", "executors on average",
                 "at most", "started", "released"]
        rows = [(c.allocation.replace("_", " "), c.predicted_duration_s, c.deadline_probability, c.executor_s, c.cost, c.mean_executors,
                 c.peak_executors, c.executors_started, c.executors_released) for c in self.cases]
        return table("Fixed executors and dynamic allocation", heads, rows)


def _got(record: Any, name: str) -> Any:
    """A member; None where `fields` left it out."""
    return getattr(record, name, None) if record is not None else None


def _headline(advice: Advice) -> str:
    words = {"met": "the deadline is met", "at_risk": "the deadline is at risk", "missed": "the deadline is missed",
             "unknown": "nothing can be recommended"}
    verdict, executors = _got(advice, "verdict"), _got(_got(advice, "recommendation"), "executors")
    if verdict == "met" and _got(advice, "deadline_s") is None:
        said = "recommended"
    else:
        said = words.get(verdict, shown(verdict))
    name = _got(advice, "application")
    text = "Advice%s: %s" % (" for " + shown(name) if name is not None else "", said)
    return text if executors is None else "%s, %d executor%s" % (text, executors, "" if executors == 1 else "s")


def _size(advice: Advice) -> Optional[str]:
    size = _got(advice, "problem_size")
    return problem_size_text(size, _got(advice, "problem_size_measured_by")) if size is not None else None


def _answer(advice: Advice) -> List[Tuple[str, Any]]:
    best, last, pricing = _got(advice, "recommendation"), _got(advice, "last_run"), _got(advice, "pricing")
    currency = _got(pricing, "currency")
    confidence = _got(advice, "confidence")
    rows = [("verdict", _got(advice, "verdict")), ("recommended executors", _got(best, "executors")),
            ("cores per executor", _got(best, "cores_per_executor")), ("predicted duration (s)", _got(best, "predicted_duration_s")),
            ("%g %% interval (s)" % (100 * confidence) if confidence is not None else "interval (s)", interval(_got(best, "interval_s"))),
            ("in time with probability", _got(best, "deadline_probability")),
            ("cost%s" % (" (%s)" % shown(currency) if currency is not None else ""), _got(best, "cost")),
            ("deadline (s)", _got(advice, "deadline_s")), ("problem size", _size(advice)),
            ("objective", _got(advice, "objective")), ("predicted by", _got(_got(advice, "model"), "kind")),
            ("its leave-one-out error (%)", _got(_got(advice, "model"), "loo_mape_percent")),
            ("executors of the last run", _got(last, "executors")),
            ("change of the duration against it (%)", _got(last, "duration_change_percent")),
            ("change of the cost against it (%)", _got(last, "cost_change_percent"))]
    remedies = _got(advice, "remedies")
    rows += [("a deadline that would be met (s)", _got(remedies, "deadline_s")),
             ("executors that would meet it", _got(remedies, "max_executors")), ("id", _got(advice, "id"))]
    unknown = "recommendation" in advice.__dict__["_raw"] and best is None  # as against left out
    return [(name, value) for name, value in rows if value is not None or (name == "recommended executors" and unknown)]


def _said(advice: Advice, member: str, caption: str) -> str:
    return sentences(caption, [finding.message for finding in _got(advice, member) or []])


def _data_needed(advice: Advice) -> str:
    needed = _got(advice, "data_needed")
    if needed is None:
        return ""
    text = sentences("Data needed: %d more run%s" % (needed.runs, "" if needed.runs == 1 else "s"), [needed.why])
    if needed.suggested:
        text += table("Runs that would help most", ["problem size", "executors"], [(s.problem_size, s.executors) for s in needed.suggested])
    return text


def _spark(advice: Advice) -> str:
    spark = _got(advice, "spark")
    if spark is None:
        return ""
    rows = [(c.key, c.old, c.new, c.reason) for c in spark.changes]
    text = table("Spark properties to change", ["property", "now", "to", "because"], rows) if rows else table(
        "Spark properties, none of which changes", ["property", "value"], list(spark.properties.items()))
    proposals = [(p.key, p.old, p.new, p.reason, p.kind) for p in _got(spark, "proposals") or []]
    if proposals:
        text += table("Proposed, not applied", ["property", "now", "to", "because", "apply"], proposals)
    return text

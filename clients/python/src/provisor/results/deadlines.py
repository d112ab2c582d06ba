"""Deadlines: feasibility, plans of stages, shares of cores, simulations of the control loop."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from .. import schemas
from ..record import Record
from ..tables import members, records_table, table

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from ..plots import Plot


def _reasons(reasons: Iterable[Any]) -> str:
    return table("Why", ["reason", "in words"], [(reason.code, reason.message) for reason in reasons])


def _more_remedies(found: Any) -> str:
    """Those that come with `include=["all_remedies"]`; a row for each change."""
    rows: List[Tuple[Any, ...]] = []
    for part, what in ((found.one_later_deadline, "one later deadline"), (found.later_deadlines, "later deadlines, all of them"),
                       (found.one_later_release, "one later release"), (found.later_releases, "later releases, all of them")):
        for change in part.jobs if part is not None else ():
            rows.append((what, change.job, getattr(change, "release_s", None), change.deadline_s, change.later_s))
    text = table("Or else", ["remedy", "job", "released at (s)", "may take (s)", "later by (s)"], rows) if rows else ""
    out = found.jobs_left_out
    if out is not None and out.jobs:
        proved = "no fewer are enough" if out.exact else "fewer may be enough"
        text += table("Or without these jobs (%s)" % proved, ["job"], [(name,) for name in out.jobs])
    return text


class Feasibility(schemas.Feasibility):
    __doc__ = schemas.Feasibility.__doc__

    def plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """Each job from its release to its completion, with its deadline; with a schedule (`include=["schedule"]`) the tasks on the
        cores below, or the cores in use by job where there are too many cores or tasks to be seen."""
        from ..plots.feasibility import feasibility_plot
        return feasibility_plot(self, ax)

    def cores_plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """The cores in use over time, by job. Needs a schedule (`include=["schedule"]`)."""
        from ..plots.feasibility import cores_plot
        return cores_plot(self, ax)

    def to_frame(self) -> pandas.DataFrame:
        """The jobs."""
        from ..frames import frame_of
        return frame_of("FeasibilityJob", self.jobs)

    def schedule_frame(self) -> pandas.DataFrame:
        """The tasks, with the core and the time of each; none without a schedule (`include=["schedule"]`)."""
        from ..frames import frame_of
        return frame_of("FeasibilitySchedule", self.schedule or ())

    def _repr_html_(self) -> str:
        rows = []
        for job in self.jobs:
            release = job.completion_s - job.execution_s
            rows.append((job.name, release, job.completion_s, release + job.deadline_s, job.execution_s, job.deadline_s,
                         "in time" if job.met else "late", job.deadline_error_percent)
                        + (() if self.memory is None else (job.launched_s,)))
        heads = ["job", "released at (s)", "ends at (s)", "due at (s)", "takes (s)", "may take (s)", "outcome", "off the deadline (%)",
                 *([] if self.memory is None else ["launched at (s)"])]
        text = table("All deadlines are met" if self.feasible else "%d of %d jobs %s late" % (
                         self.metrics.delayed, len(self.jobs), "is" if self.metrics.delayed == 1 else "are"), heads, rows)
        text += _reasons(self.reasons)
        if self.warnings:
            text += table("Warnings", ["warning", "in words"], [(warning.code, warning.message) for warning in self.warnings])
        if self.remedies is not None:
            found = self.remedies
            cores = [("cores in all", found.min_total_cores)] if found.min_total_cores is not None else []
            raised = [("deadline of %s (s)" % name, value) for name, value in found.deadlines_s.items()]
            what = ("Either" if raised else "More cores") + " would meet every deadline" if cores else "These deadlines would all be met"
            text += table("%s%s" % (what, ", as far as was searched" if found.exact is False else ""),
                          ["remedy", "value"], [*cores, *raised])
            text += _more_remedies(found)
        delays = [(job.name, by.job, by.core_s, 100 * by.share) for job in self.jobs for by in job.delayed_by or ()]
        if delays:
            text += table("Core time while late jobs waited", ["late job", "job that ran", "core time (s)", "share (%)"], delays)
        text += table("Metrics", ["metric", "value"], members(self.metrics))
        if self.memory is not None:
            text += table("Memory", ["memory", "value"], members(self.memory))
        return text + (records_table("Schedule", self.schedule) if self.schedule else "")


class StagePlan(schemas.StagePlan):
    __doc__ = schemas.StagePlan.__doc__

    def plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """The stages on the time axis, each from its start to its deadline and as high as its cores."""
        from ..plots.stages import stages_plot
        return stages_plot(self, ax)

    def to_frame(self) -> pandas.DataFrame:
        """The stages."""
        from ..frames import frame_of
        return frame_of("StagePlanStage", self.stages)

    def _repr_html_(self) -> str:
        heads = ["stage", "starts at (s)", "due at (s)", "may take (s)", "estimated cores", "most cores", "first cores of an executor",
                 "weight"]
        rows = [(s.id, s.start_s, s.start_s + s.deadline_s, s.deadline_s,
                 "no number is enough" if s.estimated_cores is None else s.estimated_cores,
                 s.max_allocable_cores, s.initial_cores_per_executor, s.weight) for s in self.stages]
        of = " of %s" % self.application if self.application is not None else ""
        text = table("Stages%s: %s" % (of, "they fit" if self.feasible else "they do not fit"), heads, rows) + _reasons(self.reasons)
        if self.run_id is not None:
            text += table("History", ["member", "value"], [("run", self.run_id), ("stage graph has changed since", self.graph_changed)])
        return text


class Contention(schemas.Contention):
    __doc__ = schemas.Contention.__doc__

    def plot(self, applications: Iterable[Union[Mapping[str, Any], Record]] = (), *, ax: Optional[Axes] = None) -> Plot:
        """The cores of each application.

        - applications: those of the request, whose requests the reply does not repeat; they are drawn beside what is granted"""
        from ..plots.stages import contention_plot
        return contention_plot(self, requests_of(applications), ax)

    def to_frame(self, applications: Iterable[Union[Mapping[str, Any], Record]] = ()) -> pandas.DataFrame:
        """The applications.

        - applications: those of the request, for a column `requested_cores`"""
        from ..frames import frame_of
        made = frame_of("ContentionAllocation", self.allocations)
        requested = requests_of(applications)
        if requested:
            made.insert(1, "requested_cores", made["name"].map(requested).astype(float))
        return made

    def _repr_html_(self) -> str:
        caption = "%g cores are requested%s" % (self.requested_cores, ", more than there are" if self.contention else "")
        rows = [(a.name, a.cores, a.saturating_cores, a.weight) for a in self.allocations]
        return table(caption, ["application", "cores", "cores if all are given away", "weight"], rows) + _reasons(self.reasons)


def requests_of(applications: Iterable[Union[Mapping[str, Any], Record]]) -> Mapping[str, float]:
    """Requested cores by application."""
    found = {}
    for application in applications:
        raw = application.to_dict() if isinstance(application, Record) else application
        found[raw["name"]] = float(raw["requested_cores"])
    return found


class ControlSimulation(schemas.ControlSimulation):
    __doc__ = schemas.ControlSimulation.__doc__

    def plot(self, strategy: Optional[str] = None, gamma: Optional[float] = None, *, application: Optional[str] = None,
             ax: Optional[Axes] = None) -> Plot:
        """The cores of each job over time under one strategy. Without traces (`include=["traces"]`) it is compare_plot.

        - strategy, gamma: which; without them the one that is recommended, or else the best
        - application: only the job of this name"""
        from ..plots.control import compare_plot, cores_over_time
        outcome = self.outcome(strategy, gamma)
        if outcome.traces is None:
            return compare_plot(self, ax)
        return cores_over_time(self, outcome, application, ax)

    def compare_plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """How much of its deadline each job takes, under each strategy and each baseline."""
        from ..plots.control import compare_plot
        return compare_plot(self, ax)

    def penalty_plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """What each strategy and baseline costs: the total penalty, with its least and most over several repetitions, by job.
        ValueError if the request had no penalty."""
        from ..plots.penalties import penalty_plot
        return penalty_plot(self, ax)

    def outcome(self, strategy: Optional[str] = None, gamma: Optional[float] = None) -> schemas.ControlOutcome:
        """That of the strategy and the gamma; of several the one that is recommended, or else the best, or else the first.
        ValueError if there is none."""
        best = self.recommendation or self.best
        found = [outcome for outcome in self.outcomes
                 if strategy in (None, outcome.strategy) and (gamma is None or abs(outcome.gamma - gamma) <= 1e-12)]
        if not found:
            raise ValueError("%s was not simulated%s" % (strategy or "this", "" if gamma is None else " with gamma %g" % gamma))
        return next((outcome for outcome in found if (outcome.strategy, outcome.gamma) == (best.strategy, best.gamma)), found[0])

    def to_frame(self) -> pandas.DataFrame:
        """A row for each job under each strategy, gamma and baseline."""
        from ..frames import frame_of
        rows: List[Tuple[Optional[str], Optional[float], Optional[str], bool, schemas.ControlJobOutcome]] = []
        for outcome in self.outcomes:
            best = (outcome.strategy, outcome.gamma) == (self.best.strategy, self.best.gamma)
            rows += [(outcome.strategy, outcome.gamma, None, best, job) for job in outcome.jobs]
        rows += [(None, None, baseline.baseline, False, job) for baseline in self.baselines for job in baseline.jobs]
        made = frame_of("ControlJobOutcome", [row[-1] for row in rows])
        for place, name in enumerate(("strategy", "gamma", "baseline", "best")):
            made.insert(place, name, [row[place] for row in rows])
        return made.astype({"gamma": float, "best": bool})

    def traces_frame(self, strategy: Optional[str] = None, gamma: Optional[float] = None) -> pandas.DataFrame:
        """A row for each job and interval of time under one strategy, by default the best; none without traces."""
        from ..frames import load_pandas
        traces = self.outcome(strategy, gamma).traces
        columns: Dict[str, List[Any]] = {"name": [], "start_s": [], "requested_cores": [], "granted_cores": []}
        for job in traces.jobs if traces is not None else ():
            assert traces is not None
            columns["name"] += [job.name] * len(job.granted)
            columns["start_s"] += [traces.start_s + traces.step_s * place for place in range(len(job.granted))]
            columns["requested_cores"] += job.requested
            columns["granted_cores"] += job.granted
        return load_pandas().DataFrame(columns).astype({"start_s": float, "requested_cores": float, "granted_cores": float})

    def _repr_html_(self) -> str:
        heads = ["strategy or baseline", "gamma", "jobs in time", "late jobs", "epsilon of the late (%)", "epsilon (%)", "utilization",
                 "makespan (s)"]
        rows: List[Tuple[Any, ...]] = []
        for outcome in self.outcomes:
            best = " (best)" if (outcome.strategy, outcome.gamma) == (self.best.strategy, self.best.gamma) else ""
            rows.append((outcome.strategy + best, outcome.gamma, *_metrics(outcome.metrics)))
        rows += [("%s (baseline)" % baseline.baseline, None, *_metrics(baseline.metrics)) for baseline in self.baselines]
        text = table("Control loop: %s" % " ".join(reason.message for reason in self.best.reasons), heads, rows)
        jobs = [(job.name, job.completion_s, job.execution_s, job.deadline_s, "in time" if job.met else "late", job.granted_core_s)
                for job in self.outcome().jobs] if self.outcomes else []
        if self.recommendation is not None:
            text += _penalties(self, self.recommendation)
        chosen = self.recommendation or self.best
        text += table("Jobs under %s with gamma %g" % (chosen.strategy, chosen.gamma),
                      ["job", "ends at (s)", "takes (s)", "may take (s)", "outcome", "granted core seconds"], jobs)
        return text + (_reasons(self.warnings) if self.warnings else "")


def _penalties(simulation: ControlSimulation, found: schemas.ControlRecommendation) -> str:
    heads = ["strategy or baseline", "gamma", "total penalty", "least", "most", "granted core seconds", "used core seconds"]
    rows: List[Tuple[Any, ...]] = []
    for outcome in simulation.outcomes:
        mark = " (recommended)" if (outcome.strategy, outcome.gamma) == (found.strategy, found.gamma) else ""
        rows.append((outcome.strategy + mark, outcome.gamma, *_costs(outcome)))
    rows += [("%s (baseline)" % baseline.baseline, None, *_costs(baseline)) for baseline in simulation.baselines]
    text = table("Penalties: %s" % " ".join(reason.message for reason in found.reasons), heads, rows)
    search = found.search
    if search is None:
        return text
    alpha = "that of each job" if search.alpha is None else search.alpha
    terms = [(search.strategy, search.gamma, alpha, search.gain, search.integral_time_s, search.total_penalty.mean, search.granted_core_s,
              search.tried)]
    return text + table("Search: %s" % " ".join(reason.message for reason in search.reasons),
                        ["strategy", "gamma", "alpha", "gain", "integral time (s)", "total penalty", "granted core seconds", "tried"],
                        terms)


def _costs(outcome: Union[schemas.ControlOutcome, schemas.ControlBaseline]) -> Tuple[Any, ...]:
    total = outcome.total_penalty
    spread = (total.mean, total.least, total.most) if total is not None else (None, None, None)
    return (*spread, outcome.granted_core_s, outcome.used_core_s)


def _metrics(metrics: schemas.DeadlineMetrics) -> Tuple[Any, ...]:
    return metrics.advance, metrics.delayed, metrics.epsilon_delayed, metrics.epsilon, metrics.utilization, metrics.makespan_s

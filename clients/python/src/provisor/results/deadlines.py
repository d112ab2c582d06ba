"""Deadlines: feasibility, plans of stages, shares of cores."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Union

from .. import schemas
from ..record import Record
from ..tables import members, records_table, table

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from ..plots import Plot


def _reasons(reasons: Iterable[Any]) -> str:
    return table("Why", ["reason", "in words"], [(reason.code, reason.message) for reason in reasons])


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
                         "in time" if job.met else "late", job.deadline_error_percent))
        heads = ["job", "released at (s)", "ends at (s)", "due at (s)", "takes (s)", "may take (s)", "outcome", "off the deadline (%)"]
        text = table("All deadlines are met" if self.feasible else "%d of %d jobs are late" % (self.metrics.delayed, len(self.jobs)),
                     heads, rows)
        text += _reasons(self.reasons)
        if self.remedies is not None:
            found = self.remedies
            cores = [("cores in all", found.min_total_cores)] if found.min_total_cores is not None else []
            raised = [("deadline of %s (s)" % name, value) for name, value in found.deadlines_s.items()]
            text += table("Either would meet every deadline%s" % (", as far as was searched" if found.exact is False else ""),
                          ["remedy", "value"], [*cores, *raised])
        text += table("Metrics", ["metric", "value"], members(self.metrics))
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
        return table(caption, ["application", "cores", "cores if all are dealt out", "weight"], rows) + _reasons(self.reasons)


def requests_of(applications: Iterable[Union[Mapping[str, Any], Record]]) -> Mapping[str, float]:
    """Requested cores by application."""
    found = {}
    for application in applications:
        raw = application.to_dict() if isinstance(application, Record) else application
        found[raw["name"]] = float(raw["requested_cores"])
    return found

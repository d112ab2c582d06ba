"""Schedulers compared by simulation, of jobs on slots and of bags of tasks."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

from .. import schemas
from ..tables import table

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from ..plots import Plot

HEADS = ["policy", "load", "mean time (s)", "slowdown of 50 %", "of 95 %", "of 99 %", "95 % below the baseline's (%)", "makespan (s)",
         "slots in use (share)"]


def _marked(name: str, baseline: Optional[str], best: str) -> str:
    marks = ", ".join(word for word, there in (("baseline", name == baseline), ("best", name == best)) if there)
    return name + (" (%s)" % marks if marks else "")


def _tables(kind: str, result: Union[schemas.SlotsSimulationResult, schemas.TasksSimulationResult], heads: List[str],
            rows: Sequence[Sequence[Any]]) -> str:
    from ..plots.searches import candidate_words
    text = table("Simulation of %s, repeated %d times, seed %d" % (kind, result.repetitions, result.seed), heads, rows)
    why = [(load.load, load.best.name, found.code, found.message) for load in result.loads
           for found in (*load.recommendation.reasons, *load.recommendation.warnings)]
    text += table("The best policy at each load", ["load", "best", "reason or warning", "in words"], why)
    searches = [(load.load, candidate_words(load.search.best), load.search.best.value, load.search.message) for load in result.loads
                if load.search is not None]
    if searches:
        text += table("What the search found at each load", ["load", "policy and terms", "objective", "in words"], searches)
    return text + (table("Warnings", ["warning", "in words"], [(w.code, w.message) for w in result.warnings]) if result.warnings else "")


def _queues_frame(result: Union[schemas.SlotsSimulationResult, schemas.TasksSimulationResult]) -> pandas.DataFrame:
    import pandas
    from ..plots.schedulers import series_of
    rows = []
    for load in result.loads:
        for outcome in load.policies:
            queues, series = outcome.queue_lengths, series_of(outcome)
            if queues is None:
                continue
            for place in range(max(map(len, series.values()), default=0)):
                row = {"load": load.load, "policy": outcome.name, "start_s": queues.start_s + place * queues.bin_s}
                rows.append({**row, **{name.replace(", ", "."): values[place] for name, values in series.items()}})
    return pandas.DataFrame(rows)


def _distributions_frame(result: Union[schemas.SlotsSimulationResult, schemas.TasksSimulationResult]) -> pandas.DataFrame:
    import pandas
    columns = ["load", "policy", "jobs", "percent", "completion_s", "slowdown"]
    rows = [(load.load, outcome.name, found.class_, *point) for load in result.loads for outcome in load.policies
            for found in outcome.distributions or ()
            for point in zip(found.percents, found.completion_quantiles_s, found.slowdown_quantiles)]
    return pandas.DataFrame(rows, columns=columns)


def _search_frame(result: Union[schemas.SlotsSimulationResult, schemas.TasksSimulationResult], kind: str) -> pandas.DataFrame:
    from ..frames import frame_of
    rows = [(load, rank, candidate) for load in result.loads if load.search is not None
            for rank, candidate in enumerate(load.search.candidates, 1)]
    made = frame_of(kind, [candidate for _, _, candidate in rows])
    made.insert(0, "load", [load.load for load, _, _ in rows])
    made.insert(1, "rank", [rank for _, rank, _ in rows])
    return made


def _search_rounds_frame(result: Union[schemas.SlotsSimulationResult, schemas.TasksSimulationResult]) -> pandas.DataFrame:
    from ..frames import frame_of
    rows = [(load, number, found) for load in result.loads if load.search is not None for number, found in enumerate(load.search.rounds, 1)]
    made = frame_of("SearchRound", [found for _, _, found in rows])
    made.insert(0, "load", [load.load for load, _, _ in rows])
    made.insert(1, "round", [number for _, number, _ in rows])
    return made


class SlotsSimulationResult(schemas.SlotsSimulationResult):
    __doc__ = schemas.SlotsSimulationResult.__doc__

    def plot(self, load: Optional[float] = None, *, ax: Optional[Axes] = None) -> Plot:
        """Completion times by policy: within which 50, 90 and 99 % of the jobs are done.

        - load: only this one (of several, each has axes of its own)"""
        from ..plots.schedulers import completion_plot
        return completion_plot(self, load, ax)

    def distributions_plot(self, load: Optional[float] = None, *, ax: Optional[Axes] = None) -> Plot:
        """The share of jobs that are done within a time, by policy, if the request included distributions."""
        from ..plots.schedulers import distributions_plot
        return distributions_plot(self, load, None, ax)

    def queues_plot(self, load: Optional[float] = None, *, ax: Optional[Axes] = None) -> Plot:
        """How many tasks wait and run over time, by policy, if the request included queues.

        - load: the first one by default"""
        from ..plots.schedulers import queues_plot
        return queues_plot(self, load, ax)

    def queues_frame(self) -> pandas.DataFrame:
        """A row for each load, policy and bin of time, if the request included queues."""
        return _queues_frame(self)

    def distributions_frame(self) -> pandas.DataFrame:
        """A row for each load, policy, class of jobs and percentage, if the request included distributions."""
        return _distributions_frame(self)

    def search_plot(self, load: Optional[float] = None, *, ax: Optional[Axes] = None) -> Plot:
        """The objective of each candidate, the best ones first, if the request had a search.

        - load: the first one by default"""
        from ..plots.searches import search_plot
        return search_plot(self, load, ax)

    def search_frame(self) -> pandas.DataFrame:
        """A row for each load and candidate, the best ones first, if the request had a search: its terms, its objective, with how
        many repetitions and jobs it was simulated, and the last round in which it was."""
        return _search_frame(self, "SlotsCandidate")

    def search_rounds_frame(self) -> pandas.DataFrame:
        """A row for each load and round of the search: how many candidates there were, and how many were kept."""
        return _search_rounds_frame(self)

    def to_frame(self) -> pandas.DataFrame:
        """A row for each load and policy."""
        from ..frames import frame_of
        rows = self._rows()
        made = frame_of("SlotsOutcome", [outcome for _, outcome in rows])
        listed = {"jobs", "classes", "distributions"}
        made = made.drop(columns=[name for name in made.columns if name in listed or name.partition(".")[0] == "queue_lengths"])
        made.insert(0, "load", [load.load for load, _ in rows])
        made.insert(3, "baseline", [outcome.name == self.baseline for _, outcome in rows])
        made.insert(4, "best", [outcome.name == load.best.name for load, outcome in rows])
        return made

    def jobs_frame(self) -> pandas.DataFrame:
        """A row for each load, policy and job, if the request included jobs."""
        from ..frames import frame_of
        rows = [(load, outcome, job) for load, outcome in self._rows() for job in outcome.jobs or ()]
        made = frame_of("SlotsOutcomeJob", [job for _, _, job in rows])
        made.insert(0, "load", [load.load for load, _, _ in rows])
        made.insert(1, "policy", [outcome.name for _, outcome, _ in rows])
        return made

    def classes_frame(self) -> pandas.DataFrame:
        """Small and large jobs: a row for each load, policy and class of sizes."""
        from ..frames import frame_of
        rows = [(load, outcome, found) for load, outcome in self._rows() for found in outcome.classes]
        made = frame_of("SizeClass", [found for _, _, found in rows])
        made.insert(0, "load", [load.load for load, _, _ in rows])
        made.insert(1, "policy", [outcome.name for _, outcome, _ in rows])
        return made

    def _rows(self) -> List[Tuple[schemas.SlotsSimulationResultLoad, schemas.SlotsOutcome]]:
        return [(load, outcome) for load in self.loads for outcome in load.policies]

    def _repr_html_(self) -> str:
        rows = []
        for load, outcome in self._rows():
            saved = outcome.reduction_percent.slowdown.p95 if outcome.reduction_percent else None
            rows.append((_marked(outcome.name, self.baseline, load.best.name), load.load, outcome.completion_s.mean, outcome.slowdown.p50,
                         outcome.slowdown.p95, outcome.slowdown.p99, saved, outcome.makespan_s, outcome.utilization))
        return _tables("jobs on slots", self, HEADS, rows)


class TasksSimulationResult(schemas.TasksSimulationResult):
    __doc__ = schemas.TasksSimulationResult.__doc__

    def plot(self, load: Optional[float] = None, *, ax: Optional[Axes] = None) -> Plot:
        """Completion times by policy and class of jobs: within which 50, 90 and 99 % of the jobs are done.

        - load: only this one (of several, each has axes of its own)"""
        from ..plots.schedulers import completion_plot
        return completion_plot(self, load, ax)

    def distributions_plot(self, load: Optional[float] = None, jobs: Optional[str] = None, *, ax: Optional[Axes] = None) -> Plot:
        """The share of jobs that are done within a time, by policy, if the request included distributions.

        - jobs: "all", "short" or "long"; by default the short ones where there are both"""
        from ..plots.schedulers import distributions_plot
        return distributions_plot(self, load, jobs, ax)

    def queues_plot(self, load: Optional[float] = None, *, ax: Optional[Axes] = None) -> Plot:
        """How many tasks wait and run over time, by policy, if the request included queues.

        - load: the first one by default"""
        from ..plots.schedulers import queues_plot
        return queues_plot(self, load, ax)

    def queues_frame(self) -> pandas.DataFrame:
        """A row for each load, policy and bin of time, if the request included queues."""
        return _queues_frame(self)

    def distributions_frame(self) -> pandas.DataFrame:
        """A row for each load, policy, class of jobs and percentage, if the request included distributions."""
        return _distributions_frame(self)

    def search_plot(self, load: Optional[float] = None, *, ax: Optional[Axes] = None) -> Plot:
        """The objective of each candidate, the best ones first, if the request had a search.

        - load: the first one by default"""
        from ..plots.searches import search_plot
        return search_plot(self, load, ax)

    def search_frame(self) -> pandas.DataFrame:
        """A row for each load and candidate, the best ones first, if the request had a search: its terms, its objective, with how
        many repetitions and jobs it was simulated, and the last round in which it was."""
        return _search_frame(self, "TasksCandidate")

    def search_rounds_frame(self) -> pandas.DataFrame:
        """A row for each load and round of the search: how many candidates there were, and how many were kept."""
        return _search_rounds_frame(self)

    def to_frame(self) -> pandas.DataFrame:
        """A row for each load, policy and class of jobs."""
        from ..frames import frame_of
        rows = self._rows()
        made = frame_of("TasksClass", [found for _, _, found in rows])
        made = made.rename(columns={"name": "class"})
        made.insert(0, "load", [load.load for load, _, _ in rows])
        made.insert(1, "policy", [outcome.name for _, outcome, _ in rows])
        made.insert(2, "baseline", [outcome.name == self.baseline for _, outcome, _ in rows])
        made.insert(3, "best", [outcome.name == load.best.name for load, outcome, _ in rows])
        made["makespan_s"] = [float(outcome.makespan_s) for _, outcome, _ in rows]
        made["utilization"] = [float(outcome.utilization) for _, outcome, _ in rows]
        return made

    def jobs_frame(self) -> pandas.DataFrame:
        """A row for each load, policy and job, if the request included jobs."""
        from ..frames import frame_of
        rows = [(load, outcome, job) for load in self.loads for outcome in load.policies for job in outcome.jobs or ()]
        made = frame_of("TasksOutcomeJob", [job for _, _, job in rows])
        made.insert(0, "load", [load.load for load, _, _ in rows])
        made.insert(1, "policy", [outcome.name for _, outcome, _ in rows])
        return made

    def _rows(self) -> List[Tuple[schemas.TasksSimulationResultLoad, schemas.TasksOutcome, schemas.TasksClass]]:
        return [(load, outcome, found) for load in self.loads for outcome in load.policies for found in outcome.classes]

    def _repr_html_(self) -> str:
        rows = []
        for load, outcome, found in self._rows():
            reductions = outcome.reduction_percent.classes if outcome.reduction_percent else ()
            saved = next((r.slowdown.p95 for r in reductions if r.name == found.name), None)
            rows.append((_marked(outcome.name, self.baseline, load.best.name), found.name, load.load, found.completion_s.mean,
                         found.slowdown.p50, found.slowdown.p95, found.slowdown.p99, saved, outcome.makespan_s, outcome.utilization))
        return _tables("bags of tasks", self, HEADS[:1] + ["jobs"] + HEADS[1:], rows)

"""Copies in many clusters: plans and simulations."""
from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Optional, Sequence, Tuple

from .. import schemas
from ..record import Record
from ..tables import members, records_table, table

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from ..plots import Plot


class CopyPlan(schemas.CopyPlan):
    __doc__ = schemas.CopyPlan.__doc__

    def plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """The clusters with the slots that the plan uses, joined by the tasks that have copies in several of them. Where clusters are
        drawn says nothing about where they are."""
        from ..plots.copies import copies_plot
        return copies_plot(self, ax)

    def to_frame(self) -> pandas.DataFrame:
        """The copies to start."""
        from ..frames import frame_of
        return frame_of("CopyPlanCopy", self.copies)

    def tasks_frame(self) -> pandas.DataFrame:
        """The tasks with a copy."""
        from ..frames import frame_of
        return frame_of("CopyPlanTaskEntry", self.tasks)

    def _repr_html_(self) -> str:
        facts = [("tasks with a copy", len(self.tasks)), ("waiting tasks", len(self.waiting)), ("copies to start", len(self.copies)),
                 ("copies to cancel", len(self.cancellations)), ("epsilon", self.epsilon), ("slot of time (s)", self.slot_s)]
        text = table("Copy plan by %s" % self.algorithm, ["", "value"], facts)
        known = outage_probabilities(self)
        rows = [(row.cluster, row.slots_used, known.get(row.cluster), row.ingress_bytes_per_s, row.egress_bytes_per_s)
                for row in self.utilization]
        heads = ["cluster", "slots used", "probability of an outage in a slot", "into its gate (bytes/s)", "out of its gate (bytes/s)"]
        text += table("What the plan uses of each cluster", heads, rows)
        parts: Dict[str, Sequence[Record]] = {
            "Copies to start": self.copies, "Copies to cancel": self.cancellations, "Tasks with a copy": self.tasks,
            "Waiting tasks": self.waiting,
            "Shares of the admitted jobs": self.shares}
        for caption, records in parts.items():
            if records:
                text += records_table(caption, records)
        return text + (table("Warnings", ["warning", "in words"], [(w.code, w.message) for w in self.warnings]) if self.warnings else "")


def outage_probabilities(plan: schemas.CopyPlan) -> Dict[str, float]:
    """Of the registered clusters; the reply has none of those that the request describes."""
    if plan.sources is None:
        return {}
    return {row.cluster: row.outage_probability for row in plan.sources.outage_probabilities}


class SimulationResult(schemas.SimulationResult):
    __doc__ = schemas.SimulationResult.__doc__

    def plot(self, load: Optional[float] = None, *, ax: Optional[Axes] = None) -> Plot:
        """How long workflows take under each policy: the share of all workflows that are done within a time.

        - load: only this arrival rate (of several, each has axes of its own)"""
        from ..plots.simulation import simulation_plot
        return simulation_plot(self, load, ax)

    def to_frame(self) -> pandas.DataFrame:
        """A row for each arrival rate and policy."""
        from ..frames import frame_of
        rows = self._rows()
        made = frame_of("SimulationOutcome", [outcome for _, outcome in rows])
        made = made.drop(columns=[name for name in made.columns if name.rpartition(".")[2] == "cdf"])
        made.insert(0, "arrival_rate_per_s", [float(load.arrival_rate_per_s) for load, _ in rows])
        made.insert(2, "baseline", [outcome.name == self.baseline for _, outcome in rows])
        made.insert(3, "best", [outcome.name == load.best.name for load, outcome in rows])
        return made

    def _rows(self) -> List[Tuple[schemas.SimulationResultLoad, schemas.SimulationOutcome]]:
        return [(load, outcome) for load in self.loads for outcome in load.policies]

    def _repr_html_(self) -> str:
        heads = ["policy", "arrivals (1/s)", "mean flow time (s)", "median (s)", "90 % within (s)", "99 % within (s)",
                 "mean below the baseline's (%)", "finished workflows", "unfinished", "slots in use (share)", "copies lost to outages"]
        rows = []
        for load, outcome in self._rows():
            flow, name = outcome.flow_time_s, outcome.name
            marks = ", ".join(word for word, there in (("baseline", name == self.baseline), ("best", name == load.best.name)) if there)
            rows.append((name + (" (%s)" % marks if marks else ""), load.arrival_rate_per_s, flow.mean, flow.p50, flow.p90, flow.p99,
                         outcome.mean_reduction_percent, flow.workflows, outcome.workflows_unfinished, outcome.utilization,
                         outcome.counts.copies_lost_to_outage))
        text = table("Simulation of %d workflows, repeated %d times, seed %d" % (self.workload.workflows, self.repetitions, self.seed),
                     heads, rows)
        text += table("The best policy at each arrival rate", ["arrivals (1/s)", "best", "in words"],
                      [(load.arrival_rate_per_s, load.best.name, load.best.message) for load in self.loads])
        text += table("Clusters and workload", ["", "value"], [*members(self.topology), *members(self.workload)])
        return text + (table("Warnings", ["warning", "in words"], [(w.code, w.message) for w in self.warnings]) if self.warnings else "")

"""Plans of slots."""
from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from .. import schemas
from ..tables import table

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from ..plots import Plot


class SlotPlan(schemas.SlotPlan):
    __doc__ = schemas.SlotPlan.__doc__

    def plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """The makespan by map slots, the rest serving reduces, with the best division marked."""
        from ..plots.slots import splits_plot
        return splits_plot(self, ax)

    def sweep_plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """Makespan against fairness, a point for each concurrency, if the request had a `sweep`."""
        from ..plots.slots import sweep_plot
        return sweep_plot(self, ax)

    def to_frame(self) -> pandas.DataFrame:
        """A row for each division of the slots."""
        from ..frames import frame_of
        return frame_of("SlotSplit", self.splits)

    def jobs_frame(self) -> pandas.DataFrame:
        """A row for each job, under the best division."""
        from ..frames import frame_of
        return frame_of("PlannedSlotJob", self.jobs)

    def sweep_frame(self) -> pandas.DataFrame:
        """A row for each concurrency; none without a `sweep`."""
        from ..frames import frame_of
        return frame_of("SlotPlanSweep", self.sweep or ())

    def _repr_html_(self) -> str:
        text = table("%d map slots and %d reduce slots" % (self.map_slots, self.reduce_slots),
                     ["makespan (s)", "fairness"], [(self.makespan_s, self.fairness)])
        text += table("Jobs", ["job", "starts (s)", "maps end (s)", "reduces start (s)", "ends (s)"],
                      [(job.name, job.start_s, job.map_end_s, job.reduce_start_s, job.finish_s) for job in self.jobs])
        if self.sweep:
            text += table("Other concurrencies", ["concurrency", "map slots", "reduce slots", "makespan (s)", "fairness"],
                          [(p.concurrency, p.map_slots, p.reduce_slots, p.makespan_s, p.fairness) for p in self.sweep])
        if self.sensitivity:
            heads = ["map work times", "reduce work times", "best map slots", "longer than the best by (%)"]
            rows = [(s.map_factor, s.reduce_factor, s.best_map_slots, s.regret_percent) for s in self.sensitivity]
            text += table("If the profiles are wrong", heads, rows)
        return text + (table("Warnings", ["warning", "in words"], [(w.code, w.message) for w in self.warnings]) if self.warnings else "")

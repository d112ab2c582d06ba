"""Scaling models."""
from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from .. import schemas
from ..tables import table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..plots import Plot


class Speedup(schemas.Speedup):
    __doc__ = schemas.Speedup.__doc__

    def plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """The speedup over problem sizes and executors, with its ridge: the executors that are fastest at each size.

        Of fewer than three problem sizes, one curve each, with its interval."""
        from ..plots.speedup import speedup_plot
        return speedup_plot(self, ax)

    def _repr_html_(self) -> str:
        rows = [(row.problem_size, point.executors, point.duration_s, point.interval_s, point.speedup, point.relative_speedup,
                 point.extrapolation) for row in self.surface for point in row.points]
        heads = ["problem size", "executors", "duration (s)", "%g %% interval (s)" % (100 * self.confidence), "speedup",
                 "relative speedup", "extrapolation"]
        best = [(row.problem_size, row.executors, row.duration_s, row.interval_s, row.still_improving)
                for row in self.best_executors_by_size]
        return (table("Speedup of %s by the model %s" % (self.application, self.model), heads, rows)
                + table("The fastest executor count of each problem size", [*heads[:4], "more would be faster"], best))

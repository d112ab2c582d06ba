"""Clusters: what they report of their speeds and outages."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Tuple

from .. import schemas
from ..tables import members, table

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from ..plots import Plot


class ClusterPerformance(schemas.ClusterPerformance):
    __doc__ = schemas.ClusterPerformance.__doc__

    def plot(self, *, ax: Optional[Axes] = None) -> Plot:
        """The speeds of operations and of transfers to the cluster: from the slowest to the fastest observed, with the mean."""
        from ..plots.performance import performance_plot
        return performance_plot(self, ax)

    def to_frame(self) -> pandas.DataFrame:
        """A row for each operation and each link: what the cluster reported itself, and what is used in its place (`fallback`)."""
        from ..frames import load_pandas
        pandas = load_pandas()
        heads = ["kind", "operation", "from", "fallback", "source", "mean_bytes_per_s", "samples", "weight", "newest_at", "age_s"]
        rows = []
        for kind, name, fallback, entry in self.speeds():
            where = (name, None) if kind == "processing" else (None, name)
            rows.append((kind, *where, fallback, entry.source, entry.mean_bytes_per_s, entry.samples, entry.weight, entry.newest_at,
                         entry.age_s))
        made = pandas.DataFrame(rows, columns=heads)
        made["newest_at"] = pandas.to_datetime(made["newest_at"], utc=True)
        return made.astype({"fallback": bool, "samples": "int64", "mean_bytes_per_s": float, "weight": float, "age_s": float})

    def speeds(self) -> List[Tuple[str, str, bool, Any]]:
        """All speeds as (`processing` or `transfer`, operation or cluster, fallback, entry)."""
        found: List[Tuple[str, str, bool, Any]] = [("processing", entry.operation, False, entry) for entry in self.processing]
        found += [("transfer", link.from_, False, link) for link in self.transfers]
        found += [("processing", entry.operation, True, entry) for entry in self.fallbacks.processing]
        found += [("transfer", name, True, shared) for shared in self.fallbacks.transfers for name in shared.from_clusters]
        return found

    def _repr_html_(self) -> str:
        heads = ["operation or cluster", "what", "mean (bytes/s)", "source", "samples", "weight", "newest", "age (s)"]
        rows = [(name, "processing" if kind == "processing" else "transfer from there", entry.mean_bytes_per_s, entry.source,
                 entry.samples, entry.weight, entry.newest_at, entry.age_s) for kind, name, _, entry in self.speeds()]
        return table("Speeds of %s" % self.cluster, heads, rows) + table("Availability", ["member", "value"], members(self.availability))

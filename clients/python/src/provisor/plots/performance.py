"""Speeds that a cluster reports."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Tuple

from .figure import BLACK, BLUE, SIZE, Plot, canvas, counted, empty, label, number
from .shapes import first_few, name_rows, say_right

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .. import results

ROWS = 40
LOGARITHMIC_FROM = 30.0


def performance_plot(found: results.ClusterPerformance, ax: Optional[Axes]) -> Plot:
    entries = found.speeds()
    known = [entry for entry in entries if entry[3].mean_bytes_per_s is not None]
    shown = known[:ROWS]
    figure, axes = canvas(ax, (SIZE[0], min(12.0, 1.8 + 0.28 * len(shown))))
    axes.set_title("Speeds of %s%s" % (label(found.cluster), " (%d of %d)" % (len(shown), len(known)) if len(shown) < len(known) else ""))
    if not shown:
        empty(axes, "no speed is known")
        return Plot(figure, axes, _alt(found, entries, known), ax is None)
    values: List[float] = []
    for place, (_, _, fallback, entry) in enumerate(shown):
        reach = [value for value, part in entry.distribution or () if part > 0] or [entry.mean_bytes_per_s]
        values += [*reach, entry.mean_bytes_per_s]
        axes.plot([min(reach), max(reach)], [place, place], color=BLUE, linewidth=2, linestyle="--" if fallback else "-", marker="|",
                  markersize=9)
        axes.plot([entry.mean_bytes_per_s], [place], marker="o", linestyle="none", markersize=7, markeredgecolor=BLACK, gid="mean",
                  markerfacecolor="#FFFFFF" if fallback else BLUE)
        say_right(axes, place,
                  "%s%s" % (counted(entry.samples, "sample"), ", of its %s" % entry.source.replace("_", " ") if fallback else ""))
    name_rows(axes, [(place, _name(kind, name)) for place, (kind, name, _, _) in enumerate(shown)])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    if max(values) > LOGARITHMIC_FROM * min(values) > 0:
        axes.set_xscale("log")
    from matplotlib.ticker import EngFormatter
    axes.xaxis.set_major_formatter(EngFormatter(unit="B/s"))
    axes.set_xlabel("speed, from the slowest to the fastest, and the mean"
                    + (" (hollow: of others)" if any(f for _, _, f, _ in shown) else ""))
    return Plot(figure, axes, _alt(found, entries, known), ax is None)


def _name(kind: str, name: str) -> str:
    return name if kind == "processing" else "from " + name


def _alt(found: results.ClusterPerformance, entries: List[Tuple[str, str, bool, Any]], known: List[Tuple[str, str, bool, Any]]) -> str:
    text = "Speeds of %s: " % found.cluster
    if known:
        means = ["%s %s bytes/s%s" % (_name(kind, name), number(entry.mean_bytes_per_s),
                                      ", of its %s" % entry.source.replace("_", " ") if fallback else "")
                 for kind, name, fallback, entry in known]
        text += "mean %s." % first_few(means)
    else:
        text += "none is known."
    if len(known) < len(entries):
        text += " %s unknown." % counted(len(entries) - len(known), "speed is", "speeds are")
    there = found.availability
    return text + " An outage touches a slot of %s with a probability of %s %% (%s)." % (number(there.slot_s, "s"),
                                                                                         number(100 * there.outage_probability),
                                                                                         there.source)

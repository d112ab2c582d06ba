"""Plans of slots: the makespan of every division, and makespan against fairness."""
from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from .figure import BLACK, Plot, canvas, counted, number, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .. import schemas

# A split that is many times worse than the best one says no more than that it is; the curve would be flat around the best.
TIMES_MAX = 5


def splits_plot(plan: schemas.SlotPlan, ax: Optional[Axes]) -> Plot:
    figure, axes = canvas(ax)
    shown = [split for split in plan.splits if split.makespan_s <= TIMES_MAX * plan.makespan_s]
    look = style(0)
    axes.plot([split.map_slots for split in shown], [split.makespan_s for split in shown], color=look.colour, gid="splits",
              marker="." if len(shown) <= 60 else "")
    axes.plot([plan.map_slots], [plan.makespan_s], marker="o", color=BLACK, linestyle="", gid="best")
    axes.annotate("%d map, %d reduce: %s" % (plan.map_slots, plan.reduce_slots, number(plan.makespan_s, "s")),
                  (plan.map_slots, plan.makespan_s), xytext=(0, -14), textcoords="offset points", ha="center", va="top")
    axes.set_ylim(0, 1.05 * max(split.makespan_s for split in shown))
    axes.set_xlabel("map slots of %d" % (plan.map_slots + plan.reduce_slots))
    axes.set_ylabel("makespan (s)")
    title = "Makespan of %s by division of the slots" % counted(len(plan.jobs), "job")
    axes.set_title(title)
    left_out = len(plan.splits) - len(shown)
    alt = "%s. %d map slots and %d reduce slots are best, with %s; of %s the longest shown is %s%s." % (
        title, plan.map_slots, plan.reduce_slots, number(plan.makespan_s, "s"), counted(len(plan.splits), "division"),
        number(max(split.makespan_s for split in shown), "s"),
        ", and %d that take longer than %d times the best are left out" % (left_out, TIMES_MAX) if left_out else "")
    return Plot(figure, axes, alt, ax is None)


def sweep_plot(plan: schemas.SlotPlan, ax: Optional[Axes]) -> Plot:
    if not plan.sweep:
        raise ValueError("there are no other concurrencies: ask with sweep=[1, 2, 4]")
    figure, axes = canvas(ax)
    axes.plot([point.fairness for point in plan.sweep], [point.makespan_s for point in plan.sweep], marker="o", linestyle="",
              color=style(0).colour, gid="sweep")
    for point in plan.sweep:
        axes.annotate(str(point.concurrency), (point.fairness, point.makespan_s), xytext=(4, 4), textcoords="offset points")
    axes.set_xlabel("fairness (Jain's index)")
    axes.set_ylabel("makespan (s)")
    title = "Makespan against fairness by concurrency"
    axes.set_title(title)
    words = ["%d jobs at a time, fairness %.3g, %s" % (point.concurrency, point.fairness, number(point.makespan_s, "s"))
             for point in plan.sweep]
    alt = "%s: %s." % (title, "; ".join(words))
    return Plot(figure, axes, alt, ax is None)

"""The speedup surface and its ridge."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, List, Optional, Tuple

from .figure import BLACK, SURFACE, Plot, canvas, counted, empty, label, number, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .. import schemas

SIZES_OF_A_MAP = 3
TICK_RATIO = 1.35
TEXT_RATIO = 1.4


def speedup_plot(speedup: schemas.Speedup, ax: Optional[Axes]) -> Plot:
    figure, axes = canvas(ax)
    name = label(speedup.application)
    counts = list(speedup.executor_counts)
    member, words = _member(speedup)
    sizes = [row.problem_size for row in speedup.surface if any(getattr(p, member) is not None for p in row.points)]
    if not sizes:
        empty(axes, "no speedup is known of %s" % name)
        axes.set_title("Speedup of %s" % name)
        return Plot(figure, axes, "No speedup is known of %s." % speedup.application, ax is None)
    if len(sizes) >= SIZES_OF_A_MAP and len(counts) > 1:
        _map(speedup, figure, axes, member, words)
    else:
        _curves(speedup, axes, member, words)
    axes.set_title("Speedup of %s" % name)
    axes.set_xlabel("executors")
    axes.set_xscale("log", base=2)
    _ticks(axes.xaxis, sorted({*counts, *(b.executors for b in speedup.best_executors_by_size)}))
    return Plot(figure, axes, _alt(speedup, member, words), ax is None)


def _member(speedup: schemas.Speedup) -> Tuple[str, str]:
    """The speedup against one executor; where the law has no time on one, that against the smallest configuration."""
    if any(p.speedup is not None for row in speedup.surface for p in row.points):
        return "speedup", "speedup against one executor"
    there = speedup.relative_to
    if there is None:
        return "relative_speedup", "relative speedup"
    return "relative_speedup", "work per time, against %s at problem size %s" % (
        counted(round(there.executors), "executor"), number(there.problem_size))


def _ticks(axis: Any, values: List[float]) -> None:
    """At these values, written as they are; those that would touch their neighbour are left out."""
    from matplotlib.ticker import FixedLocator, NullLocator
    kept: List[float] = []
    for value in sorted(set(values)):
        if not kept or value >= TICK_RATIO * kept[-1]:
            kept.append(value)
    axis.set_major_locator(FixedLocator(kept))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: "%g" % value)


def _edges(values: List[float]) -> List[float]:
    """Between values on a logarithmic axis, and as far beyond the first and the last."""
    inner = [math.sqrt(a * b) for a, b in zip(values, values[1:])]
    return [values[0] ** 2 / inner[0], *inner, values[-1] ** 2 / inner[-1]]


def _map(speedup: schemas.Speedup, figure: Any, axes: Axes, member: str, words: str) -> None:
    rows = sorted(speedup.surface, key=lambda row: row.problem_size)
    sizes, counts = [row.problem_size for row in rows], list(speedup.executor_counts)
    values = [[math.nan if getattr(p, member) is None else getattr(p, member) for p in row.points] for row in rows]
    x, y = _edges(counts), _edges(sizes)
    mesh = axes.pcolormesh(x, y, values, cmap=SURFACE, shading="flat")
    figure.colorbar(mesh, ax=axes, label=words)
    wide = [right >= TEXT_RATIO * left for left, right in zip(x, x[1:])]
    for row, line in zip(rows, values):
        for point, value, fits in zip(row.points, line, wide):
            if fits and not math.isnan(value):
                axes.text(point.executors, row.problem_size, number(value) + ("*" if point.extrapolation else ""), fontsize="small",
                          ha="center", va="center", color="#FFFFFF" if mesh.norm(value) < 0.55 else BLACK, clip_on=True)
    best = [b for b in speedup.best_executors_by_size if b.duration_s is not None]
    from matplotlib.patheffects import Stroke, Normal
    axes.plot([b.executors for b in best], [b.problem_size for b in best], color=BLACK, marker="o", markersize=17, markerfacecolor="none",
              label="fastest executor count", path_effects=[Stroke(linewidth=4, foreground="#FFFFFF"), Normal()])
    axes.set_yscale("log", base=2)
    _ticks(axes.yaxis, sizes)
    axes.set_ylabel("problem size")
    extrapolated = any(p.extrapolation for row in rows for p in row.points)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), title="* outside the range observed" if extrapolated else None, frameon=False)


def _curves(speedup: schemas.Speedup, axes: Axes, member: str, words: str) -> None:
    for place, row in enumerate(speedup.surface):
        points = [p for p in row.points if getattr(p, member) is not None]
        drawn = style(place)
        axes.plot([p.executors for p in points], [getattr(p, member) for p in points], color=drawn.colour, linestyle=drawn.dashes,
                  marker=drawn.marker, label="problem size %s" % number(row.problem_size))
        # Bounds of the time make bounds of the speedup: value x predicted time / bound.
        band = [(p.executors, getattr(p, member) * p.duration_s / high, getattr(p, member) * p.duration_s / low)
                for p in points if p.duration_s and p.interval_s is not None for low, high in [p.interval_s] if low and high]
        if band:
            axes.fill_between(*zip(*band), color=drawn.colour, alpha=0.2, hatch=drawn.hatch, linewidth=0,
                              label="%g %% interval of its time" % (100 * speedup.confidence))
    axes.set_ylabel(words)
    axes.legend()


def _alt(speedup: schemas.Speedup, member: str, words: str) -> str:
    known = [(getattr(p, member), row.problem_size, p.executors) for row in speedup.surface for p in row.points if getattr(p, member) is not None]
    least, most = min(known), max(known)
    text = "%s of %s by the model %s, for %s and %s: from %s (problem size %s, %s) to %s (problem size %s, %s)." % (
        words.capitalize(), speedup.application, speedup.model, counted(len(speedup.surface), "problem size"),
        counted(len(speedup.executor_counts), "executor count"), number(least[0]), number(least[1]), counted(round(least[2]), "executor"),
        number(most[0]), number(most[1]), counted(round(most[2]), "executor"))
    ridge = ["%s%s at problem size %s" % (counted(round(b.executors), "executor"), " or more" if b.still_improving else "",
                                          number(b.problem_size)) for b in speedup.best_executors_by_size if b.duration_s is not None]
    return text + (" Fastest are %s." % ", ".join(ridge) if ridge else "")

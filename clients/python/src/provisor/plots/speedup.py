"""The speedup surface and its ridge."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Sequence, Tuple

from .figure import BLACK, SIZE, SURFACE, Plot, canvas, counted, empty, label, legend_below, listed, log_ticks, number, style
from .layout import legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .. import schemas

WHITE = "#FFFFFF"
SIZES_OF_A_MAP = 3
BEYOND = 0.4  # how far the ridge may lead out of the surface, as a share of its width
CELL_WIDTH_PT, CELL_HEIGHT_PT = 26.0, 12.0  # of a number


def speedup_plot(speedup: schemas.Speedup, ax: Optional[Axes]) -> Plot:
    figure, axes = canvas(ax)
    counts = list(speedup.executor_counts)
    member, words = _member(speedup)
    axes.set_title("Speedup of %s" % label(speedup.application))
    rows = [row for row in speedup.surface if any(getattr(p, member) is not None for p in row.points)]
    rows.sort(key=lambda row: row.problem_size)
    if not rows:
        empty(axes, "no speedup is known")
        return Plot(figure, axes, "No speedup is known of %s." % speedup.application, ax is None)
    if len(rows) >= SIZES_OF_A_MAP and len(counts) > 1:
        _Map(speedup, rows, member).draw(figure, axes, words)
    elif len(counts) == 1 and len(rows) > 1:
        _by_size(rows, axes, member)
        axes.set_ylabel(words)
    else:
        _curves(speedup, rows, axes, member)
        axes.set_ylabel(words)
    return Plot(figure, axes, _alt(speedup, rows, member, words), ax is None)


def _member(speedup: schemas.Speedup) -> Tuple[str, str]:
    """The speedup against one executor; where the law has no time on one, that against the smallest configuration."""
    if any(p.speedup is not None for row in speedup.surface for p in row.points):
        return "speedup", "speedup against one executor"
    there = speedup.relative_to
    if there is None:
        return "relative_speedup", "relative speedup"
    return "relative_speedup", "work per time, against %s at problem size %s" % (
        counted(round(there.executors), "executor"), number(there.problem_size))


def _edges(values: Sequence[float]) -> List[float]:
    """Between values on a logarithmic axis, and as far beyond the first and the last."""
    inner = [math.sqrt(a * b) for a, b in zip(values, values[1:])]
    return [values[0] ** 2 / inner[0], *inner, values[-1] ** 2 / inner[-1]]


class _Cell(NamedTuple):
    left: float
    right: float
    bottom: float
    top: float
    value: float
    point: schemas.SpeedupSurfacePoint
    size: float
    fits: bool  # a number


class _Map:
    def __init__(self, speedup: schemas.Speedup, rows: Sequence[schemas.SpeedupSurface], member: str) -> None:
        self.rows, self.sizes, self.counts = rows, [row.problem_size for row in rows], list(speedup.executor_counts)
        self.values = [[math.nan if getattr(p, member) is None else getattr(p, member) for p in row.points] for row in rows]
        self.x, self.y = _edges(self.counts), _edges(self.sizes)
        self.best = [b for b in speedup.best_executors_by_size if b.duration_s is not None]
        self.right = self.x[-1]
        if any(b.executors > self.right for b in self.best):
            furthest = max(b.executors for b in self.best) * math.sqrt(self.x[-1] / self.x[-2])
            self.right = min(furthest, self.x[-1] * (self.x[-1] / self.x[0]) ** BEYOND)

    def cells(self) -> List[_Cell]:
        width = 72 * 0.78 * SIZE[0] / math.log(self.right / self.x[0])
        height = 72 * 0.72 * SIZE[1] / math.log(self.y[-1] / self.y[0])
        made = []
        for row, values, bottom, top in zip(self.rows, self.values, self.y, self.y[1:]):
            for point, value, left, right in zip(row.points, values, self.x, self.x[1:]):
                fits = width * math.log(right / left) >= CELL_WIDTH_PT and height * math.log(top / bottom) >= CELL_HEIGHT_PT
                made.append(_Cell(left, right, bottom, top, value, point, row.problem_size, fits))
        return made

    def draw(self, figure: Any, axes: Axes, words: str) -> None:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        mesh = axes.pcolormesh(self.x, self.y, self.values, cmap=SURFACE, shading="flat")
        figure.colorbar(mesh, ax=axes, label=words)
        axes.set_xlim(self.x[0], self.right)
        axes.set_ylim(self.y[0], self.y[-1])
        cells = self.cells()
        self._hatch(axes, mesh, cells)
        self._ridge(axes)
        for cell in cells:
            if cell.fits:
                ink, ground = self._inks(mesh, cell.value)
                words_there = "?" if math.isnan(cell.value) else number(cell.value)
                axes.text(cell.point.executors, cell.size, words_there, fontsize="small", ha="center", va="center", color=ink, clip_on=True,
                          zorder=6,
                          bbox={"facecolor": ground, "edgecolor": "none", "pad": 1.0} if cell.point.extrapolation else None)
        within = [b.executors for b in self.best if b.executors <= self.right]
        log_ticks(axes.xaxis, self.counts + within if len(self.counts) <= 12 else self.counts)
        log_ticks(axes.yaxis, self.sizes)
        axes.set_xlabel("executors")
        axes.set_ylabel("problem size")
        legend_below(axes, 2)

    @staticmethod
    def _inks(mesh: Any, value: float) -> Tuple[Any, Any]:
        """Of what is written on the cell, and of the cell."""
        if math.isnan(value):
            return BLACK, WHITE
        return (WHITE if mesh.norm(value) < 0.55 else BLACK), mesh.cmap(mesh.norm(value))

    def _hatch(self, axes: Axes, mesh: Any, cells: Sequence[_Cell]) -> None:
        from matplotlib.patches import Rectangle
        said = False
        for cell in cells:
            if cell.point.extrapolation and not math.isnan(cell.value):
                axes.add_patch(Rectangle((cell.left, cell.bottom), cell.right - cell.left, cell.top - cell.bottom, fill=False, linewidth=0,
                                         hatch="///", edgecolor=self._inks(mesh, cell.value)[0], alpha=0.45, zorder=2))
                said = True
        if said:
            axes.add_patch(Rectangle((0, 0), 0, 0, facecolor=WHITE, edgecolor=BLACK, hatch="///", label="outside the range observed"))

    def _ridge(self, axes: Axes) -> None:
        """A line with a white rim, which shows on dark and on light cells. What lies beyond the axes is an arrow at their edge."""
        from matplotlib.patheffects import Normal, Stroke
        if not self.best:
            return
        rim = [Stroke(linewidth=4.5, foreground=WHITE), Normal()]
        edge = self.right / (self.right / self.x[0]) ** 0.025
        at = [(min(b.executors, edge), b.problem_size) for b in self.best]
        few = len(at) <= 12
        axes.plot([x for x, _ in at], [y for _, y in at], color=BLACK, linewidth=1.6, path_effects=rim, zorder=3)
        for more, marker, words in ((False, "o", "fastest executor count"), (True, "D", "fastest considered; more would be faster")):
            for (x, y), b in zip(at, self.best):
                if b.still_improving is more:
                    around = few and (b.executors in self.counts or b.executors > self.x[-1])  # a number
                    size = (18 if more else 22) if around else 6
                    axes.plot([x], [y], color=BLACK, linestyle="none", marker=marker, markersize=size, markeredgewidth=1.4,
                              markerfacecolor="none" if around else WHITE, path_effects=rim, zorder=5)
            if any(b.still_improving is more for b in self.best):
                axes.plot([], [], color=BLACK, marker=marker, markerfacecolor=WHITE, markersize=7, label=words)
        if few:
            for (x, y), b in zip(at, self.best):
                if b.executors > self.x[-1]:
                    axes.text(x, y, number(b.executors), fontsize="small", ha="center", va="center", zorder=6,
                              bbox={"facecolor": WHITE, "edgecolor": "none", "pad": 0.6})


def _number_or_nan(value: Optional[float]) -> float:
    return math.nan if value is None else value


def _by_size(rows: Sequence[schemas.SpeedupSurface], axes: Axes, member: str) -> None:
    drawn = style(0)
    axes.plot([row.problem_size for row in rows], [_number_or_nan(getattr(row.points[0], member)) for row in rows], color=drawn.colour,
              marker=drawn.marker, label=counted(round(rows[0].points[0].executors), "executor"))
    axes.set_xscale("log", base=2)
    log_ticks(axes.xaxis, [row.problem_size for row in rows])
    axes.set_xlabel("problem size")
    legend(axes, frameon=False)


def _curves(speedup: schemas.Speedup, rows: Sequence[schemas.SpeedupSurface], axes: Axes, member: str) -> None:
    best = {b.problem_size: b for b in speedup.best_executors_by_size if b.duration_s is not None}
    for place, row in enumerate(rows):
        drawn, there = style(place), best.get(row.problem_size)
        words = "problem size %s" % number(row.problem_size)
        if there is not None:
            words += "; fastest: %s%s" % (counted(round(there.executors), "executor"), " or more" if there.still_improving else "")
        axes.plot([p.executors for p in row.points], [_number_or_nan(getattr(p, member)) for p in row.points], color=drawn.colour,
                  linestyle=drawn.dashes, marker=drawn.marker, label=words)
        outside = [p for p in row.points if p.extrapolation and getattr(p, member) is not None]
        axes.plot([p.executors for p in outside], [getattr(p, member) for p in outside], color=drawn.colour, linestyle="none",
                  marker=drawn.marker, markerfacecolor=WHITE, label="_outside")
        # Bounds of the time make bounds of the speedup: value x predicted time / bound.
        band = [(p.executors, getattr(p, member) * p.duration_s / high, getattr(p, member) * p.duration_s / low)
                for p in row.points if getattr(p, member) is not None and p.duration_s and p.interval_s is not None
                for low, high in [p.interval_s] if low and high]
        if band:
            axes.fill_between(*zip(*band), facecolor=drawn.colour, edgecolor=drawn.colour, alpha=0.2, hatch=drawn.hatch, linewidth=0,
                              label="%g %% interval of its time" % (100 * speedup.confidence))
    if any(p.extrapolation for row in rows for p in row.points):
        axes.plot([], [], color=BLACK, linestyle="none", marker="o", markerfacecolor=WHITE, label="hollow: outside the range observed")
    axes.set_xscale("log", base=2)
    log_ticks(axes.xaxis, speedup.executor_counts)
    axes.set_xlabel("executors")
    legend_below(axes, 2)


def _alt(speedup: schemas.Speedup, rows: Sequence[schemas.SpeedupSurface], member: str, words: str) -> str:
    points = [(row, p) for row in rows for p in row.points]
    known = [(getattr(p, member), row.problem_size, p.executors) for row, p in points if getattr(p, member) is not None]
    least, most = min(known), max(known)
    text = "%s of %s by the model %s, for %s and %s: from %s (problem size %s, %s) to %s (problem size %s, %s)." % (
        words.capitalize(), speedup.application, speedup.model, counted(len(rows), "problem size"),
        counted(len(speedup.executor_counts), "executor count"), number(least[0]), number(least[1]), counted(round(least[2]), "executor"),
        number(most[0]), number(most[1]), counted(round(most[2]), "executor"))
    if speedup.predicted_problem_size is not None:
        text += " Recorded tasks are replayed for each problem size."
    ridge = ["%s%s at problem size %s" % (counted(round(b.executors), "executor"), " or more" if b.still_improving else "",
                                          number(b.problem_size)) for b in speedup.best_executors_by_size if b.duration_s is not None]
    if ridge:
        text += " Fastest are %s." % listed(ridge)
    outside = sum(1 for _, p in points if p.extrapolation)
    if outside:
        text += " %d of %d lie outside the range observed." % (outside, len(points))
    if len(known) < len(points):
        text += " Unknown: %d." % (len(points) - len(known))
    return text

"""What configurations of the control loop cost: total penalties, by job."""
from __future__ import annotations

from typing import TYPE_CHECKING, List, NamedTuple, Optional

from .figure import BLACK, GREY, SIZE, Plot, Style, canvas, counted, label, legend_below, number
from .shapes import OTHERS, Bar, area_style, draw_bars, first_few, name_rows, say_right

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .. import schemas

ROWS = 40
JOBS_SHOWN = 8


class _Row(NamedTuple):
    name: str
    total: schemas.ControlPenaltyTotal
    parts: List[float]  # of each job, with its weight
    core_s: Optional[float]
    chosen: bool


def _rows(simulation: schemas.ControlSimulation, found: schemas.ControlRecommendation) -> List[_Row]:
    """Least first, baselines behind; those whose penalty is not known are left out."""
    weights = [job.weight or 1.0 for job in simulation.jobs]
    rows = []
    for outcome in simulation.outcomes:
        if outcome.total_penalty is not None and outcome.total_penalty.mean is not None:
            parts = [weight * (job.penalty_value or 0.0) for weight, job in zip(weights, outcome.jobs)]
            rows.append(_Row("%s, gamma %g" % (outcome.strategy, outcome.gamma), outcome.total_penalty, parts, outcome.granted_core_s,
                             (outcome.strategy, outcome.gamma) == (found.strategy, found.gamma)))
    rows.sort(key=lambda row: (row.total.mean or 0.0, row.core_s or 0.0, not row.chosen))
    for baseline in simulation.baselines:
        if baseline.total_penalty is not None and baseline.total_penalty.mean is not None:
            parts = [weight * (job.penalty_value or 0.0) for weight, job in zip(weights, baseline.jobs)]
            rows.append(_Row("baseline %s" % baseline.baseline, baseline.total_penalty, parts, baseline.granted_core_s, False))
    return rows if len(rows) <= ROWS else rows[:ROWS - 3] + rows[-3:]


def penalty_plot(simulation: schemas.ControlSimulation, ax: Optional[Axes]) -> Plot:
    found = simulation.recommendation
    if found is None:
        raise ValueError('there are no penalties: ask with penalty="proportional" or another one')
    rows = _rows(simulation, found)
    figure, axes = canvas(ax, (SIZE[0], min(14.0, 2.4 + 0.3 * len(rows))))
    title = "Penalties under the control loop: %s" % counted(len(simulation.jobs), "job")
    axes.set_title(title)
    costliest = sorted(range(len(simulation.jobs)), key=lambda job: -max(row.parts[job] for row in rows))
    shown = sorted(costliest[:JOBS_SHOWN])
    left = [0.0] * len(rows)
    for place, job in enumerate(shown):
        _draw(axes, rows, [row.parts[job] for row in rows], left, area_style(place), label(simulation.jobs[job].name, 24))
    rest = len(simulation.jobs) - len(shown)
    if rest > 0:
        others = [sum(part for job, part in enumerate(row.parts) if job not in shown) for row in rows]
        _draw(axes, rows, others, left, OTHERS, counted(rest, "other job"))
    for place, row in enumerate(rows):
        least, most = row.total.least, row.total.most
        if least is not None and most is not None and most > least:
            axes.plot([least, most], [place, place], color=BLACK, linewidth=1.2, marker="|", markersize=7, gid="spread")
        say_right(axes, place, "%s%s" % (number(row.core_s, "core s"), ", recommended" if row.chosen else ""), bold=row.chosen)
    name_rows(axes, [(place, row.name) for place, row in enumerate(rows)], 40)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, 1.05 * max([row.total.most or 0.0 for row in rows] + left) or 1.0)
    axes.axvline(0, color=GREY, linewidth=0.8)
    means = ", mean of %d repetitions, lines from least to most" % found.repetitions if found.repetitions > 1 else ""
    axes.set_xlabel("total penalty" + means)
    legend_below(axes, 3)
    return Plot(figure, axes, _alt(rows, found, title), ax is None)


def _draw(axes: Axes, rows: List[_Row], parts: List[float], left: List[float], look: Style, name: str) -> None:
    bars = [Bar(left[place], left[place] + parts[place], place) for place in range(len(rows)) if parts[place] > 0]
    draw_bars(axes, bars, look, 0.6, label=name, gid="job")
    for place in range(len(rows)):
        left[place] += parts[place]


def _alt(rows: List[_Row], found: schemas.ControlRecommendation, title: str) -> str:
    each = ["%s: %s with %s" % (row.name, number(row.total.mean), number(row.core_s, "core seconds")) for row in rows]
    why = " ".join(reason.message for reason in found.reasons)
    text = "%s. %s. Recommended is %s with gamma %g: %s" % (title, first_few(each, 16), found.strategy, found.gamma, why)
    return text + ("" if found.search is None else " " + " ".join(reason.message for reason in found.search.reasons))

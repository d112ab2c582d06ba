"""Simulations of the control loop: cores over time, and strategies side by side."""
from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, NamedTuple, Optional, Sequence

from .figure import BLACK, GREY, SIZE, Plot, Style, canvas, counted, empty, label, legend_below, number, style
from .shapes import first_few, name_rows, say_right
from .traces import Trace, traces_plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .. import schemas

ROWS = 60
JOBS_MARKED = 8


def traces_of(outcome: schemas.ControlOutcome) -> List[Trace]:
    """With a trace of the cores of each job."""
    found, traces = [], outcome.traces
    if traces is None:
        return []
    outcomes = {job.name: job for job in outcome.jobs}
    last = max((job.completion_s for job in outcome.jobs), default=traces.start_s)
    for job in traces.jobs:
        times = [traces.start_s + traces.step_s * place for place in range(len(job.granted))]
        became = outcomes.get(job.name)
        late = sum(stage.end_s > stage.start_s + stage.deadline_s * (1 + 1e-9) for stage in job.stages)
        found.append(Trace(
            job.name, times, job.granted, job.requested,
            deadline=became.completion_s - became.execution_s + became.deadline_s if became is not None else None,
            finish=became.completion_s if became is not None else None,
            end=min(last, times[-1] + traces.step_s) if times and last > times[-1] else None,
            stages=[stage.start_s for stage in job.stages],
            note="%d of %s late" % (late, counted(len(job.stages), "stage")) if late else ""))
    return found


def cores_over_time(simulation: schemas.ControlSimulation, outcome: schemas.ControlOutcome, application: Optional[str],
                    ax: Optional[Axes]) -> Plot:
    traces = traces_of(outcome)
    if application is not None:
        traces = [trace for trace in traces if trace.name == application]
        if not traces:
            raise ValueError("there is no job %s" % application)
    cores = simulation.cluster.executors * simulation.cluster.cores_per_executor
    return traces_plot(traces, cores, ax, "Cores by job under %s, gamma %g" % (outcome.strategy, outcome.gamma))


class _Row(NamedTuple):
    name: str
    jobs: Sequence[schemas.ControlJobOutcome]
    best: bool

    @property
    def late(self) -> int:
        return sum(not job.met for job in self.jobs)


def _rows(simulation: schemas.ControlSimulation) -> List[_Row]:
    best = (simulation.best.strategy, simulation.best.gamma)
    rows = [_Row("%s, gamma %g" % (outcome.strategy, outcome.gamma), outcome.jobs, (outcome.strategy, outcome.gamma) == best)
            for outcome in simulation.outcomes]
    if len(rows) > ROWS:
        rows = [row for place, row in enumerate(rows) if place < ROWS or row.best]
    return rows + [_Row("baseline %s" % baseline.baseline, baseline.jobs, False) for baseline in simulation.baselines]


def used(job: schemas.ControlJobOutcome) -> float:
    """How much of its deadline a job takes, in percent."""
    return 100 * job.execution_s / job.deadline_s


def compare_plot(simulation: schemas.ControlSimulation, ax: Optional[Axes]) -> Plot:
    rows = _rows(simulation)
    names = [job.name for job in simulation.jobs]
    figure, axes = canvas(ax, (SIZE[0], min(14.0, 2.2 + 0.27 * len(rows))))
    title = "Deadlines under the control loop: %s" % counted(len(names), "job")
    axes.set_title(title)
    if not any(row.jobs for row in rows):
        empty(axes, "nothing was simulated")
        return Plot(figure, axes, title + ": nothing was simulated.", ax is None)
    marked = _marked(simulation, names)
    for place, row in enumerate(rows):
        values = [used(job) for job in row.jobs]
        if values:
            axes.plot([min(values), max(values)], [place, place], color=GREY, linewidth=1.0, zorder=1, gid="range")
        say_right(axes, place, ("%d late" % row.late if row.late else "all in time") + (", best" if row.best else ""), bold=row.best)
    for name, look in marked.items():
        spots = [(used(job), place) for place, row in enumerate(rows) for job in row.jobs if job.name == name]
        axes.plot([x for x, _ in spots], [y for _, y in spots], linestyle="none", marker=look.marker, color=look.colour,
                  markeredgecolor=BLACK, markeredgewidth=0.6, markersize=7, label=label(name, 24), gid="job")
    axes.axvline(100, color=BLACK, linewidth=1.6, label="deadline")
    name_rows(axes, [(place, row.name) for place, row in enumerate(rows)], 40)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    everything = [used(job) for row in rows for job in row.jobs]
    if max(everything) > 1000 and min(everything) > 0:
        axes.set_xscale("log")
    else:
        axes.set_xlim(0, 1.05 * max(100.0, *everything))
    axes.set_xlabel("time taken, in % of the deadline")
    rest = len(names) - len(marked)
    about = "lines: all jobs, of which %s no mark" % counted(rest, "has", "have") if rest else None
    legend_below(axes, 3, title=about, title_fontsize="small")
    return Plot(figure, axes, _alt(simulation, rows, title), ax is None)


def _marked(simulation: schemas.ControlSimulation, names: Sequence[str]) -> Dict[str, Style]:
    """Of many jobs those that are most late, or nearest to it, in the first outcomes."""
    if len(names) > JOBS_MARKED:
        worst: Dict[str, float] = {}
        for outcome in simulation.outcomes:
            for job in outcome.jobs:
                worst[job.name] = max(worst.get(job.name, 0.0), used(job))
        tightest = set(sorted(names, key=lambda name: -worst.get(name, 0.0))[:JOBS_MARKED])
        names = [name for name in names if name in tightest]
    return {name: style(place) for place, name in enumerate(names)}


def _alt(simulation: schemas.ControlSimulation, rows: Sequence[_Row], title: str) -> str:
    text = "%s, as the time that each takes in percent of its deadline. " % title
    each = []
    for row in rows:
        worst = max(row.jobs, key=used, default=None)
        if worst is not None:
            each.append("%s: %d of %d late, at most %s %% (%s)" % (row.name, row.late, len(row.jobs), number(used(worst)), worst.name))
    best = simulation.best
    why = " ".join(reason.message for reason in best.reasons)
    text += first_few(each, 16) + ". Best is %s with gamma %g: %s" % (best.strategy, best.gamma, why)
    if any(outcome.traces is None for outcome in simulation.outcomes):
        text += ' Cores over time are not in the reply: ask with include=["traces"].'
    return text + "".join(" " + warning.message for warning in simulation.warnings)

"""Jobs against their deadlines: which task runs on which core when, and the cores in use."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .figure import BLACK, SIZE, Plot, Style, canvas, counted, empty, ink, label, legend_below, number
from .shapes import (OTHERS, Bar, area_style, draw_bars, every, in_use, late_words, first_few, merged, name_rows,
                     outline, say_right, step_edges, tops)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .. import schemas

JOB_ROWS = 16
CORE_ROWS = 64
BARS_MAX = 3000
FAR = 2.0  # a deadline further beyond the last completion than so many times all of the work is off the picture


class Job(NamedTuple):
    name: str
    release: float
    completion: float
    deadline: float  # all from instant 0 of the request
    met: bool

    @property
    def slack(self) -> float:
        return self.deadline - self.completion


def jobs_of(found: schemas.Feasibility) -> List[Job]:
    jobs = []
    for job in found.jobs:
        release = job.completion_s - job.execution_s
        jobs.append(Job(job.name, release, job.completion_s, release + job.deadline_s, job.met))
    return jobs


def shown_jobs(jobs: Sequence[Job]) -> List[Job]:
    """Of many those that are most late or nearest to it, in the order of the request."""
    if len(jobs) <= JOB_ROWS:
        return list(jobs)
    places = sorted(sorted(range(len(jobs)), key=lambda place: (jobs[place].met, jobs[place].slack))[:JOB_ROWS])
    return [jobs[place] for place in places]


def _span(jobs: Sequence[Job]) -> Tuple[float, float]:
    """The time that is shown."""
    first, last = min(job.release for job in jobs), max(job.completion for job in jobs)
    near = [job.deadline for job in jobs if job.deadline <= last + FAR * (last - first)]
    last = max([last, *near])
    return first, last if last > first else first + 1.0


def _title(found: schemas.Feasibility) -> str:
    jobs = len(found.jobs)
    if found.feasible:
        return "All deadlines are met: %s" % counted(jobs, "job")
    return "%d of %s late" % (found.metrics.delayed, counted(jobs, "job"))


def feasibility_plot(found: schemas.Feasibility, ax: Optional[Axes]) -> Plot:
    jobs = jobs_of(found)
    if not jobs:
        return _nothing(ax, "no job", "Feasibility", "Feasibility of no job.")
    shown, schedule = shown_jobs(jobs), found.schedule or []
    styles = {job.name: area_style(place) for place, job in enumerate(shown)}
    cores = sorted({task.core for task in schedule})
    bars = _task_bars(schedule, cores, len(shown) + 0.6) if len(cores) <= CORE_ROWS else None
    rows = len(shown) + (len(cores) if bars is not None else 10 if schedule else 0)
    figure, axes = canvas(ax, (SIZE[0], min(11.0, 1.8 + 0.23 * rows)))
    span = _span(jobs)
    _job_rows(axes, shown, styles, span)
    names: List[Tuple[float, str]] = [(place, job.name) for place, job in enumerate(shown)]
    base = len(shown) + 0.1
    if bars is not None and cores:
        _draw_tasks(axes, bars, styles, len(jobs) - len(shown))
        step = every(len(cores))
        names += [(base + 0.5 + place, "core %d" % core) for place, core in enumerate(cores) if place % step == 0]
        bottom = base + len(cores)
    else:
        bottom = base + 10 if schedule else base - 0.6
    if schedule:
        _deadline_lines(axes, shown, styles, bottom, span)
        axes.axhline(base - 0.3, color=BLACK, linewidth=0.8)
    if schedule and bars is None:
        _draw_use_below(axes, schedule, styles, base, bottom)
        names.append(((base + bottom) / 2, "cores in use"))
    name_rows(axes, names)
    axes.set_ylim(bottom, -0.6)
    margin = 0.02 * (span[1] - span[0])
    axes.set_xlim(span[0] - margin, span[1] + margin)
    axes.set_xlabel("time (s)")
    axes.set_title(_title(found) + ("" if len(shown) == len(jobs) else " (the %d tightest are shown)" % len(shown)))
    return Plot(figure, axes, _alt(found, jobs, schedule, len(cores)), ax is None)


def _nothing(ax: Optional[Axes], why: str, title: str, alt: str) -> Plot:
    figure, axes = canvas(ax)
    empty(axes, why)
    axes.set_title(title)
    return Plot(figure, axes, alt, ax is None)


def _job_rows(axes: Axes, shown: Sequence[Job], styles: Dict[str, Style], span: Tuple[float, float]) -> None:
    """From release to completion, with the deadline as an upright stroke and what became of it in words."""
    for place, job in enumerate(shown):
        draw_bars(axes, [Bar(job.release, job.completion, place)], styles[job.name], 0.6, label=label(job.name))
        if job.deadline <= span[1]:
            axes.plot([job.deadline] * 2, [place - 0.42, place + 0.42], color=BLACK, linewidth=2.5, path_effects=outline(),
                      solid_capstyle="butt")
        else:
            axes.plot([span[1]], [place], color=BLACK, marker=">", clip_on=False)  # it lies further right
        say_right(axes, place, late_words(job.slack), bold=not job.met)


def _deadline_lines(axes: Axes, shown: Sequence[Job], styles: Dict[str, Style], bottom: float, span: Tuple[float, float]) -> None:
    near = [(place, job) for place, job in enumerate(shown) if job.deadline <= span[1]]
    for place, job in near:
        axes.plot([job.deadline] * 2, [place + 0.42, bottom], color=BLACK, linestyle=styles[job.name].dashes, linewidth=1.2,
                  label="_deadline", path_effects=outline(), zorder=3)
    tops(axes, [(job.deadline, job.name) for _, job in near], span)


def _task_bars(schedule: Sequence[schemas.FeasibilitySchedule], cores: Sequence[int], first: float) -> Optional[Dict[str, List[Bar]]]:
    """By job; if there are too many, those of a job that follow one another on a core are one. None: still too many."""
    rows = {core: first + place for place, core in enumerate(cores)}
    bars: Dict[str, List[Bar]] = {}
    for task in schedule:
        bars.setdefault(task.job, []).append(Bar(task.start_s, task.end_s, rows[task.core]))
    if len(schedule) > BARS_MAX:
        bars = {job: merged(those) for job, those in bars.items()}
    return bars if sum(map(len, bars.values())) <= BARS_MAX else None


def _draw_tasks(axes: Axes, bars: Dict[str, List[Bar]], styles: Dict[str, Style], others: int) -> None:
    left, right = min(b.left for those in bars.values() for b in those), max(b.right for those in bars.values() for b in those)
    for job, those in bars.items():
        look = styles.get(job, OTHERS)
        draw_bars(axes, those, look)
        longest = max(merged(those), key=lambda bar: bar.right - bar.left)
        text = label(job if job in styles else counted(others, "other job"), 16)
        # About as wide as its letters are in a picture of the usual size.
        if longest.right - longest.left > 0.016 * (len(text) + 1) * (right - left):
            axes.text((longest.left + longest.right) / 2, longest.middle, text, ha="center", va="center", fontsize="small", color=BLACK,
                      clip_on=True, zorder=4, bbox={"facecolor": "#FFFFFF", "edgecolor": "none", "boxstyle": "square,pad=0.15"})


class Use(NamedTuple):
    """Cores in use over time, job by job. exact: no means over intervals."""

    edges: List[float]
    jobs: List[Tuple[Optional[str], List[float]]]  # None: all that are not shown
    exact: bool


def cores_in_use(schedule: Sequence[schemas.FeasibilitySchedule], names: Sequence[str]) -> Use:
    spans: Dict[Optional[str], List[Tuple[float, float]]] = {name: [] for name in names}
    spans[None] = []
    for task in schedule:
        spans[task.job if task.job in spans else None].append((task.start_s, task.end_s))
    edges, exact = step_edges([span for those in spans.values() for span in those])
    if len(edges) < 2:
        return Use([], [], True)
    return Use(edges, [(name, in_use(those, edges)) for name, those in spans.items() if those], exact)


def _stack(axes: Axes, use: Use, styles: Dict[str, Style], others: int, place: Any = None) -> None:
    """place: from cores to where they are drawn."""
    from itertools import repeat
    where = place if place is not None else lambda value: value
    below: List[float] = list(repeat(0.0, len(use.edges) - 1))
    for name, values in use.jobs:
        above = [a + b for a, b in zip(below, values)]
        look = styles.get(name, OTHERS) if name is not None else OTHERS
        there = [place for place, value in enumerate(values) if value > 0]
        if there:
            first, end = there[0], there[-1] + 1
            axes.stairs([where(v) for v in above[first:end]], use.edges[first:end + 1], baseline=[where(v) for v in below[first:end]],
                        fill=True, facecolor=look.colour, edgecolor=ink(look.colour), hatch=look.hatch, linewidth=0.4,
                        label=label(name) if name is not None else counted(others, "other job"))
        below = above


def _draw_use_below(axes: Axes, schedule: Sequence[schemas.FeasibilitySchedule], styles: Dict[str, Style], top: float,
                    bottom: float) -> None:
    """Under the rows of the jobs, instead of more cores than there is room for."""
    use = cores_in_use(schedule, list(styles))
    if not use.edges:
        return
    most = max(map(sum, zip(*[values for _, values in use.jobs]))) or 1.0
    _stack(axes, use, styles, 0, lambda value: bottom - value / most * (bottom - top - 0.2))
    say_right(axes, top + 0.2, "%s cores" % number(most))
    say_right(axes, bottom, "0")


def cores_plot(found: schemas.Feasibility, ax: Optional[Axes]) -> Plot:
    schedule, jobs = found.schedule, jobs_of(found)
    if not schedule:
        why = "no task runs" if schedule is not None else 'the reply has no schedule: ask with include=["schedule"]'
        return _nothing(ax, why, "Cores in use", "Cores in use: %s." % why)
    shown = shown_jobs(jobs)
    styles = {job.name: area_style(place) for place, job in enumerate(shown)}
    use = cores_in_use(schedule, list(styles))
    if not use.edges:
        return _nothing(ax, "no task takes any time", "Cores in use", "Cores in use: no task takes any time.")
    figure, axes = canvas(ax, (SIZE[0], SIZE[1] + 0.09 * len(shown)))
    span = _span(jobs)
    _stack(axes, use, styles, len(jobs) - len(shown))
    most = max(map(sum, zip(*[values for _, values in use.jobs])))
    cores = _cores(found)
    if cores is not None:
        axes.axhline(cores, color=BLACK, linestyle="--", linewidth=1.2, label="%s in all" % counted(cores, "core"))
    near = [job for job in shown if job.deadline <= span[1]]
    for job in near:
        axes.axvline(job.deadline, color=BLACK, linestyle=styles[job.name].dashes, linewidth=1.2, path_effects=outline(), label="_deadline")
    tops(axes, [(job.deadline, job.name) for job in near], span)
    margin = 0.02 * (span[1] - span[0])
    axes.set_xlim(span[0] - margin, span[1] + margin)
    axes.set_ylim(0, 1.08 * max(most, cores or 0))
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("cores in use" if use.exact else "cores in use (averaged over %g s)" % float(number(use.edges[1] - use.edges[0])))
    axes.set_title("Cores in use by job: " + _title(found).lower().replace("all deadlines are met: ", ""))
    legend_below(axes)
    work = [(name if name is not None else counted(len(jobs) - len(shown), "other job"),
             sum(v * (b - a) for v, a, b in zip(values, use.edges, use.edges[1:]))) for name, values in use.jobs]
    text = "Cores in use over %s s by %s: at most %s%s. Core time: %s. " % (
        number(use.edges[-1] - use.edges[0]), counted(len(jobs), "job"), number(most),
        " of %d" % cores if cores is not None else "; how many there are is unknown",
        first_few(["%s %s" % (n, number(w, "s")) for n, w in work]))
    return Plot(figure, axes, text + _outcome(found, jobs), ax is None)


def _cores(found: schemas.Feasibility) -> Optional[int]:
    """How many there are, where the reply says so."""
    for reason in found.reasons:
        cores = (reason.to_dict().get("evidence") or {}).get("cores")
        if reason.code == "cores_in_use" and isinstance(cores, int):
            return cores
    return None


def _outcome(found: schemas.Feasibility, jobs: Sequence[Job]) -> str:
    order = sorted(jobs, key=lambda job: job.slack)
    text = "%d of %s late. " % (sum(not job.met for job in jobs), counted(len(jobs), "job"))
    return text + first_few(["%s ends at %s s, its deadline is at %s s: %s" % (
        job.name, number(job.completion), number(job.deadline), late_words(job.slack)) for job in order]) + "." + remedies_words(found)


def remedies_words(found: schemas.Feasibility) -> str:
    remedies = found.remedies
    if remedies is None:
        return ""
    text = ""
    if remedies.min_total_cores is not None:
        text += " %s would meet every deadline." % counted(remedies.min_total_cores, "core")
    else:
        none = any(reason.code == "no_cores_suffice" for reason in found.reasons)
        text += " No number of cores meets every deadline." if none else " How many cores would meet every deadline is unknown."
    if remedies.deadlines_s:
        text += " On this cluster all are met with these deadlines, counted from the release: %s." % first_few(
            ["%s %s" % (name, number(value, "s")) for name, value in remedies.deadlines_s.items()])
    alone = remedies.one_later_deadline
    if alone is not None and alone.jobs:
        least = min(alone.jobs, key=lambda change: change.later_s)
        text += " A later deadline of %s alone is enough: %s." % (least.job, number(least.deadline_s, "s"))
    out = remedies.jobs_left_out
    if out is not None and out.jobs:
        text += " All others are met without %s." % first_few(list(out.jobs))
    return text + (" The search was cut short." if remedies.exact is False else "")


def _alt(found: schemas.Feasibility, jobs: Sequence[Job], schedule: Sequence[Any], cores: int) -> str:
    if schedule:
        there = _cores(found)
        text = "%s on %s%s, earliest deadline first" % (counted(len(schedule), "task"), counted(cores, "core"),
                                                        " of %d" % there if there is not None else "")
    else:
        text = "%s from release to completion; the reply has no schedule of their tasks" % counted(len(jobs), "job")
    used = found.metrics.utilization
    return "%s, over %s s; utilization %s. %s" % (text, number(found.metrics.makespan_s),
                                                  "unknown" if used is None else "%s %%" % number(100 * used), _outcome(found, jobs))

"""Schedulers compared by simulation: completion times, their distributions, and queues over time."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from .figure import BLACK, GREY, STYLES, Plot, Style, canvas, counted, empty, label, number, style
from .layout import legend
from .shapes import first_few, legend_in, name_rows, panels
from .simulation import PANELS_MAX, LOGARITHMIC_FROM

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .. import schemas

    Result = Union[schemas.SlotsSimulationResult, schemas.TasksSimulationResult]
    Load = Union[schemas.SlotsSimulationResultLoad, schemas.TasksSimulationResultLoad]
    Outcome = Union[schemas.SlotsOutcome, schemas.TasksOutcome]

MARKED = (("p50", "o"), ("p90", "s"), ("p99", "^"))
ROWS_MAX = 48


class Row(NamedTuple):
    policy: str
    jobs: str  # "all", "short", "long"
    times: Any  # percentiles


def rows_of(load: Load) -> List[Row]:
    """Completion times by policy and, where there are several, by class of jobs."""
    found = []
    for outcome in load.policies:
        if hasattr(outcome, "completion_s"):
            found.append(Row(outcome.name, "all", outcome.completion_s))
            continue
        several = len(outcome.classes) > 2
        found += [Row(outcome.name, each.name, each.completion_s) for each in outcome.classes if (each.name != "all") == several]
    return list({(row.policy, row.jobs): row for row in found}.values())


def loads_of(result: Result, load: Optional[float], ax: Optional[Axes]) -> Sequence[Load]:
    """Those to draw."""
    loads: List[Any] = list(result.loads)
    if load is not None:
        loads = [each for each in loads if each.load is not None and abs(each.load - load) <= 1e-9 * abs(load)]
        if not loads:
            raise ValueError("there is no load of %g; there are %s" % (
                load, ", ".join("%g" % each.load for each in result.loads if each.load is not None) or "none"))
    if ax is not None and len(loads) > 1:
        raise ValueError("with axes of your own, say which load: load=%g" % loads[0].load)
    return loads[:PANELS_MAX]


def load_words(load: Load) -> str:
    return "arrivals as given" if load.load is None else "load %g" % load.load


def _title(axes: Axes, load: Load) -> None:
    axes.set_title("%s: %s" % (load_words(load), _best(load)), fontsize="medium")


def _best(load: Load) -> str:
    name = label(load.best.name, 20)
    return {"too_close": "too close to call", "equal": "as good as equal", "only_one": name}.get(load.best.code, "%s is best" % name)


def _name(name: str, result: Result, most: int = 24) -> str:
    return label(name, most) + (" (baseline)" if name == result.baseline else "")


def _canvases(count: int, size: Tuple[float, float], entries: int, ax: Optional[Axes]) -> Tuple[Any, List[Axes], Optional[Axes]]:
    if ax is not None:
        return ax.figure, [ax], None
    return panels(count, size, entries)


def _legend(all_axes: Sequence[Axes], room: Optional[Axes], title: str = "") -> None:
    found = {text: handle for axes in all_axes for handle, text in zip(*axes.get_legend_handles_labels())}
    if room is not None:
        legend_in(room, found, title)
    else:
        legend(all_axes[0], list(found.values()), list(found), frameon=False, fontsize="small", title=title, title_fontsize="small")


# --- completion times ---


def completion_plot(result: Result, load: Optional[float], ax: Optional[Axes]) -> Plot:
    loads = loads_of(result, load, ax)
    rows = [rows_of(each)[:ROWS_MAX] for each in loads]
    figure, all_axes, room = _canvases(len(loads), (4.4, 1.2 + 0.28 * max(len(each) for each in rows)), len(MARKED), ax)
    reach = [value for each in rows for row in each for value in (row.times.p50, row.times.p99)]
    for axes, each, mine in zip(all_axes, loads, rows):
        _times(axes, mine)
        name_rows(axes, [(place, _row_name(row, result)) for place, row in enumerate(mine)], 40)
        axes.set_ylim(len(mine) - 0.4, -0.6)
        if max(reach) > LOGARITHMIC_FROM * min(reach) > 0:
            axes.set_xscale("log")
        axes.set_xlabel("completion time (s)")
        _title(axes, each)
    _legend(all_axes, room, "so many of the jobs\ntake at most")
    title = "Completion times by policy"
    if len(loads) > 1:
        figure.suptitle(title)
    text = title + "." + "".join(" At %s: %s. %s" % (load_words(each), first_few([_row_words(row) for row in mine], 12), each.best.message)
                                 for each, mine in zip(loads, rows))
    return Plot(figure, all_axes[0], text, ax is None, title if len(loads) > 1 else None)


def _row_name(row: Row, result: Result) -> str:
    return _name(row.policy, result) + ("" if row.jobs == "all" else ", %s" % row.jobs)


def _row_words(row: Row) -> str:
    return "%s%s half within %s, 90 %% within %s, 99 %% within %s" % (
        row.policy, "" if row.jobs == "all" else " (%s jobs)" % row.jobs, number(row.times.p50, "s"), number(row.times.p90, "s"),
        number(row.times.p99, "s"))


def _times(axes: Axes, rows: Sequence[Row]) -> None:
    for place, row in enumerate(rows):
        axes.plot([row.times.p50, row.times.p99], [place, place], color=GREY, linewidth=1.2, zorder=1, gid="range")
    for turn, (name, marker) in enumerate(MARKED):
        axes.plot([getattr(row.times, name) for row in rows], range(len(rows)), linestyle="none", marker=marker,
                  color=STYLES[turn].colour, markeredgecolor=BLACK, markeredgewidth=0.6, label="%s %%" % name[1:], gid=name)


# --- distributions ---


def distributions_of(load: Load, jobs: Optional[str]) -> List[Tuple[str, schemas.JobDistribution]]:
    """By policy; jobs None: the short ones where there are some besides others."""
    found: List[Tuple[str, schemas.JobDistribution]] = []
    for outcome in load.policies:
        there = {each.class_: each for each in outcome.distributions or ()}
        wanted = jobs or ("short" if "short" in there and "long" in there else "all")
        if there and wanted not in there:
            raise ValueError("there are no %s jobs; there are %s" % (wanted, ", ".join(there)))
        found += [(outcome.name, there[wanted])] if there else []
    return found


def distributions_plot(result: Result, load: Optional[float], jobs: Optional[str], ax: Optional[Axes]) -> Plot:
    loads = loads_of(result, load, ax)
    found = [distributions_of(each, jobs) for each in loads]
    title = "Completion times of %s jobs" % next((points.class_ for each in found for _, points in each), jobs or "all")
    if not any(found):
        return nothing(title, 'include=["distributions"]', ax)
    names = list(dict.fromkeys(name for each in found for name, _ in each))
    looks = {name: _look(place, name == result.baseline) for place, name in enumerate(names)}
    figure, all_axes, room = _canvases(len(loads), (4.0, 3.2), len(names), ax)
    ends = [points.completion_quantiles_s[end] for each in found for _, points in each for end in (0, -1)]
    for axes, each, mine in zip(all_axes, loads, found):
        for name, points in mine:
            look = looks[name]
            axes.plot(points.completion_quantiles_s, points.percents, color=look.colour, linestyle=look.dashes, label=_name(name, result),
                      gid="curve")
        if max(ends) > LOGARITHMIC_FROM * min(ends) > 0:
            axes.set_xscale("log")
        axes.set_ylim(0, 102)
        axes.set_xlabel("completion time (s)")
        _title(axes, each)
    all_axes[0].set_ylabel("jobs done (%)")
    _legend(all_axes, room)
    if len(loads) > 1:
        figure.suptitle(title)
    text = title + ", as the share of them that is done within a time."
    for each, mine in zip(loads, found):
        words = ["%s half within %s, 99.9 %% within %s" % (name, number(times[50], "s"), number(times[100], "s"))
                 for name, times in ((name, points.completion_quantiles_s) for name, points in mine)]
        text += " At %s: %s." % (load_words(each), first_few(words, 12))
    return Plot(figure, all_axes[0], text, ax is None, title if len(loads) > 1 else None)


def _look(place: int, baseline: bool) -> Style:
    return Style(BLACK, "-", "o", "") if baseline else style(place)


def nothing(title: str, how: str, ax: Optional[Axes]) -> Plot:
    """how: with which argument the request would have had it."""
    figure, axes = canvas(ax)
    text = "not in the result: ask with " + how
    empty(axes, text)
    axes.set_title(title)
    return Plot(figure, axes, "%s: %s" % (title, text), ax is None)


# --- queues ---


def series_of(outcome: Outcome) -> Dict[str, List[float]]:
    """Tasks that wait and run, by kind or class; those of which there never is any are left out."""
    queues = outcome.queue_lengths
    if queues is None:
        return {}
    both = {"%s, %s" % (kind, state): list(getattr(getattr(queues, state + "_tasks"), kind))
            for kind in (("map", "reduce") if hasattr(queues.waiting_tasks, "map") else ("short", "long"))
            for state in ("waiting", "running")}
    return {name: values for name, values in both.items() if any(values)}


def queues_plot(result: Result, load: Optional[float], ax: Optional[Axes]) -> Plot:
    each = loads_of(result, load if load is not None else result.loads[0].load, ax)[0]
    title = "Tasks that wait and run: %s" % load_words(each)
    outcomes: List[Any] = [outcome for outcome in each.policies if outcome.queue_lengths is not None]
    if not outcomes:
        return nothing(title, 'include=["queues"]', ax)
    if ax is not None and len(outcomes) > 1:
        raise ValueError("each policy has axes of its own: of %d, pass none" % len(outcomes))
    drawn = outcomes[:PANELS_MAX]
    figure, all_axes, room = _canvases(len(drawn), (3.9, 2.8), 4, ax)
    names = list(dict.fromkeys(name for outcome in drawn for name in series_of(outcome)))
    for axes, outcome in zip(all_axes, drawn):
        queues = outcome.queue_lengths
        for name, values in series_of(outcome).items():
            look = style(names.index(name))
            edges = [queues.start_s + place * queues.bin_s for place in range(len(values) + 1)]
            axes.stairs(values, edges, baseline=None, color=look.colour, linestyle=look.dashes, label=name, gid="queue")
        axes.set_xlabel("time (s)")
        axes.set_title(_name(outcome.name, result), fontsize="medium")
    all_axes[0].set_ylabel("tasks")
    _legend(all_axes, room)
    figure.suptitle(title)
    words = ["%s: %s" % (outcome.name, ", ".join("%s at most %s" % (name, number(max(values)))
                                                 for name, values in series_of(outcome).items())) for outcome in drawn]
    text = "%s. %s." % (title, first_few(words, 12))
    if len(drawn) < len(outcomes):
        text += " %s are not drawn." % counted(len(outcomes) - len(drawn), "policy", "policies")
    return Plot(figure, all_axes[0], text, ax is None, title)

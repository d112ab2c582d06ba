"""Cores over time: what each application requests and what it is granted."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Sequence, Tuple

from .figure import BLACK, SIZE, SKY, VERMILION, Plot, canvas, counted, empty, label, number
from .layout import legend
from .shapes import late_words, legend_in, first_few, outline, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS_MAX = 12
STEPS_MAX = 400


class Trace(NamedTuple):
    """Of an application. Values hold from their time to the next, the last one to `end`; None: unknown.

    start, deadline, finish, end: instants of the same clock as `times`; stages: when stages begin"""

    name: str
    times: Sequence[float]
    granted: Sequence[Optional[float]]
    requested: Sequence[Optional[float]] = ()
    deadline: Optional[float] = None
    finish: Optional[float] = None
    end: Optional[float] = None
    stages: Sequence[float] = ()
    note: str = ""  # what is to be said besides

    @property
    def edges(self) -> List[float]:
        """The times, and where the last value ends."""
        if not self.times:
            return []
        known = [value for value in (self.end, self.finish) if value is not None and value > self.times[-1]]
        last = known[0] if known else self.times[-1] + (self.times[-1] - self.times[-2] if len(self.times) > 1 else 1.0)
        return [*self.times, last]

    @property
    def slack(self) -> float:
        """Below 0 if it is late; an application that has not finished is later than all others."""
        if self.deadline is None:
            return math.inf
        return self.deadline - self.finish if self.finish is not None else -math.inf

    def outcome(self) -> str:
        if self.finish is None:
            text = "not finished"
        else:
            text = "no deadline" if self.deadline is None else late_words(self.slack)
        return text + (", " + self.note if self.note else "")


def traces_plot(traces: Sequence[Trace], capacity: Optional[float], ax: Optional[Axes] = None, title: str = "Cores by application") -> Plot:
    """An application each, one below the other on one time axis.

    - capacity: how many cores there are in all; None: unknown"""
    if ax is not None and len(traces) > 1:
        raise ValueError("with axes of your own, say which application")
    if not traces:
        figure, axes = canvas(ax)
        empty(axes, "no application")
        axes.set_title(title)
        return Plot(figure, axes, title + ": there is no application.", ax is None)
    drawn = _shown(traces)
    if len(drawn) == 1:
        figure, axes = canvas(ax, (SIZE[0] + 1.2, 3.4))
        all_axes, room = [axes], None
    else:
        figure, all_axes, room = panels(len(drawn), (7.0, 1.75), 5, columns=1)
    for axes, trace in zip(all_axes, drawn):
        _trace(axes, trace, capacity)
    for axes in all_axes[:-1]:
        axes.tick_params(labelbottom=False)
    all_axes[-1].set_xlabel("time (s)")
    _scale(all_axes, drawn, capacity)
    found = {text: handle for axes in all_axes for handle, text in zip(*axes.get_legend_handles_labels())}
    if room is not None:
        legend_in(room, found, "")
    else:
        legend(all_axes[0], list(found.values()), list(found), loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False,
               fontsize="small")
    whole = "%s: %s" % (label(drawn[0].name), drawn[0].outcome())
    if len(drawn) > 1:
        whole = title + (" (the %d tightest of %d)" % (len(drawn), len(traces)) if len(drawn) < len(traces) else "")
        figure.suptitle(whole)
    return Plot(figure, all_axes[0], _alt(traces, capacity, title), ax is None, whole)


def _shown(traces: Sequence[Trace]) -> List[Trace]:
    if len(traces) <= PANELS_MAX:
        return list(traces)
    places = sorted(sorted(range(len(traces)), key=lambda place: traces[place].slack)[:PANELS_MAX])
    return [traces[place] for place in places]


def _scale(all_axes: Sequence[Any], drawn: Sequence[Trace], capacity: Optional[float]) -> None:
    """The same for all. A request far beyond all cores is cut off at three times as many."""
    values = [value for trace in drawn for value in (*trace.granted, *trace.requested) if value is not None]
    granted = max([value for trace in drawn for value in trace.granted if value is not None] + [capacity or 0.0])
    top = min(max(values + [capacity or 0.0]), 3 * granted) if granted else max(values + [1.0])
    times = [time for trace in drawn for time in (*_busy(trace), trace.finish) if time is not None]
    if times:
        first, last = min(times), max(times)
        last = max([last] + [t.deadline for t in drawn if t.deadline is not None and t.deadline <= last + 2 * (last - first)])
        margin = 0.02 * (last - first or 1.0)
        all_axes[0].set_xlim(first - margin, last + margin)
    all_axes[0].set_ylim(0, 1.1 * top)


def _busy(trace: Trace) -> List[float]:
    """From when to when it has or requests cores."""
    edges, values = trace.edges, [trace.granted, trace.requested]
    places = [place for row in values for place, value in enumerate(row) if value]
    return [edges[min(places)], edges[max(places) + 1]] if places else edges


def _trace(axes: Axes, trace: Trace, capacity: Optional[float]) -> None:
    edges, granted = thinned(trace.edges, trace.granted)
    if edges:
        axes.stairs(granted, edges, fill=True, facecolor=SKY, edgecolor=BLACK, linewidth=0.6, label="granted")
    if trace.requested:
        edges, requested = thinned(trace.edges, trace.requested)
        axes.stairs(requested, edges, baseline=None, color=BLACK, linestyle="--", linewidth=1.3, label="requested")
    if trace.stages:
        axes.plot(list(trace.stages), [0.0] * len(trace.stages), linestyle="none", marker="^", markersize=5, color=BLACK,
                  markerfacecolor="#FFFFFF", clip_on=False, zorder=4, label="a stage begins")
    if capacity is not None:
        axes.axhline(capacity, color=BLACK, linestyle=":", linewidth=1.0, label="%s cores in all" % number(capacity))
    if trace.deadline is not None:
        axes.axvline(trace.deadline, color=BLACK, linewidth=2.2, path_effects=outline(), label="deadline")
    if trace.finish is not None:
        axes.axvline(trace.finish, color=VERMILION, linestyle="-.", linewidth=1.8, label="finish")
    axes.set_ylabel("cores")
    axes.set_title("%s: %s" % (label(trace.name), trace.outcome()), fontsize="medium", loc="left")


def thinned(edges: Sequence[float], values: Sequence[Optional[float]]) -> Tuple[List[float], List[float]]:
    """Edges and values of steps; of very many, means over intervals of equal length. What is unknown is NaN."""
    values, edges = list(values), list(edges[:len(values) + 1])
    if len(values) <= STEPS_MAX:
        return edges, [math.nan if value is None else float(value) for value in values]
    first, last = edges[0], edges[-1]
    cuts = [first + (last - first) * place / STEPS_MAX for place in range(STEPS_MAX)] + [last]
    sums, seen = [0.0] * STEPS_MAX, [0.0] * STEPS_MAX
    place = 0
    for left, right, value in zip(edges, edges[1:], values):
        while place < STEPS_MAX - 1 and cuts[place + 1] <= left:
            place += 1
        here = place
        while value is not None and here < STEPS_MAX and cuts[here] < right:
            part = min(right, cuts[here + 1]) - max(left, cuts[here])
            sums[here] += value * part
            seen[here] += part
            here += 1
    return cuts, [total / part if part > 0 else math.nan for total, part in zip(sums, seen)]


def core_seconds(trace: Trace, values: Sequence[Optional[float]]) -> float:
    edges = trace.edges
    return sum(value * (right - left) for value, left, right in zip(values, edges, edges[1:]) if value is not None)


def _alt(traces: Sequence[Trace], capacity: Optional[float], title: str) -> str:
    late = sum(trace.slack < 0 for trace in traces)
    text = "%s over time, requested and granted, of %s; %s. %d late." % (
        title, counted(len(traces), "application"),
        "%s cores in all" % number(capacity) if capacity is not None else "how many there are is unknown", late)
    each = []
    for trace in sorted(traces, key=lambda trace: trace.slack):
        known = [value for value in trace.granted if value is not None]
        if known:
            words = "%s granted %s core seconds, at most %s cores" % (
                trace.name, number(core_seconds(trace, trace.granted)), number(max(known)))
        else:
            words = "%s granted an unknown number" % trace.name
        if trace.requested:
            words += ", requested %s core seconds" % number(core_seconds(trace, trace.requested))
        if trace.finish is not None:
            words += ", finishes at %s s" % number(trace.finish)
        if trace.deadline is not None:
            words += ", deadline at %s s" % number(trace.deadline)
        each.append(words + ": " + trace.outcome())
    return "%s %s." % (text, first_few(each))

"""Flow times of workflows under several policies."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from .figure import BLACK, SIZE, STYLES, Plot, Style, canvas, counted, empty, label, number
from .layout import legend
from .shapes import legend_in, first_few, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .. import schemas

PANELS_MAX = 9
MARKED = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))
LOGARITHMIC_FROM = 30.0
COLOURED = [look for look in STYLES if look.colour != BLACK]


def simulation_plot(result: schemas.SimulationResult, arrival_rate: Optional[float], ax: Optional[Axes]) -> Plot:
    loads = list(result.loads)
    if arrival_rate is not None:
        loads = [load for load in loads if abs(load.arrival_rate_per_s - arrival_rate) <= 1e-9 * abs(arrival_rate)]
        if not loads:
            raise ValueError("there is no load of %g workflows/s; there are %s" % (
                arrival_rate, ", ".join("%g" % load.arrival_rate_per_s for load in result.loads) or "none"))
    if ax is not None and len(loads) > 1:
        raise ValueError("with axes of your own, say which arrival rate: load=%g" % loads[0].arrival_rate_per_s)
    title = "Flow times of %s" % counted(result.workload.workflows, "workflow")
    if not loads:
        figure, axes = canvas(ax)
        empty(axes, "nothing was simulated")
        axes.set_title(title)
        return Plot(figure, axes, title + ": nothing was simulated.", ax is None)
    drawn = _spread(loads)
    styles = _styles(result.baseline, drawn)
    if len(drawn) == 1:
        figure, axes = canvas(ax, (SIZE[0] + 1.2, SIZE[1] + 0.12 * max(0, len(styles) - 14)))
        all_axes, room = [axes], None
    else:
        figure, all_axes, room = panels(len(drawn), (3.9, 3.0), len(styles))
    reach = _reach(drawn)
    for axes, load in zip(all_axes, drawn):
        _load(axes, load, result.baseline, styles)
        if reach is not None and reach[1] > LOGARITHMIC_FROM * reach[0] > 0:
            axes.set_xscale("log")
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("flow time (s)")
        axes.set_title("%g workflows/s: %s" % (load.arrival_rate_per_s, _best(load)), fontsize="medium" if len(drawn) > 1 else None)
    for axes in all_axes[::3]:
        axes.set_ylabel("share of workflows done")
    _legend(all_axes, room)
    whole = None
    if len(drawn) > 1:
        whole = title + " by policy" + (", %d of %d arrival rates" % (len(drawn), len(loads)) if len(drawn) < len(loads) else "")
        figure.suptitle(whole)
    return Plot(figure, all_axes[0], _alt(result, loads, drawn), ax is None, whole)


def _spread(loads: List[schemas.SimulationResultLoad]) -> List[schemas.SimulationResultLoad]:
    """Of many arrival rates some, the first and the last among them."""
    if len(loads) <= PANELS_MAX:
        return loads
    return [loads[round(place * (len(loads) - 1) / (PANELS_MAX - 1))] for place in range(PANELS_MAX)]


def _styles(baseline: str, loads: List[schemas.SimulationResultLoad]) -> Dict[str, Style]:
    """The baseline is black and solid."""
    names = list(dict.fromkeys(outcome.name for load in loads for outcome in load.policies))
    found, place = {}, 0
    for name in names:
        if name == baseline:
            found[name] = Style(BLACK, "-", "o", "")
        else:
            turn, own = divmod(place, len(COLOURED))
            other = COLOURED[(own + 1 + 2 * turn) % len(COLOURED)] if turn else COLOURED[own]
            look = COLOURED[own]._replace(dashes=other.dashes, marker=other.marker)
            found[name] = look if look.dashes != "-" else look._replace(dashes=(0, (6, 2)))
            place += 1
    return found


def curve_of(outcome: schemas.SimulationOutcome) -> Tuple[List[float], List[float]]:
    """Flow times and shares of all workflows: the unfinished ones lower the curve."""
    share = finished_share(outcome)
    return [value for value, _ in outcome.flow_time_s.cdf], [part * share for _, part in outcome.flow_time_s.cdf]


def finished_share(outcome: schemas.SimulationOutcome) -> float:
    done = outcome.flow_time_s.workflows
    return done / (done + outcome.workflows_unfinished) if done else 0.0


def _reach(loads: List[schemas.SimulationResultLoad]) -> Optional[Tuple[float, float]]:
    values = [value for load in loads for outcome in load.policies for value, _ in outcome.flow_time_s.cdf]
    return (min(values), max(values)) if values else None


def _load(axes: Axes, load: schemas.SimulationResultLoad, baseline: str, styles: Dict[str, Style]) -> None:
    for outcome in load.policies:
        look, (values, shares) = styles[outcome.name], curve_of(outcome)
        text = label(outcome.name, 24) + (" (baseline)" if outcome.name == baseline else "")
        if not values:
            axes.plot([], [], color=look.colour, linestyle=look.dashes, marker=look.marker, label=text)
            continue
        first = outcome.name == baseline
        axes.plot(values, shares, color=look.colour, linestyle=look.dashes, linewidth=2.2 if first else 1.6, zorder=2.5 if first else 2,
                  gid="curve")
        marks = [(getattr(outcome.flow_time_s, name), part) for name, part in MARKED]
        there = [(value, part * finished_share(outcome)) for value, part in marks if value is not None]
        axes.plot([v for v, _ in there], [s for _, s in there], color=look.colour, marker=look.marker, linestyle="none",
                  markeredgecolor=BLACK, markeredgewidth=0.6, zorder=3, gid="percentiles")
        axes.plot([], [], color=look.colour, linestyle=look.dashes, marker=look.marker, markeredgecolor=BLACK, markeredgewidth=0.6,
                  label=text)
    if not any(outcome.flow_time_s.cdf for outcome in load.policies):
        axes.text(0.5, 0.5, "no workflow was finished", transform=axes.transAxes, ha="center", va="center")
    left = [(outcome.name, outcome.workflows_unfinished) for outcome in load.policies if outcome.workflows_unfinished]
    if left:
        words = ["%s: %d unfinished" % (label(name, 18), count) for name, count in left[:4]]
        axes.text(0.98, 0.04, "\n".join(words + (["and in %d more" % (len(left) - 4)] if len(left) > 4 else [])), transform=axes.transAxes,
                  ha="right", va="bottom", fontsize="small", zorder=4, bbox={"facecolor": "#FFFFFF", "edgecolor": "none", "alpha": 0.85})


def _best(load: schemas.SimulationResultLoad) -> str:
    name = label(load.best.name, 20)
    return {"too_close": "too close to call", "only_one": name}.get(load.best.code, "%s is best" % name)


def _legend(all_axes: List[Any], room: Any) -> None:
    found = {text: handle for axes in all_axes for handle, text in zip(*axes.get_legend_handles_labels())}
    title = "marks: 50, 90 and 99 %\nof those finished"
    if room is not None:
        legend_in(room, found, title)
    else:
        legend(all_axes[0], list(found.values()), list(found), loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False,
               fontsize="small", title=title, title_fontsize="small")


def _alt(result: schemas.SimulationResult, loads: List[schemas.SimulationResultLoad], drawn: List[schemas.SimulationResultLoad]) -> str:
    text = "Flow times of %s under %s, as the share of all workflows done within a time; the baseline is %s." % (
        counted(result.workload.workflows, "workflow"),
        counted(len({o.name for load in loads for o in load.policies}), "policy", "policies"), result.baseline)
    if len(drawn) < len(loads):
        text += " %d of %d arrival rates are drawn." % (len(drawn), len(loads))
    for load in drawn:
        outcomes = first_few([_outcome_words(o) for o in load.policies], 8)
        text += " At %g workflows/s: %s. Best is %s: %s." % (load.arrival_rate_per_s, outcomes,
                                                             load.best.name, load.best.message.rstrip("."))
    return text


def _outcome_words(outcome: schemas.SimulationOutcome) -> str:
    flow = outcome.flow_time_s
    text = outcome.name
    if flow.workflows:
        text += " mean %s, half within %s, 90 %% within %s" % (number(flow.mean, "s"), number(flow.p50, "s"), number(flow.p90, "s"))
    else:
        text += " finishes no workflow"
    if outcome.workflows_unfinished:
        text += ", %s" % counted(outcome.workflows_unfinished, "unfinished workflow")
    if outcome.mean_reduction_percent is not None:
        much = outcome.mean_reduction_percent
        text += ", mean %s %% %s the baseline's" % (number(abs(much)), "below" if much >= 0 else "above")
    return text

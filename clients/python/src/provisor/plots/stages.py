"""Stages with their deadlines and cores; cores requested and granted."""
from __future__ import annotations

from typing import TYPE_CHECKING, List, Mapping, NamedTuple, Optional, Tuple

from .figure import BLACK, BLUE, ORANGE, SIZE, SKY, VERMILION, Plot, Style, canvas, counted, empty, label, legend_below, number
from .layout import legend
from .shapes import Bar, draw_bars, first_few, name_rows, outline, say_right

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .. import schemas

ROWS = 40
STAGE, TOO_MANY = Style(SKY, "-", "o", ""), Style(VERMILION, "-", "o", "//")


def stages_plot(plan: schemas.StagePlan, ax: Optional[Axes]) -> Plot:
    """As wide as its time, as high as its cores: what is beyond the cores that there are is hatched."""
    figure, axes = canvas(ax)
    of = " of %s" % plan.application if plan.application is not None else ""
    title = "Stages%s: %s" % (of, "they fit" if plan.feasible else "they do not fit")
    axes.set_title("Stages%s: %s" % (" of %s" % label(plan.application) if of else "", title.rpartition(": ")[2]))
    stages = plan.stages
    if not stages:
        empty(axes, "no stage")
        return Plot(figure, axes, "%s. There is no stage." % title, ax is None)
    cores = _cores(plan)
    heights = [height for stage in stages for height in (stage.estimated_cores, stage.max_allocable_cores) if height is not None]
    high = max([*heights, 1e-9])
    near = cores is not None and cores <= 3 * high  # otherwise nothing would be seen below the line
    most = max(high, cores or 0) if near else high
    top = 1.15 * most
    fits, beyond = [], []
    for stage in stages:
        height = top if stage.estimated_cores is None else stage.estimated_cores
        there = min(height, cores) if cores is not None else height
        start, end = stage.start_s, stage.start_s + stage.deadline_s
        fits.append(Bar(start, end, there / 2)._replace(middle=there))
        if height > there:
            beyond.append((start, end, there, height))
    _columns(axes, [(bar.left, bar.right, 0.0, bar.middle) for bar in fits], STAGE, "estimated cores")
    if beyond:
        _columns(axes, beyond, TOO_MANY, "more than there are")
    axes.hlines([s.max_allocable_cores for s in stages], [s.start_s for s in stages], [s.start_s + s.deadline_s for s in stages],
                color=BLACK, linewidth=2.2, linestyle="-", label="most that a controller may use", path_effects=outline())
    notes = []
    if cores is not None and near:
        axes.axhline(cores, color=BLACK, linestyle="--", linewidth=1.2, label="%s in all" % counted(cores, "core"))
    elif cores is not None:
        notes.append("%s in all" % counted(cores, "core"))
    never = [stage.id for stage in stages if stage.estimated_cores is None]
    if never:
        notes.append("stage %s: no number of cores is enough" % ", ".join(map(str, never[:6]))
                     + (" and %d more" % (len(never) - 6) if len(never) > 6 else ""))
    end = max(s.start_s + s.deadline_s for s in stages)
    first = min(s.start_s for s in stages)
    width = end - first or 1.0
    unnamed = _name_stages(axes, stages, width, top)
    axes.set_xlim(first - 0.02 * width, end + 0.02 * width)
    axes.set_ylim(0, top * 1.06)
    axes.set_xlabel("time since the start of the application (s)")
    axes.set_ylabel("cores")
    _few_ticks(axes, stages, width)
    if unnamed:
        notes.append("%s too short to be named here" % counted(unnamed, "stage"))
    legend_below(axes, 2, title="\n".join(notes) or None, title_fontsize="small")
    return Plot(figure, axes, _stages_alt(plan, title, cores), ax is None)


def _columns(axes: Axes, columns: List[Tuple[float, float, float, float]], look: Style, name: str) -> None:
    """Left, right, bottom, top."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path
    corners = [corner for left, right, low, high in columns
               for corner in ((left, low), (right, low), (right, high), (left, high), (left, low))]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(columns)
    axes.add_patch(PathPatch(Path(corners, codes), facecolor=look.colour, edgecolor=BLACK, hatch=look.hatch, linewidth=0.8, label=name))


def _name_stages(axes: Axes, stages: List[schemas.StagePlanStage], width: float, top: float) -> int:
    """Number and cores of each within its column; how many columns are too narrow for their number even."""
    unnamed = 0
    for stage in stages:
        words = "no number\nis enough" if stage.estimated_cores is None else number(stage.estimated_cores)
        share = stage.deadline_s / width
        text, turn = "stage %d\n%s" % (stage.id, words), 0
        if share < 0.03:
            unnamed += 1
            continue
        if share < 0.12:
            text, turn = "stage %d: %s" % (stage.id, words.replace("\n", " ")), 90
        axes.text(stage.start_s + stage.deadline_s / 2, 0.03 * top, text, ha="center", va="bottom", rotation=turn, fontsize="small",
                  zorder=5, bbox={"facecolor": "#FFFFFF", "edgecolor": "none", "boxstyle": "square,pad=0.15"}, clip_on=True)
    return unnamed


def _few_ticks(axes: Axes, stages: List[schemas.StagePlanStage], width: float) -> None:
    """At the deadlines, where they leave room."""
    kept = [stages[0].start_s]
    for stage in stages:
        end = stage.start_s + stage.deadline_s
        if end - kept[-1] > 0.08 * width:
            kept.append(end)
    if len(kept) <= 12:
        axes.set_xticks(kept)
        axes.set_xticklabels([number(value) for value in kept])


def _cores(plan: schemas.StagePlan) -> Optional[int]:
    for reason in plan.reasons:
        cores = (reason.to_dict().get("evidence") or {}).get("cores")
        if isinstance(cores, (int, float)) and cores >= 1:
            return int(cores)
    return None


def _stages_alt(plan: schemas.StagePlan, title: str, cores: Optional[int]) -> str:
    each = []
    for s in plan.stages:
        need = "no number of cores is enough" if s.estimated_cores is None else "needs %s" % _cores_words(s.estimated_cores)
        each.append("stage %d from %s to %s s %s, may use %s" % (s.id, number(s.start_s), number(s.start_s + s.deadline_s), need,
                                                                 number(s.max_allocable_cores)))
    text = "%s. %s: %s." % (title, counted(len(plan.stages), "stage"), first_few(each))
    text += " %d cores in all." % cores if cores is not None else " How many cores there are is not in the reply."
    text += "".join(" " + reason.message for reason in plan.reasons)
    return text + (" Recent runs have other stage graphs." if plan.graph_changed else "")


def _cores_words(cores: float) -> str:
    return "1 core" if cores == 1 else "%s cores" % number(cores)


class _Row(NamedTuple):
    name: str
    cores: float
    saturating: float
    requested: Optional[float]


def _rows(found: schemas.Contention, requested: Mapping[str, float]) -> Tuple[List[_Row], str]:
    """Of very many the largest; the rest in words."""
    rows = [_Row(a.name, a.cores, a.saturating_cores, requested.get(a.name)) for a in found.allocations]
    if len(rows) <= ROWS:
        return rows, ""
    largest = set(sorted(range(len(rows)), key=lambda place: -max(rows[place].cores, rows[place].requested or 0))[:ROWS])
    rest = [row for place, row in enumerate(rows) if place not in largest]
    known = [row.requested for row in rest if row.requested is not None]
    words = "; %s get%s %s%s cores together" % (counted(len(rest), "other application"), "s" if len(rest) == 1 else "",
                                                number(sum(r.cores for r in rest)),
                                                " of %s" % number(sum(known)) if len(known) == len(rest) else "")
    return [row for place, row in enumerate(rows) if place in largest], words


def contention_plot(found: schemas.Contention, requested: Mapping[str, float], ax: Optional[Axes]) -> Plot:
    rows, rest = _rows(found, requested)
    figure, axes = canvas(ax, (SIZE[0], min(12.0, 1.9 + 0.3 * len(rows))))
    title = "%s cores requested%s" % (number(found.requested_cores), ", more than there are" if found.contention else "")
    axes.set_title(title)
    if not rows:
        empty(axes, "no application")
        return Plot(figure, axes, "%s. There is no application." % title, ax is None)
    draw_bars(axes, [Bar(0.0, row.cores, place) for place, row in enumerate(rows)], Style(BLUE, "-", "", ""), 0.5, label="cores granted")
    if any(row.requested is not None for row in rows):
        draw_bars(axes, [Bar(0.0, row.requested, place) for place, row in enumerate(rows) if row.requested is not None],
                  Style(BLACK, "--", "", ""),
                  0.82, facecolor="none", edgecolor=BLACK, linestyle="--", linewidth=1.2, label="cores requested")
    if any(abs(row.saturating - row.cores) > 1e-9 for row in rows):
        axes.plot([row.saturating for row in rows], list(range(len(rows))), linestyle="none", marker="D", markersize=6, color=ORANGE,
                  markeredgecolor=BLACK, label="share if all cores are given away")
    for place, row in enumerate(rows):
        say_right(axes, place, number(row.cores) + (" of %s" % number(row.requested) if row.requested is not None else ""))
    name_rows(axes, [(place, row.name) for place, row in enumerate(rows)])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, 1.04 * (max(max(row.cores, row.saturating, row.requested or 0) for row in rows) or 1.0))
    axes.set_xlabel("cores" + rest)
    legend(axes, loc="upper center", bbox_to_anchor=(0.5, -0.55 / (0.3 * len(rows) + 0.7)), ncol=3, frameon=False, fontsize="small")
    order = sorted(found.allocations, key=lambda a: -a.cores)
    each = ["%s gets %s%s" % (a.name, number(a.cores), " of the %s requested" % number(requested[a.name]) if a.name in requested else "")
            for a in order]
    text = "%s, by %s: %s." % (title, counted(len(order), "application"), first_few(each))
    if not requested:
        text += " What each requested is not in the reply."
    return Plot(figure, axes, text + "".join(" " + reason.message for reason in found.reasons), ax is None)

"""Parts of pictures: rows of bars, areas of steps, panels."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .figure import GREY, Size, Style, ink, label, matplotlib_figure, number, style
from .layout import legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OTHERS = Style(GREY, "-", ".", "")
ROW_NAME_MAX = 24
TICKS_MAX = 24
STEPS_MAX = 300
LEGEND_WIDTH = 2.4  # inches
# Of lines alone: a pattern of dots or rings is large in an SVG.
HATCHES = ("", "///", "xx", "\\\\\\", "--", "||", "++", "//--", "\\\\||")


def area_style(number: int) -> Style:
    """As style, for areas: after nine times eight of them the first comes again."""
    return style(number)._replace(hatch=HATCHES[number % len(HATCHES)])


class Bar(NamedTuple):
    """From `left` to `right` in the row whose middle is at `middle`."""

    left: float
    right: float
    middle: float


def draw_bars(axes: Axes, bars: Iterable[Bar], style: Style, thickness: float = 0.8, **settings: Any) -> Any:
    """All bars of a series as one path: a picture of thousands stays small."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path
    corners: List[Tuple[float, float]] = []
    for bar in bars:
        low, high = bar.middle - thickness / 2, bar.middle + thickness / 2
        corners += [(bar.left, low), (bar.right, low), (bar.right, high), (bar.left, high), (bar.left, low)]
    one = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    path = Path(corners, one * (len(corners) // 5)) if corners else Path([(0.0, 0.0)], [Path.MOVETO])
    dress = {"facecolor": style.colour, "edgecolor": ink(style.colour), "hatch": style.hatch, "linewidth": 0.5, **settings}
    return axes.add_patch(PathPatch(path, **dress))


def merged(bars: Iterable[Bar]) -> List[Bar]:
    """Bars of a row that touch become one."""
    rows: Dict[float, List[Bar]] = {}
    for bar in sorted(bars):
        row = rows.setdefault(bar.middle, [])
        if row and bar.left <= row[-1].right + 1e-9 * max(1.0, abs(bar.left)):
            row[-1] = row[-1]._replace(right=max(row[-1].right, bar.right))
        else:
            row.append(bar)
    return [bar for row in rows.values() for bar in row]


def step_edges(spans: Sequence[Tuple[float, float]]) -> Tuple[List[float], bool]:
    """Where to cut the time in which spans begin and end, and whether each of their beginnings and ends is there: with too
    many, intervals are of equal length."""
    times = sorted({time for span in spans for time in span})
    if len(times) <= STEPS_MAX + 1:
        return times, True
    first, last = times[0], times[-1]
    return [first + (last - first) * place / STEPS_MAX for place in range(STEPS_MAX)] + [last], False


def in_use(spans: Sequence[Tuple[float, float]], edges: Sequence[float]) -> List[float]:
    """How many of the spans there are at a time, as a mean over each interval."""
    begins, ends = sorted(s for s, _ in spans), sorted(e for _, e in spans)
    sums = [a - b for a, b in zip(_since(begins, edges), _since(ends, edges))]
    return [max(0.0, round((b - a) / (right - left), 9)) for a, b, left, right in zip(sums, sums[1:], edges, edges[1:])]


def _since(times: List[float], edges: Sequence[float]) -> List[float]:
    """For each edge, the time that has gone by since each of these times that are before it, added up."""
    origin = edges[0] if edges else 0.0
    found, place, gone = [], 0, 0.0
    for edge in edges:
        while place < len(times) and times[place] < edge:
            gone += times[place] - origin
            place += 1
        found.append(place * (edge - origin) - gone)
    return found


def name_rows(axes: Axes, names: Sequence[Tuple[float, str]], most: int = ROW_NAME_MAX) -> None:
    """Ticks for rows from top to bottom. most: letters of a name."""
    axes.set_yticks([middle for middle, _ in names])
    axes.set_yticklabels([label(name, most) for _, name in names])
    axes.tick_params(axis="y", length=0)


def say_right(axes: Axes, middle: float, text: str, bold: bool = False) -> None:
    """Words on a row, right of the axes."""
    axes.text(1.01, middle, text, transform=axes.get_yaxis_transform(), ha="left", va="center", fontsize="small",
              fontweight="bold" if bold else "normal")


def every(count: int, most: int = TICKS_MAX) -> int:
    """Which of so many to write on, so that there are not more than `most`: each, every second, ..."""
    return max(1, math.ceil(count / most))


def tops(axes: Axes, marks: Iterable[Tuple[float, str]], span: Tuple[float, float]) -> None:
    """Names of deadlines on the upper edge; those that would touch share a place."""
    groups: List[Tuple[float, List[str]]] = []
    width = span[1] - span[0]
    for place, name in sorted(marks):
        if groups and place - groups[-1][0] < 0.04 * width:
            groups[-1][1].append(name)
        else:
            groups.append((place, [name]))
    if not groups:
        return
    upper = axes.secondary_xaxis("top")
    upper.set_xticks([place for place, _ in groups])
    texts = [", ".join(label(name, 14) for name in names[:2]) + (" and %d more" % (len(names) - 2) if len(names) > 2 else "")
             for _, names in groups]
    flat = len(groups) <= 3 and all(b - a > 0.45 * width for (a, _), (b, _) in zip(groups, groups[1:]))
    upper.set_xticklabels(texts, fontsize="small", **({} if flat else {"rotation": 30, "ha": "left", "rotation_mode": "anchor"}))
    if flat:
        for tick, (place, _) in zip(upper.get_xticklabels(), groups):
            share = (place - span[0]) / width
            tick.set_ha("left" if share < 0.3 else "right" if share > 0.7 else "center")
    upper.set_xlabel("deadlines", fontsize="small")


def panels(count: int, size: Size, entries: int = 0, columns: int = 3) -> Tuple[Figure, List[Axes], Optional[Axes]]:
    """Axes side by side that share their scales, and room on their right for a legend of so many entries.

    size: of one of them"""
    across = min(count, columns)
    down = math.ceil(count / across)
    beside = LEGEND_WIDTH / size[0] if entries else 0.0
    figure = matplotlib_figure((size[0] * (across + beside), max(size[1] * down, 0.19 * (entries + 4))))
    grid = figure.add_gridspec(down, across + bool(entries), width_ratios=[1.0] * across + [beside] * bool(entries))
    axes: List[Axes] = []
    for place in range(count):
        shared = {"sharex": axes[0], "sharey": axes[0]} if axes else {}
        axes.append(figure.add_subplot(grid[place // across, place % across], **shared))
        axes[-1].tick_params(labelleft=place % across == 0)
    room = None
    if entries:
        room = figure.add_subplot(grid[:, across])
        room.set_axis_off()
    return figure, axes, room


def legend_in(room: Axes, found: Mapping[str, Any], title: str) -> None:
    made = legend(room, list(found.values()), list(found), loc="upper left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.0, frameon=False,
                  fontsize="small", title=title, title_fontsize="small")
    made.set_in_layout(False)


def first_few(items: Sequence[str], most: int = 10) -> str:
    """For texts: the first ones, and how many more there are."""
    text = "; ".join(items[:most])
    return text + ("; and %d more" % (len(items) - most) if len(items) > most else "")


def late_words(slack_s: float) -> str:
    if abs(slack_s) < 5e-10:
        return "just in time"
    return ("%s early" if slack_s > 0 else "late by %s") % number(abs(slack_s), "s")


def outline() -> List[Any]:
    """A white edge around black lines, which then show on any colour."""
    from matplotlib.patheffects import Normal, Stroke
    return [Stroke(linewidth=4, foreground="#FFFFFF"), Normal()]

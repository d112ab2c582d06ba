"""Copies of tasks in many clusters: which clusters hold copies of the same tasks, and how many slots the plan uses of each."""
from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Dict, List, NamedTuple, Optional, Tuple

from .figure import BLACK, BLUE, GREY, Plot, canvas, counted, empty, label, number
from .shapes import first_few

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .. import schemas

BOXES_MAX = 12  # with more clusters there is room for dots only
LINKS_NAMED = 12
LINKS_MAX = 600
WIDEST = 9.0  # points

WAITS = {  # why tasks wait
    "not_admitted": "their job is not admitted", "share_used": "their job holds all slots of its share",
    "no_slot": "no possible cluster has an idle slot", "bandwidth": "the gates have no room",
    "rate_below_floor": "the clusters with idle slots are too slow", "locality": "they wait for slots near their input",
}


class Cluster(NamedTuple):
    name: str
    used: Optional[int]  # slots, by the copies of the plan
    running: int  # copies that run there already
    outage: Optional[float]  # probability in a slot of time, if known
    doubled: int  # tasks with several copies there


Links = Dict[Tuple[str, str], int]


def clusters_of(plan: schemas.CopyPlan) -> List[Cluster]:
    from ..results.geo import outage_probabilities
    known, used = outage_probabilities(plan), {row.cluster: row.slots_used for row in plan.utilization}
    held: Counter[str] = Counter(cluster for task in plan.tasks for cluster in task.clusters)
    new = Counter(copy.cluster for copy in plan.copies)
    doubled = Counter(name for task in plan.tasks for name, count in Counter(task.clusters).items() if count > 1)
    return [Cluster(name, used.get(name), max(0, held[name] - new[name]), known.get(name), doubled[name])
            for name in dict.fromkeys([*used, *held])]


def links_of(plan: schemas.CopyPlan) -> Links:
    """By pairs of clusters, how many tasks have copies in both."""
    found: Counter[Tuple[str, str]] = Counter()
    for task in plan.tasks:
        found.update(combinations(sorted(set(task.clusters)), 2))
    return dict(found)


def copies_plot(plan: schemas.CopyPlan, ax: Optional[Axes]) -> Plot:
    clusters, links = clusters_of(plan), links_of(plan)
    many = len(clusters) > BOXES_MAX
    figure, axes = canvas(ax, (8.4, 8.8) if many else (7.0, 5.2 if len(clusters) > 2 else 2.6))
    started = counted(len(plan.copies), "copy to start", "copies to start")
    for_tasks = counted(len({(copy.job, copy.task) for copy in plan.copies}), "task")
    axes.set_title("Copy plan by %s: %s for %s" % (label(plan.algorithm), started, for_tasks))
    if not clusters:
        empty(axes, "no cluster")
        return Plot(figure, axes, _alt(plan, clusters, links), ax is None)
    axes.set_aspect("equal" if many else "auto")
    for edge in axes.spines.values():
        edge.set_visible(False)
    axes.set_xticks([])
    axes.set_yticks([])
    turn = 2 * math.pi / len(clusters)
    places = {cluster.name: (math.sin(n * turn), math.cos(n * turn)) for n, cluster in enumerate(clusters)}
    if len(clusters) == 1:
        places = {clusters[0].name: (0.0, 0.0)}
    elif len(clusters) == 2:
        places = {clusters[0].name: (-1.0, 0.0), clusters[1].name: (1.0, 0.0)}
    _draw_links(axes, places, links)
    if many:
        _dots(axes, clusters, places)
        axes.set_xlim(-1.55, 1.55)
        axes.set_ylim(-1.55, 1.55)
    else:
        _boxes(axes, clusters, places)
        axes.set_xlim(-1.35, 1.35)
        axes.set_ylim(-1.25 if len(clusters) > 2 else -0.6, 1.25 if len(clusters) > 2 else 0.6)
    axes.set_xlabel("\n".join(_notes(plan, clusters, links, many)), fontsize="small")
    return Plot(figure, axes, _alt(plan, clusters, links), ax is None)


def _draw_links(axes: Axes, places: Dict[str, Tuple[float, float]], links: Links) -> None:
    if not links:
        return
    widest, alike = max(links.values()), _alike(links)
    order = sorted(links.items(), key=lambda item: (-item[1], item[0]))[:LINKS_MAX]
    named = {pair for pair, _ in (order if alike else order[:LINKS_NAMED])}
    for rank, (pair, count) in enumerate(order):
        (x0, y0), (x1, y1) = places[pair[0]], places[pair[1]]
        axes.plot([x0, x1], [y0, y1], color=BLACK if pair in named else GREY,
                  linewidth=max(0.4, (WIDEST if len(links) <= LINKS_NAMED else WIDEST / 2) * count / widest),
                  alpha=0.75 if pair in named else 0.35, zorder=1, solid_capstyle="butt", gid="link")
        if pair in named and not alike:
            share = 0.5 if len(order) == 1 else 0.38 + 0.08 * (rank % 4)  # not all in the middle of the circle
            axes.text(x0 + share * (x1 - x0), y0 + share * (y1 - y0), counted(count, "task") if rank == 0 else "%d" % count, ha="center",
                      va="center",
                      fontsize="small", zorder=4, bbox={"facecolor": "#FFFFFF", "edgecolor": "none", "boxstyle": "square,pad=0.15"})


def _alike(links: Links) -> bool:
    """Many lines of one width: the number is said once."""
    return len(links) > LINKS_NAMED and len(set(links.values())) == 1


def _words(cluster: Cluster) -> List[str]:
    lines = ["%s used" % counted(cluster.used, "slot") if cluster.used is not None else "slots unknown"]
    if cluster.running:
        lines.append("%d running" % cluster.running)
    if cluster.doubled:
        lines.append("%s with several copies" % counted(cluster.doubled, "task"))
    if cluster.outage is not None:
        lines.append("outage %s %%" % number(100 * cluster.outage))
    return lines


def _boxes(axes: Axes, clusters: List[Cluster], places: Dict[str, Tuple[float, float]]) -> None:
    most = 22 if len(clusters) <= 8 else 16
    for cluster in clusters:
        busy = bool(cluster.used or cluster.running)
        axes.text(*places[cluster.name], "\n".join([label(cluster.name, most), *_words(cluster)]), ha="center", va="center",
                  fontsize="small",
                  zorder=3, gid="cluster", bbox={"facecolor": "#D6EBF8" if busy else "#FFFFFF", "edgecolor": BLACK if busy else GREY,
                                                 "linewidth": 1.6 if busy else 1.0, "linestyle": "-" if busy else "--",
                                                 "boxstyle": "round,pad=0.4"})


def _dots(axes: Axes, clusters: List[Cluster], places: Dict[str, Tuple[float, float]]) -> None:
    most = max([cluster.used or 0 for cluster in clusters] + [1])
    room = 1150 / len(clusters)  # points on the circle
    size, largest = max(3.5, min(8.0, 0.7 * room)), min(11.0, 0.9 * room - 3) if room > 5 else 1.0
    step = max(1, math.ceil(len(clusters) / 140))
    for place, cluster in enumerate(clusters):
        x, y = places[cluster.name]
        busy = bool(cluster.used or cluster.running)
        axes.plot([x], [y], linestyle="none", marker="o", markersize=3 + largest * math.sqrt((cluster.used or 0) / most), zorder=3,
                  gid="cluster", markerfacecolor=BLUE if busy else "#FFFFFF", markeredgecolor=BLACK if busy else GREY)
        if place % step == 0:
            angle = math.degrees(math.atan2(y, x))
            left = angle > 90.001 or angle < -89.999
            axes.text(1.09 * x, 1.09 * y, "%s: %s" % (label(cluster.name, 14), "unknown" if cluster.used is None else cluster.used),
                      fontsize=size,
                      rotation=angle + 180 if left else angle, rotation_mode="anchor", ha="right" if left else "left", va="center",
                      gid="name")


def _notes(plan: schemas.CopyPlan, clusters: List[Cluster], links: Links, many: bool) -> List[str]:
    notes = ["a line joins clusters with copies of the same tasks; the wider, the more" if links and not _alike(links)
             else "a line joins clusters with copies of the same tasks" if links else "no task has copies in several clusters"]
    if many:
        notes.append("at each cluster, and by the size of its dot: slots that the plan uses")
    drawn = ", of which %d are drawn" % LINKS_MAX if len(links) > LINKS_MAX else ""
    if _alike(links):
        notes.append("each of the %d lines%s: %s" % (len(links), drawn, counted(next(iter(links.values())), "task")))
    elif len(links) > LINKS_NAMED:
        notes.append("numbers at the %d widest of %s%s" % (LINKS_NAMED, counted(len(links), "line"), drawn))
    notes.append(waiting_words(plan))
    if plan.cancellations:
        notes.append("%s first" % counted(len(plan.cancellations), "running copy is cancelled", "running copies are cancelled"))
    return notes


def waiting_words(plan: schemas.CopyPlan) -> str:
    if not plan.waiting:
        return "no task waits"
    reasons = Counter(task.reason for task in plan.waiting)
    each = ["%d because %s" % (count, WAITS.get(reason) or "of " + label(reason)) for reason, count in reasons.most_common(6)]
    return "%s: %s" % (counted(len(plan.waiting), "task waits", "tasks wait"), "; ".join(each))


def _alt(plan: schemas.CopyPlan, clusters: List[Cluster], links: Links) -> str:
    text = "Copy plan by %s over %s: %s, %s with a copy, %s." % (
        plan.algorithm, counted(len(clusters), "cluster"), counted(len(plan.copies), "copy to start", "copies to start"),
        counted(len(plan.tasks), "task"), waiting_words(plan))
    if plan.cancellations:
        text += " %s first." % counted(len(plan.cancellations), "running copy is cancelled", "running copies are cancelled")
    order = sorted(clusters, key=lambda cluster: -(cluster.used or 0))
    if order:
        text += " %s." % first_few(["%s: %s" % (cluster.name, ", ".join(_words(cluster))) for cluster in order])
    if links:
        pairs = sorted(links.items(), key=lambda item: (-item[1], item[0]))
        text += " Tasks with copies in both: %s." % first_few(["%s and %s %d" % (*pair, count) for pair, count in pairs])
    elif clusters:
        text += " No task has copies in several clusters."
    unknown = sum(cluster.outage is None for cluster in clusters)
    if unknown:
        of = "" if unknown == len(clusters) else " for %s" % counted(unknown, "cluster")
        text += " Probabilities of an outage are not in the reply%s." % of
    return text

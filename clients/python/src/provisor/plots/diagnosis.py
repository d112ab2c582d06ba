"""What costs a run most."""
from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from .figure import BLACK, ORANGE, SKY, Plot, canvas, counted, empty, label, legend_below, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .. import schemas


def diagnosis_plot(diagnosis: schemas.Diagnosis, ax: Optional[Axes]) -> Plot:
    figure, axes = canvas(ax)
    found = diagnosis.bottlenecks
    axes.set_title("What costs a run of %s most" % label(diagnosis.application))
    if found is None or not found.items:
        why = "no run has stages to look at" if found is None else "nothing costs run %s much" % found.run_id
        empty(axes, label(why, 80))
        missing = " ".join(["", *(m.message for m in diagnosis.missing)])
        return Plot(figure, axes, "What costs a run of %s most: %s.%s" % (diagnosis.application, why, missing), ax is None)
    items = list(reversed(found.items))
    for place, item in enumerate(items):
        if item.lost_s is not None:
            bars = axes.barh(place, item.lost_s, color=SKY if item.more_executors_help else ORANGE, edgecolor=BLACK,
                             hatch=".." if item.more_executors_help else "//")
            words = number(item.lost_s, "s")
            if item.lost_percent is not None:
                words += ", %s" % number(item.lost_percent, "%")
            axes.bar_label(bars, [words], padding=3, fontsize="small")
        else:
            axes.text(0, place, " unknown", va="center", fontsize="small")
    for helps, colour, hatch, words in ((False, ORANGE, "//", "more executors do not cure this"), (True, SKY, "..", "more executors help")):
        if any(item.more_executors_help is helps for item in items):
            axes.barh([0], [0], color=colour, edgecolor=BLACK, hatch=hatch, label=words)
    axes.set_yticks(range(len(items)), [_name(item) for item in items])
    axes.set_xlim(left=0, right=1.25 * (max([item.lost_s or 0 for item in items]) or 1))
    axes.set_xlabel("time lost, at most (s)" + (", of %s" % number(found.duration_s, "s") if found.duration_s is not None else ""))
    legend_below(axes)
    said = ["%s: %s%s" % (_plain_name(item), number(item.lost_s, "s"), " (%s)" % number(item.lost_percent, "%")
                          if item.lost_percent is not None else "") for item in found.items]
    cured = sum(1 for item in items if item.more_executors_help)
    return Plot(figure, axes, "What costs run %s of %s (%s) most: %s. More executors help with %d of %s." % (
        found.run_id, diagnosis.application, number(found.duration_s, "s"), "; ".join(said), cured,
        counted(len(items), "bottleneck")), ax is None)


def _plain_name(item: schemas.Bottleneck) -> str:
    text = item.kind.replace("_", " ")
    if item.stage_id is not None:
        text += ", stage %d" % item.stage_id
    return text + (" (%s)" % item.stage_name if item.stage_name is not None else "")


def _name(item: schemas.Bottleneck) -> str:
    kind = label(item.kind.replace("_", " ")) + (", stage %d" % item.stage_id if item.stage_id is not None else "")
    return "%s\n%s" % (kind, label(item.stage_name, 28)) if item.stage_name is not None else kind

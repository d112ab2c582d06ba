"""How far predictions were off, and whether intervals and probabilities hold what they promise."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..results.rows import ends
from .figure import (BLACK, BLUE, GREY, ORANGE, SIZE, VERMILION, Plot, canvas, counted, empty, label, legend_below, listed, number,
                     style)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .. import schemas

WHITE = "#FFFFFF"
APPLICATIONS_MAX = 30
NORMAL_95 = 1.959963984540054


def wilson(inside: float, count: int) -> Tuple[float, float]:
    """Bounds of a share at 95 % (Wilson, 1927)."""
    share, square = inside / count, NORMAL_95 ** 2
    middle = (share + square / (2 * count)) / (1 + square / count)
    half = NORMAL_95 / (1 + square / count) * math.sqrt(share * (1 - share) / count + square / (4 * count ** 2))
    return max(0.0, middle - half), min(1.0, middle + half)


# --- run by run -----------------------------------------------------------------------------------------------------------------------


class _Error(NamedTuple):
    """Of the prediction for a run, and of the ends of its interval, in percent."""

    at: Any
    error: float
    low: Optional[float]
    high: Optional[float]
    inside: Optional[bool]
    compared: bool


def _errors(items: Sequence[schemas.AccuracyItem]) -> List[_Error]:
    made = []
    for item in items:
        actual = item.measured.duration_s
        if item.succeeded and item.error_percent is not None:
            low, high = (100 * (end - actual) / actual if end is not None and actual else None for end in ends(item.advised.interval_s))
            made.append(_Error(item.at, item.error_percent, low, high, item.within_interval, item.compared))
    return made


MARKS = {True: ("o", BLUE, "within its interval"), False: ("s", VERMILION, "outside its interval"), None: ("^", BLACK, "interval unknown")}


def accuracy_plot(accuracy: schemas.Accuracy, ax: Optional[Axes]) -> Plot:
    figure, axes = canvas(ax)
    summary, errors = accuracy.summary, _errors(accuracy.items)
    failed = [item.at for item in accuracy.items if not item.succeeded]
    axes.set_title("Errors of predictions")
    if not errors and not failed:
        empty(axes, "no run names the advice that it followed")
        return Plot(figure, axes, "Errors of predictions: no run names the advice that it followed.", ax is None)
    axes.axhline(0, color=BLACK, linewidth=1)
    for e in errors:
        known = [end for end in (e.low, e.high) if end is not None]
        if known:
            low, high = e.low if e.low is not None else min(e.error, *known), e.high if e.high is not None else max(e.error, *known)
            axes.vlines(e.at, low, high, color=GREY, linewidth=1.4 if len(errors) <= 60 else 0.6, zorder=2)
            for end, closed, marker in ((low, e.low is not None, "v"), (high, e.high is not None, "^")):
                axes.plot([e.at], [end], color=GREY, marker="_" if closed else marker, markersize=6, zorder=2)
    for inside, (marker, colour, words) in MARKS.items():
        some = [e for e in errors if e.inside is inside and e.compared]
        if some:
            axes.plot([e.at for e in some], [e.error for e in some], color=colour, marker=marker, linestyle="none", markersize=7,
                      label=words, zorder=4)
    others = [e for e in errors if not e.compared]
    if others:
        axes.plot([e.at for e in others], [e.error for e in others], color=BLACK, marker="D", linestyle="none", markersize=6,
                  markerfacecolor=WHITE, label="not compared: ran otherwise than advised", zorder=4)
    if failed:
        axes.plot(failed, [0] * len(failed), color=BLACK, marker="x", linestyle="none", markersize=9, markeredgewidth=2, clip_on=False,
                  transform=axes.get_xaxis_transform(), label="failed", zorder=5)
    if summary.mean_error_percent is not None:
        axes.axhline(summary.mean_error_percent, color=ORANGE, linestyle="--", linewidth=1.8,
                     label="mean error %s" % number(summary.mean_error_percent, "%"))
    axes.set_ylabel("predicted \N{MINUS SIGN} measured (%)")
    axes.set_xlabel("start of the run")
    _dates(axes, [e.at for e in errors] + failed)
    legend_below(axes, bbox_to_anchor=(0.5, -0.16))
    return Plot(figure, axes, _accuracy_alt(accuracy, errors, failed), ax is None)


def _dates(axes: Axes, times: Sequence[Any]) -> None:
    import datetime
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    if min(times) == max(times):
        day = datetime.timedelta(days=1)
        axes.set_xlim(times[0] - day, times[0] + day)
    locator = AutoDateLocator(maxticks=8)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))


def _accuracy_alt(accuracy: schemas.Accuracy, errors: Sequence[_Error], failed: Sequence[Any]) -> str:
    summary, compared = accuracy.summary, [e for e in errors if e.compared]
    text = "Errors of predictions, for %s." % counted(len(compared), "run")
    if compared:
        text += " From %s to %s; outside their interval: %d." % (
            number(min(e.error for e in compared)), number(max(e.error for e in compared), "%"),
            sum(1 for e in compared if e.inside is False))
    text += " Of all %s compared: mean absolute error %s, mean error %s, within the interval %s (promised: %s)." % (
        counted(summary.runs_compared, "run"), number(summary.mape_percent, "%"), number(summary.mean_error_percent, "%"),
        _share(summary.interval_coverage), _share(summary.confidence))
    if len(compared) < len(errors):
        text += " Not compared: %s that ran otherwise than advised." % counted(len(errors) - len(compared), "run")
    if failed:
        text += " Failed: %s." % counted(len(failed), "run")
    if any(e.low is None or e.high is None for e in compared):
        text += " Some ends of intervals are open or unknown."
    if accuracy.next_cursor is not None:
        text += " There are more runs than this page has."
    return text


def _share(value: Optional[float]) -> str:
    return "unknown" if value is None else number(100 * value, "%")


# --- calibration ----------------------------------------------------------------------------------------------------------------------


class _Promise(NamedTuple):
    name: str
    promised: float
    observed: float
    runs: int


def _calibration(axes: Axes, series: Dict[str, List[_Promise]]) -> None:
    """Shares with their bounds."""
    axes.plot([0, 1], [0, 1], color=BLACK, linewidth=1, linestyle=":", label="as promised")
    for place, (words, promises) in enumerate(series.items()):
        drawn = style(place)
        for p in promises:
            low, high = wilson(p.observed * p.runs, p.runs)
            axes.vlines(p.promised, low, high, color=drawn.colour, linewidth=1.5)
            axes.plot([p.promised] * 2, [low, high], color=drawn.colour, linestyle="none", marker="_", markersize=7)
        axes.plot([p.promised for p in promises], [p.observed for p in promises], color=drawn.colour, linestyle="none",
                  marker=drawn.marker, markersize=8, markeredgecolor=BLACK, label=words)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)


def _names(axes: Axes, promises: Sequence[_Promise]) -> None:
    """Beside the marks, those at the same place below one another."""
    lines: List[Tuple[float, str]] = []
    for p in sorted(promises, key=lambda p: -p.observed):
        y = p.observed
        while any(abs(y - there) < 0.05 for there, _ in lines):
            y -= 0.05
        words = "%s (%d)" % (label(p.name, 24), p.runs)
        lines.append((y, words))
        axes.annotate(words, (p.promised, p.observed), xytext=(p.promised - 0.07, y), textcoords="data", ha="right", va="center",
                      fontsize="small", arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.8})


def _offset(promises: List[_Promise]) -> List[_Promise]:
    """Those of equal promise side by side, so that their bounds do not hide one another."""
    seen: Dict[float, int] = {}
    made = []
    for p in promises:
        place = seen[p.promised] = seen.get(p.promised, -1) + 1
        made.append(p._replace(promised=p.promised - 0.012 * place))
    return made


def _calibration_alt(title: str, series: Dict[str, List[_Promise]]) -> str:
    said = []
    for words, promises in series.items():
        parts = []
        for p in promises:
            low, high = wilson(p.observed * p.runs, p.runs)
            parts.append("%s: promised %s, observed %s (%s to %s) of %d" % (
                p.name, _share(p.promised), _share(p.observed), number(100 * low), _share(high), p.runs))
        said.append("%s: %s." % (words[:1].upper() + words[1:], listed(parts, 12)))
    return "%s. %s Bounds are at 95 %%." % (title, " ".join(said))


INTERVALS = "runs within their interval, by model"
DEADLINES = "deadlines met, by predicted probability"


def accuracy_calibration_plot(accuracy: schemas.Accuracy, ax: Optional[Axes]) -> Plot:
    figure, axes = canvas(ax, (SIZE[0] * 0.85, SIZE[0] * 0.8))
    title = "Calibration of intervals"
    axes.set_title(title)
    groups: Dict[Tuple[str, float], List[bool]] = {}
    for item in accuracy.items:
        if item.compared and item.within_interval is not None and item.advised.confidence is not None:
            kind = item.advised.model if item.advised.model is not None else "unknown model"
            groups.setdefault((kind, item.advised.confidence), []).append(item.within_interval)
    promises = [_Promise(kind, promised, sum(inside) / len(inside), len(inside)) for (kind, promised), inside in sorted(groups.items())]
    if not promises:
        empty(axes, "no run has an interval to compare with")
        return Plot(figure, axes, title + ": no run has an interval to compare with.", ax is None)
    _calibration(axes, {INTERVALS: _offset(promises)})
    _names(axes, _offset(promises))
    axes.set_xlabel("promised: confidence of the interval (equal ones side by side)")
    axes.set_ylabel("observed: share within it")
    legend_below(axes, bbox_to_anchor=(0.5, -0.1))
    more = " There are more runs than this page has." if accuracy.next_cursor is not None else ""
    return Plot(figure, axes, _calibration_alt(title, {INTERVALS: promises}) + more, ax is None)


def team_calibration_plot(accuracy: schemas.TeamAccuracy, ax: Optional[Axes]) -> Plot:
    figure, axes = canvas(ax, (SIZE[0] * 0.85, SIZE[0] * 0.8))
    title = "Calibration of intervals and of deadlines"
    axes.set_title(title)
    models = [_Promise(m.model if m.model is not None else "unknown model", m.confidence, m.interval_coverage, m.runs_compared)
              for m in accuracy.by_model if m.runs_compared and m.confidence is not None and m.interval_coverage is not None]
    tenths = [_Promise("%s to %s" % (_share(c.probability_from), _share(c.probability_to)), c.predicted_probability, c.observed_rate,
                       c.count)
              for c in accuracy.overall.calibration if c.count and c.predicted_probability is not None and c.observed_rate is not None]
    series = {words: promises for words, promises in ((INTERVALS, models), (DEADLINES, tenths)) if promises}
    if not series:
        empty(axes, "no run has an interval or a deadline to compare with")
        return Plot(figure, axes, title + ": no run has an interval or a deadline to compare with.", ax is None)
    _calibration(axes, {words: _offset(promises) for words, promises in series.items()})
    _names(axes, _offset(models))
    axes.set_xlabel("promised: confidence, or predicted probability")
    axes.set_ylabel("observed share")
    legend_below(axes, 2, bbox_to_anchor=(0.5, -0.1))
    return Plot(figure, axes, _calibration_alt(title, series), ax is None)


# --- by application -------------------------------------------------------------------------------------------------------------------


def team_plot(accuracy: schemas.TeamAccuracy, ax: Optional[Axes]) -> Plot:
    known = [item for item in accuracy.items if item.mape_percent is not None]
    known.sort(key=lambda item: -(item.mape_percent or 0))
    left_out = len(known) - APPLICATIONS_MAX
    known = known[:APPLICATIONS_MAX]
    figure, axes = canvas(ax, (SIZE[0], max(SIZE[1], 1.6 + 0.24 * len(known))))
    axes.set_title("Errors of predictions by application")
    overall, unknown = accuracy.overall, sum(1 for item in accuracy.items if item.mape_percent is None)
    if not known:
        empty(axes, "no run that followed advice can be compared")
        return Plot(figure, axes, "Errors of predictions by application: no run that followed advice can be compared.", ax is None)
    places = range(len(known))
    axes.axvline(0, color=BLACK, linewidth=1)
    for place, item in zip(places, known):
        axes.hlines(place, item.mean_error_percent if item.mean_error_percent is not None else 0, item.mape_percent, color=GREY,
                    linewidth=1)
    axes.plot([item.mape_percent for item in known], places, color=BLUE, linestyle="none", marker="o", markersize=8,
              label="mean absolute error")
    biased = [(item.mean_error_percent, place) for place, item in zip(places, known) if item.mean_error_percent is not None]
    if biased:
        axes.plot(*zip(*biased), color=BLACK, linestyle="none", marker="D", markersize=7, markerfacecolor=WHITE,
                  label="bias (above 0: predictions too long)")
    if overall.mape_percent is not None:
        axes.axvline(overall.mape_percent, color=ORANGE, linestyle="--", linewidth=1.8,
                     label="all runs: %s" % number(overall.mape_percent, "%"))
    axes.set_yticks(places, ["%s (%d)" % (label(item.application), item.runs_compared) for item in known])
    axes.set_ylim(len(known) - 0.5, -0.5)
    axes.set_xlabel("error (%), with the number of runs compared")
    legend_below(axes)
    said = ["%s %s, bias %s, of %s" % (item.application, number(item.mape_percent, "%"), number(item.mean_error_percent, "%"),
                                       counted(item.runs_compared, "run")) for item in known]
    alt = "Mean absolute errors of predictions by application: %s." % listed(said, 10)
    alt += " All %s compared: %s, bias %s, within the interval %s (promised: %s)." % (
        counted(overall.runs_compared, "run"), number(overall.mape_percent, "%"), number(overall.mean_error_percent, "%"),
        _share(overall.interval_coverage), _share(overall.confidence))
    if left_out > 0:
        alt += " Not shown: %d with smaller errors." % left_out
    if unknown:
        alt += " Unknown: %s." % counted(unknown, "application")
    if accuracy.next_cursor is not None:
        alt += " There are more applications than this page has."
    return Plot(figure, axes, alt, ax is None)

"""A scaling model beside the runs that it was fitted to: durations with the law and its interval, and the residuals."""
from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union, cast

from .figure import (BLACK, GREY, Plot, Style, canvas, counted, empty, label, legend_below, listed, log_ticks, matplotlib_figure, number,
                     plain_log_ticks, style)
from .layout import legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .. import schemas
    from ..client import Client

    Fitted = Union[schemas.ModelCandidate, schemas.ModelFit]

Panels = Any  # Axes, or two of them
SIZES_MAX = 6  # problem sizes with a curve
STEPS = 40  # of a curve
RUNS_MAX = 2000
WEIGHTS_MAX = 8  # written beside their runs
LOGARITHMIC_FROM = 5.0
LAST = datetime.datetime.max.replace(tzinfo=datetime.timezone.utc)


class _Seen(NamedTuple):
    """A run."""

    size: Optional[float]
    executors: float
    actual: float
    predicted: Optional[float] = None
    run_id: Optional[str] = None
    weight: float = 1.0
    old: bool = False  # from before the drift

    @property
    def error_percent(self) -> Optional[float]:
        return None if self.predicted is None or not self.actual else 100 * (self.predicted - self.actual) / self.actual


class _Step(NamedTuple):
    """Of the law's curve."""

    executors: float
    value: Optional[float]
    low: Optional[float] = None
    high: Optional[float] = None
    has_interval: bool = False


class _Picture(NamedTuple):
    """What is drawn. curves: by problem size."""

    what: str
    quantity: str
    unit: str
    confidence: Optional[float]
    seen: List[_Seen]
    curves: Dict[Optional[float], List[_Step]]
    others: int = 0  # runs of problem sizes that are not drawn


# --- what to draw ---------------------------------------------------------------------------------------------------------------------


def models_plot(models: schemas.ApplicationModels, model: Optional[str], problem_size: Optional[float], ax: Panels) -> Plot:
    wanted = model if model is not None else models.selected_model
    kinds = [c.model for c in models.candidates]
    if model is not None and model not in kinds:
        raise ValueError("the candidates are %s, not %s" % (", ".join(kinds), model))
    client = cast("Optional[Client]", models.reply.client if models.reply is not None else None)
    candidate = next((c for c in models.candidates if c.model == wanted), None)
    if client is None:
        return _errors_plot(models, ax)
    if candidate is None or candidate.parameters is None:
        why = "no model is selected" if candidate is None else "%s is not fitted" % candidate.model
        if candidate is not None and candidate.error is not None:
            why += ": " + candidate.error.message
        return _nothing("Models of %s" % label(models.application), "Models of %s: %s." % (models.application, why), why, ax)
    runs = _runs_of(client, models)
    sizes = [problem_size] if problem_size is not None else _thinned(sorted({s.size for s in runs if s.size is not None}))
    seen = [s for s in runs if s.size in sizes]
    what = "the model %s%s" % (candidate.model, ", selected" if candidate.selected else "")
    if candidate.fit is not None and candidate.fit.loo_mape_percent is not None:
        what += ", with a leave-one-out error of %s" % number(candidate.fit.loo_mape_percent, "%")
    picture = _asked(client, candidate, what, seen, cast("List[Optional[float]]", sizes))
    picture = picture._replace(others=len(runs) - len(seen))
    return _draw(picture, "%s: model %s and its errors" % (label(models.application), candidate.model), models.application, ax, models)


def fit_plot(fit: schemas.ModelFit, problem_size: Optional[float], ax: Panels) -> Plot:
    seen = [_Seen(r.problem_size, r.executors, r.actual, r.predicted) for r in fit.residuals]
    sizes: List[Optional[float]] = [problem_size] if problem_size is not None else [
        *_thinned(sorted({s.size for s in seen if s.size is not None})), *([None] if any(s.size is None for s in seen) else [])]
    seen = [s for s in seen if s.size in sizes]
    what = "the law of %s, fitted with a mean error of %s" % (fit.model, number(fit.fit.mape_percent, "%"))
    client = cast("Optional[Client]", fit.reply.client if fit.reply is not None else None)
    if client is not None:
        picture = _asked(client, fit, what, seen, sizes)
    else:
        quantity, unit = ("speedup", "") if fit.reference == "ratio" else ("duration", "s")
        picture = _Picture(what, quantity, unit, None, seen, {size: _joined(seen, size) for size in sizes})
    return _draw(picture._replace(others=len(fit.residuals) - len(seen)), "Model %s and its errors" % fit.model, None, ax, None)


def _thinned(sizes: List[float]) -> List[float]:
    most = min(len(sizes), SIZES_MAX)
    return [sizes[place * (len(sizes) - 1) // max(most - 1, 1)] for place in range(most)]


def _runs_of(client: Client, models: schemas.ApplicationModels) -> List[_Seen]:
    """What the models were fitted to: runs that succeeded and are known in full, of the label group."""
    group, drift = models.label_group, models.drift
    labels = group.labels if group is not None and group.labels_applied else {}
    weights = {run.run_id: run.weight for run in models.down_weighted}
    since = drift.since_run.at if drift.state in ("drifted", "recovered") and drift.since_run is not None else None
    found = []
    fields = ["id", "problem_size", "executors", "duration_s", "started_at", "recorded_at", "labels"]
    for run in client.runs(models.application, succeeded=True, limit=min(models.history.examined, RUNS_MAX), fields=fields):
        if run.problem_size is None or run.executors is None or run.duration_s is None:
            continue
        if all(run.labels.get(key) == value for key, value in labels.items()):
            old = since is not None and (run.started_at or run.recorded_at or LAST) < since
            found.append(_Seen(run.problem_size, run.executors, run.duration_s, None, run.id, weights.get(run.id, 1.0), old))
    return found


def _asked(client: Client, fitted: Fitted, what: str, seen: List[_Seen], sizes: Sequence[Optional[float]]) -> _Picture:
    """With the law's values and interval, as the service predicts them."""
    counts = [s.executors for s in seen] or (fitted.uncertainty.executors_range if fitted.uncertainty is not None else [1.0, 16.0])
    first, last = min(counts), max(counts)
    if first == last:
        first, last = max(1.0, first / 2), first * 2
    # Whole executors, for which intervals are meant: they are others at counts that were run than beside these.
    steps = sorted({*(float(round(first * (last / first) ** (step / STEPS))) for step in range(STEPS + 1)), *counts})
    places = [(size, executors) for size in sizes for executors in steps]
    points = [{"problem_size": size, "executors": executors} if size is not None else {"executors": executors}
              for size, executors in [*places, *((s.size, s.executors) for s in seen)]]
    predicted: List[schemas.ModelPredictionsPrediction] = []
    if points and fitted.parameters is not None:
        # A kind without tables takes none, and what is null is left out.
        more = {name: value for name, value in (("tables", fitted.tables), ("reference", fitted.reference),
                                                ("uncertainty", fitted.uncertainty)) if value is not None}
        predicted = cast(Any, client).predict(model=fitted.model, parameters=fitted.parameters, points=points, **more).predictions
    ratio = bool(predicted) and all(p.duration_s is None for p in predicted) and any(p.speedup is not None for p in predicted)
    values = [p.speedup if ratio else p.duration_s for p in predicted]
    curves: Dict[Optional[float], List[_Step]] = {size: [] for size in sizes}
    for (size, executors), prediction, value in zip(places, predicted, values):
        ends: Sequence[Optional[float]] = prediction.interval_s if prediction.interval_s is not None else (None, None)
        curves[size].append(_Step(executors, value, ends[0], ends[1], prediction.interval_s is not None))
    seen = [s._replace(predicted=value) for s, value in zip(seen, values[len(places):])]
    confidence = fitted.uncertainty.confidence if fitted.uncertainty is not None else None
    return _Picture(what, "speedup" if ratio else "duration", "" if ratio else "s", confidence, seen, curves)


def _joined(seen: Sequence[_Seen], size: Optional[float]) -> List[_Step]:
    """Where nobody can be asked: the law at the runs."""
    return [_Step(executors, value) for executors, value in sorted({(s.executors, s.predicted) for s in seen
                                                                    if s.size == size and s.predicted is not None})]


# --- the picture ----------------------------------------------------------------------------------------------------------------------


def _panels(ax: Panels) -> Tuple[Figure, Axes, Optional[Axes]]:
    """Of the caller, one (without residuals) or two; or new ones."""
    if ax is None:
        figure = matplotlib_figure((7.0, 5.6))
        upper, lower = figure.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": [2.3, 1]})
        return figure, upper, lower
    try:
        upper, lower = ax
    except TypeError:
        return ax.figure, ax, None
    return upper.figure, upper, lower


def _nothing(title: str, alt: str, why: str, ax: Panels) -> Plot:
    figure, axes = canvas(_panels(ax)[1] if ax is not None else None)
    empty(axes, label(why, 200))
    axes.set_title(title)
    return Plot(figure, axes, alt, ax is None)


def _draw(picture: _Picture, title: str, application: Optional[str], ax: Panels, models: Optional[schemas.ApplicationModels]) -> Plot:
    alt = _alt(picture, application, models)
    known = [s.value for steps in picture.curves.values() for s in steps if s.value is not None and s.value > 0]
    known += [s.actual for s in picture.seen]
    if not known:
        return _nothing(title, alt, "there are no runs, and the law gives nothing there", ax)
    figure, upper, lower = _panels(ax)
    upper.set_title(title)
    low, high = min(known), max(known)
    # With the interval, unless that would make all else small.
    ends = [end for steps in picture.curves.values() for s in steps for end in (s.low, s.high) if end is not None and s.value is not None]
    low, high = min([low, *(max(end, low / 1.6) for end in ends)]), max([high, *(min(end, high * 1.6) for end in ends)])
    if high >= LOGARITHMIC_FROM * low > 0:
        upper.set_yscale("log")
        bottom, top = low / 1.15, high * 1.15
        plain_log_ticks(upper.yaxis)
    else:
        bottom, top = max(0.0, low - 0.1 * (high - low or high)), high + 0.1 * (high - low or high)
    upper.set_ylim(bottom, top)
    upper.set_xscale("log", base=2)
    for place, size in enumerate(picture.curves):
        _draw_size(picture, size, style(place), upper, lower, bottom, top)
    _draw_weights(picture, upper)
    if models is not None:
        _draw_drift(picture, models.drift, upper)
    if any(s.has_interval for steps in picture.curves.values() for s in steps) and picture.confidence is not None:
        upper.fill_between([], [], facecolor=GREY, alpha=0.3, label="%g %% interval" % (100 * picture.confidence))
    counts = sorted({s.executors for s in picture.seen} or {s.executors for steps in picture.curves.values() for s in steps})
    last = lower if lower is not None else upper
    log_ticks(last.xaxis, counts if len(counts) <= 12 else counts[::max(1, len(counts) // 10)])
    last.set_xlabel("executors")
    upper.set_ylabel(picture.quantity + (" (%s)" % picture.unit if picture.unit else ""))
    if lower is not None:
        lower.axhline(0, color=BLACK, linewidth=1)
        lower.set_ylabel("predicted \N{MINUS SIGN}\nmeasured (%)")
        most = max([abs(s.error_percent) for s in picture.seen if s.error_percent is not None], default=0.0)
        most = max(most, 1.0)
        lower.set_ylim(-1.25 * most, 1.25 * most)
    handles, labels = upper.get_legend_handles_labels()
    if lower is not None and handles:
        legend(lower, handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.38), frameon=False, ncol=min(3, len(handles)),
               fontsize="small", title="marks: measured; lines: the law", title_fontsize="small")
    else:
        legend_below(upper, title="marks: measured; lines: the law", title_fontsize="small")
    return Plot(figure, upper, alt, ax is None)


def _draw_size(picture: _Picture, size: Optional[float], drawn: Style, upper: Axes, lower: Optional[Axes], bottom: float,
               top: float) -> None:
    name = "problem size %s" % number(size) if size is not None else "unknown problem size"
    steps = picture.curves[size]
    band = [(s.executors, s.low if s.low is not None else bottom, s.high if s.high is not None else top) for s in steps
            if s.has_interval and s.value is not None]
    if band:
        upper.fill_between(*zip(*band), facecolor=drawn.colour, edgecolor=drawn.colour, alpha=0.18, hatch=drawn.hatch, linewidth=0)
    upper.plot([s.executors for s in steps], [math.nan if s.value is None else s.value for s in steps], color=drawn.colour,
               linestyle=drawn.dashes)
    upper.plot([], [], color=drawn.colour, linestyle=drawn.dashes, marker=drawn.marker, markeredgecolor=BLACK,
               markeredgewidth=0.7, label=name)
    runs = [s for s in picture.seen if s.size == size]
    for full in (True, False):
        for old in (True, False):
            some = [s for s in runs if (s.weight >= 1) is full and s.old is old]
            if not some:
                continue
            look = {"color": drawn.colour, "marker": drawn.marker, "linestyle": "none", "markersize": 4 if old else 7,
                    "markerfacecolor": drawn.colour if full else "#FFFFFF", "markeredgecolor": BLACK if full else drawn.colour,
                    "markeredgewidth": 0.7 if full else 1.4}
            upper.plot([s.executors for s in some], [s.actual for s in some], **look)
            known = [s for s in some if s.error_percent is not None]
            if lower is not None and known:
                lower.vlines([s.executors for s in known], 0, [s.error_percent for s in known], color=drawn.colour, linewidth=1)
                lower.plot([s.executors for s in known], [s.error_percent for s in known], **look)


def _draw_weights(picture: _Picture, upper: Axes) -> None:
    light = [s for s in picture.seen if s.weight < 1]
    for s in sorted(light, key=lambda s: s.weight)[:WEIGHTS_MAX]:
        upper.annotate("weight %s" % number(s.weight), (s.executors, s.actual), xytext=(-7, 7), textcoords="offset points", ha="right",
                       fontsize="small", bbox={"facecolor": "#FFFFFF", "edgecolor": "none", "alpha": 0.7, "pad": 1})
    if light:
        upper.plot([], [], color=BLACK, linestyle="none", marker="o", markerfacecolor="#FFFFFF", label="hollow: counts less")


def _draw_drift(picture: _Picture, drift: schemas.Drift, upper: Axes) -> None:
    if drift.state not in ("drifted", "recovered"):
        return
    if any(s.old for s in picture.seen):
        upper.plot([], [], color=BLACK, linestyle="none", marker="o", markersize=4, label="small: before the drift")
    upper.text(0.98, 0.97, _drift_words(drift), transform=upper.transAxes, ha="right", va="top", fontsize="small")
    ids = {run.run_id for run in (drift.since_run, drift.detected_run) if run is not None}
    ringed = [s for s in picture.seen if s.run_id in ids]
    if ringed:
        upper.plot([s.executors for s in ringed], [s.actual for s in ringed], color=BLACK, linestyle="none", marker="o", markersize=14,
                   markerfacecolor="none")
        upper.plot([], [], color=BLACK, linestyle="none", marker="o", markersize=10, markerfacecolor="none",
                   label="ringed: where it drifted")


def _drift_words(drift: schemas.Drift) -> str:
    change = ""
    if drift.change_percent is not None:
        change = " %s %% %s" % (number(abs(drift.change_percent)), drift.direction or "off")
    since = " since %s" % drift.since_run.at.date().isoformat() if drift.since_run is not None else ""
    return "%s:%s%s" % (drift.state, change, since) if change or since else drift.state


def _alt(picture: _Picture, application: Optional[str], models: Optional[schemas.ApplicationModels]) -> str:
    seen, unit = picture.seen, picture.unit
    whose = " of " + application if application else ""
    text = "The %ss of %s%s and %s" % (picture.quantity, counted(len(seen), "run"), whose, picture.what)
    sizes = [number(size) for size in picture.curves]
    text += ", at problem size %s." % ", ".join(sizes) if sizes else "."
    if seen:
        text += " Measured: %s to %s, on %s to %s." % (
            number(min(s.actual for s in seen)), number(max(s.actual for s in seen), unit), number(min(s.executors for s in seen)),
            counted(round(max(s.executors for s in seen)), "executor"))
    ends = [(size, steps[-1]) for size, steps in picture.curves.items() if steps and steps[-1].value is not None]
    if ends:
        text += " The law: %s." % listed([
            "%s%s at problem size %s on %s" % (number(step.value, unit), _interval_words(step, unit), number(size),
                                               counted(round(step.executors), "executor")) for size, step in ends])
    if not any(s.has_interval for steps in picture.curves.values() for s in steps):
        text += " The interval is unknown."
    errors = [s.error_percent for s in seen if s.error_percent is not None]
    if errors:
        text += " Errors of the law at these runs: %s to %s." % (number(min(errors)), number(max(errors), "%"))
    if len(errors) < len(seen):
        text += " Unknown at %s." % counted(len(seen) - len(errors), "run")
    if picture.others:
        text += " Not shown: %s of other problem sizes." % counted(picture.others, "run")
    light = ["%s on %s with weight %s" % (number(s.actual, unit), counted(round(s.executors), "executor"), number(s.weight))
             for s in seen if s.weight < 1]
    if light:
        text += " Counting less: %s." % listed(light)
    if models is not None and models.drift.state in ("drifted", "recovered"):
        text += " Drift: %s; %s from before it." % (_drift_words(models.drift), counted(sum(1 for s in seen if s.old), "run"))
    return text


def _interval_words(step: _Step, unit: str) -> str:
    if not step.has_interval:
        return ""
    high = number(step.high, unit) if step.high is not None else "open"
    return " (%s to %s)" % (number(step.low) if step.low is not None else "open", high)


def _errors_plot(models: schemas.ApplicationModels, ax: Panels) -> Plot:
    """Of a result that has no client: how far the candidates are off."""
    why = "The runs and the law's curve are unknown: this result has no client to ask for them."
    known = sorted((c for c in models.candidates if c.comparison is not None), reverse=True,
                   key=lambda c: c.comparison.loo_mape_percent if c.comparison is not None else 0)
    if not known:
        return _nothing("Models of %s" % label(models.application), "Models of %s: no errors are known. %s" % (models.application, why),
                        "no errors of models are known", ax)
    figure, axes = canvas(_panels(ax)[1] if ax is not None else None)
    for place, candidate in enumerate(known):
        assert candidate.comparison is not None
        drawn = style(0) if candidate.selected else style(3)
        bars = axes.barh(place, candidate.comparison.loo_mape_percent, color=drawn.colour, edgecolor=BLACK,
                         hatch="//" if candidate.selected else "")
        axes.bar_label(bars, [number(candidate.comparison.loo_mape_percent, "%")], padding=3, fontsize="small")
    axes.set_yticks(range(len(known)), [label(c.model) + (" (selected)" if c.selected else "") for c in known])
    axes.set_xlabel("mean error of runs left out one by one (%)")
    axes.margins(x=0.12)
    axes.set_title("Models of %s" % label(models.application))
    said = ["%s%s %s" % (c.model, " (selected)" if c.selected else "", number(c.comparison.loo_mape_percent, "%"))
            for c in reversed(known) if c.comparison is not None]
    return Plot(figure, axes, "Mean errors of models of %s for runs left out one by one: %s. %s" % (
        models.application, ", ".join(said), why), ax is None)

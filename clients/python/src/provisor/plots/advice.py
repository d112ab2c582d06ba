"""Advice: time against cost, with the recommended executors."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

from ..results.rows import ends
from .figure import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, Plot, canvas, counted, empty, label, legend_below, number, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .. import schemas

WHITE = "#FFFFFF"
LOGARITHMIC_FROM = 5.0
APART_PT = 19.0  # numbers of executors beside their marks


class _Choice(NamedTuple):
    executors: int
    duration_s: float
    low: Optional[float]
    high: Optional[float]
    probability: Optional[float]
    cost: Optional[float]

    def reach(self, advice: schemas.Advice) -> str:
        """Whether it is in time: "met" with the confidence asked for, "at_risk" with less, else "missed"."""
        if advice.deadline_s is None:
            return "met"
        if self.duration_s > advice.deadline_s:
            return "missed"
        if self.probability is None or advice.confidence is None or self.probability >= advice.confidence:
            return "met"
        return "at_risk"


FILLS = {"met": "full", "at_risk": "bottom", "missed": "none"}
WORDS = {"met": "filled: in time with the confidence asked for", "at_risk": "half filled: in time, but with less confidence",
         "missed": "hollow: misses the deadline"}


def _choices(advice: schemas.Advice) -> Tuple[List[_Choice], Optional[_Choice]]:
    """All, and of these the recommended one."""
    given, best = advice.alternatives or [], advice.recommendation
    made = [_Choice(a.executors, a.predicted_duration_s, *ends(a.interval_s), a.deadline_probability, a.cost) for a in given]
    if best is None:
        return made, None
    chosen = _Choice(best.executors, best.predicted_duration_s, *ends(best.interval_s), best.deadline_probability, best.cost)
    made = [c for c in made if c.executors != chosen.executors]
    return sorted([*made, chosen], key=lambda c: c.duration_s), chosen


class _Cost(NamedTuple):
    """What the horizontal axis has."""

    words: str
    unit: str
    of: Callable[[Any], float]  # of what has executors, duration_s and cost


def _cost(advice: schemas.Advice, choices: Sequence[_Choice]) -> _Cost:
    if choices and all(c.cost is not None for c in choices):
        currency = (advice.pricing.currency if advice.pricing is not None else None) or "in the currency of the price"
        return _Cost("cost (%s)" % label(currency), currency, lambda c: float(c.cost))
    most = max([c.executors * c.duration_s for c in choices], default=0)
    if most >= 3600:
        return _Cost("executor time (hours); no price is known", "executor hours", lambda c: float(c.executors * c.duration_s / 3600))
    return _Cost("executor time (s); no price is known", "executor seconds", lambda c: float(c.executors * c.duration_s))


def advice_plot(advice: schemas.Advice, ax: Optional[Axes]) -> Plot:
    figure, axes = canvas(ax)
    choices, best = _choices(advice)
    cost = _cost(advice, choices)
    name = advice.application
    size = ", problem size %s" % number(advice.problem_size) if getattr(advice, "problem_size", None) is not None else ""
    axes.set_title("Advice%s%s: %s" % (" for " + label(name) if name is not None else "", size, label(advice.verdict.replace("_", " "))))
    if not choices:
        why = _needed(advice) if advice.verdict == "unknown" else "The advice came without alternatives."
        empty(axes, _wrapped(why))
        return Plot(figure, axes, "Advice%s: %s. %s" % (" for " + name if name is not None else "", advice.verdict, why), ax is None)
    last = advice.last_run
    before = _Choice(last.executors, last.predicted_duration_s, None, None, None, last.cost) if last is not None else None
    if before is not None and before.cost is None and all(c.cost is not None for c in choices):
        before = None  # its place is unknown
    _limits(axes, choices, [before] if before is not None else [], advice.deadline_s, cost)
    _marks(axes, advice, choices, cost)
    if advice.deadline_s is not None:
        axes.axhline(advice.deadline_s, color=VERMILION, linestyle="--", linewidth=1.5,
                     label="deadline %s" % number(advice.deadline_s, "s"))
    if before is not None:
        axes.plot([cost.of(before)], [before.duration_s], color=BLACK, linestyle="none", marker="x", markersize=9, markeredgewidth=2,
                  label="the last run's %s" % counted(before.executors, "executor"), zorder=5)
    if best is not None:
        axes.plot([cost.of(best)], [best.duration_s], color=BLACK, linestyle="none", marker="o", markersize=18, markerfacecolor="none",
                  markeredgewidth=1.8, zorder=6)
        axes.plot([], [], color=BLACK, linestyle="none", marker="o", markersize=10, markerfacecolor="none", markeredgewidth=1.8,
                  label="recommended: %s" % counted(best.executors, "executor"))
    _numbers(axes, choices, best, cost)
    axes.set_xlabel(cost.words)
    axes.set_ylabel("duration (s)")
    legend_below(axes, 2)
    return Plot(figure, axes, _alt(advice, choices, best, before, cost), ax is None)


def _needed(advice: schemas.Advice) -> str:
    """Why nothing is recommended, and which runs would help."""
    needed = advice.data_needed
    said = advice.reasons[0].message if advice.reasons else "Nothing can be recommended from the history."
    if needed is None:
        return said
    there = ["%s at problem size %s" % (counted(s.executors, "executor"), number(s.problem_size)) for s in needed.suggested]
    such = ", such as " + " and ".join(there[:4]) if there else ""
    return "%s Needed: %s%s: %s." % (said, counted(needed.runs, "more run"), such, needed.why.rstrip("."))


def _wrapped(text: str) -> str:
    import textwrap
    return "\n".join(label(line, 80) for line in textwrap.wrap(text, 70)[:10])


def _limits(axes: Axes, choices: Sequence[_Choice], others: Sequence[_Choice], deadline: Optional[float], cost: _Cost) -> None:
    ys = [c.duration_s for c in [*choices, *others]] + [end for c in choices for end in (c.low, c.high) if end is not None and end > 0]
    ys += [deadline] if deadline is not None else []
    xs = [cost.of(c) for c in [*choices, *others]]
    for values, scale, limits, axis in ((ys, axes.set_yscale, axes.set_ylim, axes.yaxis),
                                        (xs, axes.set_xscale, axes.set_xlim, axes.xaxis)):
        low, high = min(values), max(values)
        if high >= LOGARITHMIC_FROM * low > 0:
            scale("log")
            margin = (high / low) ** 0.1
            limits(low / margin, high * margin)
            plain_log_ticks(axis)
        else:
            margin = 0.12 * (high - low or abs(high) or 1)
            limits(max(0.0, low - margin), high + margin)


def _marks(axes: Axes, advice: schemas.Advice, choices: Sequence[_Choice], cost: _Cost) -> None:
    bottom, top = axes.get_ylim()
    axes.plot([cost.of(c) for c in choices], [c.duration_s for c in choices], color=GREY, linestyle=":", linewidth=1, zorder=1)
    for c in choices:
        if c.low is None and c.high is None:
            continue
        low, high = c.low if c.low is not None else bottom, c.high if c.high is not None else top
        axes.vlines(cost.of(c), low, high, color=GREY, linewidth=1.2, zorder=2)
        for end, known, marker in ((low, c.low is not None, "v"), (high, c.high is not None, "^")):
            # An open end goes to the edge, with an arrow.
            axes.plot([cost.of(c)], [end], color=GREY, linestyle="none", marker="_" if known else marker, markersize=6, clip_on=False,
                      zorder=2)
    for reach, fill in FILLS.items():
        some = [c for c in choices if c.reach(advice) == reach]
        if some:
            axes.plot([cost.of(c) for c in some], [c.duration_s for c in some], color=BLUE, linestyle="none", marker="o", markersize=8,
                      fillstyle=fill, markerfacecolor=WHITE if reach == "missed" else BLUE, markerfacecoloralt=WHITE, zorder=4,
                      label=WORDS[reach] if advice.deadline_s is not None else "allowed executors")
    if any(c.low is not None or c.high is not None for c in choices) and advice.confidence is not None:
        axes.plot([], [], color=GREY, marker="_", markersize=6, label="%g %% interval" % (100 * advice.confidence))


def _numbers(axes: Axes, choices: Sequence[_Choice], best: Optional[_Choice], cost: _Cost) -> None:
    """Executors beside their marks; first the recommended, and then those that do not touch a number that is there."""
    taken: List[Tuple[float, float]] = []
    for c in sorted(choices, key=lambda c: c is not best):
        x, y = axes.transData.transform((cost.of(c), c.duration_s)) * 72 / axes.figure.dpi
        if all(abs(x - there[0]) >= APART_PT or abs(y - there[1]) >= APART_PT * 0.6 for there in taken):
            taken.append((x, y))
            axes.annotate(str(c.executors), (cost.of(c), c.duration_s), xytext=(11 if c is best else 7, 5), textcoords="offset points",
                          fontsize="medium" if c is best else "small", fontweight="bold" if c is best else "normal", zorder=7,
                          bbox={"facecolor": WHITE, "edgecolor": "none", "alpha": 0.7, "pad": 0.8})
    axes.text(0.99, 0.98, "numbers: executors", transform=axes.transAxes, ha="right", va="top", fontsize="small")


def interval_words(low: Optional[float], high: Optional[float]) -> str:
    return "%s to %s" % (number(low) if low is not None else "open", number(high, "s") if high is not None else "open")


def _alt(advice: schemas.Advice, choices: Sequence[_Choice], best: Optional[_Choice], before: Optional[_Choice], cost: _Cost) -> str:
    text = "Advice%s: %s." % (" for " + advice.application if advice.application is not None else "", advice.verdict.replace("_", " "))
    if advice.deadline_s is not None:
        text += " Deadline %s." % number(advice.deadline_s, "s")
    if best is not None:
        text += " Recommended: %s, %s (%s)" % (
            counted(best.executors, "executor"), number(best.duration_s, "s"), interval_words(best.low, best.high))
        if best.probability is not None:
            text += ", in time with probability %s" % number(best.probability)
        text += ", for %s." % number(cost.of(best), cost.unit)
    else:
        text += " Nothing is recommended."
    if len(choices) > 1:
        first, last = choices[0], choices[-1]
        text += " %d choices: from %s in %s for %s to %s in %s for %s." % (
            len(choices), counted(first.executors, "executor"), number(first.duration_s, "s"), number(cost.of(first)),
            counted(last.executors, "executor"), number(last.duration_s, "s"), number(cost.of(last)))
    elif not advice.alternatives:
        text += " The alternatives are unknown."
    if advice.deadline_s is not None:
        late = [c.executors for c in choices if c.reach(advice) == "missed"]
        risky = [c.executors for c in choices if c.reach(advice) == "at_risk"]
        text += " Missing the deadline: %d; in time, but with less than the confidence asked for: %d." % (len(late), len(risky))
    if before is not None:
        text += " The last run's %s would take %s." % (counted(before.executors, "executor"), number(before.duration_s, "s"))
    if any(c.cost is None for c in choices):
        text += " No price is known."
    if any(c.low is None or c.high is None for c in choices):
        text += " Some ends of intervals are open or unknown."
    if advice.verdict == "unknown":
        text += " " + _needed(advice)
    return text


# --- dynamic allocation ---------------------------------------------------------------------------------------------------------------

ALLOCATIONS = {"static": "fixed, as recommended", "static_last_run": "fixed, as in the last run",
               "dynamic_from_minimum": "dynamic from the minimum", "dynamic_from_maximum": "dynamic from the maximum",
               "dynamic_as_configured": "dynamic as configured"}


def autoscaling_plot(autoscaling: schemas.Autoscaling, ax: Optional[Axes]) -> Plot:
    """Executors over time. Lines that lie on one another show, since the later ones are thinner."""
    figure, axes = canvas(ax)
    cases = [case for case in autoscaling.cases if case.timeline]
    axes.set_title("Executors that a job holds, fixed and with dynamic allocation")
    if not cases:
        empty(axes, "no allocation can be replayed")
        return Plot(figure, axes, "Executors over time: no allocation can be replayed.", ax is None)
    looks = [(BLACK, "-", "s"), (ORANGE, "--", "D"), (BLUE, "-", "o"), (VERMILION, (0, (4, 1.5)), "^"), (GREEN, "-.", "v")]
    said = []
    for place, case in enumerate(cases):
        colour, dashes, marker = looks[place % len(looks)]
        times = [step.at_s for step in case.timeline] + [case.predicted_duration_s]
        counts = [float(step.executors) for step in case.timeline] + [float(case.timeline[-1].executors)]
        words = "%s: %s, %s executor s" % (ALLOCATIONS.get(case.allocation, label(case.allocation)), number(case.predicted_duration_s, "s"),
                                           number(case.executor_s))
        axes.step(times, counts, where="post", color=colour, linestyle=dashes, linewidth=max(1.5, 6.5 - 1.7 * place), marker=marker,
                  markevery=[len(times) - 1], markersize=8, markeredgecolor=WHITE, label=words, zorder=2 + place)
        said.append("%s: %s, at most %s, %s on average, held for %s executor seconds in all" % (
            ALLOCATIONS.get(case.allocation, case.allocation), number(case.predicted_duration_s, "s"),
            counted(case.peak_executors, "executor"), number(case.mean_executors), number(case.executor_s)))
    text = "; ".join(said)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0, top=1.12 * max(1, max(case.peak_executors for case in cases)))
    axes.set_xlabel("time since the start (s); the mark is the end")
    axes.set_ylabel("executors")
    legend_below(axes, 1)
    start = "measured" if autoscaling.executor_startup_measured else "assumed"
    return Plot(figure, axes, "Executors over time. %s. An executor starts in %s (%s)." % (
        text[:1].upper() + text[1:], number(autoscaling.executor_startup_s, "s"), start), ax is None)

"""What a search for a scheduler tried: the objective of each candidate."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional

from ..tables import shown
from .figure import BLACK, SIZE, Plot, canvas, label, number, plain_log_ticks, style
from .layout import legend
from .schedulers import load_words, loads_of, nothing
from .shapes import first_few, name_rows
from .simulation import LOGARITHMIC_FROM

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .schedulers import Result

NOT_TERMS = ("policy", "value", "excess_percent", "jobs", "repetitions", "round")


def terms_of(candidate: Any) -> Dict[str, Any]:
    """The terms of a candidate, as a request has them."""
    return {name: value for name, value in candidate.to_dict().items() if name not in NOT_TERMS}


def candidate_words(candidate: Any) -> str:
    """pigeon, groups 3, weight 10"""
    return ", ".join([str(candidate.policy), *("%s %s" % (name, shown(value)) for name, value in terms_of(candidate).items())])


def search_plot(result: Result, load: Optional[float], ax: Optional[Axes]) -> Plot:
    each = loads_of(result, load if load is not None else result.loads[0].load, ax)[0]
    title = "Candidates of the search: %s" % load_words(each)
    if each.search is None:
        return nothing(title, "search={}", ax)
    candidates: List[Any] = list(each.search.candidates)
    figure, axes = canvas(ax, (SIZE[0] + 1.2, 1.4 + 0.26 * len(candidates)))
    policies = list(dict.fromkeys(str(candidate.policy) for candidate in candidates))
    for policy in policies:
        look = style(policies.index(policy))
        mine = [(candidate.value, place) for place, candidate in enumerate(candidates) if candidate.policy == policy]
        axes.plot([value for value, _ in mine], [place for _, place in mine], linestyle="none", marker=look.marker, color=look.colour,
                  markeredgecolor=BLACK, markeredgewidth=0.6, label=label(policy), gid="candidates")
    name_rows(axes, [(place, candidate_words(candidate)) for place, candidate in enumerate(candidates)], 60)
    axes.set_ylim(len(candidates) - 0.4, -0.6)
    values = [candidate.value for candidate in candidates]
    if max(values) > LOGARITHMIC_FROM * min(values):
        axes.set_xscale("log")
        plain_log_ticks(axes.xaxis)
    axes.set_xlabel("objective, mean of the repetitions")
    axes.set_title(title, fontsize="medium")
    legend(axes, frameon=False, fontsize="small")
    words = ["%s: %s" % (candidate_words(candidate), number(candidate.value)) for candidate in candidates]
    text = "%s, the best ones first. %s. The best one is %s: %s." % (title, first_few(words, 12), candidate_words(candidates[0]),
                                                                     each.search.message)
    return Plot(figure, axes, text, ax is None)

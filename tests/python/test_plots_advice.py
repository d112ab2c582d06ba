"""Pictures, tables and frames of advice and of dynamic allocation."""
import math

import pytest

from artists import HOSTILE, columns, drawn, labelled, points, tell_apart, texts
from provisor.record import class_of
from provisor.tables import shown

INCLUDE = ["alternatives", "autoscaling", "spark", "data_needed", "next_experiments", "stages"]


def remade(record, **changed):
    return type(record).from_json({**record.to_dict(), **changed})


@pytest.fixture
def ask(client, etl):
    def ask(**more):
        return client.advise(etl, problem_size=128, dry_run=True, include=INCLUDE, **more)
    return ask


def marks(axes, fill):
    return {(x, y) for line in axes.get_lines() if line.get_marker() == "o" and line.get_markersize() == 8 and line.get_fillstyle() == fill
            for x, y in line.get_xydata().tolist()}


def test_time_against_executor_time(ask, etl):
    advice = ask(deadline_s=90)
    plot = advice.plot()
    drawn(plot)
    scale = 3600 if "hours" in plot.axes.get_xlabel() else 1
    place = {a.executors: (a.executors * a.predicted_duration_s / scale, a.predicted_duration_s) for a in advice.alternatives}
    late = {a.executors for a in advice.alternatives if a.predicted_duration_s > 90}
    risky = {a.executors for a in advice.alternatives if a.executors not in late and a.deadline_probability < 0.95}
    assert marks(plot.axes, "none") == {place[m] for m in late} and marks(plot.axes, "bottom") == {place[m] for m in risky}
    assert marks(plot.axes, "full") == {place[m] for m in set(place) - late - risky} and late and risky
    best = advice.recommendation
    ring = next(line for line in plot.axes.get_lines() if line.get_markersize() == 18)
    assert ring.get_xydata().tolist() == [list(place[best.executors])]
    assert str(best.executors) in texts(plot.axes) and "recommended: %d executors" % best.executors in labelled(plot.axes)
    assert list(labelled(plot.axes)["deadline 90 s"].get_ydata()) == [90, 90]
    last = labelled(plot.axes)["the last run's 16 executors"]
    assert list(last.get_ydata()) == [advice.last_run.predicted_duration_s]
    whiskers = {(round(x, 9), low, high) for c in plot.axes.collections for (x, low), (_, high) in c.get_segments()}
    assert whiskers == {(round(place[a.executors][0], 9), *a.interval_s) for a in advice.alternatives}
    assert "No price is known." in plot.alt and "Missing the deadline: %d;" % len(late) in plot.alt
    assert "Recommended: %d executors, %.3g s (%.3g to %.3g s), in time with probability %.3g" % (
        best.executors, best.predicted_duration_s, *best.interval_s, best.deadline_probability) in plot.alt
    assert tell_apart(plot.axes) == [] and plot.axes.get_ylabel() == "duration (s)" and plot.title == "Advice for %s, problem size 128: met" % etl


def test_time_against_money(ask):
    advice = ask(deadline_s=200, constraints={"price_per_executor_hour": 0.4})
    plot = advice.plot()
    drawn(plot)
    assert {(a.cost, a.predicted_duration_s) for a in advice.alternatives} <= set(points(plot.axes, marker="o"))
    assert plot.axes.get_xlabel() == "cost (in the currency of the price)" and "No price is known" not in plot.alt
    euros = remade(advice, pricing={**advice.pricing.to_dict(), "currency": "E$R"}).plot()
    assert euros.axes.get_xlabel() == "cost (E\\$R)" and "E$R." in euros.alt
    drawn(euros)


def test_what_is_unknown_is_not_drawn(ask):
    advice = ask(deadline_s=200)
    raw = [a.to_dict() for a in advice.alternatives]
    for place, one in enumerate(raw):
        one["interval_s"] = [None, None] if place == 0 else [one["interval_s"][0], None] if place == 1 else one["interval_s"]
    plot = remade(advice, alternatives=raw, last_run=None).plot()
    drawn(plot)
    assert "Some ends of intervals are open or unknown." in plot.alt and not any("last run" in name for name in labelled(plot.axes))
    segments = {round(high, 6): low for c in plot.axes.collections for (_, low), (_, high) in c.get_segments()}
    assert segments[round(plot.axes.get_ylim()[1], 6)] == raw[1]["interval_s"][0] and len(plot.axes.collections) == len(raw) - 1
    assert sum(line.get_marker() == "^" for line in plot.axes.get_lines()) == 1
    plot = remade(advice, alternatives=None).plot()
    drawn(plot)
    assert "The alternatives are unknown." in plot.alt and len(marks(plot.axes, "full")) == 1
    plot = remade(advice, deadline_s=None).plot()
    drawn(plot)
    assert "eadline" not in plot.alt and not any(name.startswith("deadline") for name in labelled(plot.axes))
    assert len(marks(plot.axes, "full")) == len(raw)


def test_a_deadline_that_is_missed(ask):
    advice = ask(deadline_s=60)
    plot = advice.plot()
    drawn(plot)
    assert not marks(plot.axes, "full") and plot.title.endswith(": missed") and "Missing the deadline: %d;" % len(advice.alternatives) in plot.alt


def test_nothing_can_be_recommended(client, name):
    client.create_app(name)
    advice = client.advise(name, problem_size=9, deadline_s=90, dry_run=True, include=INCLUDE)
    plot = advice.plot()
    drawn(plot)
    assert advice.verdict == "unknown" and advice.reasons[0].message in plot.alt and advice.data_needed.why in plot.alt
    assert "Needed: 1 more run" in " ".join(texts(plot.axes)[0].split())
    html = advice._repr_html_()
    assert columns(html)[0][0] == "Advice for %s: nothing can be recommended" % name and "Data needed: 1 more run" in html
    assert '<th scope="row">recommended executors</th><td>\N{EN DASH}</td>' in html
    assert len(advice.to_frame()) == 0
    suggested = {**advice.data_needed.to_dict(), "suggested": [{"problem_size": 64, "executors": 4}]}
    assert "such as 4 executors at problem size 64" in remade(advice, data_needed=suggested).plot().alt
    assert remade(advice, data_needed=None).plot().alt.endswith(advice.reasons[0].message)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(ask, name):
    advice = ask(deadline_s=90)
    bad = remade(advice, application=name, reasons=[{"code": "c", "message": name}], verdict=name,
                 spark={"properties": {name: name}, "changes": [{"key": name, "old": name, "new": None, "reason": name}]})
    drawn(bad.plot())
    html = bad._repr_html_()
    assert "<script>" not in html and "\u202e" not in html
    drawn(remade(bad, alternatives=[], recommendation=None, verdict="unknown").plot())


def test_the_tables_of_advice(ask, etl):
    advice = ask(deadline_s=90)
    html = advice._repr_html_()
    captions, heads = columns(html)
    assert captions[0] == "Advice for %s: the deadline is met, %d executors" % (etl, advice.recommendation.executors)
    assert captions[1:3] == ["Reasons", "Alternatives"] and "Spark properties to change" in captions and "Fixed executors and dynamic allocation" in captions
    for reason in advice.reasons:
        assert reason.message.replace("'", "&#x27;") in html, "reasons come in full"
    for row in ("95 % interval (s)", "in time with probability", "predicted duration (s)"):
        assert '<th scope="row">%s</th>' % row in html
    assert '<td>%s</td>' % shown(advice.recommendation.predicted_duration_s) in html


def test_tables_of_what_fields_left(client, etl):
    part = client.advise(etl, dry_run=True, fields=["verdict", "recommendation.executors"])
    html = part._repr_html_()
    assert "recommended, 10 executors" in html or "recommended executors" in html
    assert "\N{EN DASH}" not in html and "Reasons" not in html and "predicted duration" not in html
    part = client.advise(etl, fields=["alternatives.executors", "id"])
    assert columns(part._repr_html_())[0] == ["Advice: \N{EN DASH}", "Alternatives"] and part.id in part._repr_html_()


def test_the_frame_of_advice(ask):
    advice = ask(deadline_s=90)
    frame = advice.to_frame()
    assert list(frame.columns) == ["executors", "predicted_duration_s", "low_s", "high_s", "deadline_probability", "cost", "recommended"]
    assert list(frame.executors) == [a.executors for a in advice.alternatives] and frame.cost.isna().all() and str(frame.cost.dtype) == "float64"
    assert list(frame[frame.recommended].executors) == [advice.recommendation.executors]
    assert list(zip(frame.low_s, frame.high_s)) == [tuple(a.interval_s) for a in advice.alternatives]
    opened = remade(advice, alternatives=[{**advice.alternatives[0].to_dict(), "interval_s": [1, None]}]).to_frame()
    assert opened.low_s[0] == 1 and math.isnan(opened.high_s[0])
    assert len(remade(advice, alternatives=None).to_frame()) == 0


def test_executors_over_time(ask):
    scaling = ask(deadline_s=90).autoscaling
    plot = scaling.plot()
    drawn(plot)
    lines = list(labelled(plot.axes).values())
    assert len(lines) == len(scaling.cases) >= 3 and tell_apart(plot.axes) == []
    for line, case in zip(lines, scaling.cases):
        assert list(line.get_xdata()) == [step.at_s for step in case.timeline] + [case.predicted_duration_s]
        assert list(line.get_ydata())[:-1] == [step.executors for step in case.timeline] and line.get_drawstyle() == "steps-post"
        assert "%.3g s" % case.predicted_duration_s in line.get_label() and "at most %d executor" % case.peak_executors in plot.alt
    assert [line.get_linewidth() for line in lines] == sorted((line.get_linewidth() for line in lines), reverse=True), "no line hides another"
    frame = scaling.to_frame()
    assert len(frame) == sum(len(case.timeline) for case in scaling.cases) and set(frame.allocation) == {c.allocation for c in scaling.cases}
    assert columns(scaling._repr_html_())[0] == ["Fixed executors and dynamic allocation"]


def test_executors_over_time_that_are_unknown(ask):
    scaling = ask(deadline_s=90).autoscaling
    plot = remade(scaling, cases=[]).plot()
    drawn(plot)
    assert plot.alt == "Executors over time: no allocation can be replayed." and len(remade(scaling, cases=[]).to_frame()) == 0
    strange = [{**c.to_dict(), "allocation": "$x$<script>"} for c in scaling.cases] * 3
    drawn(remade(scaling, cases=strange).plot())
    assert class_of("Autoscaling").__module__ == "provisor.results.advice"

"""Pictures and frames of how good predictions were: of runs that followed advice, and of replies that such a short history does not give."""
import random
import uuid

import pytest

from artists import HOSTILE, drawn, labelled, points, tell_apart, texts
from provisor.plots.accuracy import wilson
from provisor.record import class_of

NONE = {"count": 0, "runs_compared": 0, "mape_percent": None, "mean_error_percent": None, "interval_coverage": None, "confidence": None}
UNKNOWN = {**NONE, "median_ape_percent": None, "deadlines": {"count": 0, "predicted_probability": None, "observed_rate": None}}


def remade(record, **changed):
    return type(record).from_json({**record.to_dict(), **changed})


@pytest.fixture(scope="module")
def followed(service, request):
    """An application whose runs followed advice; one of eight failed, and two ran otherwise."""
    import provisor
    draw = random.Random(3)
    name = "followed-" + uuid.uuid4().hex[:8]
    with provisor.Client(service.base_url, service.alpha_token, progress=False) as client:
        client.create_app(name)
        hour = 0

        def record(**run):
            nonlocal hour
            hour += 6
            client.record_run(name, cores_per_executor=4, started_at="2026-03-%02dT%02d:00:00Z" % (1 + hour // 24, hour % 24), **run)
        for size in (16, 32, 64):
            for executors in (1, 2, 4, 8):
                record(problem_size=size, executors=executors, succeeded=True, duration_s=(5 + 6 * size / executors) * draw.uniform(.93, 1.07))
        for number in range(24):
            advice = client.advise(name, problem_size=draw.choice((16, 32, 64)), deadline_s=draw.choice((60, 90, 120)), confidence=(0.8, 0.95)[number % 2])
            best = advice.recommendation
            record(problem_size=int(advice.problem_size), executors=best.executors + (number % 11 == 5), advice_id=advice.id, succeeded=number % 8 != 7,
                   duration_s=best.predicted_duration_s * draw.lognormvariate(0, .12))
    return name


def test_errors_run_by_run(client, followed):
    accuracy = client.accuracy(followed, limit=100)
    plot = accuracy.plot()
    drawn(plot)
    from matplotlib.dates import date2num
    items = [i for i in accuracy.items if i.error_percent is not None]
    kinds = {"within its interval": [i for i in items if i.compared and i.within_interval],
             "outside its interval": [i for i in items if i.compared and i.within_interval is False],
             "not compared: ran otherwise than advised": [i for i in items if not i.compared]}
    for words, some in kinds.items():
        if some:
            line = labelled(plot.axes)[words]
            assert list(line.get_ydata()) == [i.error_percent for i in some] and list(line.get_xdata()) == [i.at for i in some]
    failed = [i.at for i in accuracy.items if not i.succeeded]
    assert len(failed) == 3 and list(labelled(plot.axes)["failed"].get_xdata()) == failed and "Failed: 3 runs." in plot.alt
    assert labelled(plot.axes)["failed"].get_transform() == plot.axes.get_xaxis_transform(), "on the axis: a failed run has no error, not one of 0"
    ends = {(round(x, 6), round(low, 6), round(high, 6)) for c in plot.axes.collections for (x, low), (_, high) in c.get_segments()}
    for item in items:
        actual = item.measured.duration_s
        low, high = (100 * (end - actual) / actual for end in item.advised.interval_s)
        assert (round(date2num(item.at), 6), round(low, 6), round(high, 6)) in ends
        if item.compared:
            assert item.within_interval is (low <= 0 <= high), "a whisker crosses zero if the run was within its interval"
    mean = next(line for name, line in labelled(plot.axes).items() if name.startswith("mean error"))
    assert list(mean.get_ydata()) == [accuracy.summary.mean_error_percent] * 2
    assert "mean absolute error %.3g %%" % accuracy.summary.mape_percent in plot.alt and "Not compared: 2 runs" in plot.alt
    assert tell_apart(plot.axes) == []
    frame = accuracy.to_frame()
    assert len(frame) == 24 and list(frame["error_percent"].dropna()) == [i.error_percent for i in items]


def test_a_page_says_that_there_is_more(client, followed):
    page = client.accuracy(followed, limit=5)
    assert page.plot().alt.endswith("There are more runs than this page has.") and page.calibration_plot().alt.endswith(
        "There are more runs than this page has.")


def test_calibration_of_an_application(client, followed):
    accuracy = client.accuracy(followed, limit=100)
    plot = accuracy.calibration_plot()
    drawn(plot)
    groups = {}
    for item in accuracy.items:
        if item.compared:
            groups.setdefault((item.advised.model, item.advised.confidence), []).append(item.within_interval)
    marks = points(plot.axes, marker="o")
    assert marks == pytest.approx([(promised, sum(inside) / len(inside)) for (_, promised), inside in sorted(groups.items())])
    (kind, promised), inside = sorted(groups.items())[0]
    low, high = wilson(sum(inside), len(inside))
    segments = [(a[1], b[1]) for c in plot.axes.collections for a, b in c.get_segments()]
    assert any(s == pytest.approx((low, high)) for s in segments)
    assert any("%s (%d)" % (kind, len(inside)) == text for text in texts(plot.axes))
    assert "%s: promised %.3g %%, observed" % (kind, 100 * promised) in plot.alt
    assert labelled(plot.axes)["as promised"].get_xydata().tolist() == [[0, 0], [1, 1]]


def test_accuracy_of_nothing(client, etl):
    accuracy = client.accuracy(etl)
    for plot in (accuracy.plot(), accuracy.calibration_plot()):
        drawn(plot)
        assert "no run" in plot.alt
    assert len(accuracy.to_frame()) == 0 and "error_percent" in accuracy.to_frame().columns


def test_one_run_with_open_ends_and_failures_alone():
    item = {"run_id": "r", "advice_id": "a", "at": "2026-01-05T02:00:00Z", "succeeded": True, "compared": True, "error_percent": 5,
            "within_interval": None, "measured": {"problem_size": 1, "executors": 2, "cores_per_executor": None, "duration_s": 10},
            "advised": {"problem_size": 1, "executors": 2, "cores_per_executor": None, "model": None, "predicted_duration_s": 10.5,
                        "interval_s": [9, None], "confidence": 0.9}}
    make = class_of("Accuracy").from_json
    one = make({"summary": {**NONE, "count": 1}, "items": [item], "next_cursor": None})
    plot = one.plot()
    drawn(plot)
    assert "Some ends of intervals are open or unknown." in plot.alt and "mean absolute error unknown" in plot.alt
    assert "interval unknown" in labelled(plot.axes) and not any(name.startswith("mean error") for name in labelled(plot.axes))
    drawn(one.calibration_plot())
    failed = make({"summary": NONE, "items": [{**item, "succeeded": False, "compared": False, "error_percent": None}] * 2, "next_cursor": None}).plot()
    drawn(failed)
    assert "Failed: 2 runs." in failed.alt
    bare = {**item, "advised": {**item["advised"], "interval_s": [None, None]}}
    drawn(make({"summary": NONE, "items": [bare], "next_cursor": None}).plot())


def test_errors_of_a_team(client, followed):
    team = client.team_accuracy(limit=100)
    plot = team.plot()
    drawn(plot)
    known = [i for i in team.items if i.mape_percent is not None]
    assert sorted(labelled(plot.axes)["mean absolute error"].get_xdata()) == sorted(i.mape_percent for i in known)
    assert sorted(labelled(plot.axes)["bias (above 0: predictions too long)"].get_xdata()) == sorted(i.mean_error_percent for i in known)
    assert any(t.get_text() == "%s (%d)" % (i.application, i.runs_compared) for i in known for t in plot.axes.get_yticklabels())
    assert followed in plot.alt and "%.3g %%" % team.overall.mape_percent in plot.alt and tell_apart(plot.axes) == []
    assert list(team.to_frame().application) == [i.application for i in team.items]


def test_calibration_of_a_team(client, followed):
    team = client.team_accuracy()
    plot = team.calibration_plot()
    drawn(plot)
    models = [m for m in team.by_model if m.runs_compared]
    tenths = [c for c in team.overall.calibration if c.count]
    assert points(plot.axes, marker="o") == pytest.approx([(m.confidence, m.interval_coverage) for m in models])
    assert points(plot.axes, marker="s") == pytest.approx([(c.predicted_probability, c.observed_rate) for c in tenths])
    assert "Deadlines met, by predicted probability: " in plot.alt and "Bounds are at 95 %." in plot.alt and tell_apart(plot.axes) == []
    assert plot.axes.get_xlim() == plot.axes.get_ylim()


def test_a_team_without_runs_and_one_with_many():
    make = class_of("TeamAccuracy").from_json
    empty = make({"since": None, "until": None, "oldest_at": None, "overall": {**UNKNOWN, "calibration": []}, "by_model": [], "items": [], "next_cursor": None})
    for plot in (empty.plot(), empty.calibration_plot()):
        drawn(plot)
        assert "no run" in plot.alt
    item = {**UNKNOWN, "count": 9, "runs_compared": 9, "mape_percent": 10, "mean_error_percent": None, "interval_coverage": 0.5, "confidence": 0.9}
    items = [{**item, "application": name, "mape_percent": 1 + n} for n, name in enumerate(HOSTILE * 6)]
    many = remade(empty, items=[*items, {**UNKNOWN, "application": "none"}], by_model=[{**item, "model": name} for name in [None, *HOSTILE]], next_cursor="c")
    plot = many.plot()
    drawn(plot)
    assert len(plot.axes.get_yticklabels()) == 30 and "Not shown: 12 with smaller errors." in plot.alt and "Unknown: 1 application." in plot.alt
    assert plot.alt.endswith("There are more applications than this page has.") and "bias unknown" in plot.alt
    drawn(many.calibration_plot())


def test_bounds_of_shares():
    """Of the literature: Wilson's bounds for 0 of 10, and for 8 of 10."""
    assert wilson(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    low, high = wilson(1, 1)
    assert 0.2 < low < 0.21 and high == 1

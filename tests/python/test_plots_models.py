"""Pictures, tables and frames of speedups, models, experiments and diagnoses: of real replies, and of unusual ones."""
import math
import pickle
import re

import pytest

import provisor
from artists import HOSTILE, columns, drawn, labelled, points, tell_apart, texts
from provisor.record import Reply, class_of


def remade(record, change=None, client=None):
    """The record after a change of its JSON; with a client, as a reply of it."""
    raw = record.to_dict()
    if change is not None:
        change(raw)
    return type(record).from_json(raw, Reply(200, {}, client) if client is not None else None)


# --- speedup ---------------------------------------------------------------------------------------------


@pytest.fixture
def surface(client, etl):
    return client.speedup(etl, problem_sizes=[16, 32, 64, 128, 256], executors=[1, 2, 4, 8, 16, 32, 64])


def test_the_surface_has_the_values_of_the_reply(surface):
    plot = surface.plot()
    drawn(plot)
    mesh = plot.axes.collections[0]
    wanted = [p.speedup for row in surface.surface for p in row.points]
    assert list(mesh.get_array().ravel()) == pytest.approx(wanted)
    ridge = [(b.executors, b.problem_size) for b in surface.best_executors_by_size if b.executors <= plot.axes.get_xlim()[1]]
    assert ridge and set(ridge) <= set(points(plot.axes))
    hatched = [p for p in plot.axes.patches if p.get_hatch() and p.get_width() > 0]
    assert len(hatched) == sum(p.extrapolation for row in surface.surface for p in row.points) > 0
    assert "%.3g" % wanted[3] in texts(plot.axes) and plot.axes.get_xlabel() == "executors" and plot.axes.get_ylabel() == "problem size"
    assert "5 problem sizes and 7 executor counts" in plot.alt and "%d of 35 lie outside the range observed" % len(hatched) in plot.alt
    assert re.search("executors( or more)? at problem size 16", plot.alt) and "by the model replay" in plot.alt


def test_a_surface_of_many_cells_has_no_numbers_that_touch(client, etl):
    many = client.speedup(etl, problem_sizes=[8 * 1.12 ** n for n in range(40)], executors=list(range(1, 41)))
    plot = many.plot()
    drawn(plot)
    assert texts(plot.axes) == [] and len(plot.alt) < 1200
    assert plot.axes.get_xlim()[1] < 40 ** 1.6, "the ridge does not make the surface small"


def test_unknown_cells_are_said_and_not_drawn_as_zero(surface, etl):
    def change(raw):
        raw["surface"][1]["points"][2].update(speedup=None, duration_s=None, interval_s=None)
    plot = remade(surface, change).plot()
    drawn(plot)
    values = plot.axes.collections[0].get_array().ravel()
    assert sum(map(bool, values.mask if hasattr(values, "mask") else [math.isnan(v) for v in values])) == 1
    assert "?" in texts(plot.axes) and "Unknown: 1." in plot.alt

    def all_unknown(raw):
        for row in raw["surface"]:
            for p in row["points"]:
                p.update(speedup=None, relative_speedup=None)
    plot = remade(surface, all_unknown).plot()
    drawn(plot)
    assert plot.alt == "No speedup is known of %s." % etl and texts(plot.axes) == ["no speedup is known"]
    assert remade(surface, lambda raw: raw.update(surface=[], best_executors_by_size=[])).plot().alt == plot.alt


def test_one_size_is_a_curve_with_its_interval(client, etl):
    one = client.speedup(etl, problem_sizes=[64], executors=[1, 2, 4, 8, 16])
    plot = one.plot()
    drawn(plot)
    line = next(line for name, line in labelled(plot.axes).items() if name.startswith("problem size 64"))
    assert list(line.get_ydata()) == [p.speedup for p in one.surface[0].points]
    last = one.surface[0].points[-1]
    corners = plot.axes.collections[0].get_paths()[0].vertices
    assert max(y for x, y in corners if x == 16) == pytest.approx(last.speedup * last.duration_s / last.interval_s[0])
    two = client.speedup(etl, problem_sizes=[32, 64], executors=[1, 2, 4])
    assert tell_apart(two.plot().axes) == []


def test_one_count_is_a_curve_over_sizes(client, etl):
    one = client.speedup(etl, problem_sizes=[16, 32, 64, 128], executors=[8])
    plot = one.plot()
    drawn(plot)
    assert points(plot.axes) == [(row.problem_size, row.points[0].speedup) for row in one.surface]
    drawn(client.speedup(etl, problem_sizes=[16], executors=[8]).plot())


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_of_applications(surface, client, etl, name):
    drawn(remade(surface, lambda raw: raw.update(application=name)).plot())
    experiments = class_of("NextExperiments").from_json({
        "application": name, "history_version": 1, "runs": 1, "model": None, "criterion": "imse",
        "asked": {"problem_size": 1, "executor_counts": [1], "confidence": 0.9, "interval_s": None, "expected_interval_s": None},
        "allowed": {}, "items": [], "executor_s": None, "cost": None, "expected_interval_cut_percent": None, "warnings": [{"code": "c", "message": name}]})
    assert "<script>" not in experiments._repr_html_() and len(experiments.to_frame()) == 0
    models = client.models(etl)
    drawn(remade(models, lambda raw: raw.update(application=name)).plot())
    diagnosis = remade(client.diagnose(etl), lambda raw: (
        raw.update(application=name), raw["bottlenecks"]["items"][0].update(stage_name=name, kind=name)))
    drawn(diagnosis.plot())
    assert "<script>" not in diagnosis._repr_html_() + remade(models, lambda raw: raw.update(application=name))._repr_html_()


def test_the_frame_of_a_speedup(surface):
    frame = surface.to_frame()
    assert list(frame.columns) == ["problem_size", "executors", "duration_s", "low_s", "high_s", "speedup", "relative_speedup", "extrapolation"]
    assert len(frame) == 35 and str(frame.dtypes["extrapolation"]) == "boolean"
    there = frame[(frame.problem_size == 64) & (frame.executors == 8)].iloc[0]
    point = next(p for row in surface.surface if row.problem_size == 64 for p in row.points if p.executors == 8)
    assert [there.duration_s, there.low_s, there.high_s, there.speedup] == [point.duration_s, *point.interval_s, point.speedup]

    def change(raw):
        raw["surface"][0]["points"][0].update(speedup=None, duration_s=None, interval_s=[None, 3])
    row = remade(surface, change).to_frame().iloc[0]
    assert math.isnan(row.speedup) and math.isnan(row.low_s) and row.high_s == 3
    empty = remade(surface, lambda raw: raw.update(surface=[])).to_frame()
    assert len(empty) == 0 and list(empty.columns) == list(frame.columns)


# --- models ----------------------------------------------------------------------------------------------


def curve(axes, place=0):
    """Points of the place-th law's line."""
    return [(x, y) for line in [line for line in axes.get_lines() if line.get_marker() == "None" and len(line.get_xdata()) > 2][place:place + 1]
            for x, y in zip(line.get_xdata(), line.get_ydata())]


def test_a_model_beside_its_runs(client, etl):
    models = client.models(etl)
    plot = models.plot()
    drawn(plot)
    upper, lower = plot.figure.axes
    runs = {(r.executors, r.duration_s): r for r in client.runs(etl)}
    assert set(runs) <= set(points(upper)) and plot.title == "%s: model %s and its errors" % (etl, models.selected_model)
    candidate = next(c for c in models.candidates if c.selected)
    sizes = sorted({r.problem_size for r in runs.values()})
    more = {k: getattr(candidate, k) for k in ("tables", "reference", "uncertainty") if getattr(candidate, k) is not None}
    for place, size in enumerate(sizes):
        asked = client.predict(model=candidate.model, parameters=candidate.parameters, points=[{"problem_size": size, "executors": m} for m in (2, 4, 16)],
                               **more).predictions
        line = dict(curve(upper, place))
        assert [line[m] for m in (2, 4, 16)] == pytest.approx([p.duration_s for p in asked])
        band = upper.collections[place].get_paths()[0].vertices
        assert max(y for x, y in band if x == 16) == pytest.approx(asked[2].interval_s[1])
        assert "%s s (%s to %s s) at problem size %s on 16 executors" % (
            *("%.3g" % v for v in (asked[2].duration_s, *asked[2].interval_s)), "%.3g" % size) in plot.alt
        for run in (r for r in runs.values() if r.problem_size == size and r.executors == 4):
            error = 100 * (asked[1].duration_s - run.duration_s) / run.duration_s
            assert any(x == 4 and y == pytest.approx(error) for x, y in points(lower))
    assert tell_apart(upper) == [] and lower.get_ylabel().endswith("(%)") and upper.get_ylabel() == "duration (s)"
    light = models.down_weighted[0]
    assert "weight %.3g" % light.weight in texts(upper) and "hollow: counts less" in labelled(upper)
    assert "with weight %.3g" % light.weight in plot.alt


def test_one_model_and_one_size(client, etl):
    plot = client.models(etl).plot("amdahl", 128)
    drawn(plot)
    assert "the model amdahl, with" in plot.alt and "problem size 128" in labelled(plot.axes) and "problem size 64" not in labelled(plot.axes)
    unseen = client.models(etl).plot(problem_size=50)
    drawn(unseen)
    assert "The durations of 0 runs" in unseen.alt and "at problem size 50 on" in unseen.alt
    with pytest.raises(ValueError, match="the candidates are amdahl, .*, not no_such"):
        client.models(etl).plot("no_such")


def test_a_model_that_is_not_fitted_says_why(client, etl):
    models = client.models(etl)
    plot = models.plot("pooled")
    drawn(plot)
    why = next(c.error.message for c in models.candidates if c.model == "pooled")
    assert plot.alt == "Models of %s: pooled is not fitted: %s." % (etl, why)
    none = remade(models, lambda raw: raw.update(selected_model=None), client).plot()
    assert none.alt == "Models of %s: no model is selected." % etl


def test_a_drift_is_marked(client, etl):
    runs = list(client.runs(etl))

    def change(raw):
        since = {"run_id": runs[3].id, "at": runs[3].to_dict()["started_at"]}
        raw["drift"].update(state="drifted", direction="slower", change_percent=23.4, since_run=since, detected_run=None, runs_since=4)
    plot = remade(client.models(etl), change, client).plot()
    drawn(plot)
    day = runs[3].started_at.date().isoformat()
    assert "drifted: 23.4 % slower since " + day in texts(plot.axes) and "8 runs from before it" in plot.alt
    small = [p for line in plot.axes.get_lines() if line.get_markersize() == 4 for p in line.get_xydata().tolist()]
    assert sorted(small) == sorted([float(r.executors), r.duration_s] for r in runs[4:])
    ring = next(line for line in plot.axes.get_lines() if line.get_markersize() == 14)
    assert ring.get_xydata().tolist() == [[runs[3].executors, runs[3].duration_s]]


def test_without_a_client_models_show_their_errors(client, etl):
    models = client.models(etl)
    plot = pickle.loads(pickle.dumps(models)).plot()
    drawn(plot)
    errors = sorted(c.comparison.loo_mape_percent for c in models.candidates if c.comparison is not None)
    assert sorted(bar.get_width() for bar in plot.axes.patches) == errors
    assert [bar.get_hatch() for bar in plot.axes.patches].count("//") == 1 and "has no client to ask" in plot.alt
    plot = remade(models, lambda raw: raw.update(candidates=[])).plot()
    drawn(plot)
    assert "no errors are known" in plot.alt


def test_the_callers_axes(client, etl):
    from matplotlib.figure import Figure
    two = Figure().subplots(2, 1)
    plot = client.models(etl).plot(ax=two)
    assert plot.axes is two[0] and plot._repr_html_() is None and len(two[1].get_lines()) > 1
    one = Figure().add_subplot()
    plot = client.models(etl).plot(ax=one)
    assert plot.axes is one and plot.figure.axes == [one]
    drawn(plot)
    for result in (client.speedup(etl), client.diagnose(etl)):
        one = Figure().add_subplot()
        assert result.plot(ax=one).axes is one


OBSERVATIONS = [{"problem_size": n, "executors": m, "duration_s": (5 + 3 * n / m) * (1.1 if m == 4 else 1)} for n in (8, 16, 32) for m in (1, 2, 4, 8)]


def test_a_fit_with_its_residuals(client):
    fit = client.fit_model("ernest", OBSERVATIONS)
    plot = fit.plot()
    drawn(plot)
    upper, lower = plot.figure.axes
    assert {(r.executors, r.actual) for r in fit.residuals} <= set(points(upper))
    wanted = sorted((r.executors, r.error_percent) for r in fit.residuals)
    found = sorted(p for p in points(lower) if p[0] >= 1)
    assert all(any(f == pytest.approx(w) for f in found) for w in wanted)
    frame = fit.to_frame()
    assert list(frame.error_percent) == [r.error_percent for r in fit.residuals]
    without = pickle.loads(pickle.dumps(fit)).plot(problem_size=16)
    drawn(without)
    assert "The interval is unknown." in without.alt and "The interval is unknown." not in plot.alt
    assert curve(without.axes) == sorted((r.executors, r.predicted) for r in fit.residuals if r.problem_size == 16)


def test_a_fit_of_many_problem_sizes_shows_six(client):
    fit = client.fit_model("power_law", [{"problem_size": n, "executors": m, "duration_s": 5 + 20 * n / m} for m in (1, 2, 4) for n in range(1, 12)])
    plot = fit.plot()
    drawn(plot)
    sizes = [name for name in labelled(plot.axes) if name.startswith("problem size")]
    assert len(sizes) == 6 and sizes[0] == "problem size 1" and sizes[-1] == "problem size 11" and tell_apart(plot.axes) == []
    assert "Not shown: 15 runs of other problem sizes." in plot.alt


def test_a_fit_of_stages_has_no_problem_size(client):
    stages = [{"n": n, "parallel_s": 100 * n, "max_task_s": 105.0, "serial_s": 5 + .2 * n, "induced_s": .3 * n} for n in (1, 2, 4, 8, 16)]
    plot = client.fit_model("ipso", stages).plot()
    drawn(plot)
    assert "unknown problem size" in labelled(plot.axes) and "95 % interval" not in plot.alt and "111 to 126 s" in plot.alt


def test_a_fit_of_speedups(client):
    fit = client.fit_model("amdahl", [{"problem_size": 8, "executors": m, "speedup": m / (1 + 0.1 * m)} for m in (1, 2, 4, 8)])
    for one in (fit, pickle.loads(pickle.dumps(fit))):
        plot = one.plot()
        drawn(plot)
        assert plot.axes.get_ylabel() == "speedup" and "The speedups of 4 runs" in plot.alt and "The interval is unknown." in plot.alt


def test_fits_with_nothing_known(client):
    fit = client.fit_model("ernest", OBSERVATIONS)

    def unknown(raw):
        for r in raw["residuals"]:
            r.update(problem_size=None, predicted=None, error_percent=None)
    plot = remade(fit, unknown).plot()
    drawn(plot)
    assert "at problem size unknown" in plot.alt and "Unknown at 12 runs." in plot.alt
    empty = remade(fit, lambda raw: raw.update(residuals=[])).plot()
    drawn(empty)
    assert "0 runs" in empty.alt and len(remade(fit, lambda raw: raw.update(residuals=[])).to_frame()) == 0


def test_the_frame_and_the_tables_of_models(client, etl):
    models = client.models(etl)
    frame = models.to_frame()
    assert list(frame.model) == [c.model for c in models.candidates] and frame.selected.sum() == 1
    amdahl, pooled = frame[frame.model == "amdahl"].iloc[0], frame[frame.model == "pooled"].iloc[0]
    first = next(c for c in models.candidates if c.model == "amdahl")
    assert amdahl.loo_mape_percent == first.comparison.loo_mape_percent and amdahl.r_squared == first.fit.r_squared
    assert pooled.status == "not_fitted" and math.isnan(pooled.loo_mape_percent) and str(frame.dtypes["observations"]) == "Int64"
    captions, heads = columns(models._repr_html_())
    assert captions == ["Models of %s: " % etl + models.selected_model, "Candidates", "History", "Runs that count less"]
    assert "leave-one-out error (%)" in heads and models.reasons[0].message.replace("'", "&#x27;") in models._repr_html_()


# --- experiments and diagnoses ---------------------------------------------------------------------------


def test_next_experiments(client, etl):
    found = client.next_experiments(etl)
    html = found._repr_html_()
    assert columns(html)[0][0] == "The next runs of %s that would say most" % etl and found.items[0].reasons[0].message in html
    frame = found.to_frame()
    assert list(frame.executors) == [i.executors for i in found.items] and list(frame.reason)[0] == found.items[0].reasons[0].message
    assert frame.cost.isna().all()


def test_what_costs_a_run_most(client, etl):
    diagnosis = client.diagnose(etl)
    plot = diagnosis.plot()
    drawn(plot)
    items = diagnosis.bottlenecks.items
    assert [bar.get_width() for bar in plot.axes.patches if bar.get_width()] == [i.lost_s for i in reversed(items)]
    assert {bar.get_hatch() for bar in plot.axes.patches} == {".." if i.more_executors_help else "//" for i in items}
    assert diagnosis.bottlenecks.run_id in plot.alt and "%.3g s" % items[0].lost_s in plot.alt
    frame = diagnosis.to_frame()
    assert list(frame.lost_s) == [i.lost_s for i in items] and str(frame.dtypes["stage_id"]) == "Int64"
    assert items[0].cure in diagnosis._repr_html_()

    def change(raw):
        raw["bottlenecks"]["items"][0].update(lost_s=None, lost_percent=None, more_executors_help=True)
    plot = remade(diagnosis, change).plot()
    drawn(plot)
    assert " unknown" in texts(plot.axes) and ": unknown;" in plot.alt and "More executors help with 1 of" in plot.alt


def test_a_diagnosis_without_bottlenecks(client, etl):
    diagnosis = client.diagnose(etl)
    plot = remade(diagnosis, lambda raw: raw.update(bottlenecks=None)).plot()
    drawn(plot)
    assert "no run has stages to look at" in plot.alt and len(remade(diagnosis, lambda raw: raw.update(bottlenecks=None)).to_frame()) == 0
    plot = remade(diagnosis, lambda raw: raw["bottlenecks"].update(items=[])).plot()
    drawn(plot)
    assert "nothing costs run" in plot.alt


def test_classes_are_those_of_results():
    assert [getattr(provisor.results, name).__module__ for name in ("Speedup", "ApplicationModels", "ModelFit", "Accuracy", "Advice")] == [
        "provisor.results.models"] * 4 + ["provisor.results.advice"]

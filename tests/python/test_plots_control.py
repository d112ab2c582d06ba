"""Pictures, tables and frames of simulations of the control loop."""
import math

import pytest

import provisor
from artists import check_layout
from provisor import results
from provisor.plots.control import JOBS_MARKED, traces_of, used
from provisor.tables import records_table

HOSTILE = ("<script>alert(1)</script> $x^2$ \u202eright " + "long name " * 30)[:255]
MEGABYTE = 1000000


def simulate(client, **more):
    jobs = [{"name": "A", "deadline_s": 60, "stages": [{"id": 0, "tasks": 100, "task_duration_s": 2}, {"id": 1, "parents": [0], "tasks": 40, "task_duration_s": 3}]},
            {"name": HOSTILE, "release_s": 10, "deadline_s": 12, "stages": [{"id": 0, "tasks": 80, "task_duration_s": 1.5}]}]
    return client.simulate_control(cluster={"executors": 2, "cores_per_executor": 4}, jobs=jobs, strategies=["edf_pure", "proportional"], **more)


@pytest.fixture(scope="module")
def traced(service):
    with provisor.Client(service.base_url, service.alpha_token, progress=False) as client:
        return simulate(client, include=["traces"])


def shown_in_svg(plot):
    text = plot.svg()
    assert "<script" not in text and len(text) < MEGABYTE
    check_layout(plot)
    return text


def panels(plot):
    return [axes for axes in plot.figure.axes if axes.get_title(loc="left")]


def test_the_cores_of_the_reply(traced):
    assert isinstance(traced, results.ControlSimulation)
    for outcome in traced.outcomes:
        plot = traced.plot(outcome.strategy, outcome.gamma)
        assert len(panels(plot)) == 2
        for axes, job in zip(panels(plot), outcome.traces.jobs):
            steps = {patch.get_label(): patch.get_data() for patch in axes.patches if type(patch).__name__ == "StepPatch"}
            assert list(steps["granted"].values) == job.granted and list(steps["requested"].values) == job.requested
            assert steps["granted"].edges[0] == outcome.traces.start_s
            assert steps["granted"].edges[1] - steps["granted"].edges[0] == pytest.approx(outcome.traces.step_s)
            marks = next(line for line in axes.lines if line.get_label() == "a stage begins")
            assert list(marks.get_xdata()) == [stage.start_s for stage in job.stages]
        for axes, job, there in zip(panels(plot), outcome.jobs, traced.jobs):
            upright = {line.get_label(): line.get_xdata()[0] for line in axes.lines}
            assert upright["deadline"] == pytest.approx(there.release_s + there.deadline_s) and upright["finish"] == pytest.approx(job.completion_s)
            assert ("late by" in axes.get_title(loc="left").partition(", ")[0]) == (not job.met)
        assert "8 cores in all" in plot.alt and HOSTILE in plot.alt
        shown_in_svg(plot)


def test_by_default_the_best(traced):
    best = traced.best
    assert "%s, gamma %g" % (best.strategy, best.gamma) in traced.plot().title
    assert traced.outcome().strategy == best.strategy and traced.outcome().gamma == best.gamma
    with pytest.raises(ValueError, match="speed was not simulated"):
        traced.plot("speed")
    with pytest.raises(ValueError, match="was not simulated with gamma 0.3"):
        traced.plot(gamma=0.3)


def test_one_job_in_axes_of_the_caller(traced):
    from matplotlib.figure import Figure
    ax = Figure().add_subplot()
    plot = traced.plot(application="A", ax=ax)
    assert plot.axes is ax and plot.title.startswith("A: ") and HOSTILE not in plot.alt
    other = traced.plot(application=HOSTILE).axes.get_xlim()
    assert 9 < other[0] <= 10  # from its release, not from that of the first job
    with pytest.raises(ValueError, match="there is no job B"):
        traced.plot(application="B")
    with pytest.raises(ValueError, match="say which application"):
        traced.plot(ax=ax)


def test_granted_core_seconds_are_those_of_the_trace(traced):
    for outcome in traced.outcomes:
        for trace, job in zip(traces_of(outcome), outcome.jobs):
            area = sum(value * (right - left) for value, left, right in zip(trace.granted, trace.edges, trace.edges[1:]))
            assert area == pytest.approx(job.granted_core_s, rel=0.02, abs=8 * outcome.traces.step_s)


def test_strategies_side_by_side(traced):
    plot = traced.compare_plot()
    rows = [tick.get_text() for tick in plot.axes.get_yticklabels()]
    assert rows[0] == "edf_pure, gamma 0" and len(rows) == len(traced.outcomes) + len(traced.baselines) and rows[-1].startswith("baseline")
    dots = [line for line in plot.axes.lines if line.get_gid() == "job"]
    everything = [*traced.outcomes, *traced.baselines]
    for place, line in enumerate(dots):
        assert list(line.get_xdata()) == pytest.approx([used(outcome.jobs[place]) for outcome in everything])
    assert len({line.get_marker() for line in dots}) == 2
    assert "Best is %s" % traced.best.strategy in plot.alt
    shown_in_svg(plot)


@pytest.mark.makes("simulateControl")
def test_without_traces_the_strategies(client):
    found = simulate(client)
    assert found.outcomes[0].traces is None
    assert [tick.get_text() for tick in found.plot().axes.get_yticklabels()][0] == "edf_pure, gamma 0"
    assert 'include=["traces"]' in found.plot().alt and found.traces_frame().empty


def test_frames(traced):
    frame = traced.to_frame()
    assert len(frame) == 2 * (len(traced.outcomes) + len(traced.baselines)) and frame["best"].sum() == 2
    assert list(frame["completion_s"][:2]) == [job.completion_s for job in traced.outcomes[0].jobs]
    assert math.isnan(frame["gamma"].iloc[-1]) and frame["baseline"].iloc[-1] == traced.baselines[-1].baseline
    traces = traced.traces_frame("proportional", 0)
    jobs = traced.outcome("proportional", 0).traces.jobs
    assert len(traces) == sum(len(job.granted) for job in jobs)
    assert traces["granted_cores"].tolist() == [value for job in jobs for value in job.granted]


def test_tables(traced):
    text = traced._repr_html_()
    assert "<script" not in text and "(best)" in text and "spark_fifo (baseline)" in text


@pytest.fixture(scope="module")
def priced(service):
    with provisor.Client(service.base_url, service.alpha_token, progress=False) as client:
        found = simulate(client, penalty="absolute_error", duration_noise=0.2, repetitions=3, search={"over": ["alpha"], "simulations": 30})
        return client.wait(found).result if isinstance(found, results.Operation) else found


@pytest.mark.makes("simulateControl")
def test_penalties(priced):
    plot = priced.penalty_plot()
    names = [tick.get_text() for tick in plot.axes.get_yticklabels()]
    found = priced.recommendation
    assert names[0] == "%s, gamma %g" % (found.strategy, found.gamma) and len(names) == len(priced.outcomes) + 3
    spreads = [line for line in plot.axes.lines if line.get_gid() == "spread"]
    assert list(spreads[0].get_xdata()) == [found.total_penalty.least, found.total_penalty.most]
    bars = [patch for patch in plot.axes.patches if patch.get_gid() == "job"]
    assert len(bars) == 2
    assert max(bars[1].get_path().vertices[:5, 0]) == pytest.approx(found.total_penalty.mean)
    assert "Recommended is %s" % found.strategy in plot.alt and "tried" in plot.alt
    shown_in_svg(plot)
    assert priced.outcome().strategy == found.strategy and priced.outcome().gamma == found.gamma
    text = priced._repr_html_()
    assert "(recommended)" in text and "Search: " in text and "<script" not in text
    assert "penalty_value" in priced.to_frame().columns


def test_without_a_penalty_there_is_nothing_to_draw(traced):
    with pytest.raises(ValueError, match="no penalties"):
        traced.penalty_plot()
    assert "(recommended)" not in traced._repr_html_()


def test_a_table_of_objects_without_members():
    found = results.ControlSimulation.from_json({"warnings": [{}, {}]})
    assert records_table("warnings", found.warnings).count("<tr>") == 3


@pytest.mark.makes("simulateControl")
def test_many_jobs(client):
    jobs = [{"name": "job %d" % n, "deadline_s": 40 + n, "stages": [{"id": 0, "tasks": 6, "task_duration_s": 1}]} for n in range(60)]
    found = client.simulate_control(cluster={"executors": 2, "cores_per_executor": 4}, jobs=jobs, strategies=["proportional"], gammas=[0], include=["traces"])
    if isinstance(found, provisor.results.Operation):
        found = client.wait(found).result
    assert len([line for line in found.compare_plot().axes.lines if line.get_gid() == "job"]) == JOBS_MARKED
    assert "of which 52 have no mark" in found.compare_plot().axes.get_legend().get_title().get_text()
    shown_in_svg(found.compare_plot())
    shown_in_svg(found.plot())
    assert len(panels(found.plot())) == 12


def test_nothing_simulated(traced):
    raw = traced.to_dict()
    raw.update(jobs=[], outcomes=[], baselines=[])
    found = results.ControlSimulation.from_json(raw)
    assert "nothing was simulated" in found.compare_plot().alt and found.to_frame().empty and found._repr_html_()

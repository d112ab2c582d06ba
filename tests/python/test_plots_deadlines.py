"""Pictures, tables and frames of feasibility, stage plans and shares of cores, and of cores over time."""
import math
import random
import re

import pytest

import provisor
from provisor import results
from provisor.plots import shapes
from provisor.plots.feasibility import BARS_MAX, CORE_ROWS, JOB_ROWS, cores_in_use
from provisor.plots.traces import PANELS_MAX, STEPS_MAX, Trace, core_seconds, thinned, traces_plot

HOSTILE = ("<script>alert(1)</script> $x^2$ \u202eright " + "long name " * 30)[:255]
MEGABYTE = 1000000


def bars_of(patch):
    """Those of a path by draw_bars."""
    corners = patch.get_path().vertices
    return [shapes.Bar(float(a[0]), float(b[0]), float(a[1] + b[1]) / 2)
            for a, b in zip(corners[0::5], corners[2::5])] if len(corners) >= 5 else []


def two_jobs(client, **more):
    jobs = [{"name": "A", "deadline_s": 20, "stages": [{"id": 0, "task_durations_s": [4, 4, 4, 4]}]},
            {"name": "B", "release_s": 1, "deadline_s": 3, "stages": [{"id": 0, "tasks": 6, "task_duration_s": 2}]}]
    return client.feasibility(cluster={"executors": 2, "cores_per_executor": 1}, jobs=jobs, **more)


def patches(plot, kind):
    return [patch for patch in plot.axes.patches if type(patch).__name__ == kind]


def words(plot):
    from matplotlib.text import Text
    return [text.get_text() for text in plot.figure.findobj(Text) if text.get_text()]


def shown_in_svg(plot):
    text = plot.svg()
    assert "<script" not in text and len(text) < MEGABYTE
    return text


def made_of(schedule, jobs):
    """A reply as of a service."""
    return results.Feasibility.from_json({
        "feasible": True, "jobs": jobs, "reasons": [], "schedule": schedule,
        "metrics": {"advance": len(jobs), "delayed": 0, "epsilon": 0, "epsilon_advance": 0, "epsilon_delayed": 0, "epsilon_absolute": 0,
                    "makespan_s": max((job["completion_s"] for job in jobs), default=0), "utilization": None}})


def job(name, completion, deadline, release=0):
    took = completion - release
    return {"name": name, "completion_s": completion, "execution_s": took, "deadline_s": deadline, "met": took <= deadline,
            "deadline_error_percent": 100 * abs(deadline - took) / deadline}


# --- feasibility ------------------------------------------------------------------------------------


@pytest.mark.makes("checkFeasibility")
def test_tasks_on_cores(client):
    found = two_jobs(client, include=["schedule"])
    plot = found.plot()
    bars = [bars_of(patch) for patch in patches(plot, "PathPatch")]
    assert [len(row) for row in bars[:2]] == [1, 1]  # the jobs, then the tasks of each
    for row, there in zip(bars, found.jobs):
        assert (row[0].left, row[0].right) == pytest.approx((there.completion_s - there.execution_s, there.completion_s))
    drawn = sorted((bar.left, bar.right) for row in bars[2:] for bar in row)
    assert drawn == sorted((task.start_s, task.end_s) for task in found.schedule)
    cores = {bar.middle: task.core for row in bars[2:] for bar in row for task in found.schedule if (bar.left, bar.right) == (task.start_s, task.end_s)}
    assert len(cores) == 2
    ticks = [tick.get_text() for tick in plot.axes.get_yticklabels()]
    assert ticks == ["A", "B", "core 0", "core 1"]
    assert "late by %g s" % (found.jobs[1].completion_s - 4) in words(plot) and plot.title == "1 of 2 jobs late"


@pytest.mark.makes("checkFeasibility")
def test_deadlines_are_where_they_are_due(client):
    plot = two_jobs(client, include=["schedule"]).plot()
    lines = {round(line.get_xdata()[0], 6) for line in plot.axes.lines if len(line.get_xdata()) == 2 and line.get_xdata()[0] == line.get_xdata()[1]}
    assert {20.0, 4.0} <= lines  # B is released at 1 and may take 3
    top = plot.axes.child_axes[0]
    assert [tick.get_text() for tick in top.get_xticklabels()] == ["B", "A"] and list(top.get_xticks()) == [4, 20]


@pytest.mark.makes("checkFeasibility")
def test_without_a_schedule_the_jobs_alone(client):
    found = two_jobs(client)
    assert found.schedule is None
    plot = found.plot()
    assert len(patches(plot, "PathPatch")) == 2 and "no schedule" in plot.alt
    nothing = found.cores_plot()
    assert not patches(nothing, "StepPatch") and 'include=["schedule"]' in words(nothing)[0] + nothing.alt
    assert found.schedule_frame().empty and list(found.schedule_frame().columns) == ["job", "stage", "task", "core", "start_s", "end_s"]


@pytest.mark.makes("checkFeasibility")
def test_the_words_carry_the_remedies(client):
    found = two_jobs(client)
    assert "%d cores would meet every deadline" % found.remedies.min_total_cores in found.plot().alt
    for name, deadline in found.remedies.deadlines_s.items():
        assert re.search(r"%s %g s" % (name, deadline), found.plot().alt)
    assert "B ends at %g s, its deadline is at 4 s: late by" % found.jobs[1].completion_s in found.plot().alt
    raw = found.to_dict()
    raw["remedies"] = {"deadlines_s": {}, "exact": False}
    raw["reasons"] = [{"code": "search_cut", "message": "The search was cut."}]
    cut = results.Feasibility.from_json(raw)
    assert "How many cores would meet every deadline is unknown" in cut.plot().alt and "cut short" in cut.plot().alt
    assert "as far as was searched" in cut._repr_html_()


@pytest.mark.makes("checkFeasibility")
def test_all_remedies_are_shown(client):
    found = two_jobs(client, include=["all_remedies", "delayed_by"])
    shown = found._repr_html_()
    least = min(found.remedies.one_later_deadline.jobs, key=lambda change: change.later_s)
    assert "one later deadline" in shown and "Or without these jobs (no fewer are enough)" in shown
    assert "A later deadline of %s alone is enough: %g s" % (least.job, least.deadline_s) in found.plot().alt
    assert "All others are met without %s." % found.remedies.jobs_left_out.jobs[0] in found.plot().alt
    assert "Core time while late jobs waited" in shown
    late = [job for job in found.jobs if not job.met]
    assert sum(by.share for by in late[0].delayed_by) == pytest.approx(1)
    assert "Or else" not in two_jobs(client)._repr_html_()


@pytest.mark.makes("checkFeasibility")
def test_cores_in_use_add_up_to_the_time_of_the_tasks(client):
    found = two_jobs(client, include=["schedule"])
    plot = found.cores_plot()
    steps = {patch.get_label(): patch.get_data() for patch in patches(plot, "StepPatch")}
    assert set(steps) == {"A", "B"}
    for name, data in steps.items():
        lower = data.baseline
        area = sum((v - b) * (right - left) for v, b, left, right in zip(data.values, lower, data.edges, data.edges[1:]))
        assert area == pytest.approx(sum(t.end_s - t.start_s for t in found.schedule if t.job == name))
    assert "at most 2 of 2" in plot.alt


def test_a_hundred_thousand_tasks_stay_a_small_picture():
    random.seed(4)
    schedule, ends = [], {}
    for number in range(100000):
        core, name = number % 500, "job %d" % (number // 4000)
        start = ends.get(core, 0.0)
        ends[core] = start + random.uniform(0.5, 2)
        schedule.append({"job": name, "stage": 0, "task": number, "core": core, "start_s": start, "end_s": ends[core]})
    jobs = [job("job %d" % n, max(t["end_s"] for t in schedule if t["job"] == "job %d" % n), 40 + 9 * n) for n in range(25)]
    found = made_of(schedule, jobs)
    for plot in (found.plot(), found.cores_plot()):
        shown_in_svg(plot)
        assert len(plot.alt) < 4000
    steps = patches(found.cores_plot(), "StepPatch")
    assert len(steps) == JOB_ROWS + 1  # the others together
    use = cores_in_use(found.schedule, [])
    assert not use.exact
    total = sum(v * (b - a) for v, a, b in zip(use.jobs[0][1], use.edges, use.edges[1:]))
    assert total == pytest.approx(sum(task["end_s"] - task["start_s"] for task in schedule))
    assert max(use.jobs[0][1]) <= 500.0001
    assert "cores in use" in [tick.get_text() for tick in found.plot().axes.get_yticklabels()]


def test_tasks_that_follow_one_another_become_one_bar():
    schedule = [{"job": "a", "stage": 0, "task": n, "core": n % CORE_ROWS, "start_s": n // CORE_ROWS, "end_s": n // CORE_ROWS + 1}
                for n in range(BARS_MAX + 200)]
    plot = made_of(schedule, [job("a", 60, 90)]).plot()
    tasks = bars_of(patches(plot, "PathPatch")[1])
    assert len(tasks) == CORE_ROWS and {bar.left for bar in tasks} == {0}
    assert sum(bar.right - bar.left for bar in tasks) == BARS_MAX + 200
    assert len(plot.svg()) < 100000


def test_of_many_jobs_the_tightest():
    found = made_of(None, [job("job %d" % n, 50, 40 + n) for n in range(100)])
    plot = found.plot()
    names = [tick.get_text() for tick in plot.axes.get_yticklabels()]
    assert names == ["job %d" % n for n in range(JOB_ROWS)] and "the %d tightest" % JOB_ROWS in plot.title
    assert "10 of 100 jobs late" in plot.alt and "and 90 more" in plot.alt


def test_a_deadline_far_away_does_not_flatten_the_rest():
    plot = made_of(None, [job("a", 5, 1e12), job("b", 6, 8)]).plot()
    assert plot.axes.get_xlim()[1] < 10 and "1000000000000 s" in plot.alt
    assert any(line.get_marker() == ">" for line in plot.axes.lines)


@pytest.mark.parametrize("schedule", [None, []])
def test_no_jobs_and_no_tasks(schedule):
    for found in (made_of(schedule, []), made_of(schedule, [job("a", 0, 5)])):
        for plot in (found.plot(), found.cores_plot()):
            assert plot.alt and shown_in_svg(plot)
        assert "<table>" in found._repr_html_()


def test_tasks_that_take_no_time():
    found = made_of([{"job": "a", "stage": 0, "task": 0, "core": 0, "start_s": 0, "end_s": 0}], [job("a", 0, 5)])
    assert "no task takes any time" in found.cores_plot().alt and found.plot().svg()


@pytest.mark.makes("checkFeasibility")
def test_a_table_of_jobs_that_wait_for_memory(client):
    jobs = [{"name": name, "deadline_s": 20, "memory_bytes": 6, "stages": [{"id": 0, "tasks": 1, "task_duration_s": 4}]} for name in "AB"]
    found = client.feasibility(cluster={"executors": 2, "cores_per_executor": 1, "memory_bytes": 10}, jobs=jobs, launch_order="first_come")
    assert [job.launched_s for job in found.jobs] == [0, 4] and found.memory.fits_at_once == 1
    assert "launched at (s)" in found._repr_html_() and "fits_at_once" in found._repr_html_()
    assert "launched at (s)" not in two_jobs(client)._repr_html_()


@pytest.mark.makes("checkFeasibility")
def test_names_of_others_in_pictures_and_tables(client):
    found = client.feasibility(cluster={"executors": 1, "cores_per_executor": 2}, include=["schedule"],
                               jobs=[{"name": HOSTILE, "deadline_s": 3, "stages": [{"id": 0, "tasks": 4, "task_duration_s": 1}]},
                                     {"name": "_$a$", "deadline_s": 9, "stages": [{"id": 0, "tasks": 4, "task_duration_s": 1}]}])
    for plot in (found.plot(), found.cores_plot()):
        shown_in_svg(plot)
        assert HOSTILE in plot.alt and "<script" not in plot._repr_html_()
    assert "<script" not in found._repr_html_() and "\u202e" not in found._repr_html_()
    legend = [text.get_text() for text in found.cores_plot().axes.get_legend().get_texts()]
    assert r" _\$a\$" in legend


@pytest.mark.makes("checkFeasibility")
def test_frames_of_jobs_and_tasks(client):
    found = two_jobs(client, include=["schedule"])
    frame, schedule = found.to_frame(), found.schedule_frame()
    assert list(frame["name"]) == ["A", "B"] and list(frame["met"]) == [True, False]
    assert len(schedule) == len(found.schedule) and schedule["end_s"].max() == max(task.end_s for task in found.schedule)


@pytest.mark.makes("checkFeasibility")
def test_the_jobs_of_the_history(client, history):
    found = client.feasibility(cluster={"executors": 4, "cores_per_executor": 4}, include=["schedule"],
                               jobs=[{"name": name, "application": name, "deadline_s": 3600} for name in ("nightly-etl", "hourly-report")])
    plot = found.plot()
    assert plot.axes.get_title() == plot.title and "nightly-etl ends at" in plot.alt
    shown_in_svg(plot)
    shown_in_svg(found.cores_plot())


def test_axes_of_the_caller():
    from matplotlib.figure import Figure
    ax = Figure().add_subplot()
    plot = made_of(None, [job("a", 5, 8)]).plot(ax=ax)
    assert plot.axes is ax and plot.figure is ax.figure and plot._repr_html_() is None


def test_areas_differ_without_colours():
    """Neighbours by hatch; whoever shares a hatch differs in lightness."""
    looks = [shapes.area_style(number) for number in range(JOB_ROWS)]
    assert len({(look.colour, look.hatch) for look in looks}) == JOB_ROWS
    assert all(a.hatch != b.hatch for a, b in zip(looks, looks[1:]))

    def lightness(colour):
        red, green, blue = (int(colour[n:n + 2], 16) for n in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue
    for a in looks:
        for b in looks:
            assert a is b or a.hatch != b.hatch or abs(lightness(a.colour) - lightness(b.colour)) > 20


# --- stages and shares ------------------------------------------------------------------------------


@pytest.mark.makes("planStages")
def test_stages_of_the_history(client, history):
    plan = client.stage_plan(application="nightly-etl", deadline_s=90, executors=4, cores_per_executor=4)
    plot = plan.plot()
    columns = patches(plot, "PathPatch")[0].get_path().vertices
    assert len(columns) == 5 * len(plan.stages)
    for place, stage in enumerate(plan.stages):
        corners = columns[5 * place:5 * place + 4]
        assert min(c[0] for c in corners) == pytest.approx(stage.start_s) and max(c[0] for c in corners) == pytest.approx(stage.start_s + stage.deadline_s)
        assert max(c[1] for c in corners) == pytest.approx(min(16, stage.estimated_cores))
    assert "nightly-etl" in plot.title and "16 cores in all" in plot.alt and "stage 0 from 11.2" in plot.alt
    assert len(plan.to_frame()) == len(plan.stages) and "Stages of nightly-etl" in plan._repr_html_()
    shown_in_svg(plot)


@pytest.mark.makes("planStages")
def test_a_stage_that_no_number_of_cores_completes(client):
    plan = client.stage_plan(deadline_s=120, executors=4, cores_per_executor=16, pinned=[{"id": 0, "deadline_s": 140}],
                             stages=[{"id": 0, "duration_s": 400}, {"id": 2, "duration_s": 90}])
    assert plan.stages[1].estimated_cores is None
    plot = plan.plot()
    assert "no number of cores is enough" in plot.alt and any("stage 2: no number of cores is enough" in text for text in words(plot))
    assert "no number is enough" in plan._repr_html_() and math.isnan(plan.to_frame()["estimated_cores"][1])


@pytest.mark.makes("planStages")
def test_a_thousand_stages_are_a_small_picture(client):
    plan = client.stage_plan(deadline_s=36000, executors=4, cores_per_executor=16, stages=[{"id": n, "duration_s": 10 + n % 7} for n in range(1000)])
    assert "and 990 more" in plan.plot().alt
    shown_in_svg(plan.plot())


@pytest.mark.makes("shareCores")
def test_requested_against_granted(client):
    asked = [{"name": "A", "requested_cores": 10}, {"name": HOSTILE, "requested_cores": 8}, {"name": "C", "requested_cores": 0}]
    found = client.contention(applications=asked, max_cores=16)
    granted, requested = (bars_of(patch) for patch in patches(found.plot(asked), "PathPatch"))
    assert [bar.right for bar in granted] == pytest.approx([a.cores for a in found.allocations])
    assert [bar.right for bar in requested] == [10, 8, 0]
    assert "of the 10 requested" in found.plot(asked).alt and HOSTILE in found.plot(asked).alt
    alone = found.plot()
    assert len(patches(alone, "PathPatch")) == 1 and "What each requested is not in the reply" in alone.alt
    assert list(found.to_frame(asked)["requested_cores"]) == [10, 8, 0] and "requested_cores" not in found.to_frame()
    assert "<script" not in found._repr_html_()
    shown_in_svg(found.plot(asked))


@pytest.mark.makes("shareCores")
def test_shares_if_all_cores_are_dealt_out(client):
    found = client.contention(applications=[{"name": "A", "requested_cores": 4}, {"name": "B", "requested_cores": 2}], max_cores=60, gamma=0.5)
    diamonds = next(line for line in found.plot().axes.lines if line.get_marker() == "D")
    assert list(diamonds.get_xdata()) == pytest.approx([a.saturating_cores for a in found.allocations])


@pytest.mark.makes("shareCores")
def test_many_applications(client):
    asked = [{"name": "app %d" % n, "requested_cores": 1 + n % 9} for n in range(300)]
    plot = client.contention(applications=asked, max_cores=600).plot(asked)
    assert len(bars_of(patches(plot, "PathPatch")[0])) == 40 and "260 other applications get" in plot.axes.get_xlabel()
    shown_in_svg(plot)


# --- cores over time --------------------------------------------------------------------------------


def test_traces_are_steps():
    trace = Trace("a", [0, 5, 9], [4, None, 8], [6, 7, None], deadline=20, finish=12, stages=[0, 9])
    plot = traces_plot([trace], 16)
    granted, requested = (patch.get_data() for patch in patches(plot, "StepPatch"))
    assert list(granted.edges) == [0, 5, 9, 12] and granted.values[0] == 4 and math.isnan(granted.values[1]) and granted.values[2] == 8
    assert list(requested.values[:2]) == [6, 7] and math.isnan(requested.values[2])
    assert plot.title == "a: 8 s early" and "granted 44 core seconds, at most 8 cores" in plot.alt
    upright = [line.get_xdata()[0] for line in plot.axes.lines if line.get_label() in ("deadline", "finish")]
    assert upright == [20, 12]


def test_traces_of_several_applications_share_their_axes():
    plot = traces_plot([Trace("a", [0, 1], [2, 3], finish=2, deadline=1), Trace(HOSTILE, [0, 1], [5, 1])], None)
    axes = [a for a in plot.figure.axes if a.get_title(loc="left")]
    assert len(axes) == 2 and axes[0].get_ylim() == axes[1].get_ylim() and axes[0].get_xlim() == axes[1].get_xlim()
    assert axes[0].get_title(loc="left") == "a: late by 1 s" and "not finished" in plot.alt and "how many there are is unknown" in plot.alt
    shown_in_svg(plot)
    with pytest.raises(ValueError, match="say which application"):
        traces_plot([Trace("a", [0], [1])] * 2, None, ax=plot.axes)


def test_long_traces_are_thinned_without_loss_of_core_time():
    random.seed(2)
    times = sorted(random.uniform(0, 1000) for _ in range(50000))
    trace = Trace("a", times, [random.randrange(9) for _ in times], end=1001)
    edges, values = thinned(trace.edges, trace.granted)
    assert len(values) == STEPS_MAX
    assert sum(v * (b - a) for v, a, b in zip(values, edges, edges[1:])) == pytest.approx(core_seconds(trace, trace.granted))
    shown_in_svg(traces_plot([trace._replace(requested=trace.granted)] * 40, 8))


def test_few_and_many_traces():
    assert "no application" in traces_plot([], 3).alt
    assert traces_plot([Trace("a", [], [])], None).svg() and traces_plot([Trace("a", [3.0], [1.0])], 0.5).svg()
    plot = traces_plot([Trace("app %d" % n, [0], [1], deadline=9, finish=n) for n in range(40)], 2)
    shown = [a.get_title(loc="left") for a in plot.figure.axes if a.get_title(loc="left")]
    assert len(shown) == PANELS_MAX and shown[-1] == "app 39: late by 30 s" and "30 late" in plot.alt


def test_results_know_their_classes():
    for name in ("Feasibility", "StagePlan", "Contention"):
        assert getattr(results, name) is provisor.record.class_of(name) and issubclass(getattr(results, name), getattr(provisor.schemas, name))

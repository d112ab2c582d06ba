"""Pictures and frames of schedulers compared by simulation."""
import html

import pytest

import provisor
from artists import drawn, labelled, texts
from provisor import results

HOSTILE = "<script>alert(1)</script> $x^2$ _name"
BAGS = [{"name": "short-%d" % n, "arrival_s": n, "task_durations_s": [1, 2, 1]} for n in range(12)]
BAGS += [{"name": "long-%d" % n, "arrival_s": 2 * n, "task_durations_s": [20, 30, 40]} for n in range(4)]
TASKS = {"kind": "tasks", "cluster": {"workers": 4}, "short_cutoff_s": 5, "jobs": BAGS, "loads": [0.6, 0.9], "baseline": "sparrow",
         "policies": [{"policy": "pigeon", "groups": 2, "name": HOSTILE}, {"policy": "sparrow"}, {"policy": "eagle"}]}
JOBS = [{"name": "j%d" % n, "maps": 3 * n + 1, "map_task_s": 4, "reduces": n % 2, "reduce_task_s": 5} for n in range(6)]
SLOTS = {"kind": "slots", "cluster": {"map_slots": 2, "reduce_slots": 1}, "jobs": JOBS, "policies": [{"policy": "fifo"}, {"policy": "fair"}]}


def ask(service, body):
    with provisor.Client(service.base_url, service.alpha_token, progress=False) as client:
        return client.wait(client.simulate(**body), timeout=60).result


@pytest.fixture(scope="module")
def tasks(service):
    return ask(service, dict(TASKS, include=["queues", "distributions"]))


@pytest.fixture(scope="module")
def slots(service):
    return ask(service, dict(SLOTS, include=["queues", "distributions"]))


def lines(axes, gid):
    return [line for line in axes.get_lines() if line.get_gid() == gid]


@pytest.mark.makes("simulate")
def test_completion_times_are_those_of_the_reply(tasks, slots):
    plot = tasks.plot()
    axes = [each for each in plot.figure.axes if lines(each, "p90")]
    assert len(axes) == 2
    for there, load in zip(axes, tasks.loads):
        wanted = [c.completion_s.p90 for policy in load.policies for c in policy.classes if c.name != "all"]
        assert list(lines(there, "p90")[0].get_xdata()) == wanted
        assert load.best.message in plot.alt and "load %g" % load.load in there.get_title()
    assert "(short jobs)" in plot.alt and any("(baseline), long" in t.get_text() for t in axes[0].get_yticklabels())
    assert "<script" not in drawn(plot)
    plot = slots.plot()
    assert list(lines(plot.axes, "p99")[0].get_xdata()) == [policy.completion_s.p99 for policy in slots.loads[0].policies]
    assert "arrivals as given" in plot.axes.get_title()
    drawn(plot)


def test_one_load(tasks):
    from matplotlib.figure import Figure
    ax = Figure().add_subplot()
    plot = tasks.plot(load=0.9, ax=ax)
    assert plot.axes is ax and "0.6" not in plot.alt
    with pytest.raises(ValueError, match="no load of 3; there are 0.6, 0.9"):
        tasks.plot(load=3)
    with pytest.raises(ValueError, match="say which load: load=0.6"):
        tasks.plot(ax=ax)


def test_distributions(tasks, slots):
    plot = tasks.distributions_plot(load=0.6)
    curves = lines(plot.axes, "curve")
    for curve, policy in zip(curves, tasks.loads[0].policies):
        [points] = [each for each in policy.distributions if each.class_ == "short"]
        assert list(curve.get_xdata()) == list(points.completion_quantiles_s) and list(curve.get_ydata()) == list(points.percents)
    assert len(curves) == 3 and "Completion times of short jobs" in plot.alt and len(labelled(plot.axes)) == 3
    drawn(plot)
    assert "long jobs" in tasks.distributions_plot(jobs="long").title
    with pytest.raises(ValueError, match="no medium jobs; there are all, short, long"):
        tasks.distributions_plot(jobs="medium")
    plot = slots.distributions_plot()
    assert "Completion times of all jobs" in plot.alt
    drawn(plot)
    frame = tasks.distributions_frame()
    assert len(frame) == 2 * 3 * 3 * 102 and set(frame["jobs"]) == {"all", "short", "long"}
    assert (frame.groupby(["load", "policy", "jobs"])["completion_s"].diff().dropna() >= 0).all()


def test_queues(tasks, slots):
    plot = tasks.queues_plot(load=0.9)
    parts = [axes for axes in plot.figure.axes if axes.patches]
    assert len(parts) == 3 and all(len(axes.patches) <= 4 for axes in parts)
    queues = tasks.loads[1].policies[0].queue_lengths
    stairs = {patch.get_label(): patch for patch in parts[0].patches}
    assert list(stairs["long, running"].get_data().values) == list(queues.running_tasks.long)
    assert "long, running at most" in plot.alt
    drawn(plot)
    drawn(slots.queues_plot())
    frame = slots.queues_frame()
    assert len(frame) == sum(len(policy.queue_lengths.waiting_tasks.map) for policy in slots.loads[0].policies)
    assert {"map.waiting", "map.running", "reduce.running"} <= set(frame.columns) and (frame["map.running"] <= 2 + 1e-9).all()


def test_a_search(service, slots):
    pigeon = {"policy": "pigeon", "groups": [1, 2], "weight": [20, "infinite"]}
    result = ask(service, dict(TASKS, repetitions=2, search={"policies": [pigeon, {"policy": "sparrow"}], "task_runs": 20000}))
    frame = result.search_frame()
    for load in result.loads:
        mine = frame[frame["load"] == load.load]
        assert mine["rank"].tolist() == list(range(1, len(load.search.candidates) + 1))
        for column in ("policy", "value", "excess_percent", "jobs", "repetitions", "round"):
            assert mine[column].tolist() == [getattr(candidate, column) for candidate in load.search.candidates]
        assert mine["groups"].dropna().tolist() == [c.groups for c in load.search.candidates if c.policy == "pigeon"]
        assert {c.weight for c in load.search.candidates if c.policy == "pigeon"} == {20, "infinite"}
        rounds = result.search_rounds_frame()
        rounds = rounds[rounds["load"] == load.load]
        assert rounds["round"].tolist() == list(range(1, len(load.search.rounds) + 1))
        assert rounds["kept"].tolist() == [each.kept for each in load.search.rounds] and mine["round"].max() == rounds["round"].max()
        plot = result.search_plot(load=load.load)
        shown = {look.get_label(): list(look.get_xdata()) for look in lines(plot.axes, "candidates")}
        assert shown == {policy: mine[mine["policy"] == policy]["value"].tolist() for policy in mine["policy"].unique()}
        names = [text.get_text() for text in plot.axes.get_yticklabels()]
        assert len(names) == len(mine) and any("groups 2" in name and "weight infinite" in name for name in names)
        assert load.search.message in plot.alt
        drawn(plot)
        assert load.search.message in html.unescape(result._repr_html_())
    assert slots.search_frame().empty and slots.search_rounds_frame().empty and "What the search found" not in slots._repr_html_()
    assert {"rank", "policy", "limits_s", "partitions", "value"} <= set(slots.search_frame().columns)


def test_a_search_of_slots(service):
    search = {"policies": [{"policy": "fbq", "limits_s": [[10]]}, {"policy": "sita", "queues": [2]}]}
    result = ask(service, dict(SLOTS, cluster={"map_slots": 4, "reduce_slots": 4}, search=search))
    frame = result.search_frame()
    assert (frame["rank"].diff().dropna() == 1).all() and {"fbq", "sita"} == set(frame["policy"]) and frame["limits_s"].notna().all()
    plot = result.search_plot()
    assert "arrivals as given" in plot.alt and "partitions" in plot.alt
    drawn(plot)


def test_what_was_not_asked_for_is_said(service):
    result = ask(service, SLOTS)
    for plot, how in ((result.queues_plot(), 'include=["queues"]'), (result.distributions_plot(), 'include=["distributions"]'),
                      (result.search_plot(), "search={}")):
        assert "ask with " + how in plot.alt and texts(plot.axes)
        drawn(plot)
    assert result.queues_frame().empty and result.distributions_frame().empty


def test_tables_give_reasons_and_sizes(tasks, slots):
    tables = tasks._repr_html_()
    for load in tasks.loads:
        assert {"objective", "one_repetition"} & {r.code for r in (*load.recommendation.reasons, *load.recommendation.warnings)}
        assert load.recommendation.policy == load.best.name
        assert all(found.code in tables for found in load.recommendation.reasons)
    assert "<script" not in tables
    frame = slots.classes_frame()
    assert frame.groupby("policy")["count"].sum().tolist() == [6, 6] and frame.groupby("policy")["work_share"].sum().tolist() == pytest.approx([1, 1])
    assert "classes" not in slots.to_frame() and "queue_lengths.start_s" not in slots.to_frame()


def test_many_policies_and_loads_stay_a_small_picture(tasks):
    raw = tasks.to_dict()
    load = raw["loads"][0]
    load["policies"] = [dict(load["policies"][0], name="p%d" % n) for n in range(32)]
    for loads in (32, 6):  # the layout of the fewer, at all sizes: that of so many takes long
        raw["loads"] = [dict(load, load=0.1 + n / 100) for n in range(loads)]
        result = results.TasksSimulationResult.from_json(raw)
        for plot in (result.plot(), result.distributions_plot(), result.queues_plot()):
            assert len(plot.svg() if loads > 6 else drawn(plot)) < 2000000

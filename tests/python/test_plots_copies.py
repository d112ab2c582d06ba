"""Pictures, tables and frames of copy plans, simulations and what clusters report."""
import collections
import math

import pytest

from artists import check_layout
from provisor import results
from provisor.plots.copies import BOXES_MAX, LINKS_NAMED, clusters_of, links_of
from provisor.plots.simulation import PANELS_MAX, curve_of

HOSTILE = ("<script>alert(1)</script> $x^2$ \u202eright " + "long name " * 30)[:255]
MEGABYTE = 1000000


def shown_in_svg(plot):
    text = plot.svg()
    assert "<script" not in text and len(text) < MEGABYTE
    check_layout(plot)
    return text


def texts(axes, gid=None):
    return [text.get_text() for text in axes.texts if gid is None or text.get_gid() == gid]


def a_plan(client, names, tasks=6, slots=20):
    clusters = [{"name": name, "slots": slots, "unreachable_probability": 0.1, "processing": {"map": [[2000000 + 500000 * n, 0.5], [9000000, 0.5]]}}
                for n, name in enumerate(names)]
    links = [{"from": a, "to": b, "distribution": [[20000000, 1]]} for a in names for b in names if a != b]
    jobs = [{"name": "job", "unprocessed_bytes": 1000000000,
             "tasks": [{"id": "t%d" % n, "operation": "map", "size_bytes": 1000000000, "inputs": [names[n % len(names)]]} for n in range(tasks)]}]
    return client.copy_plan(clusters=clusters, bandwidth=links, jobs=jobs, epsilon=1)


def made_of(names, tasks, waiting=(), **more):
    """A plan as of a service. tasks: the clusters of each."""
    used = collections.Counter(cluster for clusters in tasks for cluster in clusters)
    copies = [{"job": "j", "task": "t%d" % n, "cluster": cluster, "round": 1, "rate_bytes_per_s": 1, "expected_duration_s": 1, "saved_s": None,
               "exemption_gain": None} for n, clusters in enumerate(tasks) for cluster in clusters]
    return results.CopyPlan.from_json({
        "algorithm": "pingan", "epsilon": None, "epsilon_choice": None, "slot_s": 1, "cancellations": [], "copies": copies, "waiting": list(waiting),
        "tasks": [{"job": "j", "task": "t%d" % n, "clusters": list(clusters), "rate_bytes_per_s": 1, "expected_duration_s": 1,
                   "exemption_probability": 1} for n, clusters in enumerate(tasks)],
        "shares": [], "sources": None, "warnings": [],
        "utilization": [{"cluster": name, "slots_used": used[name], "ingress_bytes_per_s": 0, "egress_bytes_per_s": 0} for name in names], **more})


# --- copy plans -------------------------------------------------------------------------------------


@pytest.mark.makes("planCopies")
def test_a_map_of_clusters(client):
    plan = a_plan(client, ["eu", "us", "asia", HOSTILE])
    plot = plan.plot()
    boxes = texts(plot.axes, "cluster")
    assert len(boxes) == 4
    for row, box in zip(plan.utilization, boxes):
        assert "%d slot" % row.slots_used in box
    links = [line for line in plot.axes.lines if line.get_gid() == "link"]
    shared = collections.Counter()
    for task in plan.tasks:
        there = sorted(set(task.clusters))
        shared.update((a, b) for n, a in enumerate(there) for b in there[n + 1:])
    assert len(links) == len(shared) > 0 and links_of(plan) == dict(shared)
    for (a, b), count in shared.items():
        assert "%s and %s %d" % (a, b, count) in plot.alt
    assert HOSTILE in plot.alt and "Probabilities of an outage are not in the reply." in plot.alt
    shown_in_svg(plot)
    assert "<script" not in plan._repr_html_() + plot._repr_html_()


def test_the_width_of_a_link_is_its_number_of_tasks():
    plot = made_of(["a", "b", "c"], [("a", "b")] * 6 + [("b", "c")] * 2 + [("a",)]).plot()
    widths = [line.get_linewidth() for line in plot.axes.lines if line.get_gid() == "link"]
    assert widths[0] / widths[1] == pytest.approx(3)
    assert [text for text in texts(plot.axes) if text in ("6 tasks", "2")] == ["6 tasks", "2"]


def test_several_copies_in_one_cluster_and_copies_that_run():
    plan = made_of(["a", "b"], [("a", "a"), ("b", "a")])
    raw = plan.to_dict()
    raw["copies"] = raw["copies"][:1]  # the others run already
    plan = results.CopyPlan.from_json(raw)
    by_name = {cluster.name: cluster for cluster in clusters_of(plan)}
    assert links_of(plan) == {("a", "b"): 1}
    assert by_name["a"].doubled == 1 and by_name["a"].running == 2 and by_name["b"].running == 1
    assert "2 running" in texts(plan.plot().axes, "cluster")[0] and "1 task with several copies" in plan.plot().alt


@pytest.mark.makes("planCopies", "putCluster", "reportSamples", "getPerformance")
def test_outages_are_said_where_they_are_known(client, name):
    registered = "<b>$c$ " + name
    client.put_cluster(registered, slots=12, slot_s=10, unreachable_probability=0.04, ingress_bytes_per_s=1e9, egress_bytes_per_s=1e9)
    client.report_samples(registered, processing=[{"operation": "map", "bytes_per_s": 5e6}, {"operation": "map", "bytes_per_s": 8e6}])
    plan = client.copy_plan(clusters=[registered, {"name": "described", "slots": 3, "processing": {"map": [[1e6, 1]]}}],
                            jobs=[{"name": "j", "unprocessed_bytes": 1e9, "tasks": [{"id": "t", "operation": "map", "size_bytes": 1e9}]}])
    plot = plan.plot()
    assert any("outage 4 %" in box for box in texts(plot.axes, "cluster")) and "not in the reply for 1 cluster" in plot.alt
    shown_in_svg(plot)

    performance = client.performance(registered)
    drawn = performance.plot()
    mean = next(line for line in drawn.axes.lines if line.get_gid() == "mean")
    assert list(mean.get_xdata()) == [performance.processing[0].mean_bytes_per_s]
    reach = drawn.axes.lines[0].get_xdata()
    assert (min(reach), max(reach)) == pytest.approx((5e6, 8e6))
    assert "map 6500000 bytes/s" in drawn.alt and "4 % (configured)" in drawn.alt
    frame = performance.to_frame()
    assert list(frame["operation"])[0] == "map" and frame["samples"][0] == 2 and str(frame["newest_at"].dtype) == "datetime64[ns, UTC]"
    assert "<b>" not in performance._repr_html_()
    shown_in_svg(drawn)


@pytest.mark.makes("putCluster", "reportSamples", "getPerformance")
def test_a_cluster_that_reported_nothing(client, name):
    """What others of the team report is used in its place, and drawn hollow."""
    client.put_cluster("speaks " + name, slots=1)
    client.report_samples("speaks " + name, processing=[{"operation": name, "bytes_per_s": 5e6}])
    client.put_cluster("silent " + name, slots=1)
    performance = client.performance("silent " + name)
    plot = performance.plot()
    means = [line for line in plot.axes.lines if line.get_gid() == "mean"]
    assert means and all(line.get_markerfacecolor() == "#FFFFFF" for line in means) and "hollow" in plot.axes.get_xlabel()
    assert "%s 5000000 bytes/s, of its team" % name in plot.alt and any("of its team" in text for text in texts(plot.axes))
    frame = performance.to_frame()
    assert frame["fallback"].all() and frame.loc[frame["operation"] == name, "mean_bytes_per_s"].tolist() == pytest.approx([5e6])

    raw = performance.to_dict()
    raw["fallbacks"] = {"processing": [dict(raw["fallbacks"]["processing"][0], mean_bytes_per_s=None, distribution=None, source="none")], "transfers": []}
    unknown = results.ClusterPerformance.from_json(raw)
    assert "none is known. 1 speed is unknown" in unknown.plot().alt and unknown.to_frame()["mean_bytes_per_s"].isna().all() and unknown._repr_html_()
    assert not [line for line in unknown.plot().axes.lines if line.get_gid() == "mean"]


def test_waiting_tasks_are_told_in_words():
    waiting = [{"job": "j", "task": str(n), "reason": reason} for n, reason in enumerate(["no_slot"] * 3 + ["locality"] + ["a new <b>reason</b>"])]
    plot = made_of(["a"], [("a",)], waiting).plot()
    assert "5 tasks wait: 3 because no possible cluster has an idle slot; 1 because they wait for slots near their input" in plot.axes.get_xlabel()
    assert "5 tasks wait" in plot.alt


@pytest.mark.parametrize("count", [1, 2, BOXES_MAX, BOXES_MAX + 1, 100])
def test_few_and_many_clusters(count):
    names = ["cluster %d %s" % (n, HOSTILE[:100]) for n in range(count)]
    plan = made_of(names, [(names[n % count], names[(n * 7 + 1) % count]) for n in range(3 * count)])
    plot = plan.plot()
    shown_in_svg(plot)
    drawn = texts(plot.axes, "cluster") if count <= BOXES_MAX else texts(plot.axes, "name")
    assert len(drawn) == count
    if count > BOXES_MAX:
        assert len([line for line in plot.axes.lines if line.get_gid() == "cluster"]) == count
        sizes = {n: line.get_markersize() for n, line in enumerate(line for line in plot.axes.lines if line.get_gid() == "cluster")}
        most, least = max(plan.utilization, key=lambda row: row.slots_used), min(plan.utilization, key=lambda row: row.slots_used)
        assert sizes[plan.utilization.index(most)] >= sizes[plan.utilization.index(least)]
    links = links_of(plan)
    if len(links) > LINKS_NAMED:
        assert "and %d more" % (len(links) - 10) in plot.alt


def test_every_cluster_with_every_other_stays_a_small_picture():
    names = ["c%d" % n for n in range(100)]
    plot = made_of(names, [tuple(names)] * 30).plot()
    shown_in_svg(plot)
    assert "each of the 4950 lines, of which 600 are drawn: 30 tasks" in plot.axes.get_xlabel()


def test_a_plan_of_nothing():
    plan = made_of([], [])
    assert "0 clusters" in plan.plot().alt and plan.plot().svg() and plan.to_frame().empty and plan._repr_html_()
    assert "cluster" in plan.to_frame().columns and "clusters" in plan.tasks_frame().columns


@pytest.mark.makes("planCopies")
def test_frames_of_a_plan(client):
    plan = a_plan(client, ["eu", "us", "asia"])
    assert len(plan.to_frame()) == len(plan.copies) and list(plan.tasks_frame()["task"]) == [task.task for task in plan.tasks]


# --- simulations ------------------------------------------------------------------------------------

SIMULATION = {
    "kind": "geo", "seed": 7, "workload": {"workflows": 20, "sizes": [{"share": 1, "task_range": [5, 20]}]},
    "topology": {"cluster_count": 8, "slots_factor": 0.1},
    "policies": [{"policy": "flutter"}, {"policy": "pingan", "name": HOSTILE}, {"policy": "spark"}],
}


@pytest.fixture(scope="module")
def simulated(service):
    import provisor
    with provisor.Client(service.base_url, service.alpha_token, progress=False) as client:
        return client.wait(client.simulate(arrival_rates_per_s=[0.05, 0.5], **SIMULATION)).result


def unfinished(result, policy, count, of_load=0):
    """With so many workflows of a policy unfinished."""
    raw = result.to_dict()
    outcome = raw["loads"][of_load]["policies"][policy]
    outcome["workflows_unfinished"] = count
    outcome["flow_time_s"]["workflows"] -= count
    if not outcome["flow_time_s"]["workflows"]:
        outcome["flow_time_s"].update(dict.fromkeys(("mean", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99")), cdf=[])
    return results.SimulationResult.from_json(raw)


def curves(axes):
    return [line for line in axes.lines if line.get_gid() == "curve"]


@pytest.mark.makes("simulate")
def test_curves_are_those_of_the_reply(simulated):
    plot = simulated.plot()
    axes = [a for a in plot.figure.axes if a.get_xlabel()]
    assert len(axes) == 2
    for there, load in zip(axes, simulated.loads):
        assert there.get_title().startswith("%g workflows/s" % load.arrival_rate_per_s)
        for line, outcome in zip(curves(there), load.policies):
            assert list(zip(line.get_xdata(), line.get_ydata())) == [tuple(pair) for pair in outcome.flow_time_s.cdf]
        marks = [line for line in there.lines if line.get_gid() == "percentiles"]
        for line, outcome in zip(marks, load.policies):
            assert list(line.get_xdata()) == [outcome.flow_time_s.p50, outcome.flow_time_s.p90, outcome.flow_time_s.p99]
    assert plot.title == "Flow times of 20 workflows by policy" and HOSTILE in plot.alt
    shown_in_svg(plot)
    assert "<script" not in simulated._repr_html_() and "(baseline" in simulated._repr_html_()


def test_lines_differ_without_colours(simulated):
    plot = simulated.plot(load=0.5)
    lines = curves(plot.axes)
    baseline = lines[0]
    assert baseline.get_color() == "#000000" and baseline.get_linestyle() == "-"
    marks = [line.get_marker() for line in plot.axes.lines if line.get_gid() == "percentiles"]
    assert len(set(marks[1:])) == len(marks) - 1
    assert all(line.get_linestyle() != "-" for line in lines[1:])


def test_one_arrival_rate(simulated):
    from matplotlib.figure import Figure
    ax = Figure().add_subplot()
    plot = simulated.plot(load=0.05, ax=ax)
    assert plot.axes is ax and "0.05 workflows/s" in plot.title and "0.5 workflows/s" not in plot.alt
    with pytest.raises(ValueError, match="there are 0.05, 0.5"):
        simulated.plot(load=3)
    with pytest.raises(ValueError, match="say which arrival rate"):
        simulated.plot(ax=ax)


def test_unfinished_workflows_lower_the_end_of_the_curve(simulated):
    result = unfinished(simulated, 1, 5)
    values, shares = curve_of(result.loads[0].policies[1])
    assert shares[-1] == pytest.approx(15 / 20) and values == curve_of(simulated.loads[0].policies[1])[0]
    plot = result.plot()
    assert "5 unfinished workflows" in plot.alt and any("5 unfinished" in text for text in texts(plot.axes))
    assert curves(plot.axes)[1].get_ydata()[-1] == pytest.approx(0.75)


def test_a_policy_that_finishes_nothing(simulated):
    result = unfinished(simulated, 2, 20)
    plot = result.plot(load=0.05)
    assert len(curves(plot.axes)) == 2 and "spark finishes no workflow" in plot.alt
    assert len([text for text in plot.axes.get_legend().get_texts() if "spark" in text.get_text()]) == 1
    assert math.isnan(result.to_frame()["flow_time_s.mean"][2])


def test_nothing_simulated(simulated):
    raw = simulated.to_dict()
    raw["loads"] = []
    result = results.SimulationResult.from_json(raw)
    assert "nothing was simulated" in result.plot().alt and result.to_frame().empty and result._repr_html_()


def test_many_rates_and_policies_stay_a_small_picture(simulated):
    raw = simulated.to_dict()
    policies = [dict(raw["loads"][0]["policies"][n % 3], name="policy %d %s" % (n, HOSTILE[:60])) for n in range(32)]
    raw["loads"] = [dict(raw["loads"][0], arrival_rate_per_s=0.01 * (n + 1), policies=policies) for n in range(32)]
    plot = results.SimulationResult.from_json(raw).plot()
    shown_in_svg(plot)
    titles = [a.get_title() for a in plot.figure.axes if a.get_xlabel()]
    assert len(titles) == PANELS_MAX and titles[0].startswith("0.01 ") and titles[-1].startswith("0.32 ")
    assert "9 of 32 arrival rates" in plot.title and "9 of 32 arrival rates" in plot.alt


def test_a_row_for_each_rate_and_policy(simulated):
    frame = simulated.to_frame()
    assert list(frame["arrival_rate_per_s"]) == [0.05] * 3 + [0.5] * 3 and list(frame["name"]) == ["flutter", HOSTILE, "spark"] * 2
    assert list(frame["baseline"]) == [True, False, False] * 2 and frame["best"].sum() == 2
    for place, outcome in enumerate(o for load in simulated.loads for o in load.policies):
        assert frame["flow_time_s.mean"][place] == outcome.flow_time_s.mean and frame["counts.copies_started"][place] == outcome.counts.copies_started
    assert not [name for name in frame.columns if "cdf" in name] and math.isnan(frame["mean_reduction_percent"][0])

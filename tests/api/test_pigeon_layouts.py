"""POST /v1/simulations of kind tasks beyond equal groups and two classes: listed groups, declared classes, bound tasks, masters that fail."""
import pytest

from test_scheduling_simulations import TASKS, by_name, changed, checked, ended, many_jobs, simulate

ONE = {"kind": "tasks", "communication_s": 0, "include": ["jobs"]}
POWERS = dict(ONE, cluster={"groups": [{"workers": 1, "power": 2}, {"workers": 1}]}, jobs=[{"name": "A", "task_durations_s": [6, 6, 6]}],
              policies=[{"policy": "pigeon"}])
CLASSES = dict(ONE, cluster={"workers": 1}, classes=["high", "middle", "low"], policies=[
    {"policy": "pigeon", "groups": 1, "classes": [{"name": "middle", "weight": 2}, {"name": "high", "weight": "infinite"}]}],
    jobs=[{"name": "first", "class": "low", "task_durations_s": [10]}, {"name": "L", "class": "low", "arrival_s": 1, "task_durations_s": [1]},
          {"name": "M", "class": "middle", "arrival_s": 1, "task_durations_s": [1, 1, 1]}, {"name": "H", "class": "high", "arrival_s": 1, "task_durations_s": [1]}])
BOUND = dict(ONE, cluster={"workers": 2}, policies=[{"policy": "pigeon", "groups": 1, "reserved_share": 0, "report_every_s": 1}],
             jobs=[{"name": "A", "task_durations_s": [10], "bound_to": [[1]]}, {"name": "B", "arrival_s": 1, "task_durations_s": [1, 1], "bound_to": [[1], None]}])
FAILING = dict(ONE, cluster={"workers": 2}, jobs=[{"name": "A", "task_durations_s": [10, 4], "placement": [0, 1]},
                                                  {"name": "B", "arrival_s": 1, "task_durations_s": [1, 1], "placement": [0, 0]}],
               policies=[{"policy": "pigeon", "groups": 2},
                         {"policy": "pigeon", "groups": 2, "name": "lost", "failures": [{"group": 0, "at_s": 2, "detection_s": 3, "recovery": "none"}]},
                         {"policy": "pigeon", "groups": 2, "name": "second", "failures": [{"group": 0, "at_s": 9.5, "detection_s": 3}]}])


@pytest.fixture(scope="module")
def service(make_service):
    service = make_service()
    service.alpha_token = service.token("alpha")
    return service.start()


@pytest.fixture(scope="module")
def client(service):
    return service.client(service.alpha_token)


def outcomes(result):
    [load] = result["loads"]
    return by_name(load)


def finishes(outcome):
    return {job["name"]: job["finish_s"] for job in outcome["jobs"]}


# --- what comes of it ---


def test_work_is_spread_by_power_and_takes_less_time_there(client):
    made = ended(client, POWERS)
    pigeon = outcomes(checked(client, made))["pigeon"]
    # Two of three tasks go to the group of power 2, where each takes 3 s.
    assert pigeon["makespan_s"] == 6 and pigeon["jobs"] == [{"name": "A", "start_s": 0, "finish_s": 6, "slowdown": 1}]
    assert pigeon["utilization"] == pytest.approx(18 / (3 * 6), rel=1e-12)
    assert made["request"]["cluster"] == POWERS["cluster"] and "groups" not in made["request"]["policies"][0]


def test_slowdowns_are_of_durations_at_power_1(client):
    body = changed(POWERS, cluster={"groups": [{"workers": 1, "power": 4}]}, jobs=[{"name": "A", "task_durations_s": [8]}])
    assert outcomes(simulate(client, body))["pigeon"]["jobs"] == [{"name": "A", "start_s": 0, "finish_s": 2, "slowdown": 0.25}]


def test_loads_are_of_the_capacity(client):
    """Twice the power and twice the durations: the same at the same load."""
    body = {"kind": "tasks", "communication_s": 0, "loads": [0.8], "policies": [{"policy": "pigeon"}]}
    jobs = many_jobs(100)[1]
    double = [dict(job, task_durations_s=[2 * d for d in job["task_durations_s"]]) for job in jobs]
    [one] = simulate(client, dict(body, jobs=jobs, cluster={"groups": [{"workers": 8}, {"workers": 4}]}))["loads"]
    [two] = simulate(client, dict(body, jobs=double, cluster={"groups": [{"workers": 8, "power": 2}, {"workers": 4, "power": 2}]}))["loads"]
    one, two = by_name(one)["pigeon"], by_name(two)["pigeon"]
    assert two["makespan_s"] == one["makespan_s"] and two["utilization"] == pytest.approx(one["utilization"])
    assert two["classes"][0]["slowdown"]["p95"] == pytest.approx(one["classes"][0]["slowdown"]["p95"] / 2)


def test_equal_groups_that_are_listed_are_equal_groups(client):
    jobs = many_jobs(200)[1]
    counted = changed(TASKS, jobs=jobs, loads=[0.7], repetitions=3, include=["jobs"])
    listed = changed(counted, cluster={"groups": [{"workers": 3}, {"workers": 3, "power": 1}]},
                     policies=[{k: v for k, v in p.items() if k != "groups"} for p in TASKS["policies"]])
    assert simulate(client, listed) == simulate(client, counted)


def test_three_classes_share_by_weight(client):
    made = ended(client, CLASSES)
    result = checked(client, made)
    pigeon = outcomes(result)["pigeon"]
    # From 10 on: H before all; then of two tasks of M and L one is L's.
    assert finishes(pigeon) == {"first": 10, "H": 11, "L": 13, "M": 15}
    assert [(c["name"], c["count"]) for c in pigeon["classes"]] == [("all", 4), ("high", 1), ("middle", 1), ("low", 2)]
    assert [c["slowdown"]["p95"] for c in pigeon["classes"][1:3]] == [10, 14]
    [load] = result["loads"]
    assert "jobs of class high" in load["best"]["message"] and " 10" in load["best"]["message"]
    assert made["request"]["policies"][0]["classes"] == [{"name": "high", "reserved_share": 0, "weight": "infinite"},
                                                         {"name": "middle", "reserved_share": 0, "weight": 2}]
    assert made["request"]["classes"] == ["high", "middle", "low"]


def test_the_usual_weight_of_a_class_is_20(client):
    pigeon = outcomes(simulate(client, changed(CLASSES, policies=[{"policy": "pigeon", "groups": 1}])))["pigeon"]
    assert finishes(pigeon) == {"first": 10, "H": 11, "M": 14, "L": 15}


def test_the_objective_is_of_the_highest_class_that_has_jobs(client):
    jobs = [job for job in CLASSES["jobs"] if job["name"] != "H"]
    result = simulate(client, changed(CLASSES, jobs=jobs, baseline="pigeon", policies=CLASSES["policies"] + [{"policy": "centralised"}]))
    [load] = result["loads"]
    assert "jobs of class middle" in load["best"]["message"]
    assert [c["name"] for c in by_name(load)["centralised"]["reduction_percent"]["classes"]] == ["all", "middle", "low"]


def test_other_policies_take_the_lowest_class_for_the_long_jobs(client):
    names = ["short", "long"]
    jobs = [dict(job, **{"class": names[i % 3 == 0]}) for i, job in enumerate(many_jobs(60)[1])]
    two = changed(TASKS, jobs=jobs, policies=TASKS["policies"][1:])
    del two["short_cutoff_s"]
    three = changed(two, classes=["a", "b", "c"], jobs=[dict(job, **{"class": "c" if job["class"] == "long" else "ab"[i % 2]}) for i, job in enumerate(jobs)])
    two, three = (outcomes(simulate(client, body)) for body in (two, three))
    for name in two:
        assert (two[name]["makespan_s"], two[name]["classes"][0]) == (three[name]["makespan_s"], three[name]["classes"][0])


def test_bound_tasks_wait_for_their_workers(client):
    made = ended(client, BOUND)
    pigeon = outcomes(checked(client, made))["pigeon"]
    assert finishes(pigeon) == {"A": 10, "B": 11} and pigeon["jobs"][1]["start_s"] == 1
    assert [job["bound_to"] for job in made["request"]["jobs"]] == [[[1]], [[1], None]]
    assert made["request"]["policies"][0]["report_every_s"] == 1


def test_masters_that_fail(client):
    made = ended(client, FAILING)
    found = {name: finishes(outcome)["B"] for name, outcome in outcomes(checked(client, made)).items()}
    # Lost: known at 5, both tasks go to the other group. Second: what the worker reports at 10 is handled at 12.5.
    assert found == {"pigeon": 12, "lost": 7, "second": 14.5}
    assert made["request"]["policies"][2]["failures"] == [{"group": 0, "at_s": 9.5, "detection_s": 3, "recovery": "second"}]


def test_a_group_comes_back(client):
    """The only group is away from 0.5 to 3.5: what comes at 1 waits."""
    body = changed(ONE, cluster={"workers": 1}, jobs=[{"name": "A", "arrival_s": 1, "task_durations_s": [1]}], policies=[
        {"policy": "pigeon", "groups": 1, "failures": [{"group": 0, "at_s": 0.5, "recovery": "none", "return_s": 3}]}])
    assert finishes(outcomes(simulate(client, body))["pigeon"]) == {"A": 4.5}


def test_tasks_that_are_left_when_groups_have_failed_are_the_problem_of_the_operation(client):
    """At 5 it waits behind another one, which nobody can know before."""
    lost = [{"policy": "pigeon", "groups": 1, "failures": [{"group": 0, "at_s": 5, "recovery": "none"}]}]
    made = ended(client, changed(BOUND, policies=lost))
    assert made["status"] == "failed" and made["error"]["status"] == 422
    assert "failed for good" in made["error"]["detail"]


# --- faults ---


def pigeon(**terms):
    return [dict({"policy": "pigeon", "groups": 2}, **terms)]


def failing(*failures):
    return changed(FAILING, policies=pigeon(failures=list(failures)))


def bound(*tasks, **members):
    return changed(BOUND, jobs=[{"name": "A", "task_durations_s": [1] * len(tasks), "bound_to": list(tasks)}], **members)


def classed(**terms):
    return changed(CLASSES, policies=[dict({"policy": "pigeon", "groups": 1}, **terms)])


LOST = {"group": 0, "at_s": 0, "recovery": "none"}


@pytest.mark.parametrize("body, faults", [
    (changed(POWERS, cluster={}), [("/cluster/workers", "required")]),
    (changed(POWERS, cluster={"workers": 2, "groups": [{"workers": 2}]}), [("/cluster/groups", "conflict")]),
    (changed(POWERS, cluster={"groups": []}), [("/cluster/groups", "too_few_items")]),
    (changed(POWERS, cluster={"groups": [{"power": 1}, {"workers": 0}, {"workers": 1, "power": 0}, 1, {"workers": 1, "speed": 1}]}),
     [("/cluster/groups/0/workers", "required"), ("/cluster/groups/1/workers", "out_of_range"), ("/cluster/groups/2/power", "out_of_range"),
      ("/cluster/groups/3", "wrong_type"), ("/cluster/groups/4/speed", "unknown_field")]),
    (changed(POWERS, cluster={"groups": [{"workers": 600000000}, {"workers": 600000000}]}), [("/cluster/groups", "out_of_range")]),
    (changed(POWERS, policies=pigeon()), [("/policies/0/groups", "conflict")]),
    (changed(POWERS, cluster={"workers": 2}), [("/policies/0/groups", "required")]),
    (changed(POWERS, policies=[{"policy": "sparrow"}, {"policy": "eagle"}]), [("/cluster/groups", "conflict")]),
    (changed(POWERS, jobs=[{"name": "A", "task_durations_s": [1], "placement": [2]}]), [("/jobs/0/placement/0", "out_of_range")]),
    (changed(CLASSES, classes=[]), [("/classes", "too_few_items")]),
    (changed(CLASSES, classes=["high", "middle", "low", "all", "low", ""]),
     [("/classes/3", "not_allowed"), ("/classes/4", "duplicate"), ("/classes/5", "invalid_name")]),
    (changed(CLASSES, classes=["high", "middle"]), [("/jobs/0/class", "not_allowed"), ("/jobs/1/class", "not_allowed"),
                                                    ("/policies/0/classes/0/weight", "conflict")]),
    (changed(CLASSES, short_cutoff_s=1), [("/short_cutoff_s", "conflict")]),
    (changed(CLASSES, jobs=[{"name": "A", "task_durations_s": [1]}, {"name": "B", "task_durations_s": [1], "class": 1}]),
     [("/jobs/0/class", "required"), ("/jobs/1/class", "wrong_type")]),
    (changed(TASKS, jobs=[{"name": "A", "task_durations_s": [1], "class": "high"}]), [("/jobs/0/class", "not_allowed")]),
    (changed(TASKS, policies=pigeon(classes=[{"name": "high"}])), [("/classes", "required")]),
    (classed(reserved_share=0.1, weight=2), [("/policies/0/reserved_share", "conflict"), ("/policies/0/weight", "conflict")]),
    (classed(classes=[{"name": "none"}, {"name": "high"}, {"name": "high"}, {"weight": 0}, {"name": "low", "reserved_share": 0.6, "weight": 2}]),
     [("/policies/0/classes/0/name", "not_allowed"), ("/policies/0/classes/2/name", "duplicate"), ("/policies/0/classes/3/name", "required"),
      ("/policies/0/classes/3/weight", "out_of_range"), ("/policies/0/classes/4/reserved_share", "out_of_range"),
      ("/policies/0/classes/4/reserved_share", "conflict"), ("/policies/0/classes/4/weight", "conflict")]),
    (changed(TASKS, policies=[{"policy": "centralised", "classes": [], "failures": [], "report_every_s": 1}]),
     [("/policies/0/classes", "unknown_field"), ("/policies/0/failures", "unknown_field"), ("/policies/0/report_every_s", "unknown_field")]),
    (bound([0], [], [1, 1], [2], 3, [-1]), [("/jobs/0/bound_to/1", "too_few_items"), ("/jobs/0/bound_to/2/1", "duplicate"),
                                            ("/jobs/0/bound_to/4", "wrong_type"), ("/jobs/0/bound_to/5/0", "out_of_range")]),
    (bound([0, 2], None), [("/jobs/0/bound_to/0/1", "out_of_range")]),
    (bound(list(range(101))), [("/jobs/0/bound_to/0", "too_many_items")]),
    (changed(BOUND, jobs=[{"name": "A", "task_durations_s": [1, 1], "bound_to": [[1]]}]), [("/jobs/0/bound_to", "too_few_items")]),
    (changed(BOUND, jobs=[{"name": "A", "task_durations_s": [1], "bound_to": [[1]], "placement": [0]}]), [("/jobs/0/bound_to", "conflict")]),
    (bound([0], policies=pigeon() + [{"policy": "sparrow"}]), [("/jobs/0/bound_to", "conflict")]),
    (bound([0], communication_s=1, policies=pigeon(report_every_s=1.9)), [("/policies/0/report_every_s", "out_of_range")]),
    (bound([0], policies=pigeon(report_every_s=0)), [("/policies/0/report_every_s", "out_of_range")]),
    (changed(bound([0], policies=pigeon(report_every_s=0.001)), jobs=[{"name": "A", "arrival_s": 1e12, "task_durations_s": [1e12, 1e12], "bound_to": [[0], [0]]}]),
     [("/policies/0/report_every_s", "out_of_range")]),
    (failing({}, {"group": 2, "at_s": -1}, {"group": 0, "at_s": 1, "recovery": "third"}),
     [("/policies/0/failures/0/group", "required"), ("/policies/0/failures/0/at_s", "required"), ("/policies/0/failures/1/at_s", "out_of_range"),
      ("/policies/0/failures/2/recovery", "not_allowed")]),
    (failing({"group": 2, "at_s": 1}), [("/policies/0/failures/0/group", "out_of_range")]),
    (failing({"group": 0, "at_s": 1, "return_s": 3}), [("/policies/0/failures/0/return_s", "conflict")]),
    (failing(dict(LOST, detection_s=3, return_s=3)), [("/policies/0/failures/0/return_s", "out_of_range")]),
    (failing({"group": 0, "at_s": 5, "detection_s": 2}, {"group": 1, "at_s": 5}, {"group": 0, "at_s": 4, "detection_s": 1.5}),
     [("/policies/0/failures/2/at_s", "conflict")]),
    (failing(LOST, {"group": 0, "at_s": 100}), [("/policies/0/failures/1/at_s", "conflict")]),
    (failing(LOST, dict(LOST, group=1, at_s=1)), [("/policies/0/failures", "conflict")]),
    (bound([0, 1], [1], [0], policies=pigeon(failures=[LOST])), [("/jobs/0/bound_to/2", "conflict")]),
])
def test_faults_are_named_where_they_are(client, body, faults):
    problem = client.refuse("POST", "/v1/simulations", 422, pointer=faults[0][0], json=body)
    assert sorted((e["pointer"], e["code"]) for e in problem["errors"]) == sorted(faults)

"""Requests of the planners and fits with the replies that their definitions (docs/design.md) demand.

Values are small enough to be checked by hand, come from tables of the papers (docs/sources.md), or follow from a law
written down here. The profiles of PageRank, KMeans, SVM and the aggregations are those published with xSpark.
"""
import math

import pytest

TOLERANCE = 1e-6


def near(value, tolerance=TOLERANCE):
    return pytest.approx(value, rel=tolerance, abs=tolerance)


def title(case):
    return case["title"].replace(" ", "_") if isinstance(case, dict) else None


# --- deadlines together ---


def stage(id, tasks, *parents):
    """tasks: a list of durations, or (number of tasks, summed time)."""
    if isinstance(tasks, list):
        return {"id": id, "parents": list(parents), "task_durations_s": tasks}
    n, total = tasks
    return {"id": id, "parents": list(parents), "tasks": n, "task_duration_s": total / n}


def job(name, release_s, deadline_s, *stages, **more):
    return dict({"name": name, "release_s": release_s, "deadline_s": deadline_s, "stages": list(stages)}, **more)


# Schedules: (job, stage, task, core, start, end).
FEASIBILITY = [
    {"title": "one task", "cluster": (1, 1), "jobs": [job("A", 0, 10, stage(0, [4]))], "completions": [4],
     "schedule": [("A", 0, 0, 0, 0, 4)], "epsilon": 60, "utilization": 1},
    {"title": "two stages on two cores", "cluster": (1, 2), "jobs": [job("A", 0, 10, stage(0, [4, 3, 2]), stage(1, [1], 0))],
     "completions": [6], "schedule": [("A", 0, 0, 0, 0, 4), ("A", 0, 1, 1, 0, 3), ("A", 0, 2, 1, 3, 5), ("A", 1, 0, 0, 5, 6)],
     "epsilon": 40, "utilization": 10 / 12},
    {"title": "the tighter job waits for running tasks and then goes first", "cluster": (1, 2),
     "jobs": [job("A", 0, 20, stage(0, [4, 4, 4, 4])), job("B", 1, 5, stage(0, [2, 2]))], "completions": [10, 6],
     "schedule": [("A", 0, 0, 0, 0, 4), ("A", 0, 1, 1, 0, 4), ("B", 0, 0, 0, 4, 6), ("B", 0, 1, 1, 4, 6), ("A", 0, 2, 0, 6, 10),
                  ("A", 0, 3, 1, 6, 10)], "epsilon": 25, "utilization": 1},
    {"title": "a job with nothing runnable gives way", "cluster": (1, 2),
     "jobs": [job("A", 0, 10, stage(0, [5]), stage(1, [1, 1], 0)), job("B", 0, 30, stage(0, [3, 3, 3]))], "completions": [7, 9],
     "schedule": [("A", 0, 0, 0, 0, 5), ("B", 0, 0, 1, 0, 3), ("B", 0, 1, 1, 3, 6), ("A", 1, 0, 0, 5, 6), ("A", 1, 1, 0, 6, 7),
                  ("B", 0, 2, 1, 6, 9)], "epsilon": 50, "utilization": 16 / 18},
    {"title": "equal deadlines: the earlier release, then the order of the request", "cluster": (1, 1),
     "jobs": [job("A", 4, 6, stage(0, [4])), job("B", 0, 10, stage(0, [4])), job("C", 4, 6, stage(0, [4]))],
     "completions": [8, 4, 12], "schedule": [("B", 0, 0, 0, 0, 4), ("A", 0, 0, 0, 4, 8), ("C", 0, 0, 0, 8, 12)],
     "epsilon": 380 / 9, "utilization": 1, "cores": 2, "deadlines": {"C": 8}},
    {"title": "no number of cores helps a task longer than the deadline", "cluster": (2, 2), "jobs": [job("A", 0, 5, stage(0, [8]))],
     "completions": [8], "schedule": [("A", 0, 0, 0, 0, 8)], "epsilon": 60, "utilization": 0.25, "cores": None, "deadlines": {"A": 8}},
    {"title": "overhead of each task", "cluster": (2, 1), "jobs": [job("A", 0, 8, stage(0, (4, 12)), overhead_per_task_s=0.5)],
     "completions": [7], "schedule": [("A", 0, 0, 0, 0, 3.5), ("A", 0, 1, 1, 0, 3.5), ("A", 0, 2, 0, 3.5, 7), ("A", 0, 3, 1, 3.5, 7)],
     "epsilon": 12.5, "utilization": 1},
    {"title": "lowest id first, and a release while all is idle", "cluster": (1, 3),
     "jobs": [job("A", 0, 100, stage(3, [2, 2]), stage(1, [2, 2]), stage(2, [5], 1, 3)), job("B", 50, 90, stage(0, [1]))],
     "completions": [9, 51], "schedule": [("A", 1, 0, 0, 0, 2), ("A", 1, 1, 1, 0, 2), ("A", 3, 0, 2, 0, 2), ("A", 3, 1, 0, 2, 4),
                                          ("A", 2, 0, 0, 4, 9), ("B", 0, 0, 0, 50, 51)], "epsilon": (91 + 8900 / 90) / 2,
     "utilization": 14 / 153},
    {"title": "met exactly at the deadline", "cluster": (1, 1), "jobs": [job("A", 0, 3, stage(0, [3]))], "completions": [3],
     "schedule": [("A", 0, 0, 0, 0, 3)], "epsilon": 0, "utilization": 1},
    {"title": "parents with higher ids", "cluster": (3, 1),
     "jobs": [job("A", 0, 12, stage(5, [2, 2, 2], 9), stage(9, [1, 4]), stage(0, [3], 5, 9))], "completions": [9],
     "schedule": [("A", 9, 0, 0, 0, 1), ("A", 9, 1, 1, 0, 4), ("A", 5, 0, 0, 4, 6), ("A", 5, 1, 1, 4, 6), ("A", 5, 2, 2, 4, 6),
                  ("A", 0, 0, 0, 6, 9)], "epsilon": 25, "utilization": 14 / 27},
]

# id: (summed task time in s, parents); tasks are 1,000 unless a third entry says how many.
PAGERANK = {0: (2339.276, []), 1: (280.655, [0]), 2: (793.79, [0]), 3: (1000.045, [1, 2]), 4: (242.353, [1, 2]), 5: (927.998, [3, 4]),
            6: (440.644, [1, 2, 5]), 7: (550.091, [3, 4, 6]), 13: (66.775, [1, 2, 5])}
KMEANS = {0: (1434.677, []), 1: (12.712, [0]), 2: (181.925, [0, 1]), 3: (43.294, [0, 1, 2]), 4: (160.131, [0, 1, 2]), 5: (40.41, [0, 4]),
          6: (168.552, [0, 4]), 7: (40.113, [0, 1, 6]), 8: (258.365, [0, 1, 6]), 9: (40.719, [0, 1, 8]), 10: (200.724, [0, 1, 8]),
          11: (40.351, [0, 1, 10]), 12: (608.324, [0, 1]), 13: (28.792, [12]), 14: (77.605, [0, 1]), 15: (2.765, [14]), 16: (1452.858, [0]),
          17: (58.565, [0])}
SVM = {0: (5.185, [], 1), 1: (1975.324, [0]), 2: (10.613, [0]), 3: (40.44, [0]), 4: (4.006, [3], 31), 5: (468.236, [0]), 6: (2105.772, []),
       7: (1104.732, [5, 6]), 8: (173.635, [7]), 12: (256.613, [7]), 13: (245.086, [12]), 18: (287.222, [12], 1002), 23: (19.727, [12], 1001)}


def profiled(name, release_s, deadline_s, profile, tasks=1000):
    return job(name, release_s, deadline_s, *(stage(id, ((more or [tasks])[0], total), *parents)
                                              for id, (total, parents, *more) in profile.items()))


def aggregation(name, release_s, deadline_s, map_s, reduce_s):
    return profiled(name, release_s, deadline_s, {1: (map_s, []), 2: (reduce_s, [1])}, 4000)


FEASIBILITY += [
    {"title": "PageRank, KMeans and SVM together", "cluster": (4, 16),
     "jobs": [profiled("PageRank", 0, 250, PAGERANK), profiled("KMeans", 40, 160, KMEANS), profiled("SVM", 80, 250, SVM)],
     "completions": [186.107824, 116.686896, 286.2902646857754], "epsilon": 31.703818175, "utilization": 0.99271516554},
    {"title": "three aggregations, two of which share an absolute deadline", "cluster": (4, 16),
     "jobs": [aggregation("by-key", 0, 120, 6660.735, 2692.013), aggregation("naive", 40, 200, 7940.064, 2696.51),
              aggregation("int", 80, 160, 6152.188, 2765.797)],
     "completions": [147.305781, 313.357554, 452.27777075], "epsilon": 64.03573374, "utilization": 0.99867095198, "cores": 122,
     "deadlines": {"by-key": 147.305781, "naive": 273.357554, "int": 372.27777075}},
]


@pytest.mark.parametrize("case", FEASIBILITY, ids=title)
def test_deadlines_together(client, case):
    executors, cores = case["cluster"]
    body = {"cluster": {"executors": executors, "cores_per_executor": cores}, "jobs": case["jobs"]}
    if "schedule" in case:
        body["include"] = ["schedule"]
    reply = client.post("/v1/feasibility", body, 200).json()
    errors, met = [], []
    for wanted, completion, found in zip(case["jobs"], case["completions"], reply["jobs"], strict=True):
        execution = completion - wanted["release_s"]
        errors.append(100 * abs(wanted["deadline_s"] - execution) / wanted["deadline_s"])
        met.append(execution <= wanted["deadline_s"])
        assert {k: found[k] for k in ("name", "completion_s", "execution_s", "deadline_s", "met", "deadline_error_percent")} == {
            "name": wanted["name"], "completion_s": near(completion), "execution_s": near(execution),
            "deadline_s": wanted["deadline_s"], "met": met[-1], "deadline_error_percent": near(errors[-1])}
    on_time = sum(e for e, m in zip(errors, met) if m)
    late = sum(e for e, m in zip(errors, met) if not m)
    assert reply["feasible"] == all(met)
    for member, value in {"advance": sum(met), "delayed": len(met) - sum(met), "epsilon": case["epsilon"], "epsilon_advance": on_time,
                          "epsilon_delayed": late, "epsilon_absolute": on_time + late, "utilization": case["utilization"],
                          "makespan_s": max(case["completions"]) - min(j["release_s"] for j in case["jobs"])}.items():
        assert reply["metrics"][member] == near(value), member
    if "schedule" in case:
        found = [tuple(p[k] for k in ("job", "stage", "task", "core", "start_s", "end_s")) for p in reply["schedule"]]
        assert sorted(found) == [near_tuple(p) for p in sorted(case["schedule"])]
    else:
        assert reply.get("schedule") is None
    if "deadlines" in case:
        assert reply["remedies"].get("min_total_cores") == case["cores"]
        assert reply["remedies"]["deadlines_s"] == {k: near(v) for k, v in case["deadlines"].items()}


def near_tuple(placement):
    return (*placement[:4], near(placement[4]), near(placement[5]))


def two_jobs(**changes):
    """A valid request, with changes by JSON Pointer without its first slash ("jobs/0/stages": [])."""
    body = {"cluster": {"executors": 2, "cores_per_executor": 2},
            "jobs": [job("A", 0, 20, stage(0, [3, 4]), stage(1, (3, 6), 0)), job("B", 5, 20, stage(0, [1]))]}
    return changed(body, changes)


def changed(body, changes):
    for path, value in changes.items():
        *above, last = path.split("/")
        at = body
        for key in above:
            at = at[int(key)] if isinstance(at, list) else at[key]
        last = int(last) if isinstance(at, list) else last
        if value is None:
            del at[last]
        else:
            at[last] = value
    return body


@pytest.mark.parametrize("change,pointer", [
    ({"jobs/0/stages/1/id": 0}, "/jobs/0/stages/1/id"),
    ({"jobs/1/priority": 3}, "/jobs/1/priority"),
    ({"jobs/0/stages": []}, "/jobs/0/stages"),
    ({"jobs": []}, "/jobs"),
    ({"jobs/0/stages/1/tasks": -3}, "/jobs/0/stages/1/tasks"),
    ({"cluster/executors": 0}, "/cluster/executors"),
], ids=["two stages with one id", "unknown member", "no stages", "no jobs", "negative tasks", "no executors"])
def test_faults_of_deadlines(client, change, pointer):
    client.refuse("POST", "/v1/feasibility", 422, pointer=pointer, json=two_jobs(**change))


@pytest.mark.parametrize("call,text", [
    ("/v1/feasibility", '{"cluster": {"executors": 2, "cores_per_executor": NaN}, "jobs": []}'),
    ("/v1/contention", '{"strategy": "edf_pure", '),
], ids=["NaN", "cut off"])
def test_what_is_not_json_is_400(client, call, text):
    client.refuse("POST", call, 400, data=text, headers={"Content-Type": "application/json"})


# --- stage plans ---

XSPARK = {"alpha": 0.95, "beta": 0.33, "overscale": 2, "core_quantum": 0.05}


def planned(id, duration_s, records=None, rate=None, parents=(), skipped=False):
    known = {} if records is None else {"input_records": records, "nominal_rate_per_s": rate}
    return dict({"id": id, "parents": list(parents), "duration_s": duration_s, "skipped": skipped}, **known)


FIRST, THIRD = planned(0, 100, 1000000, 10000), planned(2, 20, 100000, 5000, [1])
SECOND = planned(1, 60, 500000, 8333, [0])
RECORDS = {0: 886715481, 1: 886715481, 2: 886715481, 3: 1249760260, 4: 1249760260, 5: 2000000, 6: 1673338004, 7: 3000000, 13: 2080325100}
SKIPPED = {8: [0], 9: [0], 10: [1, 2], 11: [1, 2], 12: [3, 4]}

# A stage of the reply: id, weight, deadline, estimated cores, most cores, initial cores of an executor; start is the sum before it.
STAGE_PLANS = [
    {"title": "one stage takes alpha of the deadline", "deadline_s": 120, "terms": XSPARK, "stages": [FIRST],
     "plan": [(0, 1, 114, 1, 2, 0.25)]},
    {"title": "a chain of three", "deadline_s": 60, "terms": XSPARK, "stages": [FIRST, SECOND, THIRD],
     "plan": [(0, 2.196, 25.956284153005466, 4, 8, 1), (1, 1.5533333333333332, 19.98522479420249, 4, 8, 1),
              (2, 1, 11.058491052792043, 2, 4, 0.5)]},
    {"title": "a skipped stage is left out", "deadline_s": 60, "terms": XSPARK,
     "stages": [FIRST, planned(1, 0, parents=[0], skipped=True), planned(2, 20, 100000, 5000, [0])],
     "plan": [(0, 1.464, 38.9344262295082, 3, 6, 0.75), (2, 1, 18.065573770491802, 2, 4, 0.5)]},
    {"title": "without records: time over deadline", "deadline_s": 60, "terms": XSPARK,
     "stages": [planned(0, 100), planned(1, 60.5, parents=[0])],
     "plan": [(0, 1.73535, 32.84639986169937, 4, 8, 1), (1, 1, 24.153600138300632, 3, 6, 0.75)]},
    {"title": "aggregate by key", "deadline_s": 250, "terms": XSPARK,
     "stages": [planned(1, 6660.735, 2000000000, 2000000000 / 6660.735), planned(2, 2692.013, 734330212, 734330212 / 2692.013, [1])],
     "plan": [(1, 1.6007882403368396, 148.3644082430447, 45, 64, 8), (2, 1, 89.13559175695531, 31, 62, 7.75)]},
    {"title": "PageRank with its skipped stages", "deadline_s": 250, "terms": XSPARK,
     "stages": sorted([planned(id, total, RECORDS[id], RECORDS[id] / total, parents) for id, (total, parents) in PAGERANK.items()] +
                      [planned(id, 0, parents=parents, skipped=True) for id, parents in SKIPPED.items()], key=lambda s: s["id"]),
     "plan": [(0, 4.872250991332361, 48.74543623111942, 48, 64, 8), (1, 12.910884787372396, 14.619800801994115, 20, 40, 5),
              (2, 5.704520364328097, 30.525750079848613, 27, 54, 6.75), (3, 4.142599703013364, 34.66639868258944, 29, 58, 7.25),
              (4, 7.809060832752226, 13.950795945592942, 18, 36, 4.5), (5, 2.7535056325552425, 34.49850152320314, 27, 54, 6.75),
              (6, 2.597945870135528, 23.28505664072844, 19, 38, 4.75), (7, None, 26.363956955495933, 21, 42, 5.25),
              (13, 1, 10.84430313942795, 7, 14, 1.75)]},
    {"title": "defaults", "deadline_s": 60, "terms": {}, "stages": [FIRST, SECOND],
     "plan": [(0, 1.732, 32.90993071593534, 4, 8, 1), (1, 1, 24.09006928406466, 3, 6, 0.75)]},
    {"title": "ids out of order", "deadline_s": 40, "terms": XSPARK,
     "stages": [planned(7, 33, 70000, 900, [9]), planned(2, 12, 4000, 311, [7]), planned(9, 51, 99000, 1234)],
     "plan": [(2, 6.35, 5.984251968503937, 3, 6, 0.75), (7, 2.3654545454545453, 13.534712849594799, 6, 12, 1.5),
              (9, 1, 18.481035181901262, 5, 10, 1.25)]},
]


@pytest.mark.parametrize("case", STAGE_PLANS, ids=title)
def test_stage_plans(client, case):
    reply = client.post("/v1/stage-plans", dict(case["terms"], deadline_s=case["deadline_s"], executors=4, cores_per_executor=16,
                                                stages=case["stages"]), 200).json()
    assert reply["feasible"]
    start = 0
    for (id, weight, deadline, cores, most, initial), found in zip(case["plan"], reply["stages"], strict=True):
        assert found["id"] == id and found["deadline_s"] == near(deadline) and found["start_s"] == near(start)
        assert weight is None or found["weight"] == near(weight)
        assert (found["estimated_cores"], found["max_allocable_cores"], found["initial_cores_per_executor"]) == (cores, most, near(initial))
        start += deadline
    assert start == near(0.95 * case["deadline_s"]), "the plan shares out alpha of the deadline"


@pytest.mark.parametrize("change,pointer", [
    ({"deadline_s": 0}, "/deadline_s"), ({"deadline_s": -5}, "/deadline_s"), ({"stages/1/parents": [7]}, "/stages/1/parents"),
    ({"stages": []}, "/stages"), ({"executors": 2.5}, "/executors"),
], ids=["deadline of 0", "negative deadline", "unknown parent", "no stages", "half an executor"])
def test_faults_of_stage_plans(client, change, pointer):
    body = dict(XSPARK, deadline_s=120, executors=4, cores_per_executor=16, stages=[dict(FIRST), dict(SECOND)])
    refusal = client.request("POST", "/v1/stage-plans", 422, json=changed(body, change)).json()
    assert any(e["pointer"].startswith(pointer) for e in refusal["errors"]), refusal


# --- cores of a worker ---


def asking(name, cores, time_s, tasks=40, rate=1e6):
    return {"name": name, "requested_cores": cores, "time_to_complete_s": time_s, "remaining_tasks": tasks, "nominal_rate": rate}


# Tables 3.2 to 3.6 of the thesis: 10, 8 and 12 cores wanted of 16. Of table 3.5 the printed figures are no shares of the requests.
THESIS = [asking("A", 10, 50), asking("B", 8, 60), asking("C", 12, 70, rate=5e5)]
FEW = [asking("A", 3, 50), asking("B", 2.5, 20, rate=5e5)]

# strategy, gamma, applications, contention, saturated cores, cores (None: the same), weights (None: not stated)
CONTENTION = {
    "table 3.2": ("edf_all", 1, THESIS, True, [16, 0, 0], None, None),
    "table 3.3": ("edf_pure", 1, THESIS, True, [10, 6, 0], None, None),
    "table 3.4": ("edf_proportional", 1, THESIS, True, [256 / 33, 16 / 3, 32 / 11], None, [32 / 33, 22 / 33, 12 / 33]),
    "table 3.5": ("proportional", 1, THESIS, True, [16 / 3, 64 / 15, 6.4], None, [1 / 3, 4 / 15, 0.4]),
    "table 3.6": ("speed", 1, THESIS, True, [4, 4, 8], None, [1, 1, 2]),
    "no contention and gamma 0: what was requested": ("edf_pure", 0, FEW, False, [96 / 11, 80 / 11], [3, 2.5], None),
    "no contention and gamma 0.5: half way": ("edf_proportional", 0.5, FEW, False, [96 / 11, 80 / 11], [129 / 22, 107.5 / 22], [1 / 32, 31 / 32]),
    "a lone application": ("edf_proportional", 1, [asking("only", 4, 10)], False, [16], None, [1]),
    "no request at all": ("proportional", 1, [asking("A", 0, 10), asking("B", 0, 20)], False, [0, 0], None, None),
    "equal times: order of the request": ("edf_pure", 1, [asking(n, 9, 30) for n in "ABC"], True, [9, 7, 0], None, None),
    "late first, at most its tasks": ("edf_all", 1, [asking("A", 4, -20, 5), asking("B", 20, 10, 6), asking("C", 1, 30, 100)], True,
                                      [5, 6, 5], None, None),
    "15.8 of 16 cores is below 0.99": ("edf_pure", 1, [asking("A", 7.8, 10, 30), asking("B", 8, 20, 30)], False,
                                       [7.8 * 16 / 15.8, 8 * 16 / 15.8], None, None),
    "as many as there are is no contention": ("proportional", 0.25, [asking("A", 10, 10, 30), asking("B", 6, 20, 30)], False, [10, 6], None,
                                              [0.625, 0.375]),
}


@pytest.mark.parametrize("case", CONTENTION.values(), ids=CONTENTION.keys())
def test_core_allocations(client, case):
    strategy, gamma, applications, contention, saturated, cores, weights = case
    reply = client.post("/v1/contention", {"strategy": strategy, "gamma": gamma, "max_cores": 16, "average_nominal_rate": 1e6,
                                           "applications": applications}, 200).json()
    assert reply["contention"] == contention and reply["requested_cores"] == near(sum(a["requested_cores"] for a in applications))
    found = reply["allocations"]
    assert [a["name"] for a in found] == [a["name"] for a in applications]
    assert [a["saturating_cores"] for a in found] == [near(v) for v in saturated]
    assert [a["cores"] for a in found] == [near(v) for v in cores or saturated]
    if weights is not None:
        assert [a["weight"] for a in found] == [near(w) for w in weights]
    elif strategy.startswith("edf_"):
        assert {a["weight"] for a in found} == {None}


@pytest.mark.parametrize("change,pointer", [
    ({"strategy": "edf_best"}, "/strategy"), ({"applications/1/requested_cores": -1}, "/applications/1/requested_cores"),
    ({"gamma": 1.5}, "/gamma"), ({"applications/0/requested_cores": True}, "/applications/0/requested_cores"),
    ({"applications/0/requested_cores": None}, "/applications/0"),
], ids=["unknown strategy", "negative request", "gamma above 1", "a boolean is no number", "a member is absent"])
def test_faults_of_core_allocations(client, change, pointer):
    body = {"strategy": "edf_pure", "gamma": 1, "max_cores": 16, "average_nominal_rate": 1e6,
            "applications": [asking("A", 10, 50), asking("B", 8, 60, rate=5e5)]}
    refusal = client.request("POST", "/v1/contention", 422, json=changed(body, change)).json()
    assert any(e["pointer"].startswith(pointer) for e in refusal["errors"]), refusal


# --- copy plans ---


def cluster(name, slots, speeds, lost=0.01, busy=0, ingress=1e12, egress=1e12):
    return {"name": name, "slots": slots, "busy_slots": busy, "unreachable_probability": lost, "ingress_bytes_per_s": ingress,
            "egress_bytes_per_s": egress, "processing": {"map": speeds}}


def link(sender, receiver, *distribution):
    return {"from": sender, "to": receiver, "distribution": list(distribution)}


def task(id, size_bytes, *inputs):
    return {"id": id, "operation": "map", "size_bytes": size_bytes, "inputs": list(inputs)}


def work(name, *tasks, unprocessed_bytes=None):
    return {"name": name, "unprocessed_bytes": unprocessed_bytes or sum(t["size_bytes"] for t in tasks), "tasks": list(tasks)}


FIXED, MIXED = [[4e6, 1]], [[5e6, 0.5], [1e7, 0.5]]
TAIL = [[1000, 0.9], [5e7, 0.1]]


def survives(duration_s, *lost, slot_s=1):
    """Probability that a task outlives the clusters of its copies."""
    return (1 - math.prod(lost)) ** math.ceil(duration_s / slot_s)


# copies: (job, task, cluster, round, rate); tasks: rate of all copies together and survival; waiting: {(job, task): reason}
COPY_PLANS = [
    {"title": "one local task in one round", "epsilon": 0.6, "max_rounds": 1, "clusters": [cluster("eu", 8, MIXED, busy=2)],
     "jobs": [work("j1", task("t1", 1e8, "eu"))], "copies": [("j1", "t1", "eu", 1, 7.5e6)],
     "tasks": {("j1", "t1"): (7.5e6, survives(1e8 / 7.5e6, 0.01))}, "shares": {"j1": 13}, "used": {"eu": (1, 0, 0)}},
    {"title": "the transfer limits the faster cluster", "epsilon": 1, "max_rounds": 1,
     "clusters": [cluster("eu", 2, MIXED), cluster("us", 2, FIXED)], "links": [link("us", "eu", [2e6, 0.3], [2e7, 0.7])],
     "jobs": [work("j1", task("t1", 1e8, "us"))], "copies": [("j1", "t1", "eu", 1, 5.85e6)],
     "tasks": {("j1", "t1"): (5.85e6, survives(1e8 / 5.85e6, 0.01))}, "shares": {"j1": 4},
     "used": {"eu": (1, 5.85e6, 0), "us": (0, 0, 5.85e6)}},
    {"title": "equal rates: order of the clusters, then a copy for reliability", "epsilon": 1,
     "clusters": [cluster("a", 1, FIXED, lost=0.1), cluster("b", 1, FIXED, lost=0.1)], "jobs": [work("j", task("t", 4e7))],
     "copies": [("j", "t", "a", 1, 4e6), ("j", "t", "b", 2, 4e6)], "tasks": {("j", "t"): (4e6, survives(10, 0.1, 0.1))},
     "shares": {"j": 2}, "used": {"a": (1, 0, 0), "b": (1, 0, 0)}},
    {"title": "where nothing is lost a second copy is not worth its slot", "epsilon": 1,
     "clusters": [cluster(n, 4, [[1e6, 0.5], [9e6, 0.5]], lost=0) for n in "ab"], "jobs": [work("j", task("t", 9e7))],
     "copies": [("j", "t", "a", 1, 5e6)], "tasks": {("j", "t"): (5e6, 1)}, "shares": {"j": 8}, "used": {"a": (1, 0, 0), "b": (0, 0, 0)}},
    {"title": "half of the jobs, in ascending size, until their share is used", "epsilon": 0.5, "clusters": [cluster("a", 2, FIXED)],
     "jobs": [work("big", task("t1", 9e8), task("t2", 9e8)), work("small", *(task("t%d" % i, 1e7) for i in (1, 2, 3)))],
     "copies": [("small", "t1", "a", 1, 4e6), ("small", "t2", "a", 1, 4e6)],
     "tasks": {("small", t): (4e6, survives(2.5, 0.01)) for t in ("t1", "t2")},
     "waiting": {("big", "t1"): "not_admitted", ("big", "t2"): "not_admitted", ("small", "t3"): "share_used"}, "shares": {"small": 2},
     "used": {"a": (2, 0, 0)}},
    {"title": "three of six slots for each of two jobs", "epsilon": 1, "clusters": [cluster("a", 3, FIXED), cluster("b", 3, FIXED, lost=0.3)],
     "jobs": [work("x", *(task("t%d" % i, 8e6) for i in range(5))), work("y", *(task("t%d" % i, 9e6) for i in range(5)))],
     "copies": [("x", "t%d" % i, "a", 1, 4e6) for i in range(3)] + [("y", "t%d" % i, "b", 1, 4e6) for i in range(3)],
     "tasks": dict([(("x", "t%d" % i), (4e6, survives(2, 0.01))) for i in range(3)] +
                   [(("y", "t%d" % i), (4e6, survives(2.25, 0.3))) for i in range(3)]),
     "waiting": {(j, t): "share_used" for j in "xy" for t in ("t3", "t4")}, "shares": {"x": 3, "y": 3},
     "used": {"a": (3, 0, 0), "b": (3, 0, 0)}},
    {"title": "a cluster below the floor", "epsilon": 0.8, "clusters": [cluster("fast", 1, [[1e7, 1]]), cluster("slow", 5, [[1e6, 1]])],
     "jobs": [work("j", task("t1", 1e8), task("t2", 1e8))], "copies": [("j", "t1", "fast", 1, 1e7)],
     "tasks": {("j", "t1"): (1e7, survives(10, 0.01))}, "waiting": {("j", "t2"): "rate_below_floor"}, "shares": {"j": 7},
     "used": {"fast": (1, 0, 0), "slow": (0, 0, 0)}},
    {"title": "a third copy of a heavy tail saves slots", "epsilon": 1,
     "clusters": [cluster("a", 2, TAIL, lost=0.3), cluster("b", 2, [[3e6, 1]], lost=0.001), cluster("c", 2, TAIL, lost=0.3)],
     "jobs": [work("j", task("t", 1.03e9))],
     "copies": [("j", "t", "a", 1, 5000900), ("j", "t", "b", 2, 3e6), ("j", "t", "a", 3, 5000900)],
     "tasks": {("j", "t"): (0.19 * 5e7 + 0.81 * 3e6, survives(1.03e9 / 11930000, 0.3, 0.001))}, "shares": {"j": 6},
     "used": {"a": (2, 0, 0), "b": (1, 0, 0), "c": (0, 0, 0)}},
    {"title": "a gate is full after the first copy", "epsilon": 1, "max_rounds": 2,
     "clusters": [cluster("eu", 4, MIXED, ingress=1e7), cluster("us", 1, FIXED, busy=1, egress=1e9)], "links": [link("us", "eu", [6e6, 1])],
     "jobs": [work("j", *(task("t%d" % i, 1e8, "us") for i in range(3)))], "copies": [("j", "t0", "eu", 1, 5.5e6)],
     "tasks": {("j", "t0"): (5.5e6, survives(1e8 / 5.5e6, 0.01))}, "waiting": {("j", "t1"): "bandwidth", ("j", "t2"): "bandwidth"},
     "shares": {"j": 5}, "used": {"eu": (1, 5.5e6, 0), "us": (0, 0, 5.5e6)}},
    {"title": "local and remote inputs in slots of 2.5 s", "epsilon": 1, "slot_s": 2.5,
     "clusters": [cluster("eu", 6, MIXED), cluster("us", 6, FIXED)],
     "links": [link("us", "eu", [3e6, 1]), link("eu", "us", [3.5e6, 0.5], [1e6, 0.5])],
     "jobs": [work("j", task("t1", 1e8, "us", "eu"), task("t2", 1e8, "eu"), task("t3", 1e8, "us"))],
     "copies": [("j", "t1", "eu", 1, 3e6), ("j", "t2", "eu", 1, 7.5e6), ("j", "t3", "us", 1, 4e6), ("j", "t1", "us", 2, 2.25e6),
                ("j", "t3", "eu", 2, 3e6), ("j", "t2", "eu", 2, 7.5e6)],
     "tasks": {("j", "t1"): (3.25e6, survives(1e8 / 3.25e6, 0.01, 0.01, slot_s=2.5)),
               ("j", "t2"): (8.75e6, survives(1e8 / 8.75e6, 0.01, slot_s=2.5)),
               ("j", "t3"): (4e6, survives(25, 0.01, 0.01, slot_s=2.5))}, "shares": {"j": 12},
     "used": {"eu": (4, 4.5e6, 1.125e6), "us": (2, 1.125e6, 4.5e6)}},
    {"title": "of ten equal jobs the first two are admitted", "epsilon": 0.2, "clusters": [cluster("a", 10, FIXED)],
     "jobs": [work("j%d" % i, task("t1", 1e7), task("t2", 1e7), unprocessed_bytes=5e7) for i in range(10)],
     "copies": [("j%d" % i, t, "a", 1, 4e6) for i in (0, 1) for t in ("t1", "t2")],
     "tasks": {("j%d" % i, t): (4e6, survives(2.5, 0.01)) for i in (0, 1) for t in ("t1", "t2")},
     "waiting": {("j%d" % i, t): "not_admitted" for i in range(2, 10) for t in ("t1", "t2")}, "shares": {"j0": 5, "j1": 5},
     "used": {"a": (4, 0, 0)}},
]


@pytest.mark.parametrize("case", COPY_PLANS, ids=title)
def test_copy_plans(client, case):
    sizes = {(j["name"], t["id"]): t["size_bytes"] for j in case["jobs"] for t in j["tasks"]}
    reply = client.post("/v1/copy-plans", {"epsilon": case["epsilon"], "slot_s": case.get("slot_s", 1), "max_rounds": case.get("max_rounds", 8),
                                           "clusters": case["clusters"], "bandwidth": case.get("links", []), "jobs": case["jobs"]}, 200).json()
    found = {(c["job"], c["task"], c["cluster"], c["round"]): (c["rate_bytes_per_s"], c["expected_duration_s"]) for c in reply["copies"]}
    assert found == {c[:4]: (near(c[4]), near(sizes[c[:2]] / c[4])) for c in case["copies"]}
    assert len(reply["copies"]) == len(case["copies"])
    tasks = {(t["job"], t["task"]): t for t in reply["tasks"]}
    for key, (rate, survival) in case["tasks"].items():
        assert tasks[key]["rate_bytes_per_s"] == near(rate) and tasks[key]["expected_duration_s"] == near(sizes[key] / rate)
        assert tasks[key]["exemption_probability"] == near(survival)
        assert tasks[key]["clusters"] == [c[2] for c in case["copies"] if c[:2] == key]
    assert {(w["job"], w["task"]): w["reason"] for w in reply["waiting"]} == case.get("waiting", {})
    shares = {s["job"]: s["slots"] for s in reply["shares"]}
    assert {j: shares[j] for j in case["shares"]} == case["shares"]
    assert {u["cluster"]: (u["slots_used"], near(u["ingress_bytes_per_s"]), near(u["egress_bytes_per_s"])) for u in reply["utilization"]} \
        == case["used"]


@pytest.mark.parametrize("change,pointer", [
    ({"clusters/0/processing/map/1/1": 0.4}, "/clusters/0/processing/map"), ({"epsilon": 0}, "/epsilon"), ({"epsilon": 1.2}, "/epsilon"),
    ({"clusters/0/busy_slots": 9}, "/clusters/0/busy_slots"), ({"jobs/0/tasks/0/inputs": ["mars"]}, "/jobs/0/tasks/0/inputs"),
], ids=["probabilities that do not add up to 1", "epsilon 0", "epsilon above 1", "more slots busy than there are", "input in an unknown cluster"])
def test_faults_of_copy_plans(client, change, pointer):
    body = {"epsilon": 0.6, "clusters": [cluster("eu", 8, [list(p) for p in MIXED], busy=2), cluster("us", 8, FIXED, lost=0.02)],
            "bandwidth": [link("us", "eu", [2e6, 1]), link("eu", "us", [2e6, 1])], "jobs": [work("j1", task("t1", 1e8, "us"))]}
    refusal = client.request("POST", "/v1/copy-plans", 422, json=changed(body, change)).json()
    assert any(e["pointer"].startswith(pointer) for e in refusal["errors"]), refusal


# --- fits ---


def fit(client, model, observations):
    return client.post("/v1/models/fit", {"model": model, "observations": observations}, 200).json()


def estimates(reply):
    return {name: p["estimate"] for name, p in reply["parameters"].items() if isinstance(p, dict)}


def usba(t0, t1, alpha, beta, gamma, epsilon, theta, sizes, least_executors):
    """Exact durations of the law, on every power of two of executors down to an eighth of the size."""
    for n in sizes:
        m = n
        while m >= max(least_executors, n // 8):
            start = t0 * (1 - epsilon + epsilon * min(m, theta))
            work_s = t1 * ((1 - beta - gamma) + alpha * math.log(n / m) + beta * m + gamma * n)
            yield {"problem_size": n, "executors": m, "duration_s": start + work_s, "initialization_s": start}
            m //= 2


@pytest.mark.parametrize("reference,law,sizes", [
    ("measured", dict(t0=9, t1=20, alpha=1.58, beta=0.051, gamma=-0.006, epsilon=0.044, theta=19.09), (1, 2, 4, 8, 16, 32, 64)),
    ("extrapolated", dict(t0=12.5, t1=31, alpha=2.505, beta=0.106, gamma=-0.022, epsilon=0.04, theta=19.516), (8, 16, 32, 64, 128)),
])
def test_usba_gives_back_the_law_of_exact_durations(client, reference, law, sizes):
    observations = list(usba(sizes=sizes, least_executors=1, **law))
    reply = fit(client, "usba", observations)
    found = estimates(reply)
    assert reply["reference"] == reference and reply["fit"]["observations"] == len(observations)
    for name in ("alpha", "beta", "gamma", "epsilon"):
        assert found[name] == near(law[name], 1e-5), name
    assert found["theta"] == near(law["theta"], 1e-4)
    assert (found["initialization_s"], found["parallel_s"]) == (near(law["t0"], 1e-5), near(law["t1"], 1e-5))
    assert reply["fit"]["mape_percent"] == near(0, 1e-3) and reply["fit"]["max_error_percent"] == near(0, 1e-3)


SHAPES = [(1, 1), (8, 2), (8, 4), (8, 8), (64, 32), (64, 64), (96, 48), (96, 96), (128, 32), (128, 64), (128, 128), (192, 48), (192, 96),
          (192, 192), (256, 64), (256, 128), (256, 256)]


@pytest.mark.parametrize("speedups,published", [
    ([1, 2.2, 3.3, 4.2, 17, 15.8, 23.3, 18.1, 23.6, 25.1, 16.7, 34, 31.6, 18.4, 38.8, 32.1, 16.8], 8.14),
    ([1, 1.8, 2.2, 2.9, 12.3, 10, 16, 11.4, 21.8, 18.7, 12.8, 28.9, 22, 13.5, 33.9, 21.6, 14], 4.87),
], ids=["first application", "second application"])
def test_usba_of_measured_speedups_errs_no_more_than_the_paper(client, speedups, published):
    """Table 3.3 of the paper's thesis: speedups measured of two applications, and the mean error of the paper's own fit."""
    reply = fit(client, "usba", [{"problem_size": n, "executors": m, "speedup": s} for (n, m), s in zip(SHAPES, speedups, strict=True)])
    assert reply["reference"] == "ratio" and reply["fit"]["observations"] == 17 and reply["fit"]["mape_percent"] <= published


GRID = [(n, m) for n in (4, 16, 64) for m in (1, 2, 4, 8, 16)]
NOISY = [29.09401324022844, 18.025609844016948, 19.226567969950825, 18.994326954338522, 22.226057002376084, 67.662657702233,
         37.45815304160275, 28.992705861045305, 23.72646791160894, 29.58025231001699, 239.06879776835405, 123.4507412539536,
         70.32961603863085, 44.26949911176282, 33.973548352438904]
FALLING = [64.32, 51.161, 41.921, 37.522, 33.802, 136.02, 86.861, 61.121, 46.222, 38.002, 424.32, 231.161, 131.921, 82.522, 56.302]


@pytest.mark.parametrize("durations,parameters,errors", [
    ([12 + 3.5 * n / m + 1.25 * math.log(m) + 0.4 * m for n, m in GRID], (12, 3.5, 1.25, 0.4), (0, 0, 0)),
    (NOISY, (11.042600785860685, 3.5289266852608696, 0, 0.7108299413810895), (4.866324086477722, 12.290110776259015, 6.4463695267939825)),
    (FALLING, (35.41897991967872, 6.09458249588215, 0, 0), (3.7388016541655347, 9.291241771638534, 4.141975529008603)),
], ids=["exact", "with noise", "where free coefficients would be negative"])
def test_ernest(client, durations, parameters, errors):
    reply = fit(client, "ernest", [{"problem_size": n, "executors": m, "duration_s": d} for (n, m), d in zip(GRID, durations, strict=True)])
    assert [estimates(reply)[k] for k in "abcd"] == [near(p, 1e-5) for p in parameters]
    assert [reply["fit"][k] for k in ("mape_percent", "max_error_percent", "loo_mape_percent")] == [near(e, 1e-5) for e in errors]


def test_amdahl_and_gustafson_give_back_their_share(client):
    fixed = [{"problem_size": 64, "executors": m, "duration_s": 200 * (0.1 + 0.9 / m)} for m in (1, 2, 4, 8, 16, 32)]
    assert estimates(fit(client, "amdahl", fixed))["eta"] == near(0.9, 1e-5)
    scaled = [{"problem_size": 4 * m, "executors": m, "speedup": 0.8 * m + 0.2} for m in (1, 2, 3, 8, 20, 64, 128)]
    assert estimates(fit(client, "gustafson", scaled))["eta"] == near(0.8, 1e-5)


def test_ipso_finds_the_overhead_of_collaborative_filtering(client):
    """Table 2.1 of the thesis: overhead that grows with the square of the executors, and a peak near 60 of them."""
    reply = fit(client, "ipso", [{"n": n, "max_task_s": longest, "serial_s": 0, "induced_s": induced} for n, longest, induced in
                                 ((10, 209, 5.5), (30, 79.3, 17.7), (60, 43.7, 36), (90, 31.1, 54.3))])
    assert reply["scaling_type"] == "IVs" and estimates(reply)["gamma"] == near(2, 0.05)
    assert reply["peak"]["executors"] == near(61, 0.1) and reply["peak"]["speedup"] == near(19.7130282461951, 0.08)


def test_ipso_gives_back_an_exponent_of_the_overhead(client):
    reply = fit(client, "ipso", [{"n": n, "parallel_s": 500, "serial_s": 0, "max_task_s": 500 / n, "induced_s": n ** 0.6}
                                 for n in (2, 4, 8, 16, 32, 64, 128)])
    assert reply["scaling_type"] == "IVs" and estimates(reply)["gamma"] == near(1.6, 1e-3)


@pytest.mark.parametrize("change,pointer", [
    ({"model": "magic"}, "/model"), ({"observations/2/executors": "four"}, "/observations/2/executors"),
    ({"observations/1/speedup": 0}, "/observations/1/speedup"), ({"observations": [{"problem_size": 8, "executors": 2, "speedup": 2.2}]}, "/observations"),
], ids=["unknown model", "a number as text", "a speedup of 0", "too few observations"])
def test_faults_of_fits(client, change, pointer):
    body = {"model": "usba", "observations": [{"problem_size": n, "executors": m, "speedup": s} for n, m, s in (
        (8, 1, 1), (8, 2, 1.8), (8, 4, 2.9), (8, 8, 4), (64, 8, 6.1), (64, 16, 11), (64, 32, 15.3), (64, 64, 13.4))]}
    refusal = client.request("POST", "/v1/models/fit", 422, json=changed(body, change)).json()
    assert any(e["pointer"].startswith(pointer) for e in refusal["errors"]), refusal


@pytest.mark.parametrize("body, says", [
    ({"deadline_s": 0}, "deadline_s must be greater than 0, is 0"), ({"deadline_s": -1}, "deadline_s must be greater than 0, is -1"),
    ({"problem_size": 0}, "problem_size must be greater than 0, is 0"), ({"deadline_s": 1e-10}, "deadline_s must be at least 0.000000001, is 0.0000000001"),
    ({"confidence": 0}, "confidence must be greater than 0, is 0")])
def test_a_bound_that_only_keeps_quotients_finite_is_not_quoted(client, body, says):
    assert client.post("/v1/advice?dry_run=true", {"application": "nothing", **body}, 422).json()["detail"].startswith(says)

"""POST /v1/speculation-decisions through the door: both kinds, faults, limits, warnings."""
import copy
import json

import pytest

PATH = "/v1/speculation-decisions"


def task(name, elapsed, progress, **more):
    return {"id": name, "type": "m", "elapsed_s": elapsed, "progress": progress, **more}


def node(name, mean, running=(), **more):
    finished = [{"type": "m", "tasks": 5, "mean_s": mean, "deviation_s": 1}]
    return {"name": name, "containers": 4, "free_containers": 1, "finished": finished, "running": list(running), **more}


# A fast node, five times slower than it should be, is still faster than the slow ones.
NODES = [node("slow-1", 80, [task("a", 40, 0.5, progress_rate_per_s=0.0125)]), node("slow-2", 82), node("slow-3", 81),
         node("fast-1", 10, [task("b", 25, 0.5, progress_rate_per_s=0.02)]), node("fast-2", 10.2), node("fast-3", 10.1, free_containers=2)]
BODY = {"kind": "esplash", "nodes": NODES}


def changed(**change):
    return dict(copy.deepcopy(BODY), **change)


def with_node(index, **change):
    body = copy.deepcopy(BODY)
    body["nodes"][index].update(change)
    return body


def codes(answer):
    return [w["code"] for w in answer["warnings"]]


def test_esplash_compares_nodes_of_a_level_and_late_all_with_all(client):
    answer = client.post(PATH, BODY, 200).json()
    assert answer["action"] == {"task": "b", "node": "fast-1", "min_level": 2, "host": "fast-3", "value_s": pytest.approx(answer["candidates"][0]["value_s"])}
    assert [n["name"] for n in answer["nodes"] if n["straggler"]] == ["fast-1"] and answer["highest_level"] == 2
    assert [n["level"] for n in answer["nodes"]] == [1, 1, 1, 2, 2, 2] and answer["silhouette"] > 0.9
    assert [len(g) for g in answer["groups"]] == [1] * 6 and answer["warnings"] == []
    given = client.post(PATH, changed(nodes=[dict(n, level=i // 3 + 1) for i, n in enumerate(NODES)]), 200).json()
    assert (given["action"], given["groups"], given["silhouette"]) == (answer["action"], None, None)
    late = client.post(PATH, changed(kind="late"), 200).json()
    assert [c["task"] for c in late["candidates"]] == ["a", "b"]
    assert late["candidates"][0]["remaining_s"] == 40 and late["action"]["task"] is None
    # Had the slow node a little more to do, late would send it a copy, which eSplash knows to be of no use.
    body = with_node(0, running=[task("a", 32, 0.4)])
    assert client.post(PATH, dict(body, kind="late"), 200).json()["action"]["task"] == "a"
    assert client.post(PATH, body, 200).json()["action"]["task"] == "b"


def test_what_is_not_known_is_named(client):
    answer = client.post(PATH, with_node(1, finished=[], running=[task("c", 5, 0, type="q")]), 200).json()
    assert codes(answer) == ["no_common_task_types", "types_without_finished_tasks"] and answer["highest_level"] == 1
    assert answer["warnings"][0]["evidence"] == {"nodes_without_finished_tasks": 1, "node": "slow-2", "types_of_one_node": 0}
    assert answer["warnings"][1]["evidence"] == {"count": 1, "type": "q"}
    body = with_node(1, finished=[], containers=0, free_containers=0, running=[task("c", 5, 0)])
    body["nodes"][0]["finished"].append({"type": "r", "tasks": 1, "mean_s": 5})
    late = client.post(PATH, dict(body, kind="late"), 200).json()
    assert codes(late) == ["nodes_without_finished_tasks", "types_of_one_node", "more_tasks_than_containers"]
    assert [w["evidence"]["node"] for w in late["warnings"]] == ["slow-2", "slow-1", "slow-2"]
    assert late["candidates"][1] == {"task": "c", "node": "slow-2", "remaining_s": None, "copy_s": late["candidates"][0]["copy_s"], "value_s": None}


@pytest.mark.parametrize("body, faults", [
    (changed(kind="mantri"), {"/kind": "not_allowed"}),
    ({"nodes": NODES}, {"/kind": "required"}),
    (changed(kind="late", threshold=3, level_count="auto"), {"/threshold": "unknown_field", "/level_count": "unknown_field"}),
    (changed(nodes=[]), {"/nodes": "too_few_items"}),
    (changed(level_count=7), {"/level_count": "out_of_range"}),
    (changed(level_count=0), {"/level_count": "out_of_range"}),
    (changed(level_count="many"), {"/level_count": "not_allowed"}),
    (changed(level_count=2, nodes=[dict(n, level=1) for n in NODES]), {"/level_count": "conflict"}),
    (changed(weights=[1]), {"/weights": "too_few_items"}),
    (changed(weights=[1, -1], threshold=-1, deviation_floor=0, ratio_cap=0.5),
     {"/weights/1": "out_of_range", "/threshold": "out_of_range", "/deviation_floor": "out_of_range", "/ratio_cap": "out_of_range"}),
    (with_node(2, level=3), {"/nodes/%d/level" % i: "required" for i in (0, 1, 3, 4, 5)}),
    (with_node(2, name="slow-1", free_containers=5), {"/nodes/2/name": "duplicate", "/nodes/2/free_containers": "out_of_range"}),
    (with_node(1, running=[task("b", 1, 0), task("d", -1, 1.1, copy="maybe", is_copy=1)]),
     {"/nodes/3/running/0/id": "duplicate", "/nodes/1/running/1/elapsed_s": "out_of_range", "/nodes/1/running/1/progress": "out_of_range",
      "/nodes/1/running/1/copy": "not_allowed", "/nodes/1/running/1/is_copy": "wrong_type"}),
    (with_node(1, finished=[{"type": "m", "tasks": 1, "mean_s": 5}, {"type": "m", "tasks": 0, "mean_s": 0}]),
     {"/nodes/1/finished/1/type": "duplicate", "/nodes/1/finished/1/tasks": "out_of_range", "/nodes/1/finished/1/mean_s": "out_of_range"}),
])
def test_faults(client, body, faults):
    problem = client.refuse("POST", PATH, 422, json=body)
    assert {f["pointer"]: f["code"] for f in problem["errors"]} == faults


def test_limits(make_service):
    service = make_service(PROVISOR_SPECULATION_NODES_MAX=7, PROVISOR_SPECULATION_AUTO_NODES_MAX=6, PROVISOR_SPECULATION_TASKS_MAX=2, PROVISOR_SPECULATION_TYPES_MAX=2)
    token = service.token("limits")
    service.start()
    client = service.client(token)
    client.post(PATH, BODY, 200)
    more = NODES + [node("more", 10)]
    client.refuse("POST", PATH, 422, pointer="/level_count", json=changed(nodes=more))
    client.post(PATH, changed(nodes=more, level_count=2), 200)
    client.refuse("POST", PATH, 422, pointer="/nodes", json=changed(nodes=more + [node("again", 10)], level_count=2))
    client.refuse("POST", PATH, 422, pointer="/nodes/4/running", json=with_node(4, running=[task("c", 1, 0)]))
    body = with_node(3, running=[task("b", 1, 0, type="q")])
    client.post(PATH, body, 200)
    body["nodes"][5]["finished"][0]["type"] = "r"
    problem = client.refuse("POST", PATH, 422, pointer="/nodes/5", json=body)
    assert problem["errors"][0]["code"] == "too_many_items"


def replay(client, *states, **params):
    body = "".join(json.dumps(state) + "\n" for state in states).encode()
    reply = client.post(PATH, None, 200, data=body, params=params, headers={"Content-Type": "application/x-ndjson"})
    lines = [json.loads(line) for line in reply.text.splitlines()]
    return lines[:-1], lines[-1]["summary"]


def test_a_log_is_decided_on_and_its_contradictions_are_named(client):
    later = [task("x", 1, 0.1), task("a", 39, 0.6, progress_rate_per_s=0.0125)]
    second = dict(with_node(0, running=later), taken={"task": "b", "host": "fast-3"})
    third = dict(with_node(0, running=[task("a", 50, 0.4)]), kind="late", taken={"task": None})
    fourth = dict(third, taken={"task": "b"})
    states = (BODY, second, changed(nodes=[]), third, fourth)
    lines, summary = replay(client, *states)
    alone = [client.post(PATH, {k: v for k, v in s.items() if k != "taken"}, 200).json() for s in (BODY, second, third)]
    assert [line["action"] for line in lines if "action" in line] == [a["action"] for a in alone] + [alone[2]["action"]]
    assert [line.get("differs") for line in lines] == [None, False, None, True, True] and lines[2]["error"]["status"] == 422
    assert [[w["code"] for w in line.get("warnings", [])] for line in lines] == [[], ["elapsed_fell"], [], ["progress_fell"], []]
    assert lines[1]["warnings"][0]["evidence"] == {"count": 1, "task": "a"}
    assert (summary["lines"], summary["refused"], summary["recorded"], summary["different"], summary["contradicting"]) == (5, 1, 3, 2, 2)
    assert [(d["kind"], d["choice"], d["rule"], d["count"]) for d in summary["decisions"]] == [("esplash", "copy", None, 2), ("late", "copy", None, 2)]
    assert replay(client, *states, lines="none") == ([], summary)
    assert [line["line"] for line in replay(client, *states, lines="different")[0]] == [2, 3, 4, 5]
    assert replay(client, BODY, include="figures")[0][0]["decision"] == alone[0]


def test_a_number_of_levels_takes_no_more_comparisons_than_auto(client):
    """Each of 10,000 nodes would be compared with each of 9,000 centres of levels: minutes of work for one small request."""
    nodes = [node(f"n{i}", 10 + i % 7) for i in range(1000)]
    assert client.post(PATH, {"kind": "esplash", "level_count": 1000, "nodes": nodes}, 200).json()["highest_level"] == 7
    nodes = [{"name": f"n{i}", "containers": 1, "finished": [], "running": []} for i in range(10000)]
    assert client.post(PATH, {"kind": "esplash", "level_count": 8, "nodes": nodes}, 200).json()["highest_level"] == 1
    [error] = client.post(PATH, {"kind": "esplash", "level_count": 401, "nodes": nodes}, 422).json()["errors"]
    assert (error["pointer"], error["code"]) == ("/level_count", "out_of_range")
    assert "nodes x levels may be at most 4000000 (the square of speculation_auto_nodes_max), they are 4010000" in error["detail"]

"""What a plan says of its copies, worked out by hand: what each buys, what is taken of slots and gates, and why tasks wait."""
import pytest


def cluster(name, slots, lost, speeds, **more):
    return dict({"name": name, "slots": slots, "unreachable_probability": lost, "processing": {"map": speeds}}, **more)


def task(name="t", size=100, **more):
    return dict({"id": name, "operation": "map", "size_bytes": size}, **more)


def plan_of(client, clusters, tasks, links=(), **more):
    return client.post("/v1/copy-plans", dict({
        "epsilon": 1, "clusters": clusters, "bandwidth": [{"from": a, "to": b, "distribution": d} for a, b, d in links],
        "jobs": [{"name": "j", "unprocessed_bytes": 1000, "tasks": tasks}]}, **more), 200).json()


def used(plan):
    return {u["cluster"]: (u["slots_used"], u["ingress_bytes_per_s"], u["egress_bytes_per_s"]) for u in plan["utilization"]}


A = cluster("a", 2, 0.1, [[10, 1]])
B = cluster("b", 1, 0.2, [[5, 0.5], [15, 0.5]])


def test_what_the_second_copy_buys(client):
    """Alone in a: 100/10 = 10 s, outlived with 0.9^10. With b beside it E[max] is (10 + 15)/2 = 12.5: 8 s, 0.98^8. A third copy,
    again in a, changes the rate of no outcome and is not made."""
    plan = plan_of(client, [A, B], [task()])
    first, second = plan["copies"]
    assert (first["cluster"], first["round"], second["cluster"], second["round"]) == ("a", 1, "b", 2)
    assert first["rate_bytes_per_s"] == 10 and first["expected_duration_s"] == 10
    assert first["saved_s"] is None and first["exemption_gain"] is None
    assert second["rate_bytes_per_s"] == 10 and second["expected_duration_s"] == 10, "of that copy alone"
    assert second["saved_s"] == pytest.approx(2)
    assert second["exemption_gain"] == pytest.approx(0.98 ** 8 - 0.9 ** 10)
    assert plan["tasks"] == [{"job": "j", "task": "t", "clusters": ["a", "b"], "rate_bytes_per_s": pytest.approx(12.5),
                              "expected_duration_s": pytest.approx(8), "exemption_probability": pytest.approx(0.98 ** 8)}]
    assert used(plan) == {"a": (1, 0, 0), "b": (1, 0, 0)} and plan["shares"] == [{"job": "j", "slots": 3}]


def test_a_copy_that_runs_is_the_first(client):
    """What is granted beside it is told by what it adds to it, and takes all that the plan takes."""
    plan = plan_of(client, [dict(A, busy_slots=1), B], [task(copies=["a"])])
    assert [(c["cluster"], c["saved_s"], c["exemption_gain"]) for c in plan["copies"]] == [
        ("b", pytest.approx(2), pytest.approx(0.98 ** 8 - 0.9 ** 10))]
    assert plan["tasks"][0]["clusters"] == ["a", "b"] and used(plan) == {"a": (0, 0, 0), "b": (1, 0, 0)}


def test_a_longer_slot_of_time_has_fewer_of_them(client):
    """8 s are four slots of 2 s, 10 s five."""
    plan = plan_of(client, [A, B], [task()], slot_s=2)
    assert plan["slot_s"] == 2 and plan["copies"][1]["exemption_gain"] == pytest.approx(0.98 ** 4 - 0.9 ** 5)


SOURCES = [cluster("x", 0, 0, [[10, 1]]), cluster("y", 0, 0, [[10, 1]])]
LINKS = [("x", "z", [[4, 0.5], [8, 0.5]]), ("y", "z", [[10, 1]])]


def test_gates_are_used_by_the_share_of_remote_inputs(client):
    """From x and y at once: the mean of both links is 7 or 9, less than the 10 of the processing; 8 of both comes in at z, half from
    each. With one of two inputs in z itself the link alone counts, 6, and half of that comes in."""
    z = cluster("z", 1, 0, [[10, 1]])
    plan = plan_of(client, SOURCES + [z], [task(size=80, inputs=["x", "y"])], LINKS)
    assert plan["copies"][0]["rate_bytes_per_s"] == pytest.approx(8) and plan["copies"][0]["expected_duration_s"] == pytest.approx(10)
    assert used(plan) == {"x": (0, 0, 4), "y": (0, 0, 4), "z": (1, 8, 0)}
    plan = plan_of(client, SOURCES + [z], [task(size=80, inputs=["x", "z"])], LINKS)
    assert plan["copies"][0]["rate_bytes_per_s"] == pytest.approx(6) and used(plan) == {"x": (0, 0, 3), "y": (0, 0, 0), "z": (1, 3, 0)}


def test_a_gate_that_is_full_makes_the_next_task_wait(client):
    """Each takes 8 of the 12 that fit through the gate of z."""
    z = cluster("z", 2, 0, [[10, 1]], ingress_bytes_per_s=12)
    tasks = [task("t1", 80, inputs=["x", "y"]), task("t2", 80, inputs=["x", "y"])]
    plan = plan_of(client, SOURCES + [z], tasks, LINKS)
    assert [c["task"] for c in plan["copies"]] == ["t1"]
    assert plan["waiting"] == [{"job": "j", "task": "t2", "reason": "bandwidth"}] and used(plan)["z"] == (1, 8, 0)


def test_what_is_too_slow_is_not_granted(client):
    """The only idle slot is below 10/(1 + 0.5)."""
    plan = plan_of(client, [dict(A, busy_slots=2), cluster("c", 1, 0, [[6, 1]])], [task()], epsilon=0.5)
    assert plan["waiting"] == [{"job": "j", "task": "t", "reason": "rate_below_floor"}] and plan["copies"] == []


def test_a_share_that_is_used_up(client):
    """Two jobs of five slots and epsilon 1: two slots each, the third task of the first waits although a slot is idle."""
    jobs = [{"name": n, "unprocessed_bytes": b, "tasks": [task("t%d" % i) for i in range(3)]} for n, b in (("big", 9), ("small", 5))]
    plan = client.post("/v1/copy-plans", {"epsilon": 1, "clusters": [cluster("one", 5, 0, [[10, 1]])], "jobs": jobs}, 200).json()
    assert plan["shares"] == [{"job": "small", "slots": 2}, {"job": "big", "slots": 2}]
    assert sorted((w["job"], w["task"], w["reason"]) for w in plan["waiting"]) == [("big", "t2", "share_used"), ("small", "t2", "share_used")]
    assert used(plan) == {"one": (4, 0, 0)}

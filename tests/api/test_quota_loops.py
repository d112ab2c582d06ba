"""Quota loops: settings, samples, their order and repetition, executors that come, begin stages and go, applications that
end, grants, limits, and two replicas that take samples of one loop in turn."""
import copy
import json
import random
import threading
import urllib.parse
import uuid

import pytest

LOOPS = "/v1/quota-loops"
SETTINGS = {"workers": [{"name": "w1", "cores": 16}],
            "applications": [{"name": "A", "release_s": 0, "deadline_s": 120}, {"name": "B", "release_s": 10, "deadline_s": 60}]}
DEFAULTS = {"strategy": "proportional", "gamma": 1, "average_nominal_rate": 1e6, "cgroup": None,
            "controller": {"gain": 50, "integral_time_s": 12, "sample_s": 1, "core_quantum": 0.05, "core_min": 0}}


def settings(**more):
    return {**copy.deepcopy(SETTINGS), **more}


def at(name):
    return LOOPS + "/" + urllib.parse.quote(name, safe="")


def begin(id="a", application="A", worker="w1", stage=0, tasks=200, stage_deadline_s=50, completed_tasks=0, **more):
    """An executor that is not known yet."""
    return {"id": id, "application": application, "worker": worker, "stage": stage, "tasks": tasks,
            "stage_deadline_s": stage_deadline_s, "completed_tasks": completed_tasks, **more}


def go_on(id="a", completed_tasks=0, stage=0, **more):
    return {"id": id, "stage": stage, "completed_tasks": completed_tasks, **more}


def sample(sequence, at_s, *executors, **more):
    return {"sequence": sequence, "at_s": at_s, "executors": list(executors), **more}


class Loop:
    """A loop of a team of its own."""

    def __init__(self, client, name="nightly", **more):
        self.client, self.name = client, name
        self.made = client.put(at(name), settings(**more), 201).json()

    def take(self, body, status=200, **kwargs):
        return self.client.post(at(self.name) + "/samples", body, status, **kwargs).json()

    def put(self, **more):
        return self.client.put(at(self.name), settings(**more), 200).json()

    def refuse(self, body, **faults):
        """A sample that is 422, with just these codes by pointer; where the loop stands is as before."""
        before = self.state()
        problem = self.client.refuse("POST", at(self.name) + "/samples", 422, json=body)
        assert {e["pointer"]: e["code"] for e in problem["errors"]} == faults
        assert self.state() == before

    def conflict(self, body):
        before = self.state()
        assert self.client.refuse("POST", at(self.name) + "/samples", 409, json=body)["type"].endswith("/conflict")
        assert self.state() == before

    def state(self):
        return self.client.get(at(self.name)).json()

    def standing(self):
        return self.state()["sequence"], self.state()["at_s"]


@pytest.fixture
def team():
    return "loops-" + uuid.uuid4().hex[:8]


@pytest.fixture
def lonely(service, team):
    return service.client(service.token(team))


@pytest.fixture
def loop(lonely):
    return Loop(lonely)


# --- settings ---


def test_what_is_put_is_read_with_defaults(lonely):
    made = lonely.put(at("nightly"), SETTINGS, 201)
    assert made.headers["Location"] == at("nightly")
    body = made.json()
    assert {k: body[k] for k in DEFAULTS} == DEFAULTS and body["workers"] == SETTINGS["workers"]
    assert body["applications"] == [dict(a, alpha=0.95, nominal_rate=None) for a in SETTINGS["applications"]]
    assert (body["name"], body["sequence"], body["at_s"], body["ended"], body["executors"], body["warnings"]) == ("nightly", None, None, [], [], [])
    assert lonely.get(at("nightly")).json() == body
    assert lonely.get(LOOPS).json() == {"items": [body], "next_cursor": None}
    writable = {k: v for k, v in body.items() if k not in ("name", "sequence", "at_s", "ended", "executors", "warnings")}
    assert lonely.put(at("nightly"), writable, 200).json() == body, "what is shown can be put back"
    other = lonely.put(at("nightly"), settings(gamma=0.5, controller={"gain": 30}, cgroup={}), 200)
    assert "Location" not in other.headers
    assert other.json()["gamma"] == 0.5 and other.json()["controller"] == {**DEFAULTS["controller"], "gain": 30} and other.json()["cgroup"] == {"period_us": 100000}
    lonely.delete(at("nightly"))
    actions = [a["action"] for a in lonely.get("/v1/audit").json()["items"]]
    assert actions[:4] == ["quota_loop.delete", "quota_loop.update", "quota_loop.update", "quota_loop.insert"]


def test_pages_are_sorted_by_name(lonely):
    for name in ("c", "a", "é/ü", "b"):
        lonely.put(at(name), SETTINGS, 201)
    first = lonely.get(LOOPS + "?limit=3")
    assert [i["name"] for i in first.json()["items"]] == ["a", "b", "c"]
    last = lonely.get(LOOPS + "?limit=3&cursor=" + first.json()["next_cursor"]).json()
    assert [i["name"] for i in last["items"]] == ["é/ü"] and last["next_cursor"] is None
    assert lonely.get(at("é/ü") + "?fields=name,sequence").json() == {"name": "é/ü", "sequence": None}


def test_after_a_deletion_there_is_nothing(loop):
    loop.take(sample(5, 1, begin()))
    loop.client.delete(at("nightly"))
    for call in ("get", "delete"):
        getattr(loop.client, call)(at("nightly"), 404)
    loop.take(sample(6, 2, begin()), 404)
    anew = loop.client.put(at("nightly"), SETTINGS, 201).json()
    assert anew["sequence"] is None and anew["executors"] == []
    loop.take(sample(0, -5, begin()))


def test_other_teams_see_nothing(loop, stranger):
    loop.take(sample(1, 1, begin()))
    stranger.get(at("nightly"), 404)
    stranger.delete(at("nightly"), 404)
    stranger.post(at("nightly") + "/samples", sample(2, 2, go_on()), 404)
    assert all(i["name"] != "nightly" for i in stranger.get(LOOPS).json()["items"])
    assert loop.standing() == (1, 1)


def test_scopes(service, team, loop):
    reader, writer = (service.client(service.token(team, scope)) for scope in ("read", "write"))
    assert [i["name"] for i in reader.get(LOOPS).json()["items"]] == ["nightly"]
    writer.get(at("nightly"), 403)
    writer.post(at("nightly") + "/samples", sample(1, 1, begin()), 200)
    reader.put(at("x"), SETTINGS, 403)
    reader.post(at("x") + "/samples", sample(1, 1), 403)
    reader.delete(at("x"), 403)


@pytest.mark.parametrize("change,faults", [
    ({"strategy": "fair"}, {"/strategy": "not_allowed"}),
    ({"gamma": 1.5}, {"/gamma": "out_of_range"}),
    ({"average_nominal_rate": 0}, {"/average_nominal_rate": "out_of_range"}),
    ({"workers": []}, {"/workers": "too_few_items"}),
    ({"workers": [{"name": "w", "cores": 0}, {"name": "w", "cores": 1}]}, {"/workers/0/cores": "out_of_range", "/workers/1/name": "duplicate"}),
    ({"workers": [{"name": "", "cores": 1}, {}]}, {"/workers/0/name": "invalid_name", "/workers/1/name": "required", "/workers/1/cores": "required"}),
    ({"applications": [{"name": "A", "release_s": "0", "deadline_s": 0, "alpha": 0}]},
     {"/applications/0/release_s": "wrong_type", "/applications/0/deadline_s": "out_of_range", "/applications/0/alpha": "out_of_range"}),
    ({"applications": [{"name": "A"}, 5]},
     {"/applications/0/release_s": "required", "/applications/0/deadline_s": "required", "/applications/1": "wrong_type"}),
    ({"strategy": "speed", "applications": [{"name": "A", "release_s": 0, "deadline_s": 1, "nominal_rate": 5}, {"name": "B", "release_s": 0, "deadline_s": 1}]},
     {"/applications/1/nominal_rate": "required"}),
    ({"controller": {"gain": 0, "integral_time_s": 0, "sample_s": 0, "core_quantum": 0, "core_min": -1}},
     {"/controller/" + k: "out_of_range" for k in ("gain", "integral_time_s", "sample_s", "core_quantum", "core_min")}),
    ({"controller": {"core_quantum": 1.5, "kp": 1}}, {"/controller/core_quantum": "out_of_range", "/controller/kp": "unknown_field"}),
    ({"cgroup": {"period_us": 999}}, {"/cgroup/period_us": "out_of_range"}),
    ({"cgroup": {"period_us": 1000001}}, {"/cgroup/period_us": "out_of_range"}),
    ({"sequence": 1}, {"/sequence": "unknown_field"}),
])
def test_faults_of_settings(lonely, change, faults):
    problem = lonely.refuse("PUT", at("x"), 422, json=settings(**change))
    assert {e["pointer"]: e["code"] for e in problem["errors"]} == faults
    lonely.get(at("x"), 404)


def test_names_of_loops(lonely):
    lonely.refuse("PUT", at("a\nb"), 422, parameter="name", json=SETTINGS)
    lonely.refuse("PUT", at("x" * 256), 422, parameter="name", json=SETTINGS)
    assert lonely.put(at("日" * 255), SETTINGS, 201).json()["name"] == "日" * 255


def test_a_loop_without_applications_and_a_worker_below_the_quantum(lonely):
    made = lonely.put(at("x"), {"workers": [{"name": "tiny", "cores": 0.04}], "applications": []}, 201).json()
    assert [(w["code"], w["evidence"]["count"]) for w in made["warnings"]] == [("worker_below_quantum", 1)]
    reply = lonely.post(at("x") + "/samples", sample(1, 1), 200).json()
    assert reply["grants"] == [] and reply["workers"] == [{"name": "tiny", "contention": False, "requested_cores": 0, "granted_cores": 0}]
    assert reply["warnings"] == made["warnings"]


# --- the order of samples ---


def test_the_first_sample_may_have_any_number_and_gaps_are_allowed(loop):
    assert loop.take(sample(41, -7.5, begin()))["sequence"] == 41
    assert loop.standing() == (41, -7.5)
    loop.take(sample(1000, -7.5, go_on()))
    loop.take(sample(2**53 - 1, 3, go_on()))
    assert loop.standing() == (2**53 - 1, 3)


def test_a_repetition_gets_the_very_same_reply_and_changes_nothing(loop):
    first = loop.client.post(at("nightly") + "/samples", sample(1, 1, begin(completed_tasks=3)), 200)
    loop.take(sample(2, 2, go_on(completed_tasks=5)))
    body = sample(3, 3, go_on(completed_tasks=9, stage_deadline_s=50))
    reply = loop.client.post(at("nightly") + "/samples", body, 200)
    state = loop.state()
    # Members in another order, and numbers spelled otherwise, are the same JSON values.
    other = '{"executors": [{"completed_tasks": 9, "stage_deadline_s": 5e1, "id": "\\u0061", "stage": 0}], "at_s": 3.0, "sequence": 3}'
    again = loop.client.request("POST", at("nightly") + "/samples", 200, data=other, headers={"Content-Type": "application/json"})
    assert again.content == reply.content != first.content and loop.state() == state
    loop.put(gamma=0, strategy="edf_pure", workers=[{"name": "w9", "cores": 1}], applications=[])
    state = loop.state()
    assert state["executors"] == [] and state["sequence"] == 3
    assert loop.client.post(at("nightly") + "/samples", body, 200).content == reply.content, "whatever happened to the settings"
    assert loop.state() == state


@pytest.mark.parametrize("change", [
    {"at_s": 3}, {"ended": []}, {"ended": ["B"]}, {"executors": []}, {"executors": [begin(completed_tasks=1)]}, {"executors": [begin(id="b")]},
    {"executors": [begin(initial_cores=0)]}, {"executors": [begin(stage_started_s=2)]}, {"executors": [begin(tasks=201)]},
    {"executors": [begin(), begin(id="b")]},
])
def test_the_last_number_with_another_body_is_a_conflict(loop, change):
    body = sample(1, 2, begin())
    loop.take(body)
    loop.conflict({**body, **change})
    loop.take(body)


def test_lower_numbers_and_times_that_go_back_are_conflicts(loop):
    loop.take(sample(5, 10, begin()))
    loop.conflict(sample(4, 11, go_on()))
    loop.conflict(sample(0, 10, begin()))
    loop.conflict(sample(6, 9.99, go_on()))
    loop.take(sample(6, 10, go_on()))
    loop.take(sample(7, 10 - 5e-9, go_on()))  # equal times, by the tolerance of all figures
    assert loop.standing() == (7, 10 - 5e-9)


def test_the_shape_is_judged_before_the_order_and_the_rest_behind_it(loop):
    loop.take(sample(5, 10, begin()))
    loop.refuse(sample(4, 11, go_on(completed_tasks=-1)), **{"/executors/0/completed_tasks": "out_of_range"})
    loop.conflict(sample(4, 11, go_on(completed_tasks=201)))
    loop.conflict(sample(4, 11, go_on(id="new")))
    loop.client.refuse("POST", at("missing") + "/samples", 422, json={"sequence": 1})
    loop.client.post(at("missing") + "/samples", sample(1, 1), 404)


def test_no_key_and_no_traces_of_samples(service, loop):
    """The sequence is the key: neither audit rows nor events."""
    loop.take(sample(1, 1, begin()), headers={"Idempotency-Key": "k"})
    loop.take(sample(2, 2, go_on()), headers={"Idempotency-Key": "k"})
    assert [a["action"] for a in loop.client.get("/v1/audit").json()["items"] if a["action"] != "token.insert"] == ["quota_loop.insert"]
    assert loop.standing() == (2, 2)


# --- faults of samples ---


@pytest.mark.parametrize("body,faults", [
    ({}, {"/sequence": "required", "/at_s": "required", "/executors": "required"}),
    (sample(-1, "now"), {"/sequence": "out_of_range", "/at_s": "wrong_type"}),
    (sample(1.5, 1), {"/sequence": "wrong_type"}),
    (sample(1, 1, 7), {"/executors/0": "wrong_type"}),
    (sample(1, 1, {}), {"/executors/0/id": "required", "/executors/0/stage": "required", "/executors/0/completed_tasks": "required"}),
    (sample(1, 1, begin(), begin(application="B")), {"/executors/1/id": "duplicate"}),
    (sample(1, 1, begin(tasks=0)), {"/executors/0/tasks": "out_of_range"}),
    (sample(1, 1, begin(completed_tasks=201)), {"/executors/0/completed_tasks": "out_of_range"}),
    (sample(1, 1, begin(stage_deadline_s=0, stage_started_s=1.5, initial_cores=-1, speed=3)),
     {"/executors/0/" + k: "out_of_range" for k in ("stage_deadline_s", "stage_started_s", "initial_cores")} | {"/executors/0/speed": "unknown_field"}),
    (sample(1, 1, begin(application=None)), {"/executors/0/application": "wrong_type"}),
    (sample(1, 1, go_on()), {"/executors/0/" + k: "required" for k in ("application", "worker", "tasks", "stage_deadline_s")}),
    (sample(1, 1, begin(application="C", worker="w2")), {"/executors/0/application": "unknown_application", "/executors/0/worker": "unknown_worker"}),
    (sample(1, 1, ended=["B", "A", "B"]), {"/ended/2": "duplicate"}),
    (sample(1, 1, ended=["B", "", 4]), {"/ended/1": "invalid_name", "/ended/2": "wrong_type"}),
    (sample(1, 1, ended=["B", "C"]), {"/ended/1": "unknown_application"}),
    (sample(1, 1, begin(application="B"), ended=["B"]), {"/executors/0": "out_of_range"}),
])
def test_faults_of_samples(loop, body, faults):
    loop.refuse(body, **faults)
    assert loop.standing() == (None, None)


def test_faults_that_rest_on_what_is_known(loop):
    loop.put(workers=[{"name": "w1", "cores": 16}, {"name": "w2", "cores": 4}])
    loop.take(sample(1, 1, begin(), begin(id="b", application="B")))
    loop.refuse(sample(2, 2, go_on(application="B", worker="w2"), go_on("b", 201), go_on("b2", stage=1)),
                **{"/executors/0/application": "conflict", "/executors/0/worker": "conflict", "/executors/1/completed_tasks": "out_of_range",
                   **{"/executors/2/" + k: "required" for k in ("application", "worker", "tasks", "stage_deadline_s")}})
    loop.refuse(sample(2, 2, go_on(stage=1)), **{"/executors/0/tasks": "required", "/executors/0/stage_deadline_s": "required"})
    loop.refuse(sample(2, 2, go_on(), ended=["A"]), **{"/executors/0": "out_of_range"})
    loop.take(sample(2, 2, go_on(application="A", worker="w1"), go_on("b", 201, tasks=300)))


def test_more_faults_than_are_told_are_counted(loop):
    problem = loop.client.refuse("POST", at("nightly") + "/samples", 422, json=sample(1, 1, *(begin(id=str(i), worker="?") for i in range(30))))
    assert len(problem["errors"]) == 8


# --- executors ---


def test_the_steps_of_a_controller(loop):
    """The first steps of the vectors, by hand: SP = 1/50, csp = 1, csi = 4 + 50/12 x 0.02."""
    loop.put(gamma=0)
    grant = loop.take(sample(1, 1, begin(stage_started_s=0, initial_cores=4)))["grants"][0]
    assert grant["requested_cores"] == pytest.approx(1 + 4 + 50 / 12 * 0.02) and grant["cores"] == pytest.approx(5.1)
    assert grant["integral_cores"] == pytest.approx(4.1) and grant["time_to_complete_s"] == pytest.approx(113) and grant["cpu_max"] is None
    grant = loop.take(sample(2, 3, go_on(completed_tasks=4)))["grants"][0]
    error = 3 / 50 - 4 / 200
    assert grant["requested_cores"] == pytest.approx(50 * error + 4.1 + 50 * 2 / 12 * error), "two seconds since the last sample"
    executor = loop.state()["executors"][0]
    assert {k: executor[k] for k in ("id", "application", "worker", "stage", "tasks", "completed_tasks", "stage_started_s", "stage_deadline_s")} == {
        "id": "a", "application": "A", "worker": "w1", "stage": 0, "tasks": 200, "completed_tasks": 4, "stage_started_s": 0, "stage_deadline_s": 50}
    assert executor["cores"] == grant["cores"] and executor["integral_cores"] == grant["integral_cores"] and executor["set_point"] == grant["set_point"]


def test_a_stage_starts_at_the_sample_unless_it_says_when(loop):
    grant = loop.take(sample(1, 7, begin()))["grants"][0]
    assert grant["set_point"] == 0 and grant["requested_cores"] == 0
    assert loop.state()["executors"][0]["stage_started_s"] == 7
    # Where the stage is the same, neither its start nor the initial cores count.
    loop.take(sample(2, 8, go_on(stage_started_s=-100, initial_cores=9)))
    assert loop.state()["executors"][0]["stage_started_s"] == 7 and loop.state()["executors"][0]["set_point"] == pytest.approx(1 / 50)
    grant = loop.take(sample(3, 9, go_on(stage=1, tasks=10, stage_deadline_s=4, stage_started_s=8, initial_cores=2)))["grants"][0]
    assert grant["set_point"] == pytest.approx(0.25) and grant["requested_cores"] == 10, "no more than there are tasks"


def test_tasks_and_deadlines_may_change_and_tasks_may_be_lost(loop):
    loop.take(sample(1, 1, begin(completed_tasks=50)))
    loop.take(sample(2, 2, go_on(completed_tasks=40, tasks=300, stage_deadline_s=10)))
    executor = loop.state()["executors"][0]
    assert (executor["tasks"], executor["completed_tasks"], executor["stage_deadline_s"]) == (300, 40, 10)
    loop.refuse(sample(3, 3, go_on(completed_tasks=40, tasks=39)), **{"/executors/0/completed_tasks": "out_of_range"})


def test_all_cores_once_the_deadline_is_over_and_none_once_all_is_done(loop):
    loop.put(gamma=0)
    assert loop.take(sample(1, 51, begin(stage_started_s=1, completed_tasks=199)))["grants"][0]["requested_cores"] == 16
    assert loop.take(sample(2, 52, go_on(completed_tasks=200)))["grants"][0]["requested_cores"] == 0


def test_an_executor_that_is_left_out_is_forgotten(loop):
    loop.take(sample(1, 1, begin(), begin(id="b")))
    loop.take(sample(2, 2, go_on("b")))
    assert [e["id"] for e in loop.state()["executors"]] == ["b"]
    loop.refuse(sample(3, 3, go_on("a")), **{"/executors/0/" + k: "required" for k in ("application", "worker", "tasks", "stage_deadline_s")})
    loop.take(sample(3, 3, begin(application="B")))  # under its id another one may come
    loop.take(sample(4, 4))
    assert loop.state()["executors"] == []


def test_what_has_ended_stays_ended(loop):
    loop.take(sample(1, 1, begin(), begin(id="b", application="B")))
    loop.take(sample(2, 2, go_on("b"), ended=["A"]))
    assert loop.state()["ended"] == ["A"]
    loop.refuse(sample(3, 3, begin()), **{"/executors/0": "out_of_range"})
    loop.take(sample(3, 3, go_on("b"), ended=["A"]))  # it may be said again
    assert loop.put()["ended"] == ["A"]
    assert loop.put(applications=[{"name": "B", "release_s": 0, "deadline_s": 5}])["ended"] == [], "what is not there has not ended"
    assert loop.put()["ended"] == []
    loop.take(sample(4, 4, begin(), ended=["B"]))


def test_other_settings_forget_executors_of_what_is_gone(loop):
    loop.put(workers=[{"name": n, "cores": 8} for n in ("w1", "w2", "w3")])
    loop.take(sample(1, 1, begin(), begin(id="b", application="B", worker="w2"), begin(id="c", application="B", worker="w3")))
    before = {e["id"]: e for e in loop.state()["executors"]}
    now = loop.put(workers=[{"name": n, "cores": 8} for n in ("w3", "w2")], applications=[{"name": n, "release_s": 0, "deadline_s": 9} for n in ("B", "C")])
    assert {e["id"]: e for e in now["executors"]} == {k: before[k] for k in ("b", "c")} and now["sequence"] == 1
    loop.take(sample(2, 2, go_on("b"), go_on("c", worker="w3", application="B")))


# --- grants ---


def test_whole_quanta_and_never_more_than_the_worker_has(loop):
    loop.put(workers=[{"name": "w1", "cores": 4.99}, {"name": "w2", "cores": 2}], controller={"core_quantum": 0.25}, cgroup={"period_us": 50000})
    loop.take(sample(1, 0, *(begin(id=str(i), stage_deadline_s=5 + i) for i in range(5)), begin(id="z", worker="w2")))
    reply = loop.take(sample(2, 4, *(go_on(str(i)) for i in range(5)), go_on("z")))
    w1, w2 = reply["workers"]
    assert w1["contention"] and w1["granted_cores"] == pytest.approx(4.75) and w2["granted_cores"] == pytest.approx(2)
    assert [g["id"] for g in reply["grants"]] == ["0", "1", "2", "3", "4", "z"]
    for grant in reply["grants"]:
        assert grant["cores"] / 0.25 == pytest.approx(round(grant["cores"] / 0.25))
        assert grant["cpu_max"] == "%d 50000" % max(1000, round(grant["cores"] * 50000))


def test_a_late_application_comes_first_by_deadline(loop):
    loop.put(strategy="edf_pure")
    reply = loop.take(sample(1, 100, begin(stage_started_s=50, stage_deadline_s=100, initial_cores=9), begin(id="b", application="B", stage_started_s=0)))
    a, b = reply["grants"]
    assert b["time_to_complete_s"] == pytest.approx(10 + 0.95 * 60 - 100) and b["cores"] == 16 and a["cores"] == 0
    assert a["integral_cores"] == pytest.approx(-25), "anti-windup"


# --- limits and age ---


def test_the_grants_of_the_last_sample_are_read_as_a_cgroup_takes_them(lonely):
    loop = Loop(lonely, cgroup={"period_us": 50000})
    grants = loop.take(sample(1, 1, begin("a", initial_cores=1.5), begin("b", application="B", completed_tasks=200)))["grants"]
    state = loop.state()
    assert [(e["id"], e["cores"], e["cpu_max"]) for e in state["executors"]] == [(g["id"], g["cores"], g["cpu_max"]) for g in grants]
    assert state["sequence"] == 1
    loop.put()  # other settings, without cgroup
    assert all("cpu_max" not in e for e in loop.state()["executors"])


def test_a_loop_that_has_not_changed_is_not_sent_again(lonely):
    loop = Loop(lonely, cgroup={})
    tags = set()

    def read(status=200, tag=None):
        reply = lonely.get(at(loop.name), status, headers={"If-None-Match": tag} if tag else {})
        assert bool(reply.content) == (status == 200)
        tags.add(reply.headers["ETag"])
        return reply.headers["ETag"]

    first = read()
    assert read(304, first) == first and read(304, '"other", W/%s' % first) == first
    loop.take(sample(1, 1, begin()))
    second = read(200, first)
    assert read(304, second) == second
    loop.take(sample(1, 1, begin()))  # a repetition changes nothing
    read(304, second)
    loop.put(gamma=0.5, cgroup={})
    assert read(200, second) not in (first, second) and len(tags) == 3
    assert lonely.get(at(loop.name) + "?fields=sequence", 304, headers={"If-None-Match": read()}).content == b""


def test_a_commit_without_an_answer_speaks_of_the_sequence(make_service):
    """The connection is cut while PostgreSQL commits: no key was sent, and none helps."""
    service = make_service()
    token = service.token("alpha")
    service.start()
    loop = Loop(service.client(token))
    loop.take(sample(1, 1, begin()))
    service.psql("CREATE FUNCTION public.wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END';"
                 "CREATE CONSTRAINT TRIGGER wait_at_commit AFTER UPDATE ON provisor.quota_loop DEFERRABLE INITIALLY DEFERRED"
                 " FOR EACH ROW EXECUTE FUNCTION public.wait_at_commit()")
    replies = []
    asking = threading.Thread(target=lambda: replies.append(loop.client.refuse("POST", at(loop.name) + "/samples", 503, json=sample(2, 2, go_on()))))
    asking.start()
    while service.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()") == "":
        assert asking.is_alive()
    asking.join()
    assert "the same sequence" in replies[0]["detail"] and "sample 2" in replies[0]["detail"] and "Idempotency-Key" not in replies[0]["detail"], replies
    service.psql("DROP TRIGGER wait_at_commit ON provisor.quota_loop")
    assert loop.take(sample(2, 2, go_on()))["sequence"] == 2


def test_limits(make_service):
    service = make_service(PROVISOR_QUOTA_LOOPS_MAX=2, PROVISOR_QUOTA_LOOP_WORKERS_MAX=2, PROVISOR_QUOTA_LOOP_APPLICATIONS_MAX=2,
                           PROVISOR_QUOTA_LOOP_EXECUTORS_MAX=3)
    service.start()
    client = service.client(service.token("limits"))
    many = [{"name": str(i), "cores": 1, "release_s": 0, "deadline_s": 1} for i in range(3)]
    client.refuse("PUT", at("a"), 422, pointer="/workers", json=settings(workers=[{"name": m["name"], "cores": 1} for m in many]))
    client.refuse("PUT", at("a"), 422, pointer="/applications", json=settings(applications=[{k: m[k] for k in ("name", "release_s", "deadline_s")} for m in many]))
    client.put(at("a"), SETTINGS, 201)
    client.put(at("b"), SETTINGS, 201)
    assert "quota_loops_max" in client.refuse("PUT", at("c"), 422, json=SETTINGS)["detail"]
    client.put(at("b"), SETTINGS, 200)
    client.refuse("POST", at("a") + "/samples", 422, pointer="/executors", json=sample(1, 1, *(begin(id=str(i)) for i in range(4))))
    client.post(at("a") + "/samples", sample(1, 1, *(begin(id=str(i)) for i in range(3))), 200)
    client.delete(at("a"))
    client.put(at("c"), SETTINGS, 201)
    assert service.client(service.token("others")).put(at("a"), SETTINGS, 201)


def test_loops_without_a_sample_for_a_day_are_deleted(make_service):
    service = make_service()
    service.start()
    client = service.client(service.token("age"))
    loops = {name: Loop(client, name) for name in ("never", "old", "young", "fresh")}
    for name in ("old", "young"):
        loops[name].take(sample(1, 1, begin()))
    service.psql("UPDATE provisor.quota_loop SET sampled_at = now() - interval '25 hours', created_at = now() - interval '99 days' WHERE name <> 'fresh'")
    loops["young"].take(sample(2, 2, go_on()))
    loops["old"].put(gamma=0)  # settings are no sample
    service.command("maintain", PROVISOR_QUOTA_LOOP_RETENTION_DAYS=0)
    assert len(client.get(LOOPS).json()["items"]) == 4, "0 keeps all"
    service.command("maintain")
    assert [i["name"] for i in client.get(LOOPS).json()["items"]] == ["fresh", "young"]
    client.post(at("old") + "/samples", sample(2, 2, go_on()), 404)


# --- many at a time ---


@pytest.fixture(scope="module")
def replicas(make_service):
    """Two processes on one database."""
    first = make_service()
    first.start()
    second = copy.copy(first)
    second.port, second.process, second.log = None, None, first.directory / "replica.log"
    second.start()
    yield first, second
    second.stop()


def test_any_replica_takes_the_next_sample(replicas):
    clients = [r.client(r.token("replicas")) for r in replicas]
    loop = Loop(clients[0], "shared")
    alone = Loop(clients[0], "alone")
    bodies = [sample(1, 1, begin(initial_cores=3), begin(id="b", application="B"))]
    bodies += [sample(n, n, go_on(completed_tasks=2 * n), go_on("b", n)) for n in range(2, 12)]
    for n, body in enumerate(bodies):
        reply = clients[n % 2].post(at("shared") + "/samples", body, 200)
        assert clients[(n + 1) % 2].post(at("shared") + "/samples", body, 200).content == reply.content
        assert alone.take(body) == reply.json(), "as if one process had taken all of them"
    assert clients[1].get(at("shared")).json()["executors"] == alone.state()["executors"]
    assert loop.standing() == (11, 11)


def test_samples_of_one_loop_take_effect_one_after_the_other(replicas):
    """Many send every number at once: one body of each number is taken, whoever sent that one is answered alike."""
    token = replicas[0].token("racing")
    loop = Loop(replicas[0].client(token), "raced")
    loop.take(sample(0, 0, begin()))
    answers, lock = {}, threading.Lock()

    def send(number):
        client = replicas[number % 2].client(token)
        mine = random.Random(number)
        for sequence in range(1, 25):
            body = sample(sequence, sequence, go_on(completed_tasks=mine.choice((1, 2))))
            reply = client.request("POST", at("raced") + "/samples", {200, 409}, json=body)
            if reply.status_code == 200:
                with lock:
                    answers.setdefault((sequence, json.dumps(body)), set()).add(reply.content)

    threads = [threading.Thread(target=send, args=(n,)) for n in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(len(contents) == 1 for contents in answers.values())
    taken = [sequence for sequence, _ in answers]
    assert len(taken) == len(set(taken)) and loop.standing()[0] == max(taken)


def test_settings_and_samples_at_once(replicas):
    token = replicas[0].token("mixed")
    loop = Loop(replicas[0].client(token), "mixed")
    loop.take(sample(0, 0, begin()))
    ended = threading.Event()

    def change():
        client = replicas[1].client(token)
        while not ended.is_set():
            for gamma in (0, 1):
                assert client.put(at("mixed"), settings(gamma=gamma), 200).json()["executors"][0]["id"] == "a"

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for n in range(1, 40):
            loop.take(sample(n, n, go_on(completed_tasks=n)))
    finally:
        ended.set()
        thread.join()
    state = loop.state()
    assert state["sequence"] == 39 and state["executors"][0]["completed_tasks"] == 39


def test_two_that_make_one_loop(replicas):
    token = replicas[0].token("makers")
    statuses, lock = [], threading.Lock()

    def make(number):
        reply = replicas[number % 2].client(token).request("PUT", at("one"), {200, 201}, json=SETTINGS)
        with lock:
            statuses.append(reply.status_code)

    threads = [threading.Thread(target=make, args=(n,)) for n in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert sorted(statuses) == [200] * 7 + [201]

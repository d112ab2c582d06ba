"""Conversations about a history whose times are known in closed form: request, history and reply for each verdict and
objective, with every number of every reason and warning worked out again."""
import math

import pytest

SIZE, TASK_S, START_S, CORES = 40, 2.0, 5.0, 2
RAN = (1, 2, 4, 5)
MOST = 4 * max(RAN)  # advice goes no further than four times what ran
PRICE = 3.6


def time_of(executors):
    """Equal tasks in whole rounds, after a start that no executor shortens."""
    return START_S + TASK_S * math.ceil(SIZE / (CORES * executors))


def run_of(executors):
    stage_s = time_of(executors) - START_S
    return {"problem_size": SIZE, "executors": executors, "cores_per_executor": CORES, "duration_s": time_of(executors),
            "initialization_s": START_S, "stages": [{"id": 0, "parents": [], "task_durations_s": [TASK_S] * SIZE, "duration_s": stage_s}]}


@pytest.fixture(scope="module")
def known(client):
    name = "conversation"
    runs = [client.post("/v1/applications/%s/runs" % name, run_of(m), 201).json() for m in RAN]
    return name, runs[-1]["id"]


def ask(client, known, **more):
    return client.post("/v1/advice?dry_run=true", dict(more, application=known[0], problem_size=SIZE), 200).json()


def close(got, want):
    assert got == pytest.approx(want, rel=1e-6, abs=1e-9), (got, want)


class Checker:
    """Each method works out the reason or warning of its name."""

    def __init__(self, request, reply, last_id):
        self.request, self.reply, self.last_id = request, reply, last_id
        self.m = reply["recommendation"]["executors"]
        self.limits = request.get("constraints", {})
        self.allowed = range(1, self.limits.get("max_executors", MOST) + 1)
        self.known = {a["executors"]: a for a in reply["alternatives"]}

    def all(self):
        codes = []
        for finding in self.reply["reasons"] + self.reply["warnings"]:
            getattr(self, finding["code"])(finding.get("evidence", {}), finding["message"])
            codes.append(finding["code"])
        return codes

    def deadline(self, e):
        assert e["deadline_s"] == self.request["deadline_s"]
        close(e["predicted_duration_s"], time_of(self.m))

    def deadline_met(self, e, message):
        self.deadline(e)
        best = self.reply["recommendation"]
        assert e["deadline_probability"] == best["deadline_probability"] >= e["confidence"] == self.reply["confidence"]
        if "objective" in self.request:
            return
        assert e["fewer_executors"] == self.m - 1
        assert e["fewer_executors_probability"] == self.known[self.m - 1]["deadline_probability"] < e["confidence"]
        assert message.startswith("%d executors finish within %g s" % (self.m, e["deadline_s"]))

    def deadline_at_risk(self, e, message):
        self.deadline(e)
        assert e["deadline_probability"] == self.reply["recommendation"]["deadline_probability"] < e["confidence"]
        best = max(a["deadline_probability"] for a in self.known.values())
        assert best - 0.02 <= e["deadline_probability"] <= best + 1e-9
        assert time_of(self.m) <= self.request["deadline_s"], message

    def deadline_missed(self, e, message):
        self.deadline(e)
        assert min(time_of(m) for m in self.allowed) > self.request["deadline_s"], message
        close(e["fastest_duration_s"], min(time_of(m) for m in self.allowed))
        close(time_of(e["fastest_executors"]), e["fastest_duration_s"])
        assert e["max_executors"] == self.allowed[-1]

    def objective(self, e, _message):
        speedup = time_of(1) / time_of(self.m)
        assert e["executors"] == self.m
        for got, want in ((e["speedup"], speedup), (e["efficiency"], speedup / self.m), (e["executor_s"], self.m * time_of(self.m)),
                          (self.reply["recommendation"]["speedup"], speedup)):
            close(got, want)
        meets = [m for m in self.allowed if "deadline_s" not in self.request or time_of(m) <= self.request["deadline_s"]]
        if e["objective"] == "min_cost" and "last_executors" in e:
            assert e["last_executors"] == RAN[-1] and e["tolerance_percent"] == 10
            meets = [m for m in meets if time_of(m) <= 1.1 * time_of(RAN[-1])]
        measure = {"min_executors": lambda m: m, "min_cost": lambda m: m * time_of(m), "min_time": time_of,
                   "efficiency": lambda m: -((time_of(1) / time_of(m)) ** 2) / m}.get(e["objective"])
        if e["objective"] == "max_speedup":
            greatest = max(time_of(1) / time_of(m) for m in meets)
            assert self.m == min(m for m in meets if time_of(1) / time_of(m) >= 0.99 * greatest)
        elif e["objective"] != "min_executors":  # that one goes by probability: see deadline_met
            close(measure(self.m), min(measure(m) for m in meets))

    def replayed_runs(self, e, _message):
        assert (e["runs"], e["nearest_run"]) == (len(RAN), self.last_id)
        assert (e["least_problem_size"], e["most_problem_size"], e["least_cores"], e["most_cores"]) == (SIZE, SIZE, CORES, CORES * max(RAN))
        close(e["loo_mape_percent"], self.reply["model"]["loo_mape_percent"])

    def bound(self, e, message):
        work = SIZE * TASK_S
        for key, want in (("serial_s", START_S), ("critical_path_s", TASK_S), ("work_s", work), ("work_per_core_s", work / CORES / self.m),
                          ("recorded_work_s", work), ("task_overhead_s", 0), ("longest_task_s", TASK_S)):
            close(e[key], want)
        assert e["bound_by"] == ("work" if work / CORES / self.m > max(START_S, TASK_S) else "serial_part"), message

    def compared_with_last_run(self, e, _message):
        last = self.reply["last_run"]
        assert e["last_executors"] == last["executors"] == RAN[-1] and last["run_id"] == self.last_id
        for name, want in (("duration_change_percent", 100 * (time_of(self.m) / time_of(RAN[-1]) - 1)),
                           ("cost_change_percent", 100 * (self.m * time_of(self.m) / RAN[-1] / time_of(RAN[-1]) - 1))):
            close(e[name], want)
            close(last[name], want)
        close(e["last_predicted_duration_s"], time_of(RAN[-1]))

    def replay_chosen(self, e, _message):
        assert (e["model_runs"], e["replay_runs"]) == (len(RAN), len(RAN))
        assert e["replay_loo_mape_percent"] == self.reply["model"]["loo_mape_percent"]

    def bottleneck(self, e, message):
        assert (e["kind"], e["lost_s"], e["run_id"]) == ("startup", START_S, self.last_id)
        assert "%.3g percent" % (100 * START_S / time_of(RAN[-1])) in message

    def stage_quotas(self, e, _message):
        assert (e["deadline_s"], e["stages"], e["problem_size"], e["run"]) == (self.request["deadline_s"], 1, SIZE, self.last_id)
        short = [s for s in self.reply["stages"] if s["estimated_cores"] > self.m * CORES]
        assert e["stages_short_of_cores"] == len(short)

    def no_stage_quotas(self, _e, _message):
        assert "deadline_s" not in self.request and self.reply["stages"] is None

    def price(self, e, _message):
        assert e["price_per_executor_hour"] == PRICE and e["source"] == "request"
        close(e["cost"], self.m * time_of(self.m) / 3600 * PRICE)
        close(self.reply["recommendation"]["cost"], e["cost"])

    def extrapolation(self, e, _message):
        assert e["cores"] == self.m * CORES > e["most_cores"] == CORES * max(RAN)

    def executors_bounded(self, e, _message):
        assert (e["max_executors"], e["most_cores"], e["extrapolation_max"]) == (MOST, CORES * max(RAN), 4) and "max_executors" not in self.limits

    def cost_in_executor_seconds(self, _e, _message):
        assert self.request["objective"] == "min_cost" and self.reply["pricing"] is None


@pytest.mark.parametrize("verdict, request_members, codes", [
    ("met", {"deadline_s": 26}, ["deadline_met", "objective"]),
    ("met", {"deadline_s": 26, "objective": "min_time", "constraints": {"max_executors": 10}}, ["objective"]),
    ("met", {"deadline_s": 26, "constraints": {"price_per_executor_hour": PRICE}}, ["deadline_met", "price"]),
    ("at_risk", {"deadline_s": 13.2, "confidence": 0.999, "constraints": {"max_executors": 5}}, ["deadline_at_risk"]),
    ("missed", {"deadline_s": 9.3, "constraints": {"max_executors": 8}}, ["deadline_missed", "extrapolation"]),
    ("missed", {"deadline_s": 5}, ["deadline_missed"]),
    ("met", {}, ["objective", "compared_with_last_run"]),
    ("met", {"objective": "min_cost", "constraints": {"price_per_executor_hour": PRICE}}, ["objective", "price"]),
    ("met", {"objective": "min_cost"}, ["objective", "cost_in_executor_seconds"]),
    ("met", {"objective": "min_time"}, ["objective", "executors_bounded"]),
    ("met", {"objective": "max_speedup"}, ["objective", "executors_bounded"]),
    ("met", {"objective": "efficiency"}, ["objective", "no_stage_quotas"]),
])
def test_every_reason_follows_from_the_history(client, known, verdict, request_members, codes):
    reply = ask(client, known, **request_members)
    assert reply["verdict"] == verdict and reply["feasible"] is (verdict == "met")
    close(reply["recommendation"]["predicted_duration_s"], time_of(reply["recommendation"]["executors"]))
    for alternative in reply["alternatives"]:
        close(alternative["predicted_duration_s"], time_of(alternative["executors"]))
    found = Checker(request_members, reply, known[1]).all()
    assert set(codes) <= set(found), found
    assert found[0] == ("objective" if "deadline_s" not in request_members else "deadline_" + verdict), found


def test_a_history_that_cannot_tell(client, name):
    """One run, and a problem a hundred times as large."""
    client.post("/v1/applications/%s/runs" % name, run_of(4), 201)
    reply = client.post("/v1/advice?dry_run=true", {"application": name, "problem_size": 100 * SIZE, "deadline_s": 60}, 200).json()
    assert reply["verdict"] == "unknown" and reply["recommendation"] is None and reply["spark"] is None
    evidence = reply["reasons"][0]["evidence"]
    assert (evidence["problem_size"], evidence["nearest_problem_size"], evidence["extrapolation_max"], evidence["runs"]) == (100 * SIZE, SIZE, 4, 1)
    assert reply["data_needed"]["suggested"] == [{"problem_size": 100 * SIZE, "executors": 4}]

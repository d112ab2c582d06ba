"""Conversations about a history whose times are known in closed form: request, history and reply for each verdict and
objective, with every number of every reason and warning worked out again."""
import heapq
import json
import math

import pytest
from quantity import duration, number

SIZE, TASK_S, START_S, CORES = 40, 2.0, 5.0, 2
RAN = (1, 2, 4, 5)
MOST = 4 * max(RAN)  # advice goes no further than four times what ran
PRICE = 3.6
STARTUP_S = 3.0  # of an executor, in the runs of the second history
MEMORY = 2 ** 30 + 384 * 2 ** 20  # an executor with a GiB of heap and the least overhead


def time_of(executors):
    """Equal tasks in whole rounds, after a start that no executor shortens."""
    return START_S + TASK_S * math.ceil(SIZE / (CORES * executors))


BESIDE_TASKS = 120  # of the other application


def ends(slots, *jobs):
    """Jobs as (deadline, when the first task may start, tasks of TASK_S); when each ends, earliest deadline first."""
    left, end, free = [tasks for _, _, tasks in jobs], [0.0] * len(jobs), [0.0] * slots
    while any(left):
        now = heapq.heappop(free)
        ready = [j for j, (_, start, _) in enumerate(jobs) if left[j] and start <= now]
        if not ready:
            heapq.heappush(free, min(start for j, (_, start, _) in enumerate(jobs) if left[j] and start > now))
            continue
        j = min(ready, key=lambda j: jobs[j][0])
        left[j], end[j] = left[j] - 1, now + TASK_S
        heapq.heappush(free, end[j])
    return end


def run_of(executors):
    stage_s = time_of(executors) - START_S
    return {"problem_size": SIZE, "executors": executors, "cores_per_executor": CORES, "duration_s": time_of(executors),
            "initialization_s": START_S, "stages": [{"id": 0, "parents": [], "task_durations_s": [TASK_S] * SIZE, "duration_s": stage_s}]}


@pytest.fixture(scope="module")
def known(client):
    name = "conversation"
    runs = [client.post("/v1/applications/%s/runs" % name, run_of(m), 201).json() for m in RAN]
    return name, runs[-1]["id"]


@pytest.fixture(scope="module")
def measured(client):
    """The same runs from which the start and the memory of executors are known, too."""
    name = "conversation-measured"
    lines = [json.dumps(dict(run_of(m), executor_startup_s=STARTUP_S, spark_properties={"spark.executor.memory": "1g"},
                             started_at="2026-01-%02dT10:00:00Z" % m)) for m in RAN]
    client.request("POST", "/v1/applications/%s/runs/import" % name, 201, data="\n".join(lines), headers={"Content-Type": "application/x-ndjson"})
    runs = client.get("/v1/applications/%s/runs" % name).json()["items"]
    return name, next(run["id"] for run in runs if run["executors"] == RAN[-1])


class Bill:
    """What the constraints of a request make of executors and times, on a market."""

    def __init__(self, limits, startup_s=0.0, memory=None, spot=False):
        self.startup_s, self.memory = startup_s, memory
        self.machines = "price_per_machine_hour" in limits
        self.price = limits.get("price_per_machine_hour", limits.get("price_per_executor_hour"))
        self.spot_price = limits.get("spot_per_machine_hour", limits.get("spot_per_executor_hour"))
        self.rate = limits.get("interruptions_per_hour", 0) / 3600 if spot else 0.0
        self.before, self.least, self.step = (limits.get(k, 0) for k in ("startup_billed_s", "minimum_billed_s", "billing_increment_s"))
        bounds = [limits["machine_cores"] // CORES] if "machine_cores" in limits else []
        if memory and "machine_memory_bytes" in limits:
            bounds.append(limits["machine_memory_bytes"] // memory)
        self.each = min(bounds) if self.machines else 1
        self.is_plain = not self.machines and not (self.before or self.least or self.step)

    def time(self, executors):
        if self.rate == 0:
            return time_of(executors)
        return math.expm1(self.rate * time_of(executors)) * (1 / self.rate + self.startup_s)

    def billed(self, duration_s):
        billed = max(self.least, self.before + duration_s)
        return math.ceil(billed / self.step * (1 - 1e-9)) * self.step if self.step else billed

    def units(self, executors):
        return -(-executors // self.each)

    def unit_s(self, executors):
        return self.units(executors) * self.billed(self.time(executors))

    def cost(self, executors):
        return self.unit_s(executors) / 3600 * (self.spot_price if self.rate else self.price)


def ask(client, known, **more):
    return client.post("/v1/advice?dry_run=true", dict(more, application=known[0], problem_size=SIZE), 200).json()


def close(got, want):
    assert got == pytest.approx(want, rel=1e-6, abs=1e-9), (got, want)


class Checker:
    """Each method works out the reason or warning of its name."""

    def __init__(self, request, reply, last_id, startup_s=None, memory=None):
        self.request, self.reply, self.last_id = request, reply, last_id
        spot = (reply["pricing"] or {}).get("market") == "spot"
        self.bill = Bill(request.get("constraints", {}), startup_s or 0.0, memory, spot)
        self.on_demand = Bill(request.get("constraints", {}), 0.0, memory)
        self.startup_s = startup_s
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
        close(e["predicted_duration_s"], self.bill.time(self.m))

    def deadline_met(self, e, message):
        self.deadline(e)
        best = self.reply["recommendation"]
        assert e["deadline_probability"] == best["deadline_probability"] >= e["confidence"] == self.reply["confidence"]
        if "objective" in self.request:
            return
        assert e["fewer_executors"] == self.m - 1
        assert e["fewer_executors_probability"] == self.known[self.m - 1]["deadline_probability"] < e["confidence"]
        assert message.startswith("%d executors finish within %s" % (self.m, duration(e["deadline_s"])))

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
        speedup = time_of(1) / self.bill.time(self.m)
        assert e["executors"] == self.m
        for got, want in ((e["speedup"], speedup), (e["efficiency"], speedup / self.m), (e["executor_s"], self.m * self.bill.time(self.m)),
                          (self.reply["recommendation"]["speedup"], speedup)):
            close(got, want)
        meets = [m for m in self.allowed if "deadline_s" not in self.request or time_of(m) <= self.request["deadline_s"]]
        if e["objective"] == "min_cost" and "last_executors" in e:
            assert e["last_executors"] == RAN[-1] and e["tolerance_percent"] == 10
            meets = [m for m in meets if time_of(m) <= 1.1 * time_of(RAN[-1])]
        measure = {"min_executors": lambda m: m, "min_cost": self.bill.unit_s, "min_time": time_of,
                   "efficiency": lambda m: -((time_of(1) / time_of(m)) ** 2) / m}.get(e["objective"])
        if e["objective"] == "max_speedup":
            greatest = max(time_of(1) / time_of(m) for m in meets)
            assert self.m == min(m for m in meets if time_of(1) / time_of(m) >= 0.99 * greatest)
        elif e["objective"] != "min_executors":  # that one goes by probability: see deadline_met
            close(measure(self.m), min(measure(m) for m in meets))
        if e["objective"] == "min_cost" and not self.bill.is_plain:  # of those that cost alike the fastest
            assert not any(self.bill.unit_s(m) <= self.bill.unit_s(self.m) and time_of(m) < time_of(self.m) for m in meets)

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
        for name, want in (("duration_change_percent", 100 * (self.bill.time(self.m) / self.bill.time(RAN[-1]) - 1)),
                           ("cost_change_percent", 100 * (self.bill.unit_s(self.m) / self.bill.unit_s(RAN[-1]) - 1))):
            close(e[name], want)
            close(last[name], want)
        close(e["last_predicted_duration_s"], self.bill.time(RAN[-1]))
        if self.reply["pricing"]:
            close(last["cost"], self.bill.cost(RAN[-1]))

    def replay_chosen(self, e, _message):
        assert (e["model_runs"], e["replay_runs"]) == (len(RAN), len(RAN))
        assert e["replay_loo_mape_percent"] == self.reply["model"]["loo_mape_percent"]

    def bottleneck(self, e, message):
        assert (e["kind"], e["lost_s"], e["run_id"]) == ("startup", START_S, self.last_id)
        assert "%s %%" % number(100 * START_S / time_of(RAN[-1])) in message

    def stage_quotas(self, e, message):
        assert (e["deadline_s"], e["stages"], e["problem_size"], e["run"]) == (self.request["deadline_s"], 1, SIZE, self.last_id)
        short = [s for s in self.reply["stages"] if s["estimated_cores"] is None or s["estimated_cores"] > self.m * CORES]
        assert e["stages_short_of_cores"] == len(short)
        assert e["fixed_s"] == START_S and "less %g s of start-up" % START_S in message
        close(self.reply["stages"][0]["deadline_s"], max(0, 0.95 * self.request["deadline_s"] - START_S))

    def no_stage_quotas(self, _e, _message):
        assert "deadline_s" not in self.request and self.reply["stages"] is None

    def price(self, e, message):
        bill, pricing, unit = self.bill, self.reply["pricing"], "machine" if self.bill.machines else "executor"
        price = bill.spot_price if bill.rate else bill.price
        assert e["price_per_%s_hour" % unit] == pricing["price_per_%s_hour" % unit] == price and e["source"] == "request"
        close(e["cost"], bill.cost(self.m))
        close(self.reply["recommendation"]["cost"], e["cost"])
        for alternative in self.reply["alternatives"]:
            close(alternative["cost"], bill.cost(alternative["executors"]))
        close(pricing["billed_s"], bill.billed(bill.time(self.m)))
        close(pricing["on_demand_cost"], self.on_demand.unit_s(self.m) / 3600 * bill.price)
        for key in ("startup_billed_s", "minimum_billed_s", "billing_increment_s"):
            assert pricing[key] == self.limits.get(key)
        if bill.machines:
            assert (e["executors_per_machine"], e["machines"]) == (bill.each, bill.units(self.m))
            assert (pricing["executors_per_machine"], pricing["machines"], pricing["container_bytes"]) == (bill.each, bill.units(self.m), bill.memory)
            assert "a machine costs %.2f an hour" % price in message and "take%s %d machine" % ("s" if self.m == 1 else "", bill.units(self.m)) in message
        else:
            assert pricing["machines"] is pricing["price_per_machine_hour"] is None and "an executor costs %.2f an hour" % price in message
        assert ("Each is billed for" in message) is bool(bill.before or bill.least or bill.step)
        assert ("billed_s" in e) is not bill.is_plain and e.get("billed_s", pricing["billed_s"]) == pricing["billed_s"]

    def interruptions(self, e, message):
        bill, pricing, m = self.bill, self.reply["pricing"], self.m
        count = math.expm1(bill.rate * time_of(m))
        assert e["interruptions_per_hour"] == self.limits["interruptions_per_hour"]
        assert e.get("executor_startup_s") == pricing["executor_startup_s"] == self.startup_s
        close(e["interruption_s"], bill.time(m) - time_of(m))
        close(e["expected_interruptions"], bill.units(m) * count)
        close(e["interruption_cost"], bill.units(m) * (bill.billed(bill.time(m)) - bill.billed(time_of(m))) / 3600 * bill.spot_price)
        close(e["on_demand_cost"], pricing["on_demand_cost"])
        assert ("is unknown and not counted" in message) is (self.startup_s is None)
        assert ("for each machine" in message) is bill.machines

    def spot_deadline_risk(self, e, _message):
        assert e["deadline_s"] == self.request["deadline_s"] and self.reply["pricing"]["market"] == "spot"
        assert e["deadline_probability"] == self.reply["recommendation"]["deadline_probability"] < e["on_demand_deadline_probability"] - 0.005

    def market_chosen(self, e, _message):
        close(e["cost"], self.bill.cost(self.m))
        assert e["market"] == self.reply["pricing"]["market"] and e["executors"] == self.m
        other = Bill(self.limits, self.startup_s or 0.0, self.bill.memory, e["market"] == "on_demand")
        close(e["other_cost"], other.cost(e["other_executors"]))

    def executor_memory_unknown(self, e, _message):
        assert "machine_memory_bytes" in self.limits and self.bill.memory is None and "container_bytes" not in e
        assert (e["machine_cores"], e["cores_per_executor"]) == (self.limits["machine_cores"], CORES)

    def cluster(self, e, _message):
        assert (e["cluster"], e["executors"], e["cores_per_executor"], e["max_executors"]) == (self.limits["cluster"], 8, CORES, 8)

    def dynamic_allocation(self, e, message):
        cases = {c["allocation"]: c for c in self.reply["autoscaling"]["cases"]}
        fixed, case = cases["static"], cases[e["allocation"]]
        close(fixed["predicted_duration_s"], time_of(self.m))
        close(fixed["executor_s"], self.m * time_of(self.m))
        met = [c for c in cases.values() if c["settings"] and (c["deadline_probability"] or 1.0) >= self.reply["confidence"]]
        assert case["executor_s"] == min(c["executor_s"] for c in met or [c for c in cases.values() if c["settings"]])
        for key, want in (("duration_s", case["predicted_duration_s"]), ("executor_s", case["executor_s"]),
                          ("static_duration_s", fixed["predicted_duration_s"]), ("static_executor_s", fixed["executor_s"]),
                          ("duration_change_percent", 100 * (case["predicted_duration_s"] / time_of(self.m) - 1)),
                          ("executor_s_change_percent", 100 * (case["executor_s"] / self.m / time_of(self.m) - 1))):
            close(e[key], want)
        assert "begins with %d executor" % case["settings"]["initial_executors"] in message and "goes up to %d " % self.m in message
        assert ("no dynamic case meets" in message) is (not met)

    def executor_startup_assumed(self, e, _message):
        assert e["executor_startup_s"] == self.reply["autoscaling"]["executor_startup_s"] == START_S

    def beside_running(self, e, message):
        """Earliest deadline first, from the end of its own start-up on."""
        slots, (running, deadline_s) = 8 * CORES, self.beside
        assert (e["cores"], e["running"], e["deadline_s"]) == (slots, 1, self.request["deadline_s"]) and running
        new, other = (self.request["deadline_s"], START_S, SIZE), (deadline_s, 0.0, BESIDE_TASKS)
        close(e["alone_s"], ends(slots, new)[0])
        close(e["execution_s"], ends(slots, new, other)[0])
        assert ends(slots, other)[0] <= deadline_s and "%d core" % slots in message

    def met_beside_running(self, e, message):
        self.beside_running(e, message)
        assert e["execution_s"] <= e["deadline_s"] and self.reply["contention"]["missed"] == []

    def missed_beside_running(self, e, message):
        self.beside_running(e, message)
        assert e["execution_s"] > e["deadline_s"] and self.reply["verdict"] == "missed"

    def deadline_met_alone(self, e, message):
        assert message.startswith("Alone on the cluster: ")
        self.deadline_met(e, message[len("Alone on the cluster: "):])

    def objective_alone(self, e, message):
        assert message.startswith("Alone on the cluster: ")
        self.objective(e, message)

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


@pytest.fixture(scope="module")
def beside(client, known):
    """A cluster of 8 executors, and an application whose tasks are all there is to it: 120 of 2 s."""
    client.put("/v1/clusters/conversation", {"executors": 8, "cores_per_executor": CORES}, {200, 201})
    stage_s = TASK_S * math.ceil(BESIDE_TASKS / (CORES * 4))
    stage = {"id": 0, "parents": [], "task_durations_s": [TASK_S] * BESIDE_TASKS, "duration_s": stage_s}
    run = dict(run_of(4), duration_s=stage_s, initialization_s=0, stages=[stage])
    client.post("/v1/applications/conversation-beside/runs", run, 201)
    return "conversation-beside"


@pytest.mark.parametrize("verdict, deadline_s, other_s, codes", [
    ("met", 26, 20, ["met_beside_running", "cluster"]),
    ("met", 16, 100, ["met_beside_running", "deadline_met"]),
    ("missed", 17, 16.5, ["missed_beside_running", "deadline_met_alone", "objective_alone"]),
])
def test_a_cluster_that_others_share(client, known, beside, verdict, deadline_s, other_s, codes):
    members = {"deadline_s": deadline_s, "constraints": {"cluster": "conversation", "max_executors": 8}}
    reply = ask(client, known, running=[{"application": beside, "deadline_s": other_s}], include=["alternatives", "stages", "contention"], **members)
    assert reply["verdict"] == verdict
    checker = Checker(members, reply, known[1])
    checker.beside = (beside, other_s)
    found = checker.all()
    assert set(codes) <= set(found), found


@pytest.mark.parametrize("members", [{}, {"deadline_s": 40}, {"objective": "min_time", "constraints": {"max_executors": 10}}])
def test_dynamic_allocation_beside_the_recommendation(client, known, members):
    reply = ask(client, known, include=["alternatives", "stages", "autoscaling"], **members)
    assert {"dynamic_allocation", "executor_startup_assumed"} <= set(Checker(members, reply, known[1]).all())


def test_a_model_where_nothing_can_be_replayed(client, name):
    """Times of Amdahl's law with a serial part of 20 s, without stages."""
    ran = {1: 420.0, 2: 221.0, 4: 119.5, 8: 70.4, 16: 44.8}
    for executors, seconds in ran.items():
        client.post("/v1/applications/%s/runs" % name, {"problem_size": SIZE, "executors": executors, "cores_per_executor": CORES, "duration_s": seconds}, 201)
    reply = client.post("/v1/advice?dry_run=true", {"application": name, "problem_size": SIZE, "deadline_s": 100}, 200).json()
    reasons = {r["code"]: r["evidence"] for r in reply["reasons"] if "evidence" in r}
    chosen, fitted = reasons["model_chosen"], reasons["fitted_runs"]
    models = client.get("/v1/applications/%s/models" % name).json()
    loo = next(c for c in models["candidates"] if c["model"] == models["selected_model"])["fit"]["loo_mape_percent"]
    assert reply["model"]["kind"] == chosen["model"] == fitted["model"] == models["selected_model"] and chosen["model_runs"] == fitted["runs"] == 5
    close(chosen["model_loo_mape_percent"], reply["model"]["loo_mape_percent"])
    close(fitted["loo_mape_percent"], reply["model"]["loo_mape_percent"])
    assert loo == pytest.approx(reply["model"]["loo_mape_percent"], rel=1e-5)
    assert (fitted["least_problem_size"], fitted["most_problem_size"], fitted["least_cores"], fitted["most_cores"]) == (SIZE, SIZE, CORES, 16 * CORES)
    assert reply["verdict"] == "met" and abs(reply["recommendation"]["predicted_duration_s"] / (20 + 400 / reply["recommendation"]["executors"]) - 1) < 0.1


MACHINES = {"price_per_machine_hour": PRICE, "machine_cores": 8}
SPOT = {"price_per_executor_hour": PRICE, "spot_per_executor_hour": 1.2, "interruptions_per_hour": 20}
SPOT_MACHINES = dict(MACHINES, spot_per_machine_hour=1.2, interruptions_per_hour=20)


@pytest.mark.parametrize("verdict, request_members, codes", [
    ("met", {"constraints": MACHINES}, ["price", "compared_with_last_run"]),
    ("met", {"objective": "min_cost", "constraints": MACHINES}, ["objective", "price"]),
    ("met", {"objective": "min_cost", "constraints": dict(MACHINES, machine_cores=6, startup_billed_s=30)}, ["price"]),
    ("met", {"objective": "min_cost", "constraints": dict(MACHINES, billing_increment_s=60)}, ["price"]),
    ("met", {"objective": "min_cost", "constraints": {"price_per_executor_hour": PRICE, "minimum_billed_s": 60}}, ["price"]),
    ("met", {"objective": "min_cost", "constraints": {"price_per_executor_hour": PRICE, "startup_billed_s": 7.5, "billing_increment_s": 10}}, ["price"]),
    ("met", {"deadline_s": 26, "constraints": dict(MACHINES, startup_billed_s=12, minimum_billed_s=30, billing_increment_s=7)}, ["price"]),
    ("met", {"deadline_s": 30, "market": "spot", "constraints": dict(SPOT, max_executors=8)}, ["interruptions"]),
    ("met", {"deadline_s": 40, "market": "spot", "constraints": dict(SPOT_MACHINES, max_executors=8, billing_increment_s=1)}, ["interruptions"]),
    ("met", {"deadline_s": 40, "market": "cheapest", "constraints": dict(SPOT_MACHINES, max_executors=8)}, ["market_chosen"]),
    ("met", {"deadline_s": 40, "market": "cheapest", "constraints": dict(SPOT, max_executors=8, spot_per_executor_hour=3.5)}, ["market_chosen"]),
])
@pytest.mark.parametrize("history", ["known", "measured"])
def test_every_cost_can_be_worked_out_again(client, request, history, verdict, request_members, codes):
    subject = request.getfixturevalue(history)
    measured = history == "measured"
    members = dict(request_members, constraints=dict(request_members["constraints"]))
    if "price_per_machine_hour" in members["constraints"]:  # three executors by memory, where it is known
        members["constraints"]["machine_memory_bytes"] = 3 * MEMORY + 1
    reply = ask(client, subject, **members)
    assert reply["verdict"] == verdict
    checker = Checker(members, reply, subject[1], STARTUP_S if measured else None, MEMORY if measured else None)
    close(reply["recommendation"]["predicted_duration_s"], checker.bill.time(checker.m))
    assert set(codes) <= set(checker.all())


def test_a_history_that_cannot_tell(client, name):
    """One run, and a problem a hundred times as large."""
    client.post("/v1/applications/%s/runs" % name, run_of(4), 201)
    reply = client.post("/v1/advice?dry_run=true", {"application": name, "problem_size": 100 * SIZE, "deadline_s": 60}, 200).json()
    assert reply["verdict"] == "unknown" and reply["recommendation"] is None and reply["spark"] is None
    evidence = reply["reasons"][0]["evidence"]
    assert (evidence["problem_size"], evidence["nearest_problem_size"], evidence["extrapolation_max"], evidence["runs"]) == (100 * SIZE, SIZE, 4, 1)
    assert reply["data_needed"]["suggested"] == [{"problem_size": 100 * SIZE, "executors": 4}]


def test_sizes_far_from_all_that_ran_get_no_recommendation(client, name):
    """From several runs sixteen times as large or small is the bound, the square of that from a single one."""
    for size in (SIZE, 2 * SIZE):
        rounds = TASK_S * math.ceil(size / (CORES * 4))
        client.post("/v1/applications/%s/runs" % name, dict(run_of(4), problem_size=size, duration_s=START_S + rounds, stages=[
            {"id": 0, "parents": [], "task_durations_s": [TASK_S] * size, "duration_s": rounds}]), 201)
    rounds = TASK_S * math.ceil(2 * SIZE / (CORES * 8))
    client.post("/v1/applications/%s/runs" % name, dict(run_of(8), problem_size=2 * SIZE, duration_s=START_S + rounds, stages=[
        {"id": 0, "parents": [], "task_durations_s": [TASK_S] * 2 * SIZE, "duration_s": rounds}]), 201)
    reply = client.post("/v1/advice?dry_run=true", {"application": name, "problem_size": 100 * SIZE, "deadline_s": 1e6}, 200).json()
    assert reply["data_needed"]["suggested"] == [{"problem_size": 100 * SIZE, "executors": 8}], "a large run on the most executors"

    def verdict(size):
        reply = client.post("/v1/advice?dry_run=true", {"application": name, "problem_size": size, "deadline_s": 1e6}, 200).json()
        return reply["verdict"], reply["reasons"][0].get("evidence", {})

    assert [verdict(s)[0] for s in (SIZE / 16, 32 * SIZE)] == ["met", "met"]
    for size, nearest in ((SIZE / 17, SIZE), (33 * SIZE, 2 * SIZE)):
        got, evidence = verdict(size)
        assert got == "unknown" and (evidence["problem_size"], evidence["nearest_problem_size"], evidence["runs"]) == (pytest.approx(size), nearest, 3)


def test_quotas_of_a_larger_problem_are_for_more_work(client, known):
    def cores(size, deadline_s):
        reply = client.post("/v1/advice?dry_run=true", {"application": known[0], "problem_size": size, "deadline_s": deadline_s}, 200).json()
        message = next(r["message"] for r in reply["reasons"] if r["code"] == "stage_quotas")
        return reply["stages"][0]["estimated_cores"], message

    work, left_s = SIZE * TASK_S, 0.95 * 40 - START_S
    assert cores(SIZE, 40)[0] == math.ceil(work / left_s) and "times its work" not in cores(SIZE, 40)[1]
    larger, message = cores(3 * SIZE, 40)
    assert larger == math.ceil(3 * work / left_s) and "with 3 times its work" in message

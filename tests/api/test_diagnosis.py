"""GET /v1/applications/{name}/diagnosis: series of a history, their types and why, the best load, what is missing."""
import pytest


COUNTS = (1, 2, 4, 8, 16, 32)


def run_of(n, m, task_s=10.0, serial_s=4.0, internal=0.0, induced_s=0.0, gamma=1.0, stages=True, cores=2, **more):
    """A run whose one stage has n tasks of equal length; serial work and overhead grow with m as told."""
    waves = -(-n // (m * cores))
    stage = waves * task_s + (induced_s * m ** gamma if m > 1 else 0)
    body = {"problem_size": n, "executors": m, "cores_per_executor": cores, "initialization_s": 3.0,
            "duration_s": 3.0 + stage + serial_s * m ** internal}
    if stages:
        body["stages"] = [{"id": 0, "name": "map", "parents": [], "task_durations_s": [task_s] * n, "duration_s": stage}]
    return dict(body, **more)


def fill(client, name, runs):
    for body in runs:
        client.post("/v1/applications/%s/runs" % name, body, 201)


def diagnose(client, name, status=200, **kwargs):
    return client.get("/v1/applications/%s/diagnosis" % name, status, **kwargs)


def only_slice(client, name):
    slices = diagnose(client, name).json()["slices"]
    assert len(slices) == 1, [(s["workload_type"], s["problem_size"], s["load_per_executor"]) for s in slices]
    return slices[0]


def codes(findings):
    return [f["code"] for f in findings]


def test_a_fixed_size_history_that_overhead_ruins_peaks(client, name):
    """N = 64 on 1 to 32 executors of two cores; each executor more costs 0.2 s of every stage."""
    fill(client, name, [run_of(64, m, serial_s=0, induced_s=0.2) for m in COUNTS])
    seen = only_slice(client, name)
    assert (seen["workload_type"], seen["problem_size"], seen["load_per_executor"]) == ("fixed_size", 64, None)
    assert seen["basis"] == "stages" and seen["basis_reason"] is None and seen["runs_with_stages"] == len(COUNTS)
    # W_o = 0.2 m and W_p = 320 s an executor: q = m W_o / W_p, so gamma is 2 and the peak at sqrt(320 / 0.2).
    gamma = seen["parameters"]["gamma"]
    assert gamma["estimate"] == pytest.approx(2, abs=1e-6)
    assert seen["scaling_type"] == "IVs" and seen["trend"] == "peaks"
    assert seen["peak"]["executors"] == pytest.approx(40, abs=1) and seen["peak"]["within_observed"] is False
    assert seen["peak"]["speedup"] == pytest.approx(320 / (320 / 40 + 0.2 * 40), rel=0.01)
    assert "alpha" not in seen["parameters"] and seen["parameters"]["eta"]["estimate"] == 1
    assert codes(seen["procedure"]) == ["workload", "measurements", "curve", "trend", "type", "exponents"]
    assert seen["causes"][0]["code"] == "scale_out_overhead"
    assert seen["causes"][0]["evidence"]["executors"] == 32
    assert seen["causes"][0]["evidence"]["share"] == pytest.approx(6.4 / (10 + 6.4 + 3), rel=1e-6)


def test_labels_choose_the_runs(client, name):
    """Two machine types of one application: overhead ruins one of them, the other scales."""
    fill(client, name, [run_of(64, m, serial_s=0, induced_s=0.2, labels={"machine": "small", "region": "eu"}) for m in COUNTS])
    fill(client, name, [run_of(64, m, serial_s=0, labels={"machine": "large", "region": "eu"}) for m in COUNTS])

    def of(*labels):
        return diagnose(client, name, params=[("label", l) for l in labels]).json()

    small, large = of("machine:small"), of("region:eu", "machine:large")
    for seen in (small, large):
        assert (seen["history"]["runs"], seen["history"]["examined"]) == (2 * len(COUNTS), len(COUNTS))
    assert small["slices"][0]["scaling_type"] == "IVs" and large["slices"][0]["trend"] != "peaks"
    assert small["slices"][0]["runs_with_stages"] == large["slices"][0]["runs_with_stages"] == len(COUNTS)
    path = "/v1/applications/%s/diagnosis" % name
    for wrong in ("machine:huge", "machine"):
        client.refuse("GET", path, 422, parameter="label", params={"label": wrong})
    client.refuse("GET", path, 422, parameter="label",
                  params=[("label", "machine:small"), ("label", "region:us")])


def test_serial_growth_bounds_a_fixed_time_history(client, name):
    """Four tasks an executor, a serial part that grows as the problem does."""
    fill(client, name, [run_of(4 * m, m, serial_s=2.0, internal=1.0) for m in COUNTS])
    seen = only_slice(client, name)
    assert (seen["workload_type"], seen["problem_size"], seen["load_per_executor"]) == ("fixed_time", None, 4)
    assert seen["scaling_type"] == "IIIt,1" and seen["trend"] == "levels_off"
    assert seen["parameters"]["delta"]["estimate"] == pytest.approx(0, abs=1e-6)
    assert seen["speedup_bound"] == pytest.approx(1 + 20 / 2, rel=1e-6)
    assert seen["causes"][0]["code"] == "serial_growth" and seen["peak"] is None


def test_shares_add_up_and_name_stragglers(client, name):
    """One task of each stage takes three times as long: the busiest executor is beyond its share."""
    runs = [run_of(2 * m, m, serial_s=1.0) for m in COUNTS]
    for body in runs[1:]:
        body["stages"][0]["task_durations_s"][0] = 30.0
        body["stages"][0]["duration_s"] = 30.0
        body["duration_s"] += 20.0
    fill(client, name, runs)
    seen = only_slice(client, name)
    for point in seen["points"]:
        assert sum(point["time_shares"].values()) == pytest.approx(1)
    assert seen["points"][0]["time_shares"]["stragglers"] == 0
    assert seen["causes"][0]["code"] == "stragglers"


def test_durations_alone_tell_what_but_not_why(client, name):
    fill(client, name, [run_of(64, m, serial_s=8.0, stages=False) for m in COUNTS])
    reply = diagnose(client, name).json()
    seen = reply["slices"][0]
    assert seen["basis"] == "durations" and seen["basis_reason"]
    assert seen["scaling_type"] == "IIIs" and seen["trend"] == "levels_off" and seen["causes"] == []
    assert set(seen["parameters"]) == {"cost_exponent"}
    assert all(p["time_shares"] is None for p in seen["points"])
    assert "stages" in codes(reply["missing"])
    assert reply["history"]["with_stages"] == 0
    assert "event logs" in seen["procedure"][5]["message"]


@pytest.mark.parametrize("kwargs, kind", [
    (dict(serial_s=0.0), "It"), (dict(serial_s=3.0, internal=1.0), "IIIt"), (dict(serial_s=0.5, internal=2.0), "IVt"),
    (dict(serial_s=3.0, internal=0.5), "IIt")])
def test_durations_of_a_fixed_time_history(client, name, kwargs, kind):
    fill(client, name, [run_of(8 * m, m, stages=False, **kwargs) for m in COUNTS])
    seen = only_slice(client, name)
    assert seen["scaling_type"] == kind
    assert (seen["peak"] is not None) == (kind == "IVt")
    if kind == "IVt":  # n / (40 + n^2 / 2) is highest at n^2 = 80
        assert seen["peak"]["executors"] == pytest.approx(9, abs=1)


def test_a_step_of_the_serial_part_is_a_memory_that_overflows(client, name):
    counts = (1, 2, 4, 6, 8, 10, 12, 14, 18, 22, 26, 30, 34, 40)
    internal = lambda m: 1 + 0.15 * (m - 1) if m <= 14 else (1 + 0.15 * 13) * 1.4 + 0.25 * (m - 14)
    runs = []
    for m in counts:
        body = run_of(4 * m, m, serial_s=0)
        body["duration_s"] += 6 * internal(m)
        runs.append(body)
    fill(client, name, runs)
    seen = only_slice(client, name)
    assert seen["step"]["last_before"] == 14 and seen["step"]["first_after"] == 18
    assert seen["step"]["slope_before"] == pytest.approx(0.15, rel=1e-6)
    assert seen["step"]["slope_after"] == pytest.approx(0.25, rel=1e-6)
    assert seen["step"]["jump_percent"] > 30
    assert "memory_overflow" in codes(seen["causes"]) and seen["scaling_type"] == "IIIt,1"


def test_the_best_load_and_the_memory_that_ends_it(client, name):
    """Overhead makes small loads poor; from 16 tasks an executor on tasks take twice as long."""
    runs = []
    for m in (2, 4, 8):
        for load in (1, 2, 4, 8, 16, 32):
            body = run_of(load * m, m, task_s=20.0 if load >= 16 else 10.0, serial_s=10.0, cores=1)
            runs.append(body)
    fill(client, name, runs)
    best = diagnose(client, name).json()["best_load"]
    assert best["load_per_executor"] == 8 and best["limit_load_per_executor"] == 16
    assert best["memory"] is False  # nothing is known of spills: a client cannot tell of them
    assert codes(best["findings"]) == ["best_load", "load_limit"]
    assert "event logs" in best["findings"][1]["message"]
    throughput = {load["load_per_executor"]: load["throughput"] for load in best["loads"]}
    assert throughput[8] == 1 and throughput[1] < throughput[2] < throughput[4] < 1 > throughput[16]


def test_too_little_is_an_answer_that_says_what_is_missing(client, name):
    fill(client, name, [run_of(8, 2)])
    reply = diagnose(client, name).json()
    assert reply["slices"] == [] and reply["best_load"] is None
    assert "series" in codes(reply["missing"]) and "loads" in codes(reply["missing"])
    assert reply["history"]["runs_used"] == 1


def test_failed_runs_are_counted_and_left_out(client, name):
    fill(client, name, [run_of(64, m) for m in COUNTS])
    before = diagnose(client, name).json()
    fill(client, name, [run_of(64, 2, succeeded=False), run_of(64, 16, succeeded=False)])
    after = diagnose(client, name).json()
    assert after["history"]["failed"] == 2 and after["history"]["runs_used"] == len(COUNTS)
    assert after["slices"] == before["slices"]


def test_the_same_history_is_not_sent_twice(client, name):
    fill(client, name, [run_of(64, m) for m in COUNTS])
    reply = diagnose(client, name)
    etag = reply.headers["ETag"]
    assert diagnose(client, name, 304, headers={"If-None-Match": etag}).content == b""
    fill(client, name, [run_of(64, 3)])
    assert diagnose(client, name, headers={"If-None-Match": etag}).headers["ETag"] != etag


def test_one_made_anew_has_another_etag(client, name):
    fill(client, name, [run_of(64, m) for m in COUNTS])
    etag = diagnose(client, name).headers["ETag"]
    client.delete("/v1/applications/" + name)
    fill(client, name, [run_of(32, m) for m in COUNTS])
    assert diagnose(client, name, headers={"If-None-Match": etag}).headers["ETag"] != etag


def test_where_older_runs_cannot_be_measured_the_reply_is_of_what_was_read_first(client, service, name):
    """What the failed measuring read is of no use: its transaction is undone."""
    fill(client, name, [run_of(64, m, serial_s=0, induced_s=0.2) for m in COUNTS])
    service.psql("UPDATE provisor.run SET measured = false, parallel_s = NULL, max_task_s = NULL, induced_s = NULL,"
                 " serial_s = NULL WHERE application_id = (SELECT id FROM provisor.application WHERE name = '%s')" % name)
    service.psql("CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;"
                 " CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON provisor.run DEFERRABLE INITIALLY DEFERRED"
                 " FOR EACH ROW EXECUTE FUNCTION public.refuse()")
    try:
        missing = diagnose(client, name)
        assert "unmeasured" in codes(missing.json()["missing"])
    finally:
        service.psql("DROP TRIGGER refuse ON provisor.run; DROP FUNCTION public.refuse()")
    measured = diagnose(client, name, headers={"If-None-Match": missing.headers["ETag"]})
    assert "unmeasured" not in codes(measured.json()["missing"])


def test_runs_stored_before_they_were_measured_are_measured_when_asked(client, service, name):
    fill(client, name, [run_of(64, m, serial_s=0, induced_s=0.2) for m in COUNTS])
    want = diagnose(client, name).json()
    service.psql("UPDATE provisor.run SET measured = false, parallel_s = NULL, max_task_s = NULL, induced_s = NULL,"
                 " serial_s = NULL WHERE application_id = (SELECT id FROM provisor.application WHERE name = '%s')" % name)
    assert diagnose(client, name).json() == want


def test_unknown_names_and_parameters_are_refused(client, name):
    diagnose(client, "no such application", 404)
    fill(client, name, [run_of(8, 2)])
    problem = diagnose(client, name, 422, params={"colour": "red"}).json()
    assert problem["errors"][0]["parameter"] == "colour"


def internal_of_terasort(n):
    """Figure 2.5: the serial part grows by 0.15 an executor, jumps by 30 % after 15 and grows by 0.25 then."""
    return 1 + 0.15 * (n - 1) if n <= 15 else (1 + 0.15 * 14) * 1.3 + 0.25 * (n - 15)


def terasort(n, inside):
    """n maps of 46.5 s on n executors, and one reducer, as a stage or as time in which no stage runs."""
    serial_s = 100 * internal_of_terasort(n)
    stages = [{"id": 0, "task_durations_s": [46.5] * n, "duration_s": 46.5}]
    if inside:
        stages.append({"id": 1, "parents": [0], "task_durations_s": [serial_s], "duration_s": serial_s})
    return {"problem_size": n, "executors": n, "cores_per_executor": 1, "initialization_s": 2,
            "duration_s": 2 + 46.5 + serial_s, "stages": stages}


@pytest.mark.parametrize("inside", [True, False])
def test_one_reducer_is_serial_work_wherever_it_is(client, name, inside):
    fill(client, name, [terasort(n, inside) for n in (1, 2, 4, 8, 12, 16, 24, 32, 48, 64)])
    seen = only_slice(client, name)
    assert (seen["scaling_type"], seen["trend"], seen["basis"]) == ("IIIt,1", "levels_off", "stages")
    assert seen["speedup_bound"] == pytest.approx(1 + 46.5 / 25, rel=1e-6)
    assert seen["parameters"]["delta"]["estimate"] == pytest.approx(0, abs=1e-9)
    assert seen["parameters"]["eta"]["estimate"] == pytest.approx(46.5 / 146.5, rel=1e-6)
    assert (seen["step"]["last_before"], seen["step"]["first_after"]) == (12, 16)
    assert seen["step"]["jump_percent"] == pytest.approx(29, abs=1)
    assert codes(seen["causes"])[0] == "serial_growth" and "stragglers" not in codes(seen["causes"])
    assert ("a stage whose number of tasks does not grow" in seen["causes"][0]["message"]) == inside
    assert seen["procedure"][3]["message"] == "the speedup levels off: it stays below 2.86 however many executors"


def test_a_type_that_the_runs_contradict_is_not_given(client, name):
    """Two tasks an executor, of which one takes nearly all of the stage's time: no stage is serial by its tasks."""
    runs = []
    for n in COUNTS:
        tasks = [10.0 * n] + [10.0] * (2 * n - 1)
        runs.append({"problem_size": 2 * n, "executors": n, "cores_per_executor": 2, "initialization_s": 1,
                     "duration_s": 1 + 10.0 * n,
                     "stages": [{"id": 0, "task_durations_s": tasks, "duration_s": 10.0 * n}]})
    fill(client, name, runs)
    seen = only_slice(client, name)
    assert (seen["scaling_type"], seen["trend"], seen["basis"]) == ("IIIt", "levels_off", "durations")
    assert "which the runs contradict: on 32 executors the speedup is 1 times that on 1" in seen["basis_reason"]
    assert seen["procedure"][5]["message"].startswith("delta and gamma are not given: ")

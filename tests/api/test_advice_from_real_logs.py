"""Advice from real event logs and the sample: questions to which an unsafe or puzzling answer was possible once, asked again."""
import json
import subprocess
import uuid

import pytest
from conftest import PROVISORD

PROFILING, QUALIFICATION = "rapids/profiling/", "rapids/qualification/"
DYNAMIC_LOG = QUALIFICATION + "cluster_information/eventlog_4nodes_8cores_dynamic_alloc.zstd"


@pytest.fixture(scope="module")
def team(service):
    return service.client(service.token("logs-" + uuid.uuid4().hex[:8]))


@pytest.fixture(scope="module")
def stored(team, shared):
    """A log by its path, stored under a name; the run that came of it."""
    known = {}

    def store(path, query=""):
        name = path.rsplit("/", 1)[-1].split(".")[0]
        if (name, query) not in known:
            reply = team.request("POST", "/v1/applications/%s/eventlogs%s" % (name, query), {200, 201},
                                 data=(shared / "data" / "spark-eventlogs" / path).read_bytes(),
                                 headers={"Content-Type": "application/octet-stream"})
            known[name, query] = reply.json()
        return name, known[name, query]

    return store


@pytest.fixture(scope="module")
def sample(team, tmp_path_factory):
    """The sample's applications, as ./run loads them."""
    folder = tmp_path_factory.mktemp("sample")
    subprocess.run([str(PROVISORD), "sample", "--out=%s" % folder], check=True, capture_output=True)
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        team.request("POST", "/v1/applications/%s/eventlogs" % path.relative_to(folder).parts[0], {200, 201}, data=path.read_bytes(),
                     headers={"Content-Type": "application/octet-stream"})
    return {i["name"] for i in team.get("/v1/applications?limit=200").json()["items"]}


def ask(team, name, status=200, **more):
    return team.post("/v1/advice?dry_run=true", dict({"application": name}, **more), status).json()


def codes(advice, where="warnings"):
    return [f["code"] for f in advice[where]]


@pytest.mark.parametrize("deadline_s", [60, 80, 95, 100, 109, 112, 120, 140, 200, 400, 1000])
def test_feasible_means_the_confidence_asked_for(team, stored, deadline_s):
    name, run = stored(PROFILING + "nds_q66_gpu.zstd")
    advice = ask(team, name, deadline_s=deadline_s, include=["alternatives"])
    best = advice["recommendation"]
    assert advice["feasible"] == (advice["verdict"] == "met") == (best["deadline_probability"] >= advice["confidence"])
    assert codes(advice, "reasons")[0] == "deadline_" + advice["verdict"]
    assert best["executors"] <= 4 * run["executors"], "bounded by what ran"
    in_time = [a for a in advice["alternatives"] if a["predicted_duration_s"] <= deadline_s]
    assert (advice["verdict"] == "missed") == (not in_time and best["predicted_duration_s"] > deadline_s)
    if advice["verdict"] == "at_risk":
        likely = max(a["deadline_probability"] for a in advice["alternatives"])
        assert best["deadline_probability"] >= likely - 0.02 - 1e-6
        fewer = [a["deadline_probability"] for a in advice["alternatives"] if a["executors"] < best["executors"]]
        assert all(p < best["deadline_probability"] for p in fewer)
    if advice["verdict"] != "met":
        assert advice["remedies"]["deadline_s"] > deadline_s


def test_an_earlier_deadline_asks_for_no_fewer_executors(team, sample):
    assert "nightly-etl" in sample
    met = []
    for deadline_s in range(40, 200, 4):
        advice = ask(team, "nightly-etl", problem_size=64, deadline_s=deadline_s, constraints={"cores_per_executor": 4})
        if advice["verdict"] == "met":
            met.append(advice["recommendation"]["executors"])
    assert len(met) > 20 and met == sorted(met, reverse=True)
    counts = [ask(team, "nightly-etl", problem_size=64, deadline_s=90, confidence=c)["recommendation"]["executors"] for c in (0.6, 0.8, 0.9, 0.95, 0.99)]
    assert counts == sorted(counts)


def test_dynamic_allocation_is_advised_as_a_whole(team, stored):
    name, run = stored(DYNAMIC_LOG)
    assert run["succeeded"] and run["executors"] == 7
    advice = ask(team, name)
    properties, m = advice["spark"]["properties"], str(advice["recommendation"]["executors"])
    assert "spark.executor.instances" not in properties and properties["spark.dynamicAllocation.enabled"] == "true"
    assert properties["spark.dynamicAllocation.maxExecutors"] == properties["spark.dynamicAllocation.initialExecutors"] == m
    assert properties["spark.shuffle.service.enabled"] == "true"
    removed = next(c for c in advice["spark"]["changes"] if c["key"] == "spark.executor.instances")
    assert removed["old"] == "2" and removed["new"] is None


def test_without_a_deadline_it_is_not_much_slower_than_the_last_run(team, stored):
    for path in (DYNAMIC_LOG, PROFILING + "nds_q66_gpu.zstd", PROFILING + "rp_sql_eventlog.zstd"):
        name, _ = stored(path)
        for tolerance in (0, 10, 50):
            advice = ask(team, name, constraints={"tolerance_percent": tolerance})
            last = advice["last_run"]
            assert advice["recommendation"]["predicted_duration_s"] <= last["predicted_duration_s"] * (1 + tolerance / 100) * (1 + 1e-6)
            assert last["cost_change_percent"] <= 1e-6, "and costs no more"
            assert "compared_with_last_run" in codes(advice, "reasons")


def test_alternatives_are_dense_where_one_decides(team, stored):
    name, _ = stored(DYNAMIC_LOG)
    alternatives = ask(team, name)["alternatives"]
    times = [a["predicted_duration_s"] for a in alternatives]
    assert len(alternatives) >= 5 and times == sorted(times) and len(set(times)) == len(times)
    assert len([a for a in alternatives if a["executors"] <= 7]) >= 4, "not only executors that nobody would take"


def test_logs_without_an_application_end_whose_jobs_ended_well_count(team, stored):
    for path in ("nds_q88_photon_db_13_3.zstd", "db_subExecution_id.zstd"):
        name, run = stored(QUALIFICATION + path)
        assert run["succeeded"] is True and run["duration_s"] < 86400
        assert "no_application_end" in [w["code"] for w in run["warnings"]]
        listed = team.get("/v1/applications/%s/runs?succeeded=true" % name).json()["items"]
        assert [r["id"] for r in listed] == [run["id"]]
        assert team.get("/v1/applications/%s/runs?succeeded=True" % name).json()["items"] == listed


def test_the_problem_size_is_what_is_read_from_storage(team, stored):
    """Less than 1 MiB is counted in tasks: 5,508 bytes read are no 4.1e-05 blocks."""
    sizes = {}
    for path in ("nds_q88_photon_db_13_3.zstd", "jdbc_eventlog.zstd", "writeformat_eventlog", "dataset_eventlog", "udf_dataset_eventlog",
                 "java_udf_eventlog", "complex_dec_eventlog.zstd", "rdd_only_eventlog", "nested_type_eventlog", "global_local_limit_eventlog.zstd"):
        name, run = stored(QUALIFICATION + path)
        detail = team.get("/v1/applications/%s/runs/%s?include=stages" % (name, run["id"])).json()
        read = sum(s["input_bytes"] or 0 for s in detail["stages"])
        sizes[path] = run["problem_size"]
        if read >= 2**20:
            assert run["problem_size"] == pytest.approx(read / 2**27) and run["problem_size_measured_by"] == "input_blocks", path
        else:
            ran = sorted((s for s in detail["stages"] if s["tasks"]), key=lambda s: s["started_s"] if s["started_s"] is not None else 1e18)
            tasks = [s["tasks"] for s in ran if s["tasks"] > 1] + [1]
            assert run["problem_size"] == tasks[0] and run["problem_size_measured_by"] == "first_parallel_stage", path
    assert sizes["writeformat_eventlog"] == 1 and sizes["nds_q88_photon_db_13_3.zstd"] > 1


def test_a_corrected_problem_size_is_taken(team, stored):
    name, run = stored(QUALIFICATION + "dataset_eventlog")
    again_name, again = stored(QUALIFICATION + "dataset_eventlog", "?problem_size=14.5")
    assert (again_name, again["id"]) == (name, run["id"]) and again["problem_size"] == 14.5
    reply = team.request("PATCH", "/v1/applications/%s/runs/%s" % (name, run["id"]), 200, json={"problem_size": 15})
    assert reply.json()["problem_size"] == 15 and team.get("/v1/runs/" + run["id"]).json()["problem_size"] == 15


def test_what_is_assumed_is_said(team, sample):
    advice = ask(team, "nightly-etl", deadline_s=90)
    warning = next(w for w in advice["warnings"] if w["code"] == "problem_size_of_latest_run")
    assert warning["evidence"]["problem_size"] == advice["problem_size"]


def test_unrelated_jobs_under_one_name_get_no_recommendation(team, stored, shared):
    """Logs of different programs, as those of a shell session are."""
    name = "spark-shell-" + uuid.uuid4().hex[:8]
    folder = shared / "data" / "spark-eventlogs"
    logs = ["rdd_only_eventlog", "udf_dataset_eventlog", "jdbc_eventlog.zstd", "nds_q88_photon_db_13_3.zstd", "writeformat_eventlog",
            "java_udf_eventlog", "createdatasourcetable_eventlog.zstd"]
    for log in logs:
        team.request("POST", "/v1/applications/%s/eventlogs" % name, {200, 201}, data=(folder / QUALIFICATION / log).read_bytes(),
                     headers={"Content-Type": "application/octet-stream"})
    advice = ask(team, name, problem_size=6, deadline_s=600)
    assert advice["verdict"] == "unknown" and advice["feasible"] is False and advice["recommendation"] is None and advice["spark"] is None
    assert advice["data_needed"]["runs"] >= 1 and "history_insufficient" in codes(advice, "reasons")


def test_five_runs_without_stages_have_one_answer_for_any_bound(team, name):
    """Their times contradict each other: no law is within the error that is allowed, however many executors may be had."""
    for executors, seconds in ((4, 7023), (8, 3310), (12, 2272), (24, 1221), (40, 287)):
        team.post("/v1/applications/%s/runs" % name, {"problem_size": 100, "executors": executors, "cores_per_executor": 4, "duration_s": seconds}, 201)
    for most in (32, 40, 41, 44, 48, 160):
        advice = ask(team, name, problem_size=100, deadline_s=3600, constraints={"max_executors": most})
        assert advice["verdict"] == "unknown" and advice["model"]["observations"] == 5 and advice["model"]["loo_mape_percent"] > 50
        assert advice["data_needed"]["suggested"], most


def test_every_prediction_of_a_reply_is_of_one_predictor(team, stored):
    name, _ = stored(PROFILING + "nds_q66_gpu.zstd")
    advice = ask(team, name, problem_size=ask(team, name)["problem_size"], deadline_s=110,
                 include=["alternatives", "next_experiments", "autoscaling"])
    same_size = advice["alternatives"] + [e for e in advice["next_experiments"] if e["problem_size"] == advice["problem_size"]]
    assert advice["next_experiments"] and len(same_size) > 5
    for other in same_size:
        m = other["executors"]
        alone = ask(team, name, problem_size=advice["problem_size"], constraints={"min_executors": m, "max_executors": m})
        assert other["predicted_duration_s"] == pytest.approx(alone["recommendation"]["predicted_duration_s"], rel=1e-5), m
    fixed = next(c for c in advice["autoscaling"]["cases"] if c["allocation"] == "static")
    assert fixed["predicted_duration_s"] == advice["recommendation"]["predicted_duration_s"]


def test_the_shortest_time_is_the_shortest_of_all_that_are_allowed(team, sample):
    advice = ask(team, "nightly-etl", problem_size=128, deadline_s=90, objective="min_time", include=["alternatives"])
    assert advice["recommendation"]["predicted_duration_s"] == min(a["predicted_duration_s"] for a in advice["alternatives"])


def test_cores_per_executor_that_never_ran_are_warned_of(team, sample):
    advice = ask(team, "nightly-etl", problem_size=64, deadline_s=200, constraints={"cores_per_executor": 2})
    warning = next(w for w in advice["warnings"] if w["code"] == "extrapolation")
    assert advice["model"]["extrapolation"] is True and "cores" in warning["message"]


def test_memory_is_advised_or_unknown_never_nothing(team, stored):
    name, run = stored(PROFILING + "nds_q66_gpu.zstd")
    memory = ask(team, name, include=["memory"])["memory"]
    peak = team.get("/v1/applications/%s/runs/%s" % (name, run["id"])).json()["peak_jvm_heap_bytes"]
    assert memory["ran_with"]["executor_memory_bytes"] == 16 << 30 and peak < 16 << 30
    assert memory["executor_memory_bytes"] == 16 << 30 and memory["properties"] == {}, "one run cuts nothing"
    assert memory["overhead_bytes"] >= memory["ran_with"]["overhead_bytes"] > 0, "one that was set is never shrunk"


def test_clocks_of_doctored_logs_make_no_durations_of_years(team, stored):
    folder = QUALIFICATION + "cluster_information/"
    for path in (folder + "eventlog_2nodes_8cores", folder + "eventlog_3nodes_12cores_exec_removed", folder + "platform/dataproc",
                 QUALIFICATION + "truncated_eventlog"):
        _, run = stored(path)
        assert run["duration_s"] < 86400 and run["warnings"]


def test_least_cost_without_a_price_is_said(team, sample):
    assert "cost_in_executor_seconds" in codes(ask(team, "nightly-etl", problem_size=64, objective="min_cost"))


def test_mistyped_names_are_answered_with_the_nearest(team, sample):
    for wrong in ("nightly-elt", "Nightly-ETL", "nightlyetl"):
        refused = team.post("/v1/advice", {"application": wrong}, 422).json()
        assert "nightly-etl" in refused["errors"][0]["detail"], refused
    refused = team.request("POST", "/v1/advice", 422, json={"application": "nightly-etl", "deadline": 90}).json()
    assert "deadline_s" in json.dumps(refused["errors"])
    refused = team.request("POST", "/v1/advice", 422, json={"application": "nightly-etl", "confidence": 95}).json()
    assert refused["errors"][0]["pointer"] == "/confidence" and "0.95" in refused["errors"][0]["detail"]

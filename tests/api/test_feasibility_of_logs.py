"""Jobs from history in feasibility, on real logs and on the sample: a run on its own cores takes what it took, as advice says."""
import csv
import statistics
import subprocess

import pytest

from conftest import PROVISORD


def logs_of(shared):
    """Every log of one file: public ones, and those of the cases."""
    root = shared / "data" / "spark-eventlogs"
    with open(root / "manifest.tsv") as f:
        public = [root / row["file"] for row in csv.DictReader(f, delimiter="\t") if row["kind"] == "single"]
    cases = [p for p in sorted((shared / "cases").rglob("*")) if p.is_file() and p.suffix not in (".md", ".json")]
    return public, [p for p in cases if not any(part.startswith("eventlog_v2") for part in p.parts)]


def run_of_log(client, name, path):
    """The run that the log holds, as it is stored; None if it cannot be scheduled. A run that failed or whose log is cut off
    counts as one that succeeded: feasibility takes what the log shows."""
    reply = client.request("POST", "/v1/applications/%s/eventlogs" % name, data=path.read_bytes(),
                           headers={"Content-Type": "application/octet-stream"})
    run = reply.json()
    if reply.status_code != 201 or not (run["executors"] and run["cores_per_executor"] and run["duration_s"]):
        return None
    if not run["succeeded"]:
        client.request("PATCH", "/v1/applications/%s/runs/%s" % (name, run["id"]), 200, json={"succeeded": True})
    return client.get("/v1/runs/%s" % run["id"]).json()


def asks_for_dynamic_allocation(run):
    return str((run.get("spark_properties") or {}).get("spark.dynamicAllocation.enabled")).lower() == "true"


def job_of(client, run, name, **more):
    """What becomes of the job alone on as many cores as the run had; None: it has no history that can be used."""
    cluster = {"executors": run["executors"], "cores_per_executor": run["cores_per_executor"]}
    body = {"cluster": cluster, "jobs": [dict({"name": "J", "application": name, "deadline_s": 1e9}, **more)]}
    reply = client.post("/v1/feasibility", body)
    return reply.json()["jobs"][0] if reply.status_code == 200 else None


@pytest.mark.every_log
def test_a_run_on_its_own_cores_takes_what_it_took(client, shared, name):
    """
    On the executors of its run a job takes as long as recorded, also if these executors came and went (dynamic allocation).
    The thesis' rule for the overhead, on request, takes longer.
    """
    public, cases = logs_of(shared)
    compared, dynamic, of_idle_time, exact, on_time = 0, 0, [], 0, 0
    for i, file in enumerate(public + cases):
        application = "%s-%d" % (name, i)
        run = run_of_log(client, application, file)
        job = run and job_of(client, run, application)
        if not job:
            continue
        assert job["overhead"] == "replay" and job["run_id"] == run["id"], file
        # A loss of executors is not expected again.
        assert job["execution_s"] == pytest.approx(run["duration_s"], rel=0.03) or (run["executors_lost"] > 0 and job["execution_s"] < run["duration_s"]), file
        if job["execution_s"] <= run["duration_s"] * (1 + 1e-9):
            on_time += job_of(client, run, application, deadline_s=run["duration_s"])["met"]
            exact += 1
        idle = job_of(client, run, application, overhead="idle_time")
        assert idle["overhead"] == "idle_time" and idle["fixed_s"] == 0, file
        compared += 1
        dynamic += asks_for_dynamic_allocation(run)
        if file in public:
            of_idle_time.append(idle["execution_s"] / run["duration_s"])
    assert len(of_idle_time) >= 36 and compared >= 105 and dynamic >= 12, (len(of_idle_time), compared, dynamic)
    assert statistics.median(of_idle_time) > 1.1
    assert exact >= 100 and on_time == exact, (exact, on_time)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The event logs of the sample: a folder for each application."""
    folder = tmp_path_factory.mktemp("sample")
    subprocess.run([str(PROVISORD), "sample", "--out", str(folder)], check=True, stdout=subprocess.PIPE)
    return folder


def advised_s(client, run, name):
    executors = {"min_executors": run["executors"], "max_executors": run["executors"], "cores_per_executor": run["cores_per_executor"]}
    body = {"application": name, "problem_size": run["problem_size"], "constraints": executors}
    return client.post("/v1/advice", body, 201).json()["recommendation"]["predicted_duration_s"]


@pytest.fixture(scope="module")
def sample_history(client, sample):
    """The sample's applications, stored."""
    for log in sorted(sample.rglob("*")):
        if log.is_file():
            client.request("POST", "/v1/applications/%s/eventlogs" % log.parent.name, (200, 201), data=log.read_bytes(),
                           headers={"Content-Type": "application/octet-stream"})
    return sample


def enough_cores(client, jobs, executors, each):
    """(feasible, the least number of cores by the remedies) of these jobs."""
    body = {"jobs": jobs, "cluster": {"executors": executors, "cores_per_executor": each}}
    answer = client.post("/v1/feasibility", body, 200).json()
    return answer["feasible"], None if answer["feasible"] else answer["remedies"]["min_total_cores"]


def job(name, application, problem_size, deadline_s, release_s=0):
    return {"name": name, "application": application, "problem_size": problem_size, "deadline_s": deadline_s, "release_s": release_s}


@pytest.mark.parametrize("jobs", [
    [job("a", "nightly-etl", 64, 120)],
    [job("a", "nightly-etl", 40, 75)],
    [job("a", "churn-training", 30, 70)],
    [job("a", "nightly-etl", 64, 150), job("b", "churn-training", 30, 90, 10), job("c", "hourly-report", 20, 60, 30)],
], ids=["etl", "etl of 40", "churn", "three"])
def test_the_cores_that_are_enough_do_not_depend_on_the_cluster_that_was_asked_about(client, sample_history, jobs):
    found = [enough_cores(client, jobs, executors, 1) for executors in (1, 2, 3, 5, 8)]
    (least,) = {cores for feasible, cores in found if not feasible}
    assert enough_cores(client, jobs, least, 1)[0], "jobs made for these cores meet their deadlines on them"
    assert enough_cores(client, jobs, least - 1, 1) == (False, least)
    for executors, each in ((1, 2), (2, 2), (1, 3), (2, 3), (1, 4), (2, 4)):  # a last executor that is not whole
        feasible, cores = enough_cores(client, jobs, executors, each)
        assert feasible or abs(cores - least) <= each, (executors, each, cores, least)


def test_feasibility_and_advice_agree_on_the_sample(client, sample, sample_history):
    """Where it ran, and between and beyond: the job alone on the cluster takes what advice predicts for these executors."""
    compared = 0
    for name in sorted(path.name for path in sample.iterdir() if path.is_dir()):
        seen = {}
        for run in client.get("/v1/applications/%s/runs?limit=200" % name).json()["items"]:
            if run["succeeded"]:
                seen.setdefault((run["problem_size"], run["executors"], run["cores_per_executor"]), run)
        for run in seen.values():
            took = job_of(client, run, name, problem_size=run["problem_size"])["execution_s"]
            assert took == pytest.approx(advised_s(client, run, name), rel=0.03), (name, run["problem_size"], run["executors"])
            assert took == pytest.approx(run["duration_s"], rel=0.15), (name, run["problem_size"], run["executors"])
            compared += 1
        for size, executors in ((20, 5), (40, 10), (90, 3)):
            asked = dict(run, problem_size=size, executors=executors)
            took = job_of(client, asked, name, problem_size=size)["execution_s"]
            assert took == pytest.approx(advised_s(client, asked, name), rel=0.03), (name, size, executors)
    assert compared == 36

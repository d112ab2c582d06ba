"""Jobs from history in feasibility, on real logs and on the sample: a run on its own cores takes what it took, as advice says."""
import csv
import statistics
import subprocess

import pytest

from conftest import PROVISORD


def run_of_log(client, name, path):
    """The run that the log holds, as it is stored; None if it cannot be scheduled."""
    reply = client.request("POST", "/v1/applications/%s/eventlogs" % name, data=path.read_bytes(),
                           headers={"Content-Type": "application/octet-stream"})
    run = reply.json()
    usable = reply.status_code == 201 and run["succeeded"] and run["executors"] and run["cores_per_executor"] and run["duration_s"]
    return client.get("/v1/runs/%s" % run["id"]).json() if usable else None


def asks_for_dynamic_allocation(run):
    return str((run.get("spark_properties") or {}).get("spark.dynamicAllocation.enabled")).lower() == "true"


def job_of(client, run, name, **more):
    """What becomes of the job alone on as many cores as the run had; None: it has no history that can be used."""
    cluster = {"executors": run["executors"], "cores_per_executor": run["cores_per_executor"]}
    body = {"cluster": cluster, "jobs": [dict({"name": "J", "application": name, "deadline_s": 1e9}, **more)]}
    reply = client.post("/v1/feasibility", body)
    return reply.json()["jobs"][0] if reply.status_code == 200 else None


def test_a_run_on_its_own_cores_takes_what_it_took(client, shared, name):
    """
    Every log of one file that is read to its end. Executors that came and went are a static cluster's here: of those runs
    only the waiting for executors may be missing.
    """
    root = shared / "data" / "spark-eventlogs"
    with open(root / "manifest.tsv") as f:
        files = [row["file"] for row in csv.DictReader(f, delimiter="\t") if row["kind"] == "single"]
    ratios, of_idle_time = [], []
    for i, file in enumerate(files):
        application = "%s-%d" % (name, i)
        run = run_of_log(client, application, root / file)
        job = run and job_of(client, run, application)
        if not job:
            continue
        assert job["overhead"] == "replay" and job["run_id"] == run["id"], file
        ratio = job["execution_s"] / run["duration_s"]
        idle = job_of(client, run, application, overhead="idle_time")
        assert idle["overhead"] == "idle_time" and idle["fixed_s"] == 0, file
        of_idle_time.append(idle["execution_s"] / run["duration_s"])
        ratios.append(ratio)
        assert (0.6 if asks_for_dynamic_allocation(run) else 0.97) < ratio < 1.03, (file, ratio)
    assert len(ratios) >= 30, len(ratios)
    assert statistics.median(of_idle_time) > 1.1, "the rule of the thesis, on request"


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


def test_feasibility_and_advice_agree_on_the_sample(client, sample):
    """Where it ran, and between and beyond: the job alone on the cluster takes what advice predicts for these executors."""
    for log in sorted(sample.rglob("*")):
        if log.is_file():
            client.request("POST", "/v1/applications/%s/eventlogs" % log.parent.name, (200, 201), data=log.read_bytes(),
                           headers={"Content-Type": "application/octet-stream"})
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

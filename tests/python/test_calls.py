"""Every call of the contract, made at least once to the real service, and all of what comes back looked at.

A test says with `makes` which operations it makes; the requests that it sent are compared with that.
"""
import dataclasses
import datetime
import json
import pathlib
import sys
import time

import pytest

import provisor
from provisor.calls import CALLS
from provisor.record import Record
from conftest import ROOT, cli_fixtures

sys.path.insert(0, str(ROOT / "openapi"))
import bundle  # noqa: E402

DOCUMENT = bundle.load()
MADE = set()


def makes(*operations):
    MADE.update(operations)
    return pytest.mark.makes(*operations)


class Recording(provisor.Client):
    """Keeps which calls it made."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, progress=False, **kwargs)
        self.made = set()

    def _request(self, call, **request):
        self.made.add(call.operation)
        return super()._request(call, **request)


@pytest.fixture
def client(request, service):
    with Recording(service.base_url, service.alpha_token) as client:
        yield client
        marks = {operation for mark in request.node.iter_markers("makes") for operation in mark.args}
        assert marks <= client.made


@pytest.fixture
def operator(service):
    with Recording(service.base_url, service.operator_token) as operator:
        yield operator


def example(operation, which=None):
    """The body of an example of the contract: the first one, or that of the name."""
    for item in DOCUMENT["paths"].values():
        for about in item.values():
            if isinstance(about, dict) and about.get("operationId") == operation:
                examples = about["requestBody"]["content"]["application/json"]["examples"]
                return examples[which or next(iter(examples))]["value"]
    raise KeyError(operation)


def pretty(value):
    from IPython.lib.pretty import pretty as printed
    return printed(value)


def look(value):
    """Read all members of a result and of what is in it: none is unknown, none of another kind than its type says."""
    if isinstance(value, Record):
        assert value.extra == {}, "%s: members unknown to the client: %s" % (type(value).__name__, value.extra)
        assert dataclasses.is_dataclass(value)
        for field in dataclasses.fields(value):
            inner = getattr(value, field.name)
            text = field.type
            if inner is None:
                assert text == "Any" or text.startswith("Optional["), (type(value).__name__, field.name)
            elif "datetime" in text:
                assert isinstance(inner, datetime.datetime) and inner.tzinfo, (type(value).__name__, field.name, inner)
            elif isinstance(inner, dict):
                assert "Dict[" in text or "Any" in text, (type(value).__name__, field.name, text)
            look(inner)
        assert repr(value).startswith("<" + type(value).__name__) and len(repr(value)) <= 100 and "\n" not in repr(value)
        assert len(pretty(value).split("\n")) <= 60 and "0x" not in pretty(value)
    elif isinstance(value, list):
        assert len(repr(value)) < 700 and "0x" not in repr(value)
        for inner in value:
            look(inner)
    elif isinstance(value, dict):
        for inner in value.values():
            look(inner)
    return value


@pytest.fixture
def app(client, name):
    """An application with runs enough for a model, made by the client."""
    client.create_app(name, description="of a test", labels={"owner": "tests"})
    for i, (size, executors) in enumerate([(n, m) for n in (8, 16, 32) for m in (1, 2, 4, 8)]):
        client.record_run(name, problem_size=size, executors=executors, cores_per_executor=4,
                          duration_s=5 + 3 * size / executors + executors / 2 + i % 3 / 10)
    return name


# --- advice ---


@makes("createAdvice", "listAdvice", "getAdvice")
def test_advice(client, history):
    advice = look(client.advise("nightly-etl", problem_size=64, deadline_s=90))
    assert advice.reply.status == 201 and advice.application == "nightly-etl" and advice.deadline_s == 90
    assert advice.recommendation.executors >= 1 and len(advice.recommendation.interval_s) == 2
    assert isinstance(advice.created_at, datetime.datetime)
    assert look(client.advice(advice.id)) == advice
    assert client.advice(advice.id, fields=["verdict", "recommendation.executors"]).to_dict() == {
        "verdict": advice.verdict, "recommendation": {"executors": advice.recommendation.executors}}
    dry = client.advise("nightly-etl", problem_size=64, deadline_s=90, dry_run=True)
    assert dry.reply.status == 200
    assert advice.id in [look(a).id for a in client.past_advice(application="nightly-etl", since=advice.created_at)]
    assert "--num-executors" in client.advise_as("spark-submit", "nightly-etl", deadline_s=90) or "spark." in client.advise_as(
        "spark-submit", "nightly-etl", deadline_s=90)
    assert client.advice_as("markdown", advice.id).startswith("#")


def test_a_dry_run_has_no_id_in_any_form(client, history):
    for form in ("spark-submit", "spark-defaults", "k8s", "k8s-apache", "databricks", "emr", "emr-serverless"):
        assert "adviceId" not in client.advise_as(form, "nightly-etl", deadline_s=90, dry_run=True)
        assert "adviceId" in client.advise_as(form, "nightly-etl", deadline_s=90)
    advice = client.advise("nightly-etl", deadline_s=90, dry_run=True)
    assert advice.id is None and "None" not in advice._repr_html_()
    assert [item.id for item in client.advise_batch([{"application": "nightly-etl", "deadline_s": 90}], dry_run=True).items] == [None]


def test_members_that_were_left_out_are_told_from_those_that_are_null(client, history):
    advice = client.advise("nightly-etl", dry_run=True, deadline_s=None, fields="verdict,deadline_s")
    assert advice.deadline_s is None
    with pytest.raises(AttributeError, match="came without 'recommendation'"):
        advice.recommendation
    with pytest.raises(AttributeError, match="no member 'recomendation'"):
        advice.recomendation


# --- workloads ---


@makes("createWorkload", "listWorkloads", "getWorkload", "deleteWorkload")
def test_workloads(client, app, name, tmp_path):
    trace = b"0 2 10 8 12\n5 1 3 3\n"
    (tmp_path / "trace").write_bytes(trace)
    made = look(client.create_workload(tmp_path / "trace", "pigeon", name=name))
    assert (made.reply.status, made.name, made.format, made.jobs, made.tasks) == (201, name, "pigeon", 2, 3)
    assert made.summary.work_s == 23 and made.summary.tasks_per_job.max == 2
    for source in (trace, iter([trace[:7], trace[7:]])):
        assert client.create_workload(source, "pigeon").summary == made.summary
    swim = client.create_workload(b"job0 0 0 128000000 0 0\n", "swim", map_bytes=32e6)
    assert swim.tasks == 4 and swim.summary.rates.map_bytes == 32e6
    with pytest.raises(provisor.Invalid, match="line 2: "):
        client.create_workload(trace[:15] + b"x\n", "pigeon")
    client.record_run(app, problem_size=8, executors=1, cores_per_executor=4, duration_s=9, started_at=datetime.datetime.now(datetime.timezone.utc),
                      stages=[{"id": 0, "task_durations_s": [1, 2, 3]}])
    runs = look(client.workload_from_runs([app], since=datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)))
    assert runs.format == "runs" and runs.jobs == 1 and runs.summary.durations_from.recorded == 3
    assert look(client.workload(made.id)) == made
    assert {made.id, swim.id, runs.id} <= {look(workload).id for workload in client.workloads()}
    asked = example("simulate", "jobs-of-a-workload")
    simulated = look(client.wait(client.simulate(**dict(asked, workload=made.id)), timeout=60)).result
    assert [load.load for load in simulated.loads] == asked["loads"] and len(simulated.loads[0].policies) == len(asked["policies"])
    client.delete_workload(made.id)
    assert made.id not in [workload.id for workload in client.workloads()]


# --- history ---


@makes("createApplication", "createRun", "listApplications", "getApplication", "updateApplication", "listRuns", "getRun", "getRunOfApplication",
       "listTeamRuns", "updateRun", "deleteRun", "deleteApplication", "getProfile")
def test_history(client, app):
    assert [look(a).name for a in client.apps(name_prefix=app, include=["last_run", "last_advice"])] == [app]
    about = look(client.app(app, include=["last_run"]))
    assert about.labels == {"owner": "tests"} and about.reply.etag
    with pytest.raises(provisor.NotModified):
        client.app(app, if_none_match=about.reply.etag)
    assert look(client.update_app(app, description="another", if_match=about.reply.etag)).description == "another"
    with pytest.raises(provisor.PreconditionFailed):
        client.update_app(app, description="a third", if_match=about.reply.etag)
    runs = [look(run) for run in client.runs(app, page_size=5)]
    assert len(runs) == 12 and len({run.id for run in runs}) == 12
    run = client.record_run(app, **{**example("createRun"), "labels": {"branch": "main"}})
    assert look(run).reply.headers["location"]
    assert look(client.run(run.id, include=["stages"])).stages and look(client.app_run(app, run.id, include=["tasks"])).id == run.id
    assert [r.id for r in client.runs(app, label={"branch": "main"}, succeeded=True)] == [run.id]
    assert [look(r).id for r in client.team_runs(application=app, label={"branch": "main"})] == [run.id]
    assert client.update_run(app, run.id, problem_size=9.5).problem_size == 9.5
    assert look(client.profile(app)).stages
    assert client.delete_run(app, run.id) is None
    with pytest.raises(provisor.NotFound):
        client.run(run.id)
    assert client.delete_app(app) is None


@makes("exportRuns", "importRuns")
def test_export_and_import(client, app, name, tmp_path):
    exported = [look(run) for run in client.export_runs(app)]
    assert len(exported) == 12
    assert client.export_to_file(app, tmp_path / "runs.ndjson") == 12
    outcome = look(client.import_runs(name + "-copy", tmp_path / "runs.ndjson"))
    assert [run.duration_s for run in client.export_runs(name + "-copy")] == [run.duration_s for run in exported]
    again = client.import_runs(name + "-third", exported)
    assert {**again.to_dict(), "application": ""} == {**outcome.to_dict(), "application": ""}
    written = [{"problem_size": 8, "executors": 2, "cores_per_executor": 4, "duration_s": 10.5,
                "started_at": datetime.datetime(2026, 1, 5, 2, tzinfo=datetime.timezone.utc), "spark_application_id": "x-1"}]
    client.import_runs(name + "-fourth", written)
    assert [run.started_at for run in client.export_runs(name + "-fourth")] == [written[0]["started_at"]]


@makes("ingestEventLog", "ingestNamedEventLog")
def test_logs(client, sample, name):
    log = sorted((sample / "nightly-etl").iterdir())[0]
    run = look(client.ingest(name, log, problem_size=77, label={"branch": "x"}))
    assert run.reply.log_outcome == "stored" and run.problem_size == 77 and run.labels["branch"] == "x"
    with open(log, "rb") as file:
        again = client.ingest(name, file).reply
        assert (again.log_outcome, again.log_reason) == ("duplicate", None)
    named = look(client.ingest_named(log.read_bytes()))
    assert client.app(named.application).name == named.application


@makes("listIngestions")
def test_ingestions(client, sample, name):
    log = sorted((sample / "nightly-etl").iterdir())[0]
    run = client.ingest(name, log)
    with pytest.raises(provisor.Invalid):
        client.ingest(name, b"{}")
    refused, stored = [look(item) for item in client.ingestions(application=name)]
    assert (stored.outcome, stored.run_id, stored.source) == ("stored", run.id, log.name)
    assert (refused.outcome, refused.open, refused.source) == ("refused", True, None) and refused.cure
    assert [item.id for item in client.ingestions(application=name, open=True)] == [refused.id]


@makes("getNameRules", "setNameRules", "resetNameRules", "previewNameRules")
def test_name_rules(client):
    before = look(client.name_rules())
    assert look(client.preview_name_rules(["nightly-etl-2026-01-05"]))
    rules = look(client.set_name_rules(example("setNameRules")["rules"], if_match=before.reply.etag))
    assert [rule.name for rule in rules.rules] == ["date behind", "everything ad hoc"]
    assert look(client.reset_name_rules()).rules == before.rules


# --- models ---


@makes("getApplicationModels", "getApplicationDiagnosis", "getApplicationStragglers", "getApplicationSpeedup", "getNextExperiments", "listAccuracy", "listTeamAccuracy")
def test_models_of_an_application(client, history):
    assert look(client.models("nightly-etl")).selected_model
    diagnosis = look(client.diagnose("nightly-etl"))
    with pytest.raises(provisor.NotModified):
        client.diagnose("nightly-etl", if_none_match=diagnosis.reply.etag)
    slow = look(client.stragglers("nightly-etl", runs=3))
    assert slow.runs_examined == 3 and {node.verdict for node in slow.nodes} <= {"straggler", "normal", "too_few_tasks"}
    assert list(slow.to_frame()["node"]) == [node.name for node in slow.nodes] and "optimistic_saved_s" in slow.copies_frame()
    assert slow.nodes[0].name in slow._repr_html_()
    speedup = look(client.speedup("nightly-etl", problem_sizes=[32, 64.5], executors=(2, 4, 8)))
    assert speedup.executor_counts == [2, 4, 8]
    assert [len(row.points) for row in speedup.surface] == [3, 3]
    assert look(client.next_experiments("nightly-etl", count=2, executors="2,4,8", criterion="cheapest"))
    advice = client.advise("nightly-etl", problem_size=64, deadline_s=300)
    client.record_run("nightly-etl", problem_size=64, executors=8, cores_per_executor=2, duration_s=60, advice_id=advice.id)
    accuracy = look(client.accuracy("nightly-etl"))
    assert accuracy.summary.count >= 1 and [look(i) for i in client.accuracy_items("nightly-etl", limit=1)]
    assert look(client.team_accuracy()).overall and list(client.team_accuracy_items(page_size=1))


@makes("fitModel", "predictFromModel")
def test_models_of_observations(client):
    observations = [{"problem_size": n, "executors": m, "duration_s": 5 + 3 * n / m} for n in (8, 16, 32) for m in (1, 2, 4, 8)]
    fit = look(client.fit_model("ernest", observations))
    again = look(client.predict(model=fit.model, parameters=fit.parameters, points=[{"problem_size": 24, "executors": 4}]))
    assert again.predictions[0].duration_s == pytest.approx(23, rel=0.02)


@makes("refitApplication", "getOperation", "listOperations", "streamOperationEvents")
def test_refit(client, app):
    operation = look(client.refit(app, resamples=200))
    ended = look(client.wait(operation))
    assert isinstance(ended, provisor.Operation) and ended.ended and ended.result.runs == 12
    assert type(ended.result).__name__ == "RefitResult"
    assert look(client.wait(client.refit(app, resamples=200, wait_s=20), timeout=60)).status == "succeeded"
    assert operation.id in [look(o).id for o in client.operations(application=app, status="succeeded", limit=5)]
    events = [look(event) for event in client.operation_events(operation.id)]
    assert [events[0].status, events[-1].status] == ["queued", "succeeded"]
    assert list(client.operation_events(operation.id, last_event_id=len(events))) == []


@makes("cancelOperation")
def test_cancel(client, app):
    operation = client.refit(app, resamples=100000)
    cancelled = look(client.cancel_operation(operation.id, wait_s=20))
    assert cancelled.status == "cancelled"
    with pytest.raises(provisor.OperationCancelled, match="was cancelled") as raised:
        client.wait(operation)
    assert raised.value.operation.id == operation.id
    assert client.wait(operation.id, check=False).status == "cancelled"


# --- deadlines, copies ---


@makes("checkFeasibility", "planStages", "shareCores", "planMemory")
def test_deadlines(client):
    feasibility = look(client.feasibility(**example("checkFeasibility")))
    assert feasibility.feasible in (True, False)
    assert look(client.stage_plan(**example("planStages")))
    assert look(client.contention(**example("shareCores")))
    assert look(client.memory_plan(**example("planMemory")))


@makes("planPigeon", "decideSlot", "planSlots", "summarizeSlowdowns", "decideSpeculation")
def test_scheduling(client):
    plan = look(client.pigeon_plan(**example("planPigeon")))
    assert plan.recommended.group_size in [c.group_size for c in plan.candidates]
    assert look(client.slowdowns(**example("summarizeSlowdowns"))).count == 3
    state = example("decideSlot")
    decision = look(client.slot_decision(**state))
    assert type(decision).__name__ == "FreshDecision" and decision.action.slot == "reduce" and decision.action.job == "sort"
    replayed = client.replay_slot_decisions([dict(state, taken={"slot": "map"}), dict(state, now_s=-1)], include=["figures"])
    assert replayed.lines[0].differs and replayed.lines[0].decision == decision and replayed.lines[1].error.status == 422
    assert (replayed.summary.lines, replayed.summary.refused, replayed.summary.different) == (2, 1, 1) and "of 1 recorded" in repr(replayed)
    assert list(replayed.to_frame()["action.slot"])[0] == "reduce" and list(replayed.summary_frame()["count"]) == [1]
    assert client.replay_slot_decisions(json.dumps(state).encode(), lines="none").lines == []
    slots = look(client.slot_plan(**example("planSlots")))
    assert slots.order[0] == "grep" and slots.per_node.map_slots <= 4 and [p.concurrency for p in slots.sweep] == [1, 2, 3]
    state = example("decideSpeculation")
    decision = look(client.speculation_decision(**state))
    assert (decision.kind, decision.action.task, decision.action.host) == ("esplash", "t1", "new-1")
    replayed = client.replay_speculation_decisions([dict(state, taken={"task": None}), dict(state, threshold=-1)], include=["figures"])
    assert replayed.lines[0].differs and replayed.lines[0].decision == decision and replayed.lines[1].error.status == 422
    assert list(replayed.to_frame()["action.task"])[0] == "t1" and replayed.summary.contradicting == 0


@makes("simulateControl")
def test_control_simulation(client):
    asked = example("simulateControl")
    found = look(client.simulate_control(**asked))
    assert type(found).__name__ == "ControlSimulation"
    assert [(o.strategy, o.gamma) for o in found.outcomes] == [(s, g) for s in asked["strategies"] for g in asked["gammas"]]
    assert found.outcomes[0].traces.jobs[0].stages[0].stage == 0 and found.outcomes[0].metrics.advance == 2
    # Half a million tasks are more than is answered at once.
    large = {"name": "A", "deadline_s": 20000, "stages": [{"id": 0, "tasks": 500000, "task_duration_s": 0.5}]}
    operation = client.simulate_control(cluster=asked["cluster"], jobs=[large], strategies=["proportional"], gammas=[1])
    assert isinstance(operation, provisor.Operation)
    assert type(look(client.wait(operation, timeout=60)).result).__name__ == "ControlSimulation"


@makes("planCopies", "simulate")
def test_copies(client):
    assert look(client.copy_plan(**example("planCopies")))
    operation = client.simulate(**example("simulate"))
    try:
        ended = client.wait(operation, timeout=20)
    except TimeoutError:
        client.cancel_operation(operation.id)
    else:
        assert type(look(ended).result).__name__ == "SimulationResult"


@makes("simulate")
def test_simulations_of_schedulers(client):
    asked = example("simulate", "jobs-on-slots")
    slots = look(client.wait(client.simulate(**asked), timeout=60)).result
    assert type(slots).__name__ == "SlotsSimulationResult"
    frame = slots.to_frame()
    assert list(frame["name"]) == [p.get("name", p["policy"]) for p in asked["policies"]]
    assert list(frame["baseline"]) == [name == "fifo" for name in frame["name"]] and frame["best"].sum() == 1
    assert frame["slowdown.p95"].min() == frame[frame["best"]]["slowdown.p95"].iloc[0] and "jobs" not in frame
    assert list(slots.jobs_frame()["name"][:3]) == [job["name"] for job in asked["jobs"]]
    asked = example("simulate", "bags-of-tasks-at-two-loads")
    tasks = look(client.wait(client.simulate(**asked), timeout=60)).result
    assert type(tasks).__name__ == "TasksSimulationResult"
    frame = tasks.to_frame()
    assert len(frame) == 2 * 4 * 3 and set(frame["class"]) == {"all", "short", "long"} and set(frame["load"]) == {0.7, 0.9}
    assert tasks.jobs_frame().empty
    for result in (slots, tasks):
        html = result._repr_html_()
        assert all(load.best.message in html for load in result.loads)


# --- clusters, prices ---


@makes("putCluster", "getCluster", "listClusters", "deleteCluster", "reportSamples", "getPerformance")
def test_clusters(client, name):
    made = look(client.put_cluster(name, **{k: v for k, v in example("putCluster").items() if k != "price_book"}, if_none_match="*"))
    assert made.reply.status == 201
    with pytest.raises(provisor.PreconditionFailed):
        client.put_cluster(name, executors=3, cores_per_executor=4, if_none_match="*")
    assert look(client.cluster(name)).name == name
    assert name in [look(c).name for c in client.clusters()]
    assert client.report_samples(name, processing=example("reportSamples")["processing"]) is None
    assert look(client.performance(name)).reply.status == 200
    assert client.performance(name, from_="elsewhere", operation="map").reply.status == 200
    assert client.delete_cluster(name, if_match=client.cluster(name).reply.etag) is None


@makes("putQuotaLoop", "getQuotaLoop", "listQuotaLoops", "sampleQuotaLoop", "deleteQuotaLoop")
def test_quota_loops(client, name):
    made = look(client.put_quota_loop(name, **example("putQuotaLoop")))
    assert made.reply.status == 201 and made.sequence is None and made.cgroup.period_us == 100000
    first = look(client.sample_quota_loop(name, **example("sampleQuotaLoop", "first")))
    assert first.grants[0].cpu_max.endswith(" 100000") and first.workers[0].granted_cores == first.grants[0].cores
    assert client.sample_quota_loop(name, **example("sampleQuotaLoop", "first")) == first
    assert look(client.sample_quota_loop(name, **example("sampleQuotaLoop", "next"))).next_sample_s == 1
    with pytest.raises(provisor.Conflict):
        client.sample_quota_loop(name, **example("sampleQuotaLoop", "first"))
    assert look(client.quota_loop(name)).executors[0].completed_tasks == 4
    assert name in [look(loop).name for loop in client.quota_loops()]
    assert client.delete_quota_loop(name) is None


@makes("createAdvice", "putCluster")
def test_advice_beside_advised_jobs(client, history, name):
    client.put_cluster(name, executors=8, cores_per_executor=4, memory_bytes_per_executor=16 << 30)
    first = client.advise("nightly-etl", problem_size=64, deadline_s=90, constraints={"cluster": name})
    found = look(client.advise("nightly-etl", problem_size=64, deadline_s=90, constraints={"cluster": name}, running_from="advice",
                               launch_order="earliest_deadline", dry_run=True))
    assert [job.advice_id for job in found.beside.jobs] == [first.id] and found.beside.cut is False
    assert found.beside.memory.memory_bytes == 128 << 30 and first.beside is None


@makes("createAdviceBatch")
def test_a_batch_of_advice(client, history):
    made = look(client.advise_batch([{"application": "nightly-etl", "problem_size": 64, "deadline_s": 90}] * 2))
    assert made.reply.status == 201 and len(made.items) == 2 and made.feasible is None
    assert look(client.advise_batch([{"application": "nightly-etl"}], dry_run=True)).reply.status == 200


@makes("createAdmission", "listAdmissions", "getAdmission", "extendAdmission", "releaseAdmission", "putCluster")
def test_admissions(client, name):
    client.put_cluster(name, executors=2, cores_per_executor=4)
    held = look(client.admit(cluster=name, application=name, cores=6, deadline_s=60))
    assert held.reply.status == 201 and held.granted_cores == 6
    with pytest.raises(provisor.Conflict):
        client.admit(cluster=name, application=name, cores=6, deadline_s=60)
    assert [look(a).id for a in client.admissions(cluster=name, status="held")] == [held.id]
    later = look(client.extend_admission(held.id, held.expires_at + datetime.timedelta(seconds=30)))
    assert later.expires_at == held.expires_at + datetime.timedelta(seconds=30)
    assert client.release_admission(held.id) is None
    assert look(client.admission(held.id)).status == "released"


@makes("putPriceBook", "getPriceBook", "listPriceBooks", "deletePriceBook")
def test_price_books(client, name):
    book = look(client.put_price_book(name, currency="EUR", prices=[{"machine_type": "m5.xlarge", "per_executor_hour": 0.23}]))
    assert look(client.price_book(name)).prices == book.prices
    text = client.price_book_csv(name)
    assert text.startswith("machine_type") or "per_executor_hour" in text.splitlines()[0]
    assert look(client.put_price_book_csv(name, "machine_type,per_executor_hour\nm5.xlarge,0.25\n", currency="USD")).currency == "USD"
    assert [look(b).name for b in client.price_books(currency="USD") if b.name == name] == [name]
    assert client.delete_price_book(name) is None


# --- Kubernetes ---


@makes("reviewKubernetesAdmission")
def test_admission(client, history):
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
              "request": {"uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "kind": {"group": "sparkoperator.k8s.io", "version": "v1beta2", "kind": "SparkApplication"},
                          "operation": "CREATE", "object": {"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
                                                            "metadata": {"name": "nightly-etl"}, "spec": {}}}}
    answer = look(client.review_admission(review, action="validate"))
    assert answer.response.uid == review["request"]["uid"]


# --- access ---


@makes("createToken", "listTokens", "revokeToken", "getUsage", "listAudit")
def test_access(client, service):
    made = look(client.create_token("of a test", ["read"]))
    assert made.token.startswith("prv_") and made.token not in repr(made) and made.token not in str(made)
    with provisor.Client(service.base_url, made.token) as reader:
        with pytest.raises(provisor.Forbidden):
            reader.create_app("not-allowed")
    assert made.id in [look(t).id for t in client.tokens()]
    assert client.revoke_token(made.id) is None
    with provisor.Client(service.base_url, made.token) as reader:
        with pytest.raises(provisor.Unauthorized):
            end = time.monotonic() + cli_fixtures.PATIENCE  # other processes may remember a token for a moment
            while time.monotonic() < end:
                reader.usage()
    assert look(client.usage())
    assert [look(entry) for entry in client.audit(limit=3)]


@makes("createTeam", "listTeams", "getTeamUsage", "putTeamQuotas")
def test_teams(client, operator, name):
    assert look(operator.create_team(name)).name == name
    assert name in [look(t).name for t in operator.teams()]
    assert look(operator.put_team_quotas(name, runs_max=17))
    assert look(operator.team_usage(name))
    client.made |= operator.made
    with pytest.raises(provisor.Forbidden):
        client.create_team(name + "-2")


# --- webhooks ---


@makes("createWebhook", "listWebhooks", "getWebhook", "changeWebhook", "deleteWebhook", "rotateWebhookSecret", "pingWebhook", "redeliverWebhook",
       "listWebhookDeliveries", "getWebhookDelivery", "redeliverWebhookDelivery")
def test_webhooks(client):
    made = look(client.create_webhook("https://hooks.invalid/provisor", ["advice.created"], description="of a test"))
    assert made.secret and made.secret not in repr(made)
    assert look(client.webhook(made.id)).url == made.url and made.id in [look(w).id for w in client.webhooks()]
    assert look(client.update_webhook(made.id, description="another")).description == "another"
    assert look(client.rotate_webhook_secret(made.id)).secret != made.secret
    delivery = look(client.ping_webhook(made.id))
    assert delivery.id in [look(d).id for d in client.webhook_deliveries(made.id)]
    assert look(client.webhook_delivery(made.id, delivery.id)).event_type == "webhook.ping"
    assert look(client.redeliver(made.id, since=datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)))
    try:
        look(client.redeliver_delivery(made.id, delivery.id))
    except provisor.Conflict:
        pass  # it is under way
    assert client.delete_webhook(made.id) is None


# --- health and documents ---


@makes("getHealth", "getReadiness", "getMetrics", "getRoot", "getContract", "getContractAsJson", "getDocumentationRoot", "getDocumentation",
       "getProblemType")
def test_health_and_documents(client):
    assert look(client.health()).status == "ok" and look(client.readiness()).status == "ready"
    assert "# HELP" in client.metrics()
    root = look(client.root())
    assert client.contract()["info"]["version"] == root.contract_version and client.contract_yaml().startswith("openapi:")
    assert client.documentation_root().endswith("/docs/") and client.problem_type("invalid").startswith("/")
    assert b"<html" in client.documentation("") or b"<!doctype" in client.documentation("").lower()
    with pytest.raises(provisor.NotFound):
        client.documentation("no/such page")


def test_every_call_is_made():
    assert MADE == set(CALLS)
    assert pathlib.Path(provisor.__file__).parts[-2] == "provisor"

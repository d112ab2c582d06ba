"""Secrets planted in every string of a log: none in the database, the service's log or a reply, under each policy."""
import json
import string
import uuid

import pytest


POLICIES = ("keep", "hash", "drop")
KEPT_WORDS = {"Event", "Reason", "Result"}  # what makes an event one; each also comes with a secret in its place
LETTERS = str.maketrans(string.digits, "ghijklmnop")


def secrets(mark):
    """kind -> (text that is planted, what must not be found of it, the policy that may keep it)."""
    return {
        "aws key": ("AKIA" + mark.upper()[:16], "AKIA" + mark.upper()[:16], None),
        "aws secret": ("wJalr%s/K7MDENG/bPxRfiCY" % mark, mark, None),
        "jdbc": ("jdbc:postgresql://svc:%s@db.internal.example.com:5432/x?ssl=true" % mark, mark, None),
        "token": ("ghp_%s" % mark, mark, None),
        "jwt": ("Bearer eyJhbGciOiJIUzI1NiJ9.%s.sig" % mark, mark, None),
        "password": ("--conf spark.password=%s" % mark, mark, None),
        "path": ("s3://bucket-%s/customers/part-0.csv" % mark[:6], "bucket-" + mark[:6], "paths"),
        "host": ("db-%s.prod.example.com" % mark[:6], "db-" + mark[:6], "host_names"),
        "sql": ("SELECT name FROM people WHERE nick = '%s'" % mark.translate(LETTERS)[:9], mark.translate(LETTERS)[:9],
                "sql_text"),
        "user": ("jane%s" % mark.translate(LETTERS)[:9], "jane" + mark.translate(LETTERS)[:9], "sql_text"),
    }


def events(app_id):
    """One of every event the reader knows and some that it does not, with texts wherever Spark has them."""
    info = {"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "x", "Number of Tasks": 1, "Parent IDs": [],
            "RDD Info": [{"RDD ID": 0, "Name": "x", "Scope": "x", "Callsite": "x", "Parent IDs": []}], "Details": "x",
            "Submission Time": 2000, "Accumulables": [{"ID": 1, "Name": "x", "Value": "x"}], "Resource Profile Id": 0}
    task = {"Task ID": 0, "Index": 0, "Attempt": 0, "Launch Time": 2000, "Executor ID": "x", "Host": "x", "Locality": "x",
            "Speculative": False, "Getting Result Time": 0, "Finish Time": 2500, "Failed": False, "Killed": False,
            "Accumulables": [{"ID": 1, "Name": "x", "Update": "x", "Value": "x", "Metadata": "x"}]}
    metrics = {"Host Name": "x", "Executor Run Time": 1, "Shuffle Read Metrics": {"x": "x"},
               "Updated Blocks": [{"Block ID": "x", "Status": {"Storage Level": "x"}}]}
    prop = {"spark.executor.memory": "x", "spark.app.name": "x", "spark.provisor.adviceId": "x", "spark.serializer": "x",
            "spark.executor.extraJavaOptions": "x", "spark.hadoop.fs.s3a.secret.key": "x", "spark.yarn.queue": "x"}
    sql = "org.apache.spark.sql.execution.ui.SparkListener"
    scheduler = "org.apache.spark.scheduler.SparkListener"
    done = dict(info, **{"Completion Time": 3000})
    return [
        {"Event": "SparkListenerLogStart", "Spark Version": "x"},
        {"Event": "DBCEventLoggingListenerMetadata", "Spark Version": "x", "Rollover Number": 0, "Timestamp": 1000},
        {"Event": "SparkListenerResourceProfileAdded", "Resource Profile Id": 0, "Executor Resource Requests": {
            "cores": {"Resource Name": "x", "Amount": 4, "Discovery Script": "x", "Vendor": "x"}},
         "Task Resource Requests": {"cpus": {"Resource Name": "x", "Amount": 1.0}}},
        {"Event": "SparkListenerEnvironmentUpdate", "JVM Information": {"Java Home": "x"}, "Spark Properties": prop,
         "Hadoop Properties": {"a": "x"}, "System Properties": {"sun.java.command": "x"}, "Metrics Properties": {"a": "x"},
         "Classpath Entries": {"x": "System Classpath"}},
        {"Event": "SparkListenerApplicationStart", "App Name": "x", "App ID": app_id, "Timestamp": 1000, "User": "x",
         "App Attempt ID": "x", "Driver Logs": {"stdout": "x"}, "Driver Attributes": {"a": "x"}},
        {"Event": "SparkListenerBlockManagerAdded", "Block Manager ID": {"Executor ID": "x", "Host": "x", "Port": 1},
         "Maximum Memory": 1, "Timestamp": 1000},
        {"Event": "SparkListenerExecutorAdded", "Timestamp": 1000, "Executor ID": "x", "Executor Info": {
            "Host": "x", "Total Cores": 4, "Log Urls": {"stdout": "x"}, "Attributes": {"NM_HOST": "x"},
            "Resources": {"gpu": {"name": "x", "addresses": ["x"]}}, "Resource Profile Id": 0}},
        {"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": 1500, "Stage Infos": [info], "Stage IDs": [0],
         "Properties": {"spark.job.description": "x", "spark.jobGroup.id": "x", "spark.sql.execution.id": "x"}},
        {"Event": "SparkListenerStageSubmitted", "Stage Info": info, "Properties": {"spark.job.description": "x"}},
        {"Event": "SparkListenerTaskStart", "Stage ID": 0, "Stage Attempt ID": 0, "Task Info": task},
        {"Event": "SparkListenerTaskGettingResult", "Task Info": task},
        {"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "x",
         "Task End Reason": {"Reason": "Success"}, "Task Info": task, "Task Metrics": metrics},
        {"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "x",
         "Task End Reason": {"Reason": "ExceptionFailure", "Class Name": "x", "Description": "x", "Full Stack Trace": "x",
                             "Stack Trace": [{"Declaring Class": "x"}]}, "Task Info": dict(task, Index=1)},
        {"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "x",
         "Task End Reason": {"Reason": "x", "Kill Reason": "x"}, "Task Info": dict(task, Index=2)},
        {"Event": "SparkListenerStageExecutorMetrics", "Executor ID": "x", "Stage ID": 0, "Stage Attempt ID": 0,
         "Executor Metrics": {"JVMHeapMemory": 1}},
        {"Event": "SparkListenerStageCompleted", "Stage Info": dict(done, **{"Failure Reason": "x", "Stage Attempt ID": 1})},
        {"Event": "SparkListenerStageCompleted", "Stage Info": done},
        {"Event": "SparkListenerExecutorRemoved", "Timestamp": 4000, "Executor ID": "x", "Removed Reason": "x"},
        {"Event": scheduler + "ExecutorExcluded", "time": 4000, "executorId": "x", "taskFailures": 1},
        {"Event": scheduler + "NodeExcluded", "time": 4000, "hostId": "x", "executorFailures": 1},
        {"Event": sql + "SQLExecutionStart", "executionId": 0, "description": "x", "details": "x",
         "physicalPlanDescription": "x", "sparkPlanInfo": {"nodeName": "x", "simpleString": "x", "children": []},
         "time": 1500, "modifiedConfigs": {"x": "x"}},
        {"Event": sql + "SQLAdaptiveExecutionUpdate", "executionId": 0, "physicalPlanDescription": "x"},
        {"Event": sql + "SQLExecutionEnd", "executionId": 0, "time": 4000, "errorMessage": "x"},
        {"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": 4000, "Job Result": {
            "Result": "JobFailed", "Exception": {"Message": "x", "Stack Trace": [{"Method Name": "x"}]}}},
        {"Event": "com.example.Unknown", "x": "x", "list": ["x", {"y": "x"}]},
        {"Event": "x", "Timestamp": 5},
        {"Event": "SparkListenerApplicationEnd", "Timestamp": 5000},
    ]


def plant(value, text, key=""):
    if isinstance(value, dict):
        return {text if k == "x" else k: plant(v, text, k) for k, v in value.items()}
    if isinstance(value, list):
        return [plant(v, text, key) for v in value]
    return text if isinstance(value, str) and (value == "x" or key not in KEPT_WORDS) else value


def poisoned(text, app_id=None, stage_name=None):
    """Every string of every event is the text, but for the words that make it one."""
    lines = []
    for event in events("x"):
        event = plant(event, text)
        if app_id is not None and "App ID" in event:
            event["App ID"] = app_id
        for info in [event.get("Stage Info", {})] + event.get("Stage Infos", []):
            if stage_name is not None and info:
                info["Stage Name"] = stage_name
        lines.append(json.dumps(event))
    lines.insert(5, text)  # a damaged line
    lines.insert(6, '{"Event":"SparkListenerTaskEnd","Stage ID":0,"x":"%s' % text)
    return ("\n".join(lines) + "\n").encode()


class Watch:
    """A service with policies, and all it ever said and kept."""

    def __init__(self, service, token):
        self.service, self.client, self.said = service, service.client(token), []

    def request(self, method, path, status=None, **kwargs):
        reply = self.client.request(method, path, status, **kwargs)
        self.said.append(reply.text + json.dumps(dict(reply.headers)))
        return reply

    def upload(self, name, data, status, **headers):
        head = dict({"Content-Type": "application/octet-stream"}, **headers)
        return self.request("POST", "/v1/applications/%s/eventlogs" % name, status, data=data, headers=head)

    def kept(self):
        """Every row of every table, seen by the superuser, whom no row level security stops."""
        query = self.service.psql
        tables = query("SELECT quote_ident(relname) FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
                       " AND relnamespace = 'provisor'::regnamespace").split()
        assert "run_stage" in tables and "idempotency_key" in tables
        return "".join(query("COPY (SELECT t::text FROM provisor.%s t) TO STDOUT" % table) for table in tables)

    def everything(self):
        return {"database": self.kept(), "log": self.service.log.read_text(errors="replace"), "replies": "\n".join(self.said)}


@pytest.fixture(scope="module", params=POLICIES)
def watch(request, make_service):
    service = make_service(PROVISOR_EVENTLOG_SQL_TEXT=request.param, PROVISOR_EVENTLOG_PATHS=request.param,
                           PROVISOR_EVENTLOG_HOST_NAMES=request.param, PROVISOR_LOG_LEVEL="debug", PROVISOR_STAGES_MAX=5)
    token = service.token("alpha")
    service.start()
    made = Watch(service, token)
    made.policy = request.param
    return made


def found(text, where):
    """Also within bytea, which is written in hexadecimal digits."""
    return text in where or text.encode().hex() in where


def test_secrets_in_every_corner_of_a_log_are_found_nowhere(watch):
    planted = secrets(uuid.uuid4().hex)
    for kind, (text, _, _) in planted.items():
        name = "app-" + uuid.uuid4().hex[:10]
        run = watch.upload(name, poisoned(text), 201, **{"Idempotency-Key": uuid.uuid4().hex}).json()
        assert run["tasks_succeeded"] == 1 and run["tasks_failed"] == 2 and run["executors_excluded"] == 1, kind
        assert run["spark_application_id"].startswith("id:"), kind
        watch.request("GET", "/v1/runs/%s?include=tasks" % run["id"], 200)
        watch.request("GET", "/v1/applications/%s/runs/export" % name, 200)
        watch.request("GET", "/v1/applications/%s/profile" % name, {200, 404, 422})
        watch.upload(name, poisoned(text, app_id="app-1"), 201)
        # A directory in call sites; errors of all sorts.
        site = "collect at /home/%s/etl.py:12" % text.replace("/", "-").replace(" ", "-")
        watch.upload(name, poisoned(text, app_id="app-2", stage_name=site), 201)
        watch.upload(name, poisoned(text, app_id="app-2", stage_name=site + "3"), 200)
        watch.upload(name, poisoned(text).split(b"\n", 7)[7], 422)
        many = "".join(json.dumps(plant(dict(events("x")[8], **{"Stage Info": {"Stage ID": i, "Stage Name": "x"}}), text)) + "\n"
                       for i in range(9))
        watch.upload(name, poisoned(text, app_id="app-3") + many.encode(), {413, 422})
        watch.upload(name, b"\x28\xb5\x2f\xfd" + text.encode(), {400, 415, 422})
    where = watch.everything()
    for kind, (_, needle, policy) in planted.items():
        for place, text in where.items():
            if watch.policy == "keep" and policy is not None:
                continue
            assert not found(needle, text), "%s in the %s, policy %s" % (kind, place, watch.policy)
    # The same needles are there where the policy keeps them: the search does find.
    for kind, (_, needle, policy) in planted.items():
        if watch.policy == "keep" and policy is not None:
            assert found(needle, where["database"]) and found(needle, where["replies"]), kind
            assert not found(needle, where["log"]), kind


def test_hashes_are_equal_for_equal_texts_and_of_no_use_elsewhere(watch):
    if watch.policy != "hash":
        pytest.skip("nothing is hashed")

    def names(client):
        run = client.request("POST", "/v1/applications/h-%s/eventlogs" % uuid.uuid4().hex[:8], 201,
                             headers={"Content-Type": "application/octet-stream"}, data=poisoned("select 1 from dual")).json()
        stages = client.get("/v1/runs/%s?include=stages" % run["id"]).json()["stages"]
        return run["spark_application_id"], stages[0]["name"]

    first, again = names(watch.client), names(watch.client)
    other = names(watch.service.client(watch.service.token("beta")))
    assert first == again and first[1].startswith("text:") and len(first[1]) == 21
    assert other[0] != first[0] and other[1] != first[1]


def test_what_is_hashed_is_still_the_same_log(watch):
    name, log = "app-" + uuid.uuid4().hex[:10], poisoned("jane doe")
    first = watch.upload(name, log, 201).json()
    assert watch.upload(name, log, 200).json()["id"] == first["id"]

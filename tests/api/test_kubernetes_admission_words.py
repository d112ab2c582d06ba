"""What admission says to who runs kubectl: verdicts, changes that would be made, annotations that are wrong; and which reviews are the same."""
import copy
import json
import re
import uuid

import pytest

from admission_reviews import MUTATE, VALIDATE, admitted, annotate, ask, operations, review, teach, with_executors
from test_advice_spark import run_of
from test_bottlenecks import MIB, log_with, store

PREDICTION = re.compile(r"provisor: nightly-etl: (?P<n>\d+) executors? of 2 cores (?:is|are) predicted to take (?P<s>[\d.]+) s \((?P<lower>[\d.]+) to (?P<upper>[\d.]+) s with "
                        r"(?P<confidence>[\d.]+) % confidence\)\. The deadline of (?P<deadline>[\d.]+) s is met with a probability of (?P<probability>(?:less|more) than [\d.]+|[\d.]+) %; "
                        r"(?P=confidence) % is required\.")
REMEDY = re.compile(r"(?:It takes at least (?P<least>\d+) executors? of 2 cores to meet the deadline|No number of executors up to \d+ meets the deadline) with a probability of [\d.]+ %\. "
                    r"The shortest deadline that (?:up to )?\d+ executors? meets? is (?P<shortest>[\d.]+) s\.")


@pytest.fixture(scope="module")
def k8s(service):
    client = service.client(service.token("words-" + uuid.uuid4().hex[:8]))
    teach(client, "nightly-etl")
    return client


def executors_of(after):
    return after["spec"]["executor"]["instances"]


def warning(response, word):
    found = [w for w in response.get("warnings", []) if word in w]
    assert len(found) == 1, response
    return found[0]


def put_memory(body, memory):
    body["request"]["object"]["spec"]["executor"]["memory"] = memory
    return body


# --- verdicts ---


def test_a_refusal_says_probability_remedy_and_deadline_and_they_hold(k8s):
    for executors in (1, 2):
        message = ask(k8s, with_executors(review("create"), executors), VALIDATE + "&on_at_risk=deny")["status"]["message"]
        said, remedy = PREDICTION.search(message), REMEDY.search(message)
        assert said and remedy, message
        assert int(said["n"]) == executors and said["deadline"] == "26" and said["confidence"] == "95"
        assert said["probability"].startswith("less") or float(said["probability"]) < 95
        # So many executors meet the deadline, one fewer does not; that deadline is met, a percent less is not.
        least = int(remedy["least"])
        verdicts = [ask(k8s, with_executors(review("create"), n), VALIDATE)["auditAnnotations"]["verdict"] for n in (least - 1, least)]
        assert verdicts[0] != "met" == verdicts[1]
        shortest = float(remedy["shortest"])
        for deadline, met in ((shortest, True), (0.99 * shortest, False)):
            body = annotate(with_executors(review("create"), executors), deadline="%.6fs" % deadline)
            assert (ask(k8s, body, VALIDATE)["auditAnnotations"]["verdict"] == "met") == met, deadline


def test_a_deadline_that_nothing_meets_says_so(k8s):
    message = ask(k8s, annotate(with_executors(review("create"), 4), deadline="6s"), VALIDATE)["status"]["message"]
    assert "No number of executors up to " in message and REMEDY.search(message), message


def test_the_annotation_bounds_what_is_recommended_to_who_is_refused(k8s):
    message = ask(k8s, annotate(with_executors(review("create"), 1), max_executors="2"), VALIDATE)["status"]["message"]
    assert re.search(r"It takes at least \d+ executors of 2 cores to meet the deadline with a probability of 95 %, but the annotation provisor/max-executors allows at most 2\.", message), message


def test_an_application_that_is_left_as_it_is_shows_both_numbers(k8s):
    response = ask(k8s, annotate(review("create"), deadline="6s"))
    assert response["auditAnnotations"]["verdict"] == "missed" and "patch" not in response and len(response["warnings"]) == 3
    assert PREDICTION.fullmatch(response["warnings"][0]) and "provisor: nightly-etl: No number" in response["warnings"][1]
    said = re.fullmatch(r"provisor: nightly-etl: The application asks for 2 executors of 2 cores and is left as it is\. Provisor considered 1 to (\d+) executors of 2 cores; "
                        r"recorded runs do not support a prediction for more\.", response["warnings"][2])
    assert said and int(said[1]) >= 5, response
    kept = ask(k8s, annotate(review("create"), deadline="6s", preserve="spark.executor.instances"))["warnings"][2]
    assert "considered only 2 executors of 2 cores, because their number is preserved." in kept
    bounded = ask(k8s, annotate(review("create"), deadline="6s", max_executors="3"))["warnings"][2]
    assert "considered 1 to 3 executors of 2 cores; the annotation provisor/max-executors allows no more." in bounded


def test_long_names_leave_room_for_what_is_said(k8s):
    name = "warehouse-" + "x" * 150
    teach(k8s, name)
    for path in (MUTATE, VALIDATE + "&on_missed=warn"):
        response = ask(k8s, annotate(review("create"), application=name, deadline="6s"), path)
        assert all(len(w) <= 256 and w.endswith(".") for w in response["warnings"]) and "warehouse-" in response["warnings"][0]


LETTERS = {"two": "\u00e9", "three": "\u20ac", "four": "\U0001f600"}


@pytest.mark.parametrize("bytes_each", LETTERS)
def test_names_are_cut_between_characters(k8s, bytes_each):
    """Wherever a cut falls in a name of letters of several bytes: replies are UTF-8, and warnings have at most 256 bytes."""
    for lead in range(4):
        letter = LETTERS[bytes_each]
        known = "x" * lead + letter * ((200 - lead) // len(letter.encode()))
        teach(k8s, known)
        asked = [(annotate(review("create"), application=known + letter), "unknown"), (annotate(review("create"), application=known, deadline="6s"), "missed"),
                 (annotate(with_executors(review("create"), 2), application=known, max_executors="2"), "at_risk")]
        for body, verdict in asked:
            for path in (MUTATE + "?", VALIDATE + "&"):
                for denied in ("", "on_unknown=deny&on_missed=deny&on_at_risk=deny"):
                    body["request"]["uid"] = str(uuid.uuid4())
                    reply = k8s.post(path + denied, body, 200)
                    response = json.loads(reply.content.decode("utf-8", "strict"))["response"]
                    assert response["auditAnnotations"]["verdict"] == verdict, response
                    texts = response.get("warnings", []) + ([response["status"]["message"]] if "status" in response else [])
                    assert texts and all("xxxx"[:lead] + letter in text and "\ufffd" not in text for text in texts), texts
                    assert all(len(w.encode()) <= 256 for w in response.get("warnings", []))


# --- how many at most ---


def test_the_author_bounds_the_executors(k8s):
    free = executors_of(admitted(body := review("create"), ask(k8s, body)))
    body = annotate(review("create"), max_executors=str(free - 1))
    response = ask(k8s, body)
    assert response["auditAnnotations"]["verdict"] == "at_risk" and executors_of(admitted(body, response)) == free - 1
    body = annotate(review("create"), max_executors=str(free))
    response = ask(k8s, body)
    assert response["auditAnnotations"]["verdict"] == "met" and executors_of(admitted(body, response)) == free


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "many", "", "1e3"])
def test_a_bound_that_is_no_number_is_named(k8s, value):
    response = ask(k8s, annotate(review("create"), max_executors=value))
    assert "provisor/max-executors must be a whole number of at least 1" in response["warnings"][0] and "patch" not in response
    assert ask(k8s, annotate(review("create"), max_executors=value), VALIDATE)["status"]["code"] == 422


def test_a_bound_beyond_those_of_the_service_is_named(k8s):
    response = ask(k8s, annotate(review("create"), max_executors="900000000"))
    assert "the annotation provisor/max-executors" in response["warnings"][0] and "patch" not in response


# --- what would be changed ---


def test_warn_says_what_would_be_changed(k8s):
    for body in (review("create"), review("dynamic-allocation"), review("spark-conf")):
        would = operations(ask(k8s, body))
        body["request"]["uid"] = str(uuid.uuid4())
        response = ask(k8s, annotate(body, action="warn"))
        assert "patch" not in response and response["auditAnnotations"] == {"verdict": "met"}
        text = warning(response, "would ")
        for operation in would:
            if operation["path"].endswith("adviceId") or operation.get("value") == {}:
                continue
            name = operation["path"].removeprefix("/spec/").removeprefix("sparkConf/").replace("/", ".")
            assert ("set %s " % name if operation["op"] == "add" else "remove %s (" % name) in text, text
            assert operation["op"] == "remove" or re.search(r"set %s (from \S+ )?to %s(,|$)" % (re.escape(name), operation["value"]), text), text
    text = ask(k8s, annotate(review("create"), action="warn"))["warnings"][0]
    assert re.fullmatch(r"provisor: would set executor\.instances from 2 to \d+", text), text


def test_warn_says_that_nothing_would_be_changed(k8s):
    body = review("create")
    after = admitted(body, ask(k8s, body))
    del after["spec"]["sparkConf"]
    body = review("create")
    body["request"]["object"] = after
    assert ask(k8s, annotate(body, action="warn"))["warnings"] == ["provisor: would change nothing"]


def test_warn_says_what_would_be_changed_at_risk_too(k8s):
    free = executors_of(admitted(body := review("create"), ask(k8s, body)))
    response = ask(k8s, annotate(review("create"), action="warn", max_executors=str(free - 1)))
    assert response["auditAnnotations"]["verdict"] == "at_risk" and "patch" not in response
    assert PREDICTION.fullmatch(response["warnings"][0]) and response["warnings"][-1].startswith("provisor: would ")


# --- memory ---


@pytest.fixture(scope="module")
def large(k8s):
    """An application whose executors had 8g, of which nothing was measured."""
    name = "large-" + uuid.uuid4().hex[:8]
    properties = {"spark.executor.cores": "2", "spark.executor.memory": "8g"}
    lines = [json.dumps(dict(run_of(n), spark_properties=properties, spark_version="3.5.1", started_at="2026-01-%02dT10:00:00Z" % n)) for n in (1, 2, 4, 5)]
    k8s.post("/v1/applications", {"name": name}, 201)
    k8s.post("/v1/applications/%s/runs/import" % name, None, 201, data="\n".join(lines), headers={"Content-Type": "application/x-ndjson"})
    return name


def test_memory_that_differs_from_recorded_runs_is_said(k8s, large):
    for memory in ("1g", "1536m"):
        body = annotate(put_memory(review("create"), memory), application=large)
        response = ask(k8s, body)
        assert warning(response, "memory") == "provisor: %s: Executor memory is %s; recorded runs had 8g, which the prediction assumes." % (large, memory)
        assert admitted(body, response)["spec"]["executor"]["memory"] == memory, "it is not changed"
        assert "memory is " + memory in warning(ask(k8s, with_executors(body, 5), VALIDATE), "memory")
    # An object that says nothing of memory gets that of the recorded runs; one that has to stay without says so.
    body = annotate(review("create"), application=large)
    del body["request"]["object"]["spec"]["executor"]["memory"]
    response = ask(k8s, body)
    assert "warnings" not in response and admitted(body, response)["spec"]["executor"]["memory"] == "8g"
    body["request"]["uid"] = str(uuid.uuid4())
    response = ask(k8s, annotate(body, preserve="spark.executor.memory"))
    assert "memory is 1g (Spark's default); recorded runs had 8g" in warning(response, "memory") and "memory" not in admitted(body, response)["spec"]["executor"]
    assert "warnings" not in ask(k8s, annotate(put_memory(review("create"), "8g"), application=large))
    assert "warnings" not in ask(k8s, annotate(put_memory(review("create"), "8192m"), application=large))


# --- speculation ---


def test_speculation_is_left_out_unless_it_is_asked_for(k8s):
    name = "straggler-" + uuid.uuid4().hex[:8]
    k8s.post("/v1/applications", {"name": name}, 201)
    store(k8s, name, *(log_with(n, longest=30, executors=2 + n, longest_bytes=128 * MIB) for n in range(3)))
    size = k8s.get("/v1/applications/%s/runs" % name).json()["items"][0]["problem_size"]

    def conf(own=None, **annotations):
        body = annotate(review("create"), application=name, problem_size="%.9f" % size, deadline="1h", **annotations)
        body["request"]["object"]["spec"]["sparkConf"] = dict(own or {})
        response = ask(k8s, body)
        assert "patch" in response, response
        return admitted(body, response)["spec"]["sparkConf"]

    assert "spark.speculation" not in conf() and "spark.speculation" not in conf(speculation="false")
    assert conf(speculation="true")["spark.speculation"] == conf(apply="speculation")["spark.speculation"] == "true"
    assert "spark.speculation" not in conf(apply="memory partitions")
    for own in ("true", "false"):
        assert conf({"spark.speculation": own})["spark.speculation"] == own, "what the job sets stays"
    assert "spark.speculation" not in conf(preserve="spark.speculation")
    assert "provisor/apply must list kinds of changes: memory, speculation, partitions" in ask(k8s, annotate(review("create"), apply="memory,all"))["warnings"][0]
    assert "provisor/speculation must be true or false" in ask(k8s, annotate(review("create"), speculation="yes"))["warnings"][0]


# --- annotations that are not known, and units ---


@pytest.mark.parametrize("wrong,meant", [("deadlin", "deadline"), ("problem_size", "problem-size"), ("max-executor", "max-executors"), ("Confidence", "confidence"),
                                         ("something-else-entirely", None)])
def test_annotations_that_are_not_known_are_said_with_the_nearest(k8s, wrong, meant):
    body = review("create")
    body["request"]["object"]["metadata"]["annotations"]["provisor/" + wrong] = "1"
    expected = "provisor: there is no annotation provisor/" + wrong + (". Did you mean provisor/%s?" % meant if meant else "")
    for path in (MUTATE, VALIDATE):
        assert warning(ask(k8s, body, path), "there is no annotation") == expected
    del body["request"]["object"]["metadata"]["annotations"]["provisor/deadline"]
    body["request"]["uid"] = str(uuid.uuid4())
    response = ask(k8s, body)
    assert warning(response, "there is no annotation") == expected and "without the annotation provisor/deadline" in response["warnings"][0]
    assert ask(k8s, annotate(body, action="off")) == {"allowed": True}


def test_many_unknown_annotations_are_a_few_warnings(k8s):
    body = review("create")
    body["request"]["object"]["metadata"]["annotations"].update({"provisor/x%d" % i: "" for i in range(50)})
    warnings = ask(k8s, body)["warnings"]
    assert len(warnings) == 3 and all("there is no annotation provisor/x" in w for w in warnings)


@pytest.mark.parametrize("size,blocks", [("8GiB", 64), ("8Gi", 64), ("8G", 64), ("8g", 64), ("8192m", 64), ("8192Mi", 64), ("0.0078125T", 64), ("8388608K", 64), ("8388608k", 64),
                                         ("8388608Ki", 64), ("8.589934592GB", 64)])
def test_units_of_kubernetes_and_spark(k8s, size, blocks):
    response = ask(k8s, annotate(review("create"), problem_size=size))
    assert k8s.get("/v1/advice/" + response["auditAnnotations"]["advice"]).json()["problem_size"] == blocks


# --- which reviews are the same ---


@pytest.mark.parametrize("queries", [("", "?action=mutate"), ("?timeout=2s", "?timeout=3s"), ("?on_missed=warn&on_unknown=allow", "?on_failure=closed&timeout=1s"), ("", "?on_at_risk=warn")])
def test_timeout_and_defaults_make_no_other_review(k8s, queries):
    body = review("create")
    first = k8s.post(MUTATE + queries[0], body, 200)
    again = k8s.post(MUTATE + queries[1], body, 200)
    assert again.json() == first.json() and again.headers["Idempotency-Replayed"] == "true"


def test_order_of_members_and_who_asks_make_no_other_review(k8s):
    body = review("create")
    first = k8s.post(MUTATE, body, 200)
    other = copy.deepcopy(body)
    other["request"]["userInfo"] = {"username": "somebody-else"}
    text = json.dumps(other, sort_keys=True, indent=1)
    again = k8s.post(MUTATE, None, 200, data=text, headers={"Content-Type": "application/json"})
    assert again.json() == first.json() and again.headers["Idempotency-Replayed"] == "true"


def test_one_uid_does_not_stand_for_two_reviews(k8s, service):
    body = review("create")
    assert "patch" in ask(k8s, body)
    reused = "provisor: a review with this uid was answered for another object or other parameters; send a new uid"
    assert ask(k8s, body, MUTATE + "?on_missed=deny") == {"allowed": True, "warnings": [reused]}
    annotate(body, deadline="27s")
    assert ask(k8s, body) == {"allowed": True, "warnings": [reused]}
    response = ask(k8s, body, MUTATE + "?on_failure=closed")
    assert not response["allowed"] and response["status"] == {"code": 422, "message": reused}


# --- the log ---


def test_a_review_that_fails_says_why_in_the_log(make_service):
    service = make_service(PROVISOR_QUOTA_ADVICE=1)
    token = service.token("full")
    service.start()
    client = service.client(token)
    teach(client, "nightly-etl")
    assert "patch" in ask(client, review("create"))
    response = ask(client, review("create"))
    assert response["allowed"] and "as it is" in response["warnings"][0]
    assert service.metric('provisor_kubernetes_reviews_total{action="mutate",outcome="failed"}') == 1
    service.stop()  # lines are written a moment after the reply, but all before the end
    lines = [json.loads(line) for line in service.log.read_text().splitlines() if "kubernetes.review_failed" in line]
    assert lines and all(line["detail"] for line in lines), lines


def test_memory_that_the_patch_changes_is_said(k8s):
    """Five runs sufficed with a quarter of the heap that the object asks for."""
    name = "roomy-" + uuid.uuid4().hex[:8]
    k8s.post("/v1/applications", {"name": name}, 201)
    runs = [dict(run_of(1), spark_properties={"spark.executor.cores": "2", "spark.executor.memory": "8g"}, spark_version="3.5.1",
                 peak_jvm_heap_bytes=2 << 30, started_at="2026-01-%02dT10:00:00Z" % n) for n in range(1, 6)]
    k8s.post("/v1/applications/%s/runs/import" % name, None, 201, data="\n".join(map(json.dumps, runs)), headers={"Content-Type": "application/x-ndjson"})
    body = annotate(put_memory(with_executors(review("create"), 4), "8g"), application=name)
    response = ask(k8s, body)
    assert admitted(body, response)["spec"]["executor"]["memory"] == "8g", response
    assert warning(response, "memory") == ("provisor: %s: Proposed, not applied: spark.executor.memory=4g (the runs used less). "
                                           "The annotation provisor/apply: memory applies it." % name)
    body["request"]["uid"] = str(uuid.uuid4())
    response = ask(k8s, annotate(body, apply="memory, partitions"))
    assert admitted(body, response)["spec"]["executor"]["memory"] == "4g", response
    assert warning(response, "memory") == "provisor: %s: Executor memory is changed from 8g to 4g: the runs used less." % name
    assert "changed" not in json.dumps(ask(k8s, annotate(body, action="warn", apply="memory")).get("warnings")), "what would be changed is said by itself"

"""Admission of SparkApplications: what the API server of Kubernetes sends (reviews/*.json), and what it does with the answer."""
import copy
import time
import uuid

import pytest
import yaml

from admission_reviews import MUTATE, VALIDATE, admitted, annotate, ask, operations, review, teach, with_executors
from patience import SLOWDOWN

@pytest.fixture(scope="module")
def k8s(service):
    """A team of its own, which knows one application."""
    client = service.client(service.token("kubernetes-" + uuid.uuid4().hex[:8]))
    teach(client, "nightly-etl")
    return client


# --- mutate ---


def test_an_application_gets_the_advised_executors(k8s):
    body = review("create")
    response = ask(k8s, body)
    after = admitted(body, response)
    advice = k8s.get("/v1/advice/" + after["spec"]["sparkConf"]["spark.provisor.adviceId"]).json()
    assert advice["verdict"] == "met" == response["auditAnnotations"]["verdict"]
    assert response["auditAnnotations"]["advice"] == advice["id"]
    assert after["spec"]["executor"]["instances"] == advice["recommendation"]["executors"] >= 3
    assert after["spec"]["executor"]["cores"] == 2 and after["spec"]["executor"]["memory"] == "4g"
    expected = copy.deepcopy(body["request"]["object"])
    expected["spec"]["executor"]["instances"] = advice["recommendation"]["executors"]
    expected["spec"]["sparkConf"] = {k: v for k, v in after["spec"]["sparkConf"].items()}
    assert after == expected, "nothing else is changed"
    assert "warnings" not in response


def test_the_patch_says_what_the_rendering_of_advice_says(k8s):
    body = review("create")
    after = admitted(body, ask(k8s, body))
    advice_id = after["spec"]["sparkConf"]["spark.provisor.adviceId"]
    merge = yaml.safe_load(k8s.get("/v1/advice/%s?format=k8s" % advice_id).text)["spec"]
    for section, members in merge.items():
        for key, value in members.items():
            assert after["spec"][section].get(key) == value, (section, key)


def test_the_advice_is_kept_as_if_it_had_been_asked_for(k8s, stranger):
    body = review("create")
    advice_id = admitted(body, ask(k8s, body))["spec"]["sparkConf"]["spark.provisor.adviceId"]
    assert advice_id in [a["id"] for a in k8s.get("/v1/advice?application=nightly-etl").json()["items"]]
    stranger.get("/v1/advice/" + advice_id, 404)
    advice = k8s.get("/v1/advice/" + advice_id).json()
    assert advice["application"] == "nightly-etl" and advice["deadline_s"] == 26 and advice["confidence"] == 0.95


def test_the_same_review_gets_the_same_answer(k8s):
    body = review("create")
    first = k8s.post(MUTATE, body, 200)
    again = k8s.post(MUTATE, body, 200)
    assert again.json() == first.json() and again.headers["Idempotency-Replayed"] == "true"
    assert ask(k8s, review("create"))["patch"] != first.json()["response"]["patch"]


def test_the_answer_goes_with_its_application(k8s, service):
    name = "short-lived-" + uuid.uuid4().hex[:6]
    teach(k8s, name)
    body = annotate(review("create"), application=name)
    assert "patch" in ask(k8s, body)
    kept = "SELECT count(*) FROM provisor.idempotency_key WHERE key = '%s'" % body["request"]["uid"]
    assert service.psql(kept).strip() == "1"
    k8s.delete("/v1/applications/" + name)
    assert service.psql(kept).strip() == "0"


def test_a_generated_name_is_known_by_its_prefix(k8s):
    body = review("generate-name")
    assert "spark.provisor.adviceId" in admitted(body, ask(k8s, body))["spec"]["sparkConf"]


def test_names_are_folded_as_those_of_logs_are(k8s):
    body = review("create")
    body["request"]["object"]["metadata"]["name"] = "nightly-etl-2026-01-05"
    response = ask(k8s, body)
    assert response["auditAnnotations"]["verdict"] == "met" and admitted(body, response)["spec"]["sparkConf"]


def test_the_name_comes_from_annotation_then_property_then_object(k8s):
    body = review("create")
    body["request"]["object"]["metadata"]["name"] = "something-else"
    assert ask(k8s, body)["auditAnnotations"] == {"verdict": "unknown"}
    body = review("create")
    body["request"]["object"]["metadata"]["name"] = "something-else"
    body["request"]["object"]["spec"]["sparkConf"] = {"spark.app.name": "nightly-etl"}
    assert ask(k8s, body)["auditAnnotations"]["verdict"] == "met"
    annotate(body, application="yet-another")
    body["request"]["uid"] = str(uuid.uuid4())
    assert ask(k8s, body)["auditAnnotations"] == {"verdict": "unknown"}


def test_keys_with_slashes_and_tildes_stay_as_they_are(k8s):
    body = review("spark-conf")
    after = admitted(body, ask(k8s, body))
    before = body["request"]["object"]["spec"]["sparkConf"]
    assert {k: v for k, v in after["spec"]["sparkConf"].items() if "/" in k} == {k: v for k, v in before.items() if "/" in k}
    # The operator's field decides; the entry that says otherwise goes.
    assert "spark.executor.instances" not in after["spec"]["sparkConf"] and after["spec"]["executor"]["instances"] >= 3


def test_dynamic_allocation_stays_dynamic(k8s):
    body = review("dynamic-allocation")
    after = admitted(body, ask(k8s, body))
    dynamic = after["spec"]["dynamicAllocation"]
    assert dynamic["enabled"] is True and dynamic["shuffleTrackingEnabled"] is True
    assert 1 == dynamic["minExecutors"] <= dynamic["initialExecutors"] <= dynamic["maxExecutors"] and dynamic["maxExecutors"] >= 3
    assert "instances" not in after["spec"]["executor"]


def test_instances_beside_dynamic_allocation_are_removed(k8s):
    body = review("dynamic-allocation")
    body["request"]["object"]["spec"]["executor"]["instances"] = 9
    body["request"]["object"]["spec"]["sparkConf"] = {"spark.executor.instances": "9"}
    after = admitted(body, ask(k8s, body))
    assert "instances" not in after["spec"]["executor"] and "spark.executor.instances" not in after["spec"]["sparkConf"]


def test_what_the_author_preserves_is_preserved(k8s):
    body = annotate(review("create"), preserve="spark.executor.instances, spark.executor.memory")
    response = ask(k8s, body)
    after = admitted(body, response)
    assert after["spec"]["executor"] == body["request"]["object"]["spec"]["executor"]
    body = annotate(review("create"), preserve="spark.executor.cores")
    body["request"]["object"]["spec"]["executor"]["cores"] = 1
    assert admitted(body, ask(k8s, body))["spec"]["executor"]["cores"] == 1
    body = annotate(review("dynamic-allocation"), preserve="spark.dynamicAllocation.maxExecutors")
    after = admitted(body, ask(k8s, body))
    assert after["spec"]["dynamicAllocation"]["maxExecutors"] == 2


def test_sections_that_are_missing_are_made(k8s):
    body = review("create")
    body["request"]["object"]["spec"]["executor"] = None
    body["request"]["object"]["spec"]["sparkConf"] = None
    after = admitted(body, ask(k8s, body))
    assert after["spec"]["executor"]["instances"] >= 3 and after["spec"]["sparkConf"]["spark.provisor.adviceId"]


def test_the_template_of_a_schedule_is_patched(k8s):
    body = review("scheduled")
    after = admitted(body, ask(k8s, body))
    assert after["spec"]["template"]["executor"]["instances"] >= 3 and after["spec"]["template"]["sparkConf"]["spark.provisor.adviceId"]


def test_namespaces_make_no_difference_and_sizes_have_units(k8s):
    body = review("other-namespace")
    response = ask(k8s, body)
    advice = k8s.get("/v1/advice/" + response["auditAnnotations"]["advice"]).json()
    assert advice["problem_size"] == 40 and advice["deadline_s"] == 60 and advice["confidence"] == 0.9


def test_a_dry_run_stores_nothing(k8s):
    before = len(k8s.get("/v1/advice?limit=200").json()["items"])
    body = review("dry-run")
    response = ask(k8s, body)
    after = admitted(body, response)
    assert after["spec"]["executor"]["instances"] >= 3 and "spark.provisor.adviceId" not in after["spec"].get("sparkConf", {})
    assert response["auditAnnotations"] == {"verdict": "met"}
    assert len(k8s.get("/v1/advice?limit=200").json()["items"]) == before


def test_a_second_look_changes_nothing_but_the_advice(k8s):
    body = review("create")
    once = admitted(body, ask(k8s, body))
    body = review("create")
    body["request"]["object"] = once
    assert [o["path"] for o in operations(ask(k8s, body))] == ["/spec/sparkConf/spark.provisor.adviceId"]
    dry = review("dry-run")
    dry["request"]["object"] = once
    assert operations(ask(k8s, dry)) == []


@pytest.mark.parametrize("name", ["update-unchanged", "status", "delete", "other-kind", "no-annotations"])
def test_what_asks_nothing_is_left_alone(k8s, name):
    for path in (MUTATE, VALIDATE):
        assert ask(k8s, review(name), path) == {"allowed": True}


def test_an_update_of_the_specification_is_looked_at(k8s):
    body = review("update-changed")
    assert admitted(body, ask(k8s, body))["spec"]["executor"]["instances"] >= 3
    assert ask(k8s, body, VALIDATE)["auditAnnotations"]["verdict"]


def test_an_action_of_connect_is_left_alone(k8s):
    body = review("create")
    body["request"]["operation"] = "CONNECT"
    assert ask(k8s, body) == {"allowed": True}


def test_half_a_question_is_a_warning(k8s):
    for path in (MUTATE, VALIDATE):
        response = ask(k8s, review("half-given"), path)
        assert response["allowed"] and "provisor/problem-size" in response["warnings"][0] and "patch" not in response
    body = review("half-given")
    body["request"]["object"]["metadata"]["annotations"] = {"provisor/problem-size": "40"}
    assert "provisor/deadline" in ask(k8s, body)["warnings"][0]


@pytest.mark.parametrize("key,value,word", [
    ("deadline", "soon", "provisor/deadline"), ("deadline", "0s", "provisor/deadline"), ("deadline", "-5s", "provisor/deadline"),
    ("deadline", "1e999", "provisor/deadline"), ("problem-size", "40 blocks", "provisor/problem-size"), ("problem-size", "", "provisor/problem-size"),
    ("problem-size", "999999999999999", "provisor/problem-size"), ("confidence", "1.5", "provisor/confidence"), ("confidence", "95%", "provisor/confidence"),
    ("action", "please", "provisor/action"), ("cluster", "no-such-cluster", "provisor/cluster"), ("preserve", "executors", "provisor/preserve"),
    ("application", "a\u0007b", "provisor/application")])
def test_wrong_annotations_are_named(k8s, key, value, word):
    body = annotate(review("create"), **{key: value})
    response = ask(k8s, body)
    assert response["allowed"] and word in response["warnings"][0] and "patch" not in response
    if key == "preserve":
        return  # who validates takes nothing from it
    response = ask(k8s, annotate(review("create"), **{key: value}), VALIDATE)
    assert not response["allowed"] and response["status"]["code"] == 422 and word in response["status"]["message"]
    response = ask(k8s, annotate(review("create"), **{key: value, **({} if key == "action" else {"action": "warn"})}), VALIDATE)
    assert response["allowed"] == (key != "action")


def test_the_recorded_wrong_number_is_refused(k8s):
    assert ask(k8s, review("wrong-numbers"), VALIDATE)["status"]["code"] == 422


@pytest.mark.parametrize("spec", [[], "x", {"executor": []}, {"sparkConf": {"spark.x": 1}}, {"dynamicAllocation": "yes"}, None])
def test_an_object_that_kubernetes_refuses_is_left_to_it(k8s, spec):
    body = review("create")
    body["request"]["object"]["spec"] = spec
    assert ask(k8s, body) == {"allowed": True}
    body["request"]["object"] = spec
    assert ask(k8s, body) == {"allowed": True}


def test_an_action_switches_it_off_or_to_words(k8s):
    assert ask(k8s, annotate(review("create"), action="off")) == {"allowed": True}
    before = len(k8s.get("/v1/advice?limit=200").json()["items"])
    response = ask(k8s, annotate(review("create"), action="warn", deadline="6s"))
    assert response["allowed"] and "patch" not in response and "6 s" in response["warnings"][0]
    assert ask(k8s, annotate(review("create"), action="warn", deadline="6s"), VALIDATE)["allowed"]
    assert len(k8s.get("/v1/advice?limit=200").json()["items"]) == before


def test_what_no_executors_can_meet_is_not_patched(k8s):
    body = annotate(review("create"), deadline="6s")
    response = ask(k8s, body)
    assert response["allowed"] and "patch" not in response and response["auditAnnotations"]["verdict"] == "missed"
    assert len(response["warnings"][0]) <= 256
    response = ask(k8s, annotate(review("create"), deadline="6s"), MUTATE + "?action=mutate&on_missed=deny")
    assert not response["allowed"] and response["status"]["code"] == 403


def test_an_unknown_application_is_allowed_unless_denied(k8s):
    for path in (MUTATE + "?", VALIDATE + "&"):
        response = ask(k8s, annotate(review("create"), application="never-seen"), path)
        assert response["allowed"] and "never-seen" in response["warnings"][0]
        response = ask(k8s, annotate(review("create"), application="never-seen"), path + "on_unknown=deny")
        assert not response["allowed"] and response["status"]["code"] == 403


# --- validate ---


def test_enough_executors_are_allowed_without_a_word(k8s):
    assert ask(k8s, with_executors(review("create"), 5), VALIDATE) == {"allowed": True, "auditAnnotations": {"verdict": "met"}}


def test_too_few_are_denied_and_told_what_would_do(k8s):
    response = ask(k8s, with_executors(review("create"), 1), VALIDATE)
    assert not response["allowed"] and response["status"]["code"] == 403 and response["auditAnnotations"]["verdict"] == "missed"
    message = response["status"]["message"]
    advised = ask_advice(k8s)["recommendation"]["executors"]
    assert "nightly-etl" in message and "1 executor of 2 cores is predicted to take" in message and "deadline of 26 s" in message
    assert "It takes at least %d executors of 2 cores to meet the deadline with a probability of 95 %%." % advised in message
    # The predicted time and its interval.
    predicted = k8s.post("/v1/advice?dry_run=true", {"application": "nightly-etl", "problem_size": 40, "deadline_s": 26,
                                                     "constraints": {"min_executors": 1, "max_executors": 1, "cores_per_executor": 2}}, 200).json()["recommendation"]
    assert "%.3g s (%.1f to %.1f s" % (predicted["predicted_duration_s"], *predicted["interval_s"]) in message


def ask_advice(client, **more):
    return client.post("/v1/advice?dry_run=true", dict({"application": "nightly-etl", "problem_size": 40, "deadline_s": 26,
                                                        "constraints": {"cores_per_executor": 2}}, **more), 200).json()


def test_so_many_executors_are_then_allowed(k8s):
    n = ask_advice(k8s)["recommendation"]["executors"]
    assert ask(k8s, with_executors(review("create"), n), VALIDATE)["allowed"]
    assert ask(k8s, with_executors(review("create"), n), VALIDATE)["auditAnnotations"]["verdict"] == "met"


def test_at_risk_is_a_warning_unless_denied(k8s):
    executors = next(n for n in range(1, 9) if ask_advice(k8s, constraints={"min_executors": n, "max_executors": n, "cores_per_executor": 2})["verdict"] == "at_risk")
    response = ask(k8s, with_executors(review("create"), executors), VALIDATE)
    assert response["allowed"] and response["auditAnnotations"]["verdict"] == "at_risk" and len(response["warnings"]) == 2
    response = ask(k8s, with_executors(review("create"), executors), VALIDATE + "&on_at_risk=deny")
    assert not response["allowed"] and response["status"]["code"] == 403


def test_missed_is_a_warning_where_that_is_asked_for(k8s):
    response = ask(k8s, with_executors(review("create"), 1), VALIDATE + "&on_missed=warn")
    assert response["allowed"] and "26 s" in response["warnings"][0]


def test_dynamic_allocation_counts_to_its_most(k8s):
    body = review("dynamic-allocation")
    body["request"]["object"]["spec"]["dynamicAllocation"]["maxExecutors"] = 1
    assert not ask(k8s, body, VALIDATE)["allowed"]
    body["request"]["object"]["spec"]["dynamicAllocation"]["maxExecutors"] = 6
    assert ask(k8s, body, VALIDATE)["auditAnnotations"] == {"verdict": "met"}
    del body["request"]["object"]["spec"]["dynamicAllocation"]["maxExecutors"]
    assert ask(k8s, body, VALIDATE)["auditAnnotations"] == {"verdict": "met"}


def test_more_than_provisor_answers_for_is_unknown(k8s):
    for executors, cores in ((1000000000, 2), (3, 1000000000)):
        response = ask(k8s, with_executors(review("create"), executors, cores), VALIDATE)
        assert response["allowed"] and response["auditAnnotations"] == {"verdict": "unknown"} and "no prediction" in response["warnings"][0]


def test_a_cluster_bounds_the_executors(k8s):
    k8s.put("/v1/clusters/small", {"executors": 2, "cores_per_executor": 2}, {200, 201})
    response = ask(k8s, annotate(review("create"), cluster="small"))
    assert response["auditAnnotations"]["verdict"] in ("at_risk", "missed")
    response = ask(k8s, annotate(with_executors(review("create"), 5), cluster="small"), VALIDATE)
    assert response["allowed"] and response["auditAnnotations"] == {"verdict": "unknown"}
    assert ask(k8s, annotate(with_executors(review("create"), 2), cluster="small"), VALIDATE)["auditAnnotations"]["verdict"] in ("at_risk", "missed")


def test_validating_stores_nothing_and_needs_only_read(k8s, service):
    before = len(k8s.get("/v1/advice?limit=200").json()["items"])
    token = k8s.post("/v1/tokens", {"name": "reader", "scopes": ["read"]}, 201).json()["token"]
    reader = service.client(token)
    assert ask(reader, with_executors(review("create"), 5), VALIDATE)["allowed"]
    reader.post(MUTATE, review("create"), 403)
    assert len(k8s.get("/v1/advice?limit=200").json()["items"]) == before


def test_patched_by_one_and_passed_by_the_other(k8s):
    body = review("create")
    patched = admitted(body, ask(k8s, body))
    body["request"]["object"] = patched
    assert ask(k8s, body, VALIDATE) == {"allowed": True, "auditAnnotations": {"verdict": "met"}}


# --- what is no review ---


@pytest.mark.parametrize("change,pointer", [
    (lambda r: r.update(apiVersion="admission.k8s.io/v1beta1"), "/apiVersion"), (lambda r: r.pop("apiVersion"), "/apiVersion"),
    (lambda r: r.update(kind="Pod"), "/kind"), (lambda r: r.pop("request"), "/request"), (lambda r: r.update(request=[]), "/request"),
    (lambda r: r["request"].pop("uid"), "/request/uid"), (lambda r: r["request"].update(uid=7), "/request/uid"),
    (lambda r: r["request"].update(uid=""), "/request/uid"), (lambda r: r["request"].update(uid="u" * 129), "/request/uid"),
    (lambda r: r["request"].update(dryRun="yes"), "/request/dryRun")])
def test_what_is_no_review_is_an_error(k8s, change, pointer):
    body = review("create")
    change(body)
    k8s.refuse("POST", MUTATE, 422, pointer=pointer, json=body)


def test_members_that_are_not_known_are_passed_over(k8s):
    body = review("create")
    body["request"]["aNewMember"] = {"a": [1]}
    body["another"] = True
    body["request"]["object"]["spec"]["newField"] = {"x": 1}
    assert "patch" in ask(k8s, body)


@pytest.mark.parametrize("query,parameter", [("action=change", "action"), ("on_missed=allow", "on_missed"), ("on_unknown=warn", "on_unknown"),
                                             ("on_failure=ignore", "on_failure"), ("on_at_risk=", "on_at_risk"), ("dry_run=true", "dry_run")])
def test_parameters_at_fault_are_named(k8s, query, parameter):
    k8s.refuse("POST", MUTATE + "?" + query, 422 if parameter != "dry_run" else {400, 422}, parameter=parameter, json=review("create"))


def test_the_parameter_that_kubernetes_adds_is_taken(k8s):
    assert "patch" in ask(k8s, review("create"), MUTATE + "?timeout=2s")


def test_tokens_and_syntax(k8s, service):
    k8s.post(MUTATE, review("create"), 401, token=False)
    k8s.request("POST", MUTATE, 400, data="{", headers={"Content-Type": "application/json"})
    k8s.request("POST", MUTATE, 415, data="{}", headers={"Content-Type": "text/plain"})


def test_limits_are_those_of_other_calls(k8s):
    deep = review("create")
    node = deep["request"]["object"]["spec"]
    for _ in range(70):
        node["x"] = node = {}
    assert k8s.post(MUTATE, deep, {400, 422}).status_code
    large = review("create")
    large["request"]["object"]["metadata"]["annotations"]["note"] = "x" * (9 << 20)
    k8s.post(MUTATE, large, 413)
    keys = ",".join("spark.x%d" % i for i in range(101))
    assert "100" in ask(k8s, annotate(review("create"), preserve=keys))["warnings"][0]


def test_outcomes_are_counted(k8s, service):
    def counted(action, outcome):
        return service.metric('provisor_kubernetes_reviews_total{action="%s",outcome="%s"}' % (action, outcome))
    rows = [("mutate", "patched", lambda: ask(k8s, review("create"))), ("mutate", "warned", lambda: ask(k8s, review("half-given"))),
            ("mutate", "untouched", lambda: ask(k8s, review("other-kind"))),
            ("validate", "denied", lambda: ask(k8s, with_executors(review("create"), 1), VALIDATE))]
    for action, outcome, act in rows:
        before = counted(action, outcome)
        act()
        assert counted(action, outcome) == before + 1, (action, outcome)


# --- when provisor cannot answer ---


@pytest.fixture(scope="module")
def lonely(make_service):
    service = make_service(own_server=True, PROVISOR_TOKEN_CACHE_MS=5000, PROVISOR_PREDICTION_CACHE_MS=0)
    token = service.token("alone")
    service.start()
    client = service.client(token)
    teach(client, "nightly-etl")
    return client


def without_database(client, body, path):
    """The reply while PostgreSQL is stopped, but the token still known (token_cache_ms)."""
    for _ in range(10):
        client.service.wait_ready()
        assert "response" in client.post(MUTATE, review("create"), 200).json()
        client.service.stop_database()
        began = time.monotonic()
        reply = client.post(path, body)
        seconds = time.monotonic() - began
        client.service.start_database()
        if reply.status_code == 200:
            return reply.json()["response"], seconds
        assert reply.status_code == 503, "it stopped for longer than the token is known"
    raise AssertionError("the token was never known for long enough")


@pytest.mark.parametrize("path", [MUTATE + "?action=mutate", VALIDATE])
def test_without_its_database_it_fails_open_or_closed(lonely, path):
    response, seconds = without_database(lonely, review("create"), path)
    assert response["allowed"] and "patch" not in response and "as it is" in response["warnings"][0]
    assert seconds < 2 * SLOWDOWN, "Kubernetes waits for two seconds"
    response, seconds = without_database(lonely, review("create"), path + "&on_failure=closed")
    assert not response["allowed"] and response["status"] == {"code": 503, "message": "provisor: the service cannot answer now; try again later"}
    assert seconds < 2 * SLOWDOWN
    assert without_database(lonely, review("no-annotations"), path + "&on_failure=closed")[0]["allowed"]
    assert without_database(lonely, review("half-given"), path + "&on_failure=closed")[0]["allowed"]


def test_a_token_that_cannot_be_looked_up_is_an_error_of_http(lonely):
    """Then the failurePolicy of the webhook decides."""
    lonely.service.wait_ready()
    token = lonely.service.token("alone", "write", "late")
    lonely.service.stop_database()
    try:
        lonely.service.client(token).post(MUTATE, review("create"), 503)
    finally:
        lonely.service.start_database()

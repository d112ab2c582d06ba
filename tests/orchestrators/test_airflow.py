"""clients/airflow: its operators, sensor and trigger against the real service, and against one in bad weather."""
import ast
import asyncio
import json
import logging
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
import tomllib
import types
import zipfile

import pytest

import airflow_world
from airflow_world import PACKAGE, connect, context_of, fire, rebuilt, run, run_deferred
from airflow.exceptions import AirflowFailException, AirflowSensorTimeout, AirflowSkipException, TaskDeferred
from airflow.hooks.base import BaseHook, Connection
from airflow.models.baseoperator import BaseOperator
from contract_members import member
from ports import free_port
from stub import JSON, cut, page, problem, stub

import provisor_airflow
from provisor_airflow import advice, http_client
from provisor_airflow.hooks import ProvisorHook, address_of
from provisor_airflow.operators import ProvisorAdviceOperator, ProvisorGateOperator
from provisor_airflow.sensors import ProvisorOperationSensor
from provisor_airflow.spark_submit import ProvisorSparkSubmitOperator
from provisor_airflow.triggers import ENDED, ProvisorOperationTrigger, headline

TOKEN = "prv_test_of_a_token_abcdefgh"
MET = {"problem_size": 64, "deadline_s": 90}
AT_RISK = {"problem_size": 64, "deadline_s": 60, "constraints": {"max_executors": 10}}
MISSED = {"problem_size": 64, "deadline_s": 20}
UNKNOWN = {"problem_size": 6400, "deadline_s": 90}
REPLY = {"id": "019aa3c1-75b2-7c5e-a2b1-6f6f0b0d2f11", "verdict": "met", "feasible": True, "recommendation": {"executors": 6, "cores_per_executor": 4},
         "last_run": None, "reasons": [{"message": "6 executors."}], "spark": {"properties": {"spark.executor.instances": "6"}, "changes": []}}
OPERATION = {"id": "019aa3c1-75b2-7c5e-a2b1-6f6f0b0d2f12", "kind": "refit", "application": None, "status": "running", "progress": {"done": 1, "total": 2, "unit": "x"},
             "finished_at": None, "error": None}


@pytest.fixture(autouse=True)
def connection(service, history, caplog):
    """The default connection leads to the real service; no token is in a log."""
    caplog.set_level(logging.DEBUG)
    connect(service.base_url, service.alpha_token)
    yield
    BaseHook.connections.clear()
    for token in (service.alpha_token, TOKEN):
        assert token not in caplog.text


@pytest.fixture
def no_waiting(monkeypatch):
    """How long the client would have waited between attempts."""
    waits = []
    monkeypatch.setitem(http_client.Client.__init__.__kwdefaults__, "sleep", waits.append)
    return waits


def operator_of(question, kind=ProvisorAdviceOperator, **more):
    return kind(**{"task_id": "ask", "application": "nightly-etl", **question, **more})


# --- advice ---------------------------------------------------------------------------------------------------


def test_advice_that_is_met(service, history):
    value = run(operator_of(MET))
    assert (value["verdict"], set(value["conf"]) >= {"spark.executor.instances", "spark.executor.cores"}) == ("met", True)
    assert value["conf"]["spark.provisor.adviceId"] == value["advice_id"]
    stored = history.get("/v1/advice/" + value["advice_id"]).json()
    assert stored["spark"]["properties"].items() <= value["conf"].items() and len(value["conf"]) == len(stored["spark"]["properties"]) + 1
    assert value["executors"] == stored["recommendation"]["executors"] and value["message"] == stored["reasons"][0]["message"]
    text = json.dumps(value)
    assert len(text) < 2000 and service.alpha_token not in text


def test_a_question_is_templated(history):
    question = {"application": "{{ params.app }}", "problem_size": "{{ params.size }}", "deadline_s": "{{ 45 * 2 }}", "confidence": "0.9",
                "constraints": {"max_executors": 30, "exclude": ["{{ params.key }}"]}, "request": {"objective": "{{ params.goal }}"}}
    operator = ProvisorAdviceOperator(task_id="ask", **question)
    value = run(operator, context_of(params={"app": "nightly-etl", "size": "64", "key": "spark.executor.cores", "goal": "min_time"}))
    stored = history.get("/v1/advice/" + value["advice_id"]).json()
    assert (stored["application"], stored["problem_size"], stored["deadline_s"], stored["confidence"], stored["objective"]) == ("nightly-etl", 64, 90, 0.9, "min_time")
    assert "spark.executor.cores" not in value["conf"] and value["executors"] <= 30
    assert set(ProvisorAdviceOperator.template_fields) <= set(vars(operator))


@pytest.mark.parametrize("question, verdict", [(AT_RISK, "at_risk"), (MISSED, "missed"), (UNKNOWN, "unknown")])
def test_what_is_done_by_the_verdict_can_be_chosen(question, verdict, caplog):
    choice = "on_" + verdict
    value = run(operator_of(question, **{choice: "warn"}))
    assert value["verdict"] == verdict and value["advice_id"]
    assert bool(value["conf"]) == (verdict == "at_risk"), "what would be late all the same changes nothing"
    assert [r for r in caplog.records if r.levelno == logging.WARNING and "verdict %s" % verdict in r.getMessage()]
    with pytest.raises(AirflowFailException, match="provisor: verdict %s: " % verdict):
        run(operator_of(question, **{choice: "fail"}))
    with pytest.raises(AirflowSkipException, match="provisor: verdict %s: " % verdict):
        run(operator_of(question, **{choice: "skip"}))
    with pytest.raises(ValueError, match="one of fail, skip, warn"):
        operator_of(question, **{choice: "explode"})


def test_defaults_of_advice_stop_nothing_but_a_refused_token(service):
    for question, verdict in ((MISSED, "missed"), (AT_RISK, "at_risk"), (UNKNOWN, "unknown")):
        assert run(operator_of(question))["verdict"] == verdict
    connect(service.base_url, TOKEN)
    with pytest.raises(AirflowFailException, match="the service refuses the token: .*answers 401"):
        run(operator_of(MET))


@pytest.mark.parametrize("kind", [ProvisorAdviceOperator, ProvisorGateOperator])
def test_a_refused_token_can_warn_or_skip(service, kind, caplog):
    connect(service.base_url, TOKEN)
    value = run(operator_of(MET, kind, on_token_refused="warn"))
    assert (value["verdict"], value["conf"]) == (None, {}) and "token_refused" not in value and "refuses the token" in caplog.text
    with pytest.raises(AirflowSkipException):
        run(operator_of(MET, kind, on_token_refused="skip"))
    with pytest.raises(AirflowFailException):
        run(operator_of(MET, kind, on_unavailable="warn"))
    with pytest.raises(ValueError, match="^on_token_refused must be one of"):
        operator_of(MET, kind, on_token_refused="explode")


def test_an_application_without_history_is_unknown_not_wrong():
    value = run(operator_of(MET, application="never-ran"))
    assert (value["verdict"], value["advice_id"], value["conf"]) == ("unknown", None, {})
    assert "nothing has been recorded of application never-ran" in value["message"]


def test_a_repeated_request_of_a_try_stores_advice_once(history):
    first, again = (run(operator_of(MET), context_of())["advice_id"] for _ in range(2))
    assert first == again, "a request that is sent again is answered from the record"
    assert run(operator_of(MET), context_of(try_number=2))["advice_id"] != first
    assert run(operator_of({**MET, "deadline_s": 91}), context_of())["advice_id"] != first


def advice_ids(history):
    return [item["id"] for item in history.get("/v1/advice?application=nightly-etl&limit=100").json()["items"]]


def test_a_dry_run_stores_nothing(service, history):
    before = advice_ids(history)
    connect(service.base_url, service.token("alpha", scopes="read"))
    value = run(operator_of(MET, dry_run=True))
    assert value["verdict"] == "met" and value["advice_id"] is None
    assert "spark.executor.instances" in value["conf"] and "spark.provisor.adviceId" not in value["conf"]
    assert advice_ids(history) == before
    with pytest.raises(AirflowFailException, match="answers 403"):
        run(operator_of(MET))


def test_what_the_service_refuses_fails_with_its_words():
    with pytest.raises(AirflowFailException, match="answers 422: .*confidence"):
        run(operator_of({**MET, "confidence": 2}))
    with pytest.raises(AirflowFailException, match="deadline_s is no number: 'soon'"):
        run(operator_of({**MET, "deadline_s": "soon"}))


# --- the gate --------------------------------------------------------------------------------------------------


def test_the_gate_short_circuits():
    assert run(operator_of(MET, ProvisorGateOperator))["verdict"] == "met"
    for question, verdict in ((MISSED, "missed"), (AT_RISK, "at_risk"), (UNKNOWN, "unknown")):
        with pytest.raises(AirflowFailException, match="verdict %s" % verdict):
            run(operator_of(question, ProvisorGateOperator))
        with pytest.raises(AirflowSkipException):
            run(operator_of(question, ProvisorGateOperator, **{"on_" + verdict: "skip"}))
        assert run(operator_of(question, ProvisorGateOperator, **{"on_" + verdict: "warn"}))["verdict"] == verdict
        assert run(operator_of(question, ProvisorGateOperator, warn_only=True))["verdict"] == verdict


SIZE = {"problem_size": 64}


@pytest.mark.parametrize("question", [SIZE, {**SIZE, "request": {"objective": "min_time"}}, {**SIZE, "constraints": {"max_executors": 4}}, {**SIZE, "warn_only": True},
                                      {**SIZE, "request": {"deadline_s": None}}])
def test_a_gate_without_a_question_is_no_dag(question):
    """Raised where the DAG is read."""
    with pytest.raises(ValueError, match="neither a deadline nor a limit on cost.*give deadline_s or max_cost_rise_percent, or say no_deadline=True"):
        operator_of(question, ProvisorGateOperator)


@pytest.mark.parametrize("question", [{"no_deadline": True}, {"max_cost_rise_percent": 20}, {"request": {"deadline_s": 90}}, {"request": {"deadline_s": "{{ params.d }}"}},
                                      {"deadline_s": "{{ params.d }}"}, {"deadline_s": "{{ params.empty }}", "no_deadline": True},
                                      {"constraints": {"max_cost": 100, "price_per_executor_hour": 1}}])
def test_a_gate_with_a_question(question):
    question = {**question, **({"request": {"deadline_s": 90}} if "params.d" in str(question.get("request")) else {})}
    assert run(operator_of({**SIZE, **question}, ProvisorGateOperator), context_of(params={"d": "90", "empty": ""}))["verdict"] == "met"


@pytest.mark.parametrize("more", [{}, {"max_cost_rise_percent": 20}, {"warn_only": True}])
@pytest.mark.parametrize("empty", ["", " ", "None"])
def test_a_deadline_that_is_rendered_to_nothing_is_an_error(empty, more):
    operator = operator_of({**SIZE, "deadline_s": "{{ params.d }}"}, ProvisorGateOperator, **more)
    with pytest.raises(AirflowFailException, match="deadline_s of the gate is empty.*no_deadline=True"):
        run(operator, context_of(params={"d": empty}))


def test_a_deadline_that_is_meant_to_be_none_is_none():
    with pytest.raises(ValueError, match="must not be given together"):
        operator_of({**SIZE, "request": {"deadline_s": 90}}, ProvisorGateOperator, no_deadline=True)
    with pytest.raises(AirflowFailException, match="must not be given together"):
        run(operator_of(MET, ProvisorGateOperator, no_deadline=True))


def test_a_token_that_ends_soon_is_in_the_log_once(caplog):
    reply = (201, {**JSON, "Provisor-Token-Expires": "2026-12-12T08:00:00Z"}, json.dumps(REPLY))
    with stub(problem(503, "busy"), reply) as server:
        connect(server.url, TOKEN)
        hook = ProvisorHook(sleep=lambda s: None)
        for _ in range(2):
            hook.ask_advice({})
    assert [r.levelno for r in caplog.records if "ends at 2026-12-12T08:00:00Z" in r.getMessage()] == [logging.WARNING]


def test_gate_and_job_store_advice_once(history):
    """So `deadline.infeasible` is sent once; a gate that is to send it where it stops the job stores its own."""
    before = advice_ids(history)
    assert run(operator_of(MET, ProvisorGateOperator, constraints={"enforced": {"spark.executor.memory": "3g"}}), context_of(try_number=7))["advice_id"] is None
    operator = submit_of({"spark.executor.memory": "3g"})
    run(operator, context_of(try_number=7))
    assert advice_ids(history) == [properties(operator)["spark.provisor.adviceId"], *before][:100]
    stored = run(operator_of(MET, ProvisorGateOperator, dry_run=False), context_of(try_number=7))
    assert stored["advice_id"] == advice_ids(history)[0] == stored["conf"]["spark.provisor.adviceId"]


def test_the_gate_bounds_the_cost():
    dear = {**MET, "constraints": {"min_executors": 30}}
    assert run(operator_of(dear, ProvisorGateOperator, max_cost_rise_percent=10000))["cost_change_percent"] > 5
    for action in ("fail", "warn"):  # a limit that is passed fails, whatever is done by the verdict
        with pytest.raises(AirflowFailException, match="the cost rises by .* %, more than 5 %"):
            run(operator_of(dear, ProvisorGateOperator, max_cost_rise_percent=5, on_missed=action))
    with pytest.raises(AirflowSkipException):
        run(operator_of(dear, ProvisorGateOperator, max_cost_rise_percent=5, on_missed="skip"))
    assert run(operator_of(dear, ProvisorGateOperator, max_cost_rise_percent=5, warn_only=True))["verdict"] == "met"


# --- bad weather -----------------------------------------------------------------------------------------------


def test_a_busy_service_is_asked_again_when_it_says(no_waiting):
    with stub(problem(503, "busy", **{"Retry-After": "3"}), problem(429, "slowly", **{"Retry-After": "7"}), (201, JSON, json.dumps(REPLY))) as server:
        connect(server.url, TOKEN)
        assert run(operator_of(MET))["conf"] == {"spark.executor.instances": "6", "spark.provisor.adviceId": REPLY["id"]}
    assert no_waiting == [3, 7]
    keys = {headers["Idempotency-Key"] for _, _, headers, _ in server.requests}
    assert len(server.requests) == 3 and len(keys) == 1, "attempts of one question"
    assert {headers["Authorization"] for _, _, headers, _ in server.requests} == {"Bearer " + TOKEN}


def test_dates_in_retry_after():
    later = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 30))
    assert 20 < http_client.retry_after_s({"Retry-After": later}) <= 30
    assert http_client.retry_after_s({"Retry-After": "Wed, 01 Jan 2020 00:00:00 GMT"}) == 0
    assert [http_client.retry_after_s({"Retry-After": text}) for text in ("", "soon", "-1", "٣")] == [None] * 4
    assert http_client.retry_after_s({}) is None and http_client.retry_after_s(None) is None


@pytest.mark.parametrize("answer", [problem(503, "busy"), problem(500, "failed"), cut])
def test_a_service_that_is_away_does_not_stop_the_dag(no_waiting, caplog, answer):
    with stub(answer) as server:
        connect(server.url, TOKEN)
        value = run(operator_of(MET))
        assert (value["verdict"], value["advice_id"], value["conf"]) == (None, None, {})
        assert [r for r in caplog.records if r.levelno == logging.WARNING and "the service cannot be reached" in r.getMessage()]
        with pytest.raises(AirflowFailException, match="the service cannot be reached"):
            run(operator_of(MET, on_unavailable="fail"))
        with pytest.raises(AirflowSkipException):
            run(operator_of(MET, on_unavailable="skip"))


def test_nobody_listens(no_waiting):
    connect("http://127.0.0.1:%d" % free_port(), TOKEN)
    assert run(operator_of(MET))["verdict"] is None
    assert len(no_waiting) == 4 and all(0 < wait <= 30 for wait in no_waiting)


def test_a_service_that_hangs_is_given_up(no_waiting):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        connect("http://127.0.0.1:%d" % listener.getsockname()[1], TOKEN, timeout_s=0.2)
        began = time.monotonic()
        assert run(operator_of(MET))["verdict"] is None
        assert time.monotonic() - began < 30


def test_a_wait_beyond_the_patience_is_not_begun(no_waiting):
    with stub(problem(503, "busy", **{"Retry-After": "3600"})) as server:
        connect(server.url, TOKEN)
        assert run(operator_of(MET))["verdict"] is None
    assert no_waiting == [] and len(server.requests) == 1


@pytest.mark.parametrize("answer, words", [(problem(401, "the token is not known"), "answers 401: the token is not known"), (page(200), "no JSON"),
                                           ((302, {"Location": "http://127.0.0.1:1/"}, ""), "answers 302")])
def test_what_does_not_pass_by_itself_is_an_error(no_waiting, answer, words):
    with stub(answer) as server:
        connect(server.url, TOKEN)
        with pytest.raises(AirflowFailException, match=words) as failure:
            run(operator_of(MET))
    assert len(server.requests) == 1 and no_waiting == [] and TOKEN not in str(failure.value)


def test_a_redirect_does_not_carry_the_token_away(no_waiting):
    with stub((200, JSON, json.dumps(REPLY))) as elsewhere, stub((307, {"Location": elsewhere.url + "/v1/advice"}, "")) as server:
        connect(server.url, TOKEN)
        with pytest.raises(AirflowFailException):
            run(operator_of(MET))
    assert elsewhere.requests == []


@pytest.mark.parametrize("token", [None, "", "two\nlines", "prv_tökén"])
def test_a_token_that_is_none_is_not_quoted(token):
    connect("http://127.0.0.1:1", token)
    with pytest.raises(AirflowFailException, match="there is no token of provisor") as failure:
        run(operator_of(MET))
    assert not token or token not in str(failure.value)


# --- the connection --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host, schema, port, address", [
    ("provisor.example", None, None, "https://provisor.example"), ("provisor.example", "http", 8080, "http://provisor.example:8080"),
    ("https://provisor.example/base/", None, None, "https://provisor.example/base/"), ("http://a:81", "https", 82, "http://a:81"),
    ("[::1]", "http", 8080, "http://[::1]:8080")])
def test_addresses(host, schema, port, address):
    assert address_of(Connection("c", host=host, schema=schema, port=port)) == address


@pytest.mark.parametrize("host, schema", [(None, None), ("file:///etc/passwd", None), ("provisor.example", "ftp"), ("https://u:p@provisor.example", None)])
def test_addresses_that_are_none(host, schema):
    BaseHook.connections["provisor_default"] = Connection("provisor_default", host=host, schema=schema, password=TOKEN)
    with pytest.raises(AirflowFailException):
        run(operator_of(MET))


@pytest.mark.parametrize("timeout_s", [0, -1, 3600.5, "soon", None, float("nan")])
def test_a_timeout_that_is_none(timeout_s):
    connect("http://127.0.0.1:1", TOKEN, timeout_s=timeout_s)
    with pytest.raises(AirflowFailException, match="timeout_s of the connection must be a number of seconds, at most 3600"):
        run(operator_of(MET))


def test_the_longest_timeout(service):
    connect(service.base_url, service.alpha_token, timeout_s=3600)
    assert run(operator_of(MET))["verdict"] == "met"


def test_the_button_of_the_form(service):
    assert ProvisorHook().test_connection() == (True, "the service takes this token")
    connect(service.base_url, TOKEN)
    good, words = ProvisorHook().test_connection()
    assert not good and "answers 401" in words and TOKEN not in words
    assert {"hidden_fields", "relabeling", "placeholders"} == set(ProvisorHook.get_ui_field_behaviour())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True)
    return folder


def test_certificates_are_verified(certificate, no_waiting, caplog):
    with stub((201, JSON, json.dumps(REPLY))) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        url = server.url.replace("http:", "https:")
        connect(url, TOKEN)
        with pytest.raises(AirflowFailException, match="the certificate is not accepted"):
            run(operator_of(MET))
        assert server.requests == []
        for extra in ({"ca": str(certificate / "cert.pem")}, {"verify": str(certificate / "cert.pem")}):
            connect(url, TOKEN, **extra)
            assert run(operator_of(MET))["verdict"] == "met"
        assert "not verified" not in caplog.text
        connect(url, TOKEN, verify=False)
        assert run(operator_of(MET))["verdict"] == "met" and "certificates are not verified" in caplog.text
        with stub((201, JSON, "{}")) as without_tls:
            connect(without_tls.url.replace("http:", "https:"), TOKEN)
            with pytest.raises(AirflowFailException, match="speaks no TLS"):
                run(operator_of(MET))
        connect(url, TOKEN, ca="/nowhere.pem")
        with pytest.raises(AirflowFailException, match="/nowhere.pem cannot be read"):
            run(operator_of(MET))


# --- spark-submit ----------------------------------------------------------------------------------------------


def submit_of(conf=None, question=MET, **more):
    named = {"provisor_" + name: value for name, value in question.items()}
    return ProvisorSparkSubmitOperator(task_id="job", application="job.jar", conf=conf, provisor_application="nightly-etl", **named, **more)


def properties(operator):
    words = operator.command
    return dict(words[i + 1].split("=", 1) for i, word in enumerate(words) if word == "--conf")


def test_spark_submit_runs_with_the_advised_properties(history, caplog):
    operator = submit_of({"spark.app.secret": "s"})
    run(operator)
    made = properties(operator)
    stored = history.get("/v1/advice/" + made["spark.provisor.adviceId"]).json()
    assert made == {"spark.app.secret": "s", "spark.provisor.adviceId": stored["id"], **stored["spark"]["properties"]}
    assert "outside TaskInstance" not in caplog.text


def test_what_the_author_sets_stays_and_the_advice_goes_with_it(history):
    operator = submit_of({"spark.executor.cores": "2", "spark.executor.memory": "3g", "spark.dynamicAllocation.enabled": False}, executor_memory="5g")
    run(operator)
    made = properties(operator)
    assert (made["spark.executor.cores"], made["spark.executor.memory"]) == ("2", "3g")
    stored = history.get("/v1/advice/" + made["spark.provisor.adviceId"]).json()
    assert stored["recommendation"]["cores_per_executor"] == 2
    assert int(made["spark.executor.instances"]) == stored["recommendation"]["executors"]


def test_arguments_of_the_operator_are_the_author_s_too():
    operator = submit_of(num_executors=30, executor_cores=2)
    run(operator)
    made = properties(operator)
    assert not {"spark.executor.instances", "spark.executor.cores"} & set(made) and made["spark.provisor.adviceId"]
    assert operator.command[operator.command.index("--num-executors") + 1] == "30"


@pytest.mark.parametrize("question", [MISSED, UNKNOWN])
def test_a_job_that_is_not_advised_runs_as_it_is(question):
    operator = submit_of({"spark.executor.instances": "3"}, question)
    run(operator)
    assert properties(operator) == {"spark.executor.instances": "3"}


def test_a_job_does_not_wait_for_its_adviser(no_waiting, caplog):
    connect("http://127.0.0.1:%d" % free_port(), TOKEN)
    operator = submit_of()
    run(operator)
    assert properties(operator) == {} and "the service cannot be reached" in caplog.text
    operator = submit_of(provisor_on_unavailable="fail")
    with pytest.raises(AirflowFailException):
        run(operator)
    assert not hasattr(operator, "command")
    with pytest.raises(AirflowSkipException):
        run(submit_of(provisor_on_unavailable="skip"))


def test_a_gate_may_stand_before_the_job():
    operator = submit_of(question=MISSED, provisor_on_missed="fail")
    with pytest.raises(AirflowFailException, match="verdict missed"):
        run(operator)
    assert not hasattr(operator, "command")


@pytest.mark.parametrize("name", ["missed", "at_risk", "unknown", "unavailable", "token_refused"])
def test_an_action_that_there_is_not_is_refused_by_its_name(name):
    with pytest.raises(ValueError, match="^provisor_on_%s must be one of fail, skip, warn, not 'explode'$" % name):
        submit_of(**{"provisor_on_" + name: "explode"})


def test_only_what_bears_on_executors_is_sent(no_waiting):
    with stub((201, JSON, json.dumps(REPLY))) as server:
        connect(server.url, TOKEN)
        run(submit_of({"spark.executor.cores": 4, "spark.hadoop.fs.s3a.secret.key": "hush", "spark.executor.extraJavaOptions": "-Dpassword=hush",
                       "spark.executorEnv.PASSWORD": "hush", "spark.speculation": True}))
    body = json.loads(server.requests[0][3])
    assert body["constraints"]["enforced"] == {"spark.executor.cores": "4", "spark.speculation": "true"}
    assert b"hush" not in server.requests[0][3]


def test_earlier_releases_of_the_operator_keep_conf_elsewhere():
    class Earlier(ProvisorSparkSubmitOperator):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self._conf = self.__dict__.pop("conf")

        template_fields = ("_conf",)
    operator = Earlier(task_id="job", conf={"spark.a": "1"}, provisor_application="nightly-etl", provisor_problem_size=64, provisor_deadline_s=90)
    operator.provisor_configure(operator.provisor_advise(context_of()))
    assert operator._conf["spark.a"] == "1" and operator._conf["spark.provisor.adviceId"]


@pytest.mark.parametrize("apply, sent", [(["speculation"], ["speculation"]), ("speculation, memory,speculation", ["speculation", "memory"]),
                                         ("", None), ("None", None), ([], None), (None, None)])
def test_kinds_of_proposals_are_a_list_or_a_text(apply, sent):
    assert advice.request_of(application="x", apply=apply).get("apply") == sent


def test_speculation_is_set_only_if_it_is_applied(history):
    usual = run(operator_of(MET))["conf"]
    applied = run(operator_of(MET, apply="{{ params.kinds }}"), context_of(params={"kinds": "speculation,memory"}))["conf"]
    assert "spark.speculation" not in usual and applied["spark.speculation"] == "true"
    task = submit_of(provisor_apply=["speculation"])
    run(task)
    assert task.conf["spark.speculation"] == "true"
    with pytest.raises(AirflowFailException, match="must be one of: memory, speculation, partitions"):
        run(operator_of(MET, apply="copies"))


def test_properties_that_are_none_are_left_out():
    reply = {**REPLY, "spark": {"properties": {"spark.a": "1", "rm -rf": "1", "spark.b": "1\n--conf", "spark.c": None}}}
    assert advice.read_advice(reply).conf == {"spark.a": "1", "spark.provisor.adviceId": REPLY["id"]}


def test_instances_that_the_advice_removes_are_the_initial_executors():
    """Another place may set them, and spark-submit cannot unset them: more than the most would end Spark at its start."""
    properties = {"spark.dynamicAllocation.initialExecutors": "2", "spark.dynamicAllocation.maxExecutors": "2"}
    change = {"key": "spark.executor.instances", "old": "10", "new": None}
    conf = advice.read_advice({**REPLY, "spark": {"properties": properties, "changes": [change]}}, stored=False).conf
    assert conf == {**properties, "spark.executor.instances": "2"}
    assert advice.read_advice({**REPLY, "spark": {"properties": properties, "changes": [{**change, "new": "4"}]}}, stored=False).conf == properties


@pytest.mark.parametrize("own, sent", [
    ({"spark.executor.instances": 10, "spark.dynamicAllocation.enabled": True}, {"spark.dynamicAllocation.initialExecutors": "10"}),
    ({"spark.executor.instances": 10, "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.initialExecutors": 12},
     {"spark.dynamicAllocation.initialExecutors": "12"}),
    ({"spark.executor.instances": 10, "spark.dynamicAllocation.enabled": False}, {"spark.executor.instances": "10"}),
    ({"spark.executor.instances": 10}, {"spark.executor.instances": "10"})])
def test_instances_under_dynamic_allocation_are_initial_executors(own, sent):
    enforced = advice.with_enforced({}, own)["constraints"]["enforced"]
    assert {key: value for key, value in enforced.items() if key != "spark.dynamicAllocation.enabled"} == sent


# --- operations ------------------------------------------------------------------------------------------------


@pytest.fixture
def operation(history):
    """The id of one that has been asked for."""
    return history.post("/v1/applications/nightly-etl/refit", {}, status=202).json()["id"]


def test_an_operation_is_started(history):
    hook = ProvisorHook()
    started, again, other = (hook.start_operation("/v1/applications/nightly-etl/refit", {}, key=key) for key in ("one", "one", "two"))
    assert started == again != other
    assert history.get("/v1/operations/" + started).json()["kind"] == "refit"
    with pytest.raises(http_client.ProvisorRefused, match="/v1/advice starts no operation: it answers 201"):
        hook.start_operation("/v1/advice", {"application": "nightly-etl"})


@pytest.mark.parametrize("deferrable", [False, True])
def test_an_operation_is_waited_for(operation, deferrable):
    sensor = ProvisorOperationSensor(task_id="wait", operation_id="{{ params.id }}", deferrable=deferrable, poke_interval=0.2, timeout=60)
    value = run_deferred(sensor, context_of(params={"id": operation}))
    assert (value["operation_id"], value["status"], value["kind"]) == (operation, "succeeded", "refit") and value["finished_at"]
    assert len(json.dumps(value)) < 500


def test_the_sensor_pokes_by_itself():
    with stub((200, JSON, json.dumps(OPERATION)), problem(503, "busy"), (200, JSON, json.dumps({**OPERATION, "status": "succeeded"}))) as server:
        connect(server.url, TOKEN)
        assert run(ProvisorOperationSensor(task_id="wait", operation_id=OPERATION["id"], poke_interval=0.01))["status"] == "succeeded"
        assert all("fields=" in path and path.startswith("/v1/operations/" + OPERATION["id"]) for _, path, _, _ in server.requests)


def test_a_sensor_that_waits_too_long():
    with stub((200, JSON, json.dumps(OPERATION))) as server:
        connect(server.url, TOKEN)
        with pytest.raises(AirflowSensorTimeout):
            run(ProvisorOperationSensor(task_id="wait", operation_id=OPERATION["id"], poke_interval=0.01, timeout=0.05))
        with pytest.raises(AirflowSensorTimeout, match="timeout: the operation has not ended in time"):
            run_deferred(ProvisorOperationSensor(task_id="wait", operation_id=OPERATION["id"], poke_interval=1, timeout=0.05, deferrable=True))
        with pytest.raises(AirflowSkipException):
            run_deferred(ProvisorOperationSensor(task_id="wait", operation_id=OPERATION["id"], poke_interval=1, timeout=0.05, deferrable=True, soft_fail=True))


@pytest.mark.parametrize("deferrable", [False, True])
@pytest.mark.parametrize("soft_fail", [False, True])
@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_operations_that_do_not_succeed(status, soft_fail, deferrable):
    ended = {**OPERATION, "status": status, "error": {"title": "x", "detail": "no memory"} if status == "failed" else None}
    answers = [(200, {**JSON, "Retry-After": "0"}, json.dumps(OPERATION))] * 2 if deferrable else []
    with stub(*answers, (200, JSON, json.dumps(ended))) as server:
        connect(server.url, TOKEN)
        sensor = ProvisorOperationSensor(task_id="wait", operation_id=OPERATION["id"], poke_interval=0.01, soft_fail=soft_fail, deferrable=deferrable)
        with pytest.raises(AirflowSkipException if soft_fail else AirflowFailException, match=status + (": no memory" if status == "failed" else "")):
            run_deferred(sensor)


def test_an_operation_that_is_none(history):
    gone = "019aa3c1-75b2-7c5e-a2b1-6f6f0b0d2fff"
    with pytest.raises(AirflowFailException, match="answers 404"):
        run(ProvisorOperationSensor(task_id="wait", operation_id=gone))
    event = fire(ProvisorOperationTrigger(gone))
    assert event["status"] == "error" and "answers 404" in event["message"]


def test_the_trigger_comes_back_when_the_service_says(monkeypatch):
    waits = []

    async def sleep(seconds):
        waits.append(seconds)
    monkeypatch.setattr("provisor_airflow.triggers.asyncio.sleep", sleep)
    running = json.dumps(OPERATION)
    with stub((200, {**JSON, "Retry-After": "7"}, running), (200, JSON, running), problem(503, "busy", **{"Retry-After": "11"}), problem(503, "busy"), cut,
              (200, {**JSON, "Retry-After": "999999"}, running), (200, JSON, json.dumps({**OPERATION, "status": "succeeded"}))) as server:
        connect(server.url, TOKEN)
        assert fire(ProvisorOperationTrigger(OPERATION["id"], poll_interval_s=3))["status"] == "succeeded"
    assert waits == [7, 3, 11, 3, 3, 300]


def test_the_trigger_is_stored_without_the_token(service):
    trigger = ProvisorOperationTrigger("x", provisor_conn_id="other", poll_interval_s=2.5, end_time=1.5)
    path, arguments = trigger.serialize()
    assert path == "provisor_airflow.triggers.ProvisorOperationTrigger" and arguments["end_time"] == 1.5
    assert service.alpha_token not in json.dumps(arguments)
    assert vars(rebuilt(trigger))["poll_interval_s"] == 2.5


def test_the_triggerer_goes_on_while_a_service_hangs():
    """Other triggers share its loop: none waits as long as the service hangs."""
    async def both(trigger):
        task = asyncio.ensure_future(trigger.run().__anext__())
        ticks, longest, before = 0, 0, time.monotonic()
        for _ in range(20):
            await asyncio.sleep(0.02)
            ticks += 1
            now = time.monotonic()
            longest, before = max(longest, now - before), now
        task.cancel()
        assert longest < 2, "the loop stood still"
        return ticks
    with socket.create_server(("127.0.0.1", 0)) as listener:
        connect("http://127.0.0.1:%d" % listener.getsockname()[1], TOKEN, timeout_s=4)
        began = time.monotonic()
        assert asyncio.run(both(ProvisorOperationTrigger("x"))) == 20
        assert time.monotonic() - began < 30


def test_a_connection_that_is_missing_is_an_event_not_a_silent_end():
    event = fire(ProvisorOperationTrigger("x", provisor_conn_id="nowhere"))
    assert event["status"] == "error" and "nowhere" in event["message"]


# --- the contract ----------------------------------------------------------------------------------------------


class Reads(dict):
    """Notes which members are read of it, by their paths."""

    def __init__(self, paths, path=(), values=()):
        super().__init__(values)
        self.paths, self.path = paths, path

    def __getitem__(self, name):
        return self.get(name)

    def get(self, name, default=None):
        self.paths.add(self.path + (name,))
        value = super().get(name, default)
        return Reads(self.paths, self.path + (name,), value) if isinstance(value, dict) and name != "properties" else value


def test_the_contract_has_what_is_read(contract_schemas):
    """Every member of advice and operations that the package looks at."""
    reply = {**REPLY, "last_run": {"cost_change_percent": 1.0}}
    advised, ended = set(), set()
    advice.read_advice(Reads(advised, values=reply))
    headline(Reads(ended, values={**OPERATION, "status": "failed", "error": {"title": "x", "detail": None}}))
    assert {("verdict",), ("recommendation", "deadline_probability"), ("last_run", "cost_change_percent"), ("spark", "properties")} <= advised
    assert {("status",), ("error", "detail")} <= ended
    for name, paths in (("Advice", advised), ("Operation", ended)):
        for path in paths:
            assert member(contract_schemas[name], path, contract_schemas, required=False) is not None, "%s has no %s" % (name, ".".join(path))
    assert set(ENDED) <= set(member(contract_schemas["Operation"], ("status",), contract_schemas)["enum"])
    verdicts = set(member(contract_schemas["Advice"], ("verdict",), contract_schemas)["enum"])
    assert verdicts - {"met"} == set(submit_of().provisor_actions) - {"unavailable", "token_refused"}


# --- the package -----------------------------------------------------------------------------------------------


def test_the_package_works_with_airflow_3():
    with airflow_world.as_airflow_3() as load:
        operators, sensors = load("provisor_airflow.operators"), load("provisor_airflow.sensors")
        assert operators.ProvisorAdviceOperator is not ProvisorAdviceOperator
        assert run(operator_of(MET, operators.ProvisorAdviceOperator))["verdict"] == "met"
        with pytest.raises(TaskDeferred):
            with stub((200, JSON, json.dumps(OPERATION))) as server:
                connect(server.url, TOKEN)
                run(sensors.ProvisorOperationSensor(task_id="wait", operation_id="x", deferrable=True))


def test_provider_info():
    info = provisor_airflow.get_provider_info()
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())
    assert project["project"]["name"] == info["package-name"]
    assert project["project"]["entry-points"]["apache_airflow_provider"] == {"provider_info": "provisor_airflow:get_provider_info"}
    assert project["tool"]["setuptools"]["packages"] == ["provisor_airflow"], "all there is"
    assert [path for path in (PACKAGE / "provisor_airflow").iterdir() if path.is_dir() and path.name != "__pycache__"] == []
    (kind,) = info["connection-types"]
    assert (kind["connection-type"], kind["hook-class-name"]) == (ProvisorHook.conn_type, "%s.%s" % (ProvisorHook.__module__, ProvisorHook.__name__))


def test_the_version_is_that_of_the_program():
    version = re.search(r"version: '([\d.]+)'", (PACKAGE.parents[1] / "meson.build").read_text())[1]
    assert provisor_airflow.get_provider_info()["versions"] == [version]


def test_the_sources_need_python_3_9_only():
    for path in (PACKAGE / "provisor_airflow").glob("*.py"):
        tree = ast.parse(path.read_text(), feature_version=(3, 9))
        assert any(isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in tree.body), "annotations are not evaluated: %s" % path


def test_examples_of_the_readme_are_dags_that_can_be_made(monkeypatch):
    """Each is executed; its tasks' templates name parameters that the DAG has."""
    made = []

    class Dag:
        def __init__(self, dag_id, *, schedule, start_date, params):
            self.params, self.first = params, len(made)

        def __enter__(self):
            return self

        def __exit__(self, *words):
            for task in made[self.first:]:
                task.render_template_fields(context_of(params=self.params))
    init = BaseOperator.__init__
    monkeypatch.setattr(BaseOperator, "__init__", lambda self, **kwargs: (made.append(self), init(self, **kwargs))[1])
    monkeypatch.setattr(sys.modules["airflow"], "DAG", Dag, raising=False)
    monkeypatch.setattr(BaseOperator, "__rshift__", lambda self, other: other, raising=False)
    # A decorated function runs at once: what it returns is what a later task would get.
    monkeypatch.setitem(sys.modules, "airflow.decorators", types.SimpleNamespace(task=lambda function: function))
    blocks = [block for name in (PACKAGE / "README.md", PACKAGE.parents[1] / "docs" / "orchestrators.md")
              for block in re.findall(r"^```python\n(.*?)^```$", pathlib.Path(name).read_text(), re.M | re.S)]
    assert len(blocks) >= 5
    for block in blocks:
        exec(compile(block, "README", "exec"), {"__name__": "readme"})
    assert len(made) >= len(blocks)
    (sensor,) = [task for task in made if isinstance(task, ProvisorOperationSensor)]
    sensor.poke_interval = 0.2
    value = run_deferred(sensor)
    assert (value["kind"], value["application"], value["status"]) == ("refit", "nightly-etl", "succeeded"), "the one that the task before it started"


def readme_of_the_package():
    return (PACKAGE / "README.md").read_text()


def test_connections_of_the_readme(service):
    """In an environment variable, as JSON, and as arguments of the command line."""
    readme = readme_of_the_package()
    (text,) = re.findall(r"AIRFLOW_CONN_PROVISOR_DEFAULT='(\{.*?\})'", readme)
    fields = json.loads(text)
    assert fields.pop("conn_type") == ProvisorHook.conn_type and fields["password"]
    (command,) = re.findall(r"^airflow connections add (\S+) (.*?)$", readme.replace("\\\n", ""), re.M)
    assert command[0] == ProvisorHook.default_conn_name
    given = dict(re.findall(r"--conn-([a-z]+) (\S+)", command[1]))
    assert given.pop("type") == ProvisorHook.conn_type and given == {**fields, "password": '"$PROVISOR_TOKEN"'}
    assert address_of(Connection("provisor_default", **fields)) == "https://provisor.example"


def test_a_wheel_can_be_built(tmp_path):
    """As the README says, but with the setuptools of this machine: nothing is fetched."""
    pytest.importorskip("setuptools", "61")
    pytest.importorskip("wheel")
    pytest.importorskip("pip")
    assert "pip wheel --no-deps" in readme_of_the_package()
    shutil.copytree(PACKAGE, tmp_path / "airflow", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "-w", tmp_path / "dist", tmp_path / "airflow"], check=True)
    (wheel,) = (tmp_path / "dist").iterdir()
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"provisor_airflow/" + path.name for path in (PACKAGE / "provisor_airflow").iterdir() if path.is_file()} <= names

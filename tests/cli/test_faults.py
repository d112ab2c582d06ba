"""Bad weather between the client and the service: each says what, where and what to do next, with its exit status."""
import json
import os
import re
import socket
import subprocess
import time

import pytest

from conftest import PROVISOR
from stub import JSON, cut, page, problem, stub

LIST = (200, JSON, '{"items": [], "next_cursor": null}')
QUICK = ("--retries", "0")


def test_no_service(make_cli):
    result = make_cli("http://127.0.0.1:9")("apps", *QUICK, status=1)
    assert "no reply from http://127.0.0.1:9 (PROVISOR_URL)" in result.err and "--url" in result.err and result.out == ""


def test_a_name_that_does_not_exist(make_cli):
    result = make_cli("http://provisor.invalid")("apps", *QUICK, status=1)
    assert "provisor.invalid" in result.err and "name of the host" in result.err


def test_a_proxy_that_answers_html(make_cli):
    for answer in (page(), page(403), page(502)):
        with stub(answer) as server:
            result = make_cli(server.url, "prv_x")("apps", *QUICK, status=1)
            assert "text/html" in result.err and server.url in result.err and "proxy" in result.err
            assert "<html>" not in result.err + result.out


def test_a_reply_that_is_cut(make_cli):
    with stub(cut) as server:
        result = make_cli(server.url)("apps", "--retries", 1, status=1)
        assert "no reply from" in result.err and len(server.requests) == 2


def test_json_that_is_none(make_cli):
    with stub((200, JSON, '{"items": [')) as server:
        assert "not provisor's" in make_cli(server.url)("apps", *QUICK, status=1).err


def test_a_redirect_is_not_followed(make_cli):
    with stub((302, {"Location": "http://127.0.0.1:9/login"}, "")) as server:
        result = make_cli(server.url, "prv_x")("apps", *QUICK, status=1)
        assert "redirects to http://127.0.0.1:9/login" in result.err
        assert len(server.requests) == 1


def test_retry_after_is_honoured(make_cli):
    with stub(problem(503, "busy", **{"Retry-After": "1"}), problem(429, "busy"), LIST) as server:
        began = time.monotonic()
        make_cli(server.url)("apps")
        assert 1.0 <= time.monotonic() - began < 10
        assert len(server.requests) == 3


def test_a_wait_that_is_too_long_is_not_waited_for(make_cli):
    with stub(problem(503, "down for maintenance", **{"Retry-After": "3600"})) as server:
        result = make_cli(server.url)("apps", status=1)
        assert "down for maintenance" in result.err and len(server.requests) == 1


def test_retries_end(make_cli):
    with stub(problem(503, "busy")) as server:
        make_cli(server.url)("apps", "--retries", 2, status=1)
        assert len(server.requests) == 3


def test_advice_is_asked_for_with_one_key(make_cli):
    """A repetition cannot make a second advice of it."""
    with stub(problem(503, "busy"), (200, JSON, '{"id": "x", "verdict": "unknown"}')) as server:
        make_cli(server.url)("advise", "x")
        keys = [headers["Idempotency-Key"] for _, _, headers, _ in server.requests]
        assert len(keys) == 2 and keys[0] == keys[1] and keys[0].startswith('"')


def test_what_may_not_be_repeated_is_not(make_cli):
    with stub(problem(422, "no")) as server:
        make_cli(server.url)("advise", "x", status=2)
        assert len(server.requests) == 1


def test_a_hanging_service_is_given_up(make_cli):
    def hang(handler):
        time.sleep(5)
        handler.close_connection = True
    with stub(hang) as server:
        began = time.monotonic()
        result = make_cli(server.url)("apps", "--timeout", "1s", *QUICK, status=1)
        assert time.monotonic() - began < 4 and "--timeout" in result.err


def certificate(folder, name="127.0.0.1"):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=provisor", "-addext",
                    "subjectAltName=IP:" + name, "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder / "cert.pem", folder / "key.pem"


@pytest.fixture
def tls(tmp_path):
    import ssl
    certificate_file, key = certificate(tmp_path)
    with stub(LIST) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate_file, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        yield server.url.replace("http:", "https:"), certificate_file


def test_tls_is_verified(make_cli, tls):
    url, certificate_file = tls
    result = make_cli(url)("apps", *QUICK, status=1)
    assert "certificate" in result.err and "--ca-file" in result.err
    make_cli(url)("apps", "--ca-file", certificate_file)
    make_cli(url, PROVISOR_CA_FILE=certificate_file)("apps")


def test_a_certificate_that_is_not_trusted_lets_no_job_go_on(make_cli, tls):
    """Fail-open is for a service that is away, not for one that pretends to be another."""
    assert make_cli(tls[0])("gate", "x", "-d", "90s", *QUICK, status=1).out == ""


def test_plain_http_where_tls_is_spoken(make_cli, tls):
    make_cli(tls[0].replace("https:", "http:"))("apps", *QUICK, status=1)


# --- output ---


def test_a_full_disk_is_reported(cli, history):
    with open("/dev/full", "w") as full:
        result = subprocess.run([PROVISOR, "apps"], env=cli.env, stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1 and "No space left" in result.stderr


def test_a_file_that_cannot_be_written_is_named(cli, history, tmp_path):
    result = cli("advise", "nightly-etl", "-n", "-o", "table", "-o", "json=%s/missing/x.json" % tmp_path, status=1)
    assert "missing/x.json" in result.err and "verdict" not in result.err
    assert "nightly-etl" in result.out  # the other form is there
    result = cli("advise", "nightly-etl", "-n", "-o", "json=/dev/full", status=1)
    assert "/dev/full cannot be written: No space left" in result.err


def test_a_file_is_complete_or_not_there(cli, history, tmp_path):
    target = tmp_path / "advice.json"
    target.write_text("old")
    cli("advise", "nightly-etl", "-n", "-o", "json=%s" % target)
    assert target.read_text().startswith("{") and os.listdir(tmp_path) == ["advice.json"]


def test_a_reader_who_had_enough(cli, history):
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run([PROVISOR, "apps", "-o", "json"], env=cli.env, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert result.returncode == 0 and result.stderr == ""


def test_a_token_is_in_no_words(make_cli):
    with stub(problem(401, "the token is not valid")) as server:
        result = make_cli(server.url, "prv_very_secret_x")("apps", status=1)
        assert "very_secret" not in result.err + result.out
        assert server.requests[0][2]["Authorization"] == "Bearer prv_very_secret_x"


@pytest.mark.parametrize("words, said", [
    (("gaet",), "did you mean `provisor gate`?"), (("gate", "--dedline", "5s"), "did you mean --deadline?"),
    (("gate", "x", "--deadline", "soon"), "--deadline: 'soon' is not a time"), (("advise", "x", "-o", "jsn"), "did you mean json?"),
    (("advise", "x", "-o", "json", "-o", "yaml"), "only one form"), (("advise",), "the application is missing"),
    (("advise", "x", "--enforce", "spark"), "is not KEY=VALUE"), (("advise", "x", "--request", "nowhere.json"), "nowhere.json cannot be read"),
    (("feasible", "nosuch"), "nosuch cannot be read: No such file"), (("batch", "/"), "/ cannot be read: Is a directory"),
    (("runs", "import", "x", "nosuch"), "nosuch cannot be read"), (("apps", "--token-file", "nosuch"), "the token cannot be read from nosuch"),
    (("runs", "correct", "1", "--size", "2", "GiB"), "write --size 2GiB"), (("advise", "x", "--confidence", "95", "%"), "write --confidence 95%"),
    (("runs", "correct", "1", "--size", "2", "--measure-size"), "--size and --measure-size exclude each other"),
    (("runs", "correct", "1", "--no-labels", "--label", "a:b"), "--label and --no-labels exclude each other"),
    (("runs", "correct", "1", "--executors", "99999999999"), "is not a whole number from 1 to 1000000000"),
    (("submit", "x"), "the command is missing"), (("submit", "x", "--", "echo", "1"), "no word of the command is spark-submit")])
def test_a_wrong_command_line(make_cli, words, said):
    result = make_cli("http://127.0.0.1:9")(*words, status=2)
    assert said in result.err and result.out == ""


def test_a_run_of_another_application_says_which(cli, history):
    (run,) = json.loads(cli("runs", "--limit", "1", "-o", "json").out)
    for words in (("show",), ("delete", "--yes"), ("correct", "--size", "3")):
        err = cli("runs", words[0], "elsewhere", run["id"], *words[1:], status=1).err
        assert 'is one of the application "%s", not of "elsewhere"' % run["application"] in err
    assert "there is no run" in cli("runs", "show", run["application"], "01a210ce-8c30-7732-99ba-b11b0a9d16ee", status=1).err
    err = cli("runs", "correct", run["id"], "--cores", "100000000", status=2).err
    assert "--cores 100000000 must be at most" in err and json.loads(cli("runs", "--limit", "1", "-o", "json").out) == [run]


def test_a_free_port_that_closes_at_once(make_cli):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        result = make_cli("http://127.0.0.1:%d" % listener.getsockname()[1])("apps", "--timeout", "1s", *QUICK, status=1)
    assert "no reply" in result.err


# --- a service that is not one ---

ESCAPES = "\x1b]0;title\x07\x1b[31m\x7f\u009b2J"


def advice(**members):
    return (200, JSON, json.dumps({"id": ESCAPES, "application": ESCAPES, "verdict": ESCAPES, "model": {"kind": ESCAPES, "observations": 1, "loo_mape_percent": 1},
                                   "recommendation": {"executors": 1, "cores_per_executor": 1, "predicted_duration_s": 1}, "reasons": [{"message": ESCAPES}],
                                   "spark": {"properties": {}, "changes": [{"key": ESCAPES, "old": ESCAPES, "new": None, "reason": ESCAPES}]}, **members}))


@pytest.mark.parametrize("words, answer, status", [
    (("apps",), problem(404, ESCAPES), 1), (("advise", "x", "--why"), advice(), 0), (("gate", "x", "-d", "90s"), advice(), 5),
    (("gate", "x", "-d", "90s"), problem(503, ESCAPES), 0), (("apps", "--names"), (200, JSON, json.dumps({"items": [{"name": ESCAPES}]})), 0),
    (("runs", "x", "--ids"), (200, JSON, json.dumps({"items": [{"id": ESCAPES}]})), 0),
    (("tokens", "-o", "csv"), (200, JSON, json.dumps({"items": [{"name": ESCAPES + ',"'}]})), 0)])
def test_a_terminal_obeys_nothing_from_elsewhere(make_cli, words, answer, status):
    with stub(answer) as server:
        result = make_cli(server.url, "prv_x")(*words, *QUICK, status=status)
        assert result.out + result.err and not re.search(r"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f\u0080-\u009f]", result.out + result.err), result


@pytest.mark.parametrize("page_of", [{"items": [], "next_cursor": "a"}, {"items": [{"name": "x"}], "next_cursor": "same"}])
def test_pages_without_an_end(make_cli, page_of):
    with stub((200, JSON, json.dumps(page_of))) as server:
        result = make_cli(server.url)("apps", "--limit", "100000", *QUICK, status=1)
        assert "do not end" in result.err and len(server.requests) <= 2


@pytest.mark.parametrize("command, member, other", [("feasible", "items", "batch"), ("batch", "jobs", "feasible")])
def test_a_file_of_another_command_is_recognized(cli, command, member, other):
    (cli.home / "night.yaml").write_text("cluster: {executors: 2, cores_per_executor: 2}\n%s: []\n" % member)
    assert "`provisor %s` reads files with %s" % (other, member) in cli(command, "night.yaml", status=2).err
    (cli.home / "night.yaml").write_text("cluster: {executors: 2, cores_per_executor: 2}\nnonsense: []\n")
    assert "reads files with" not in cli(command, "night.yaml", status=2).err

"""The proxy of the pod, with its real configuration and program, in front of the real service: TLS, and the token for reviews alone."""
import base64
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import time

import pytest
import requests

import chart
from admission_reviews import review, teach
from patience import PATIENCE, wait_until
from ports import free_port

HAPROXY = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin")
pytestmark = pytest.mark.skipif(HAPROXY is None, reason="no haproxy")
ADMISSION = "/v1/kubernetes/admission"


def make_certificate(folder, name):
    """tls.crt and tls.key, put in place as Kubernetes does with those of a Secret."""
    fresh = folder / ("fresh-" + name)
    fresh.mkdir()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=" + name,
                    "-addext", "subjectAltName=DNS:provisor.provisor.svc,IP:127.0.0.1", "-keyout", fresh / "tls.key", "-out", fresh / "tls.crt"],
                   check=True, stderr=subprocess.DEVNULL)
    link = folder / "link"
    link.unlink(missing_ok=True)
    link.symlink_to(fresh)
    os.replace(link, folder / "tls")
    return fresh / "tls.crt"


class Sidecar:
    """run-proxy as the container starts it."""

    def __init__(self, service, folder, token=None, **environment):
        self.folder, self.port, self.probe_port = folder, free_port(), free_port()
        self.certificate = make_certificate(folder, "first")
        (folder / "run").mkdir()
        self.token_file = folder / "token"
        if token:
            self.token_file.write_text(token + "\n")
        self.log = folder / "haproxy.log"
        files = chart.CHART / "files"
        env = dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin", PROXY_ADDRESS="127.0.0.1:%d" % self.port, PROXY_PROBE_ADDRESS="127.0.0.1:%d" % self.probe_port,
                   PROVISOR_ADDRESS="127.0.0.1:%d" % service.port, PROVISOR_HEALTH_PORT=str(service.environment["PROVISOR_HEALTH_PORT"]),
                   PROXY_CERTIFICATE=str(folder / "tls" / "tls.crt"), ADMISSION_TOKEN_FILE=str(self.token_file),
                   ADMISSION_TOKEN_MAP=str(folder / "run" / "token.map"), PROXY_WATCH_S="0.2", **environment)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["/bin/sh", str(files / "run-proxy"), str(files / "haproxy.cfg")], env=env, stdout=log, stderr=log)
        wait_until(lambda: self.request("GET", "/").status_code == 200, "the proxy does not pass on: " + self.log.read_text()[-2000:])

    def request(self, method, path, trust=None, **kwargs):
        assert self.process.poll() is None, self.log.read_text()
        try:
            with requests.Session() as session:
                session.trust_env = False
                return session.request(method, "https://127.0.0.1:%d%s" % (self.port, path), verify=str(trust or self.certificate), timeout=30, **kwargs)
        except requests.ConnectionError:
            reply = requests.Response()
            reply.status_code = 0
            return reply

    def ask(self, path, body, **kwargs):
        reply = self.request("POST", path, json=body, **kwargs)
        assert reply.status_code == 200, reply.text
        assert reply.json()["response"]["uid"] == body["request"]["uid"]
        return reply.json()["response"]

    def ready(self):
        return requests.get("http://127.0.0.1:%d/readyz" % self.probe_port, timeout=10).status_code

    def subject(self):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(socket.create_connection(("127.0.0.1", self.port), timeout=10), server_hostname="provisor.provisor.svc") as s:
            return s.getpeercert(binary_form=True)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


@pytest.fixture(scope="module")
def behind(make_service):
    service = make_service(PROVISOR_HEALTH_PORT=free_port())
    service.start()
    service.admission_token = service.token("spark", "write", "admission")
    teach(service.client(service.token("spark")), "nightly-etl")
    return service


@pytest.fixture(scope="module")
def sidecar(behind, tmp_path_factory):
    made = Sidecar(behind, tmp_path_factory.mktemp("proxy"), behind.admission_token)
    yield made
    made.close()


def test_haproxy_takes_the_configuration(sidecar, tmp_path):
    env = dict(os.environ, PROXY_CERTIFICATE=str(sidecar.folder / "tls" / "tls.crt"), ADMISSION_TOKEN_MAP=str(sidecar.folder / "run" / "token.map"))
    result = subprocess.run([HAPROXY, "-c", "-f", str(chart.CHART / "files" / "haproxy.cfg")], env=env, text=True, capture_output=True)
    assert result.returncode == 0 and "WARNING" not in result.stderr, result.stderr


def test_the_program_is_plain_shell():
    result = subprocess.run(["shellcheck", str(chart.CHART / "files" / "run-proxy")], text=True, capture_output=True)
    assert result.returncode == 0, result.stdout


def test_a_review_without_a_token_is_answered(sidecar):
    response = sidecar.ask(ADMISSION, review("create"))
    patch = json.loads(base64.b64decode(response["patch"]))
    assert response["allowed"] and {o["path"] for o in patch} >= {"/spec/executor/instances", "/spec/sparkConf/spark.provisor.adviceId"}


def test_the_paths_of_webhooks_stand_for_actions(sidecar):
    few = review("create")
    few["request"]["object"]["spec"]["executor"]["instances"] = 1
    # The API server adds how long it waits.
    assert "patch" in sidecar.ask(ADMISSION + "/mutate?timeout=2s", few)
    denied = sidecar.ask(ADMISSION + "/validate?timeout=2s", few)
    assert not denied["allowed"] and denied["status"]["code"] == 403 and "patch" not in denied


def test_it_speaks_http_2_as_the_api_server_does(sidecar):
    result = subprocess.run(["curl", "-sS", "--http2", "--noproxy", "*", "--cacert", str(sidecar.certificate), "-H", "Content-Type: application/json", "-d", "@-",
                             "-w", "\n%{http_version} %{http_code}", "https://127.0.0.1:%d%s/validate?timeout=2s" % (sidecar.port, ADMISSION)],
                            input=json.dumps(review("create")), text=True, capture_output=True, timeout=60)
    body, protocol = result.stdout.rsplit("\n", 1)
    assert protocol == "2 200" and "allowed" in json.loads(body)["response"], result


@pytest.mark.parametrize("method,path", [("GET", "/v1/applications"), ("GET", "/v1/advice"), ("POST", "/v1/advice"), ("GET", ADMISSION), ("POST", ADMISSION + "/"),
                                         ("POST", ADMISSION + "/other"), ("POST", "//v1/kubernetes/admission"), ("POST", "/v1/./kubernetes/admission"), ("DELETE", "/v1/applications/nightly-etl"),
                                         ("POST", "/v1/kubernetes/%61dmission"), ("POST", "/v1/tokens?x=/v1/kubernetes/admission"), ("PUT", ADMISSION + "/mutate")])
def test_no_other_call_gets_the_token(sidecar, method, path):
    """A path is sent as it stands, without being made shorter."""
    request = requests.Request(method, "https://127.0.0.1:%d/" % sidecar.port, json=review("create")).prepare()
    request.url = "https://127.0.0.1:%d%s" % (sidecar.port, path)
    with requests.Session() as session:
        session.trust_env = False
        reply = session.send(request, verify=str(sidecar.certificate), timeout=30)
    assert reply.status_code in (401, 404, 405) and "prv_" not in reply.text
    assert reply.status_code == 401 or path in (ADMISSION, ADMISSION + "/", ADMISSION + "/other", ADMISSION + "/mutate", "//v1/kubernetes/admission", "/v1/./kubernetes/admission")


def test_a_token_of_ones_own_is_left_alone(sidecar, behind):
    assert sidecar.request("POST", ADMISSION, json=review("create"), headers={"Authorization": "Bearer nonsense"}).status_code == 401
    other = behind.token("strangers", "write")
    response = sidecar.ask(ADMISSION, review("create"), headers={"Authorization": "Bearer " + other})
    assert response["allowed"] and "patch" not in response, "that team knows no such application"
    assert sidecar.request("GET", "/v1/applications", headers={"Authorization": "Bearer " + behind.token("spark", "read")}).status_code == 200


def test_health_is_for_the_second_listener_and_the_probe(sidecar):
    for path in ("/healthz", "/readyz", "/metrics"):
        assert sidecar.request("GET", path).status_code == 404
    assert requests.get("http://127.0.0.1:%d/healthz" % sidecar.probe_port, timeout=10).status_code == 200
    assert requests.get("http://127.0.0.1:%d/v1/applications" % sidecar.probe_port, timeout=10).status_code == 404


def test_the_token_is_in_no_log(sidecar, behind):
    sidecar.ask(ADMISSION, review("create"))
    assert behind.admission_token not in sidecar.log.read_text() and behind.admission_token not in behind.log.read_text()


def test_verdicts_follow_the_environment(behind, tmp_path):
    strict = Sidecar(behind, tmp_path, behind.admission_token, VALIDATION_QUERY="on_missed=warn&on_unknown=deny", ADMISSION_QUERY="on_failure=closed")
    try:
        body = review("create")
        body["request"]["object"]["spec"]["executor"]["instances"] = 1
        assert strict.ask(ADMISSION + "/validate", body)["warnings"]
        body["request"]["object"]["metadata"]["name"] = "never-seen"
        assert strict.ask(ADMISSION + "/validate", body)["status"]["code"] == 403
        assert strict.ask(ADMISSION + "/mutate", body)["allowed"], "who mutates goes by defaults"
    finally:
        strict.close()


NO_TOKENS = ["prv_0 \"\n", "nonsense\n", "provisord: token 1 of team spark; its text is not shown again\n%s\n", "%s\n%s\n", "prv_\n"]


@pytest.mark.parametrize("content", NO_TOKENS)
def test_what_is_not_a_token_is_said_and_the_pod_is_not_ready(behind, tmp_path, content):
    """As when all of a pod's log became the Secret."""
    token = behind.admission_token
    wrong = Sidecar(behind, tmp_path, content.replace("%s", token))
    try:
        assert "is not a token" in wrong.log.read_text() and wrong.ready() == 503
        assert requests.get("http://127.0.0.1:%d/healthz" % wrong.probe_port, timeout=10).status_code == 200, "a restart would not mend it"
        assert wrong.request("POST", ADMISSION, json=review("create")).status_code == 401
        wrong.token_file.write_text(token + "\n")
        wait_until(lambda: wrong.ready() == 200, "it does not become ready: " + wrong.log.read_text()[-2000:])
        assert wrong.ask(ADMISSION, review("create"))["allowed"]
        assert token not in wrong.log.read_text()
    finally:
        wrong.close()


def test_a_token_in_use_is_not_lost_for_one_that_is_none(behind, tmp_path):
    made = Sidecar(behind, tmp_path, behind.admission_token)
    try:
        assert made.ready() == 200
        made.token_file.write_text("no token at all\n")
        wait_until(lambda: "is not a token" in made.log.read_text(), "it says nothing")
        time.sleep(1)
        assert made.ready() == 200 and made.ask(ADMISSION, review("create"))["allowed"]
    finally:
        made.close()


def test_token_and_certificate_are_taken_anew(behind, tmp_path):
    """The Secret comes after the pod, is rotated, and the certificate is renewed: without a restart."""
    late = Sidecar(behind, tmp_path)
    try:
        def status():
            return late.request("POST", ADMISSION, json=review("create")).status_code

        assert status() == 401 and "there is no token" in late.log.read_text()
        assert late.ready() == 200, "the token is made once provisord runs"
        late.token_file.write_text(behind.admission_token)
        wait_until(lambda: status() == 200, "the token is not taken: " + late.log.read_text()[-2000:])
        before = late.subject()
        renewed = make_certificate(late.folder, "second")
        wait_until(lambda: late.subject() != before, "the certificate is not taken: " + late.log.read_text()[-2000:])
        assert late.request("GET", "/", trust=renewed).status_code == 200
        # One that cannot be read is not taken.
        broken = late.folder / "fresh-broken"
        broken.mkdir()
        (broken / "tls.crt").write_text("none")
        (broken / "tls.key").write_text("none")
        (late.folder / "link").symlink_to(broken)
        os.replace(late.folder / "link", late.folder / "tls")
        time.sleep(1)
        assert late.request("GET", "/", trust=renewed).status_code == 200
    finally:
        late.close()
    assert late.process.returncode is not None


def test_it_ends_when_it_is_told_to(behind, tmp_path):
    made = Sidecar(behind, tmp_path, behind.admission_token)
    began = time.monotonic()
    made.process.send_signal(signal.SIGTERM)
    assert made.process.wait(timeout=PATIENCE) == 0
    assert time.monotonic() - began < 10


# --- its end ---


def start_with(tmp_path, **programs):
    """run-proxy with programs of the test's in place of those it calls."""
    bin_folder, run_folder = tmp_path / "bin", tmp_path / "run"
    bin_folder.mkdir()
    run_folder.mkdir()
    for name, text in programs.items():
        (bin_folder / name).write_text("#!/bin/sh\n" + text)
        (bin_folder / name).chmod(0o755)
    env = dict(os.environ, PATH="%s:%s" % (bin_folder, os.environ["PATH"]), FOLDER=str(tmp_path), PROXY_WATCH_S="0.1", PROXY_END_S="1",
               PROXY_CERTIFICATE=str(tmp_path / "tls.crt"), ADMISSION_TOKEN_FILE=str(tmp_path / "token"), ADMISSION_TOKEN_MAP=str(run_folder / "token.map"))
    return subprocess.Popen(["/bin/sh", str(chart.CHART / "files" / "run-proxy"), "haproxy.cfg"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            start_new_session=True)


def kill_all(process):
    """What it started, too, should it still run."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


@pytest.mark.parametrize("ignored,ended_by,after_s", [("USR1", signal.SIGTERM, 1), ("USR1 TERM", signal.SIGKILL, 6)])
def test_a_proxy_that_does_not_end_is_made_to(tmp_path, ignored, ended_by, after_s):
    """Connections have PROXY_END_S; then the end does not wait for HAProxy to agree."""
    process = start_with(tmp_path, haproxy="trap '' %s\n: >\"$FOLDER/started\"\nwhile :; do sleep 0.1; done\n" % ignored)
    try:
        wait_until((tmp_path / "started").exists, "it does not start")
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=after_s + PATIENCE) == 128 + ended_by
        assert time.monotonic() - began >= after_s, "connections were not given their time"
    finally:
        kill_all(process)


def test_a_request_to_end_before_haproxy_runs_is_not_lost(tmp_path):
    """Kubernetes may stop a pod that is only starting; process 1 without a handler would never know."""
    process = start_with(tmp_path, mv="kill -TERM \"$PPID\"\nexec /bin/mv \"$@\"\n", haproxy="trap 'exit 0' USR1\nwhile :; do sleep 0.1; done\n")
    try:
        # USR1 ends HAProxy before it has a handler, too.
        assert process.wait(timeout=PATIENCE) in (0, 128 + signal.SIGUSR1)
    finally:
        kill_all(process)


def test_a_request_to_reload_that_is_lost_is_repeated(tmp_path):
    """HAProxy loses one that comes while it starts. It has reloaded when it has a new worker; then it is left alone."""
    process = start_with(tmp_path, haproxy="""trap 'echo asked >>"$FOLDER/asked"; [ $(wc -l <"$FOLDER/asked") -lt 3 ] || sleep 600 &' USR2
sleep 600 &
: >"$FOLDER/started"
while :; do wait; done
""")
    try:
        wait_until((tmp_path / "started").exists, "it does not start")
        (tmp_path / "token").write_text("prv_1_a_b\n")
        wait_until(lambda: (tmp_path / "asked").exists() and len((tmp_path / "asked").read_text().split()) >= 3, "it is not asked again")
        time.sleep(1)
        listed = os.path.exists("/proc/%d/task/%d/children" % (process.pid, process.pid))
        assert len((tmp_path / "asked").read_text().split()) == (3 if listed else 5)
    finally:
        kill_all(process)


def test_a_service_that_is_away_is_told_so(make_service, tmp_path):
    service = make_service(PROVISOR_HEALTH_PORT=free_port())
    service.start()
    made = Sidecar(service, tmp_path, service.token("spark", "write"))
    try:
        service.stop()
        wait_until(lambda: made.request("POST", ADMISSION, json=review("create")).status_code == 503, "no 503")
        assert made.request("GET", "/").headers["Content-Type"] == "application/problem+json"
    finally:
        made.close()

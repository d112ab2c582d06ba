"""The service behind HAProxy with ops/haproxy.cfg, the configuration that SECURITY.md recommends."""
import contextlib
import os
import shutil
import signal
import socket
import ssl
import subprocess
import uuid

import pytest
import requests

from conftest import ROOT, Client
from long_work import Table, lab, wait_for as wait_for_operation
from patience import PATIENCE, wait_until
from ports import free_port
from test_advice import run_of
from test_archives import tar
from test_eventlogs import tiny_log

LONG = {"steps": 100000, "step_ms": 5}
CONFIGURATION = ROOT / "ops" / "haproxy.cfg"
HAPROXY = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin")
pytestmark = pytest.mark.skipif(HAPROXY is None, reason="no haproxy")


class Proxy:
    """HAProxy in front of a service; to clients it looks like the service itself."""

    def __init__(self, service, folder):
        self.service, self.folder, self.port = service, folder, free_port()
        self.certificate = folder / "certificate.pem"
        key = folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.certificate],
                       check=True, stderr=subprocess.DEVNULL)
        both = folder / "both.pem"
        both.write_text(self.certificate.read_text() + key.read_text())
        self.log = folder / "haproxy.log"
        env = dict(os.environ, PROXY_CERTIFICATE=str(both), PROXY_ADDRESS="127.0.0.1:%d" % self.port,
                   PROVISOR_ADDRESS="127.0.0.1:%d" % service.port, PROVISOR_HEALTH_PORT=service.environment["PROVISOR_HEALTH_PORT"])
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([HAPROXY, "-db", "-f", str(CONFIGURATION)], env=env, stdout=log, stderr=log)

    @property
    def base_url(self):
        return "https://127.0.0.1:%d" % self.port

    def get(self, path, **kwargs):
        with requests.Session() as session:
            session.trust_env = False
            return session.get(self.base_url + path, verify=str(self.certificate), timeout=30, **kwargs)

    def status(self, path="/openapi.yaml"):
        assert self.process.poll() is None, self.log.read_text()
        try:
            return self.get(path).status_code
        except requests.ConnectionError:
            return 0

    def client(self, token):
        client = Client(self, token, self.service.contract)
        client.session.verify = str(self.certificate)
        client.session.trust_env = False  # a bundle of authorities in the environment would go before
        return client

    def connect(self):
        context = ssl.create_default_context(cafile=str(self.certificate))
        return context.wrap_socket(socket.create_connection(("127.0.0.1", self.port), timeout=10), server_hostname="127.0.0.1")

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=PATIENCE)


@pytest.fixture(scope="module")
def behind(make_service, tmp_path_factory):
    """(service, proxy, token): the service with operations that a test can steer, and a PostgreSQL that it may stop."""
    service = lab(make_service(own_server=True, PROVISOR_HEALTH_PORT=str(free_port()), PROVISOR_SPOOL_TOTAL_BYTES_MAX="1048576",
                               PROVISOR_SPOOL_BYTES_MAX="4194304"))
    token = service.token("alpha")
    service.start()
    proxy = Proxy(service, tmp_path_factory.mktemp("proxy"))
    try:
        wait_until(lambda: proxy.status() == 200, "the proxy does not answer")
        yield service, proxy, token
    finally:
        proxy.close()


@pytest.fixture
def through(behind):
    service, proxy, token = behind
    return proxy.client(token)


def test_advice_and_exports_are_the_same_through_the_proxy(behind, through, name):
    service, proxy, token = behind
    for executors in (1, 2, 4, 5):
        through.post("/v1/applications/%s/runs" % name, run_of(executors), status=201)
    made = through.post("/v1/advice", {"application": name, "problem_size": 40, "deadline_s": 26, "constraints": {"max_executors": 20}}, 201)
    assert made.json()["feasible"] is True and made.headers["Strict-Transport-Security"]
    direct = service.client(token)
    assert direct.get(made.headers["Location"]).json() == made.json()
    export = "/v1/applications/%s/runs/export" % name
    assert through.get(export).content == direct.get(export).content and len(through.get(export).content.splitlines()) == 4


def test_http_2_ends_at_the_proxy(behind):
    """provisord is spoken to in HTTP/1.1, whatever the client speaks."""
    _, proxy, _ = behind
    words = ["curl", "-sS", "--cacert", proxy.certificate, "-o", "/dev/null", "-w", "%{http_version} %{http_code}", proxy.base_url + "/openapi.yaml"]
    assert subprocess.run(words, text=True, stdout=subprocess.PIPE, check=True).stdout == "2 200"


def test_events_arrive_while_the_work_goes_on(behind, through):
    service, proxy, token = behind
    table = Table(service)
    try:
        made = table.queue("alpha", LONG)
        wait_for_operation(through, made, ("running",))
        reply = proxy.get("/v1/operations/%s/events" % made, headers={"Authorization": "Bearer " + token}, stream=True)
        assert reply.status_code == 200 and reply.headers["Content-Type"].startswith("text/event-stream")
        lines = reply.iter_lines(chunk_size=1)
        while next(lines) != b"event: status":
            pass
        assert through.get("/v1/operations/" + made).json()["status"] == "running", "the first event came before the end"
        through.delete("/v1/operations/" + made, 202)
        assert any(b'"cancelled"' in line for line in lines)
    finally:
        table.close()


def test_an_upload_in_chunks_goes_through(through, name):
    log = tiny_log()
    pieces = (log[at:at + 100] for at in range(0, len(log), 100))
    run = through.request("POST", "/v1/applications/%s/eventlogs" % name, 201, data=pieces,
                          headers={"Content-Type": "application/octet-stream"}).json()
    assert through.get("/v1/applications/%s/runs/%s" % (name, run["id"])).json()["id"] == run["id"]


def test_refusals_of_a_busy_service_go_through(through, name):
    """The spool is small here: what does not fit is 503 of the service, with its own words and Retry-After."""
    reply = through.request("POST", "/v1/applications/%s/eventlogs" % name, 503, data=tar([("x", os.urandom(2 << 20))]),
                            headers={"Content-Type": "application/octet-stream"})
    assert "spool_total_bytes_max" in reply.json()["detail"] and int(reply.headers["Retry-After"]) > 0


def test_what_is_not_for_clients_stays_behind_the_proxy(behind, through):
    service, proxy, _ = behind
    for path in ("/metrics", "/healthz", "/readyz"):
        assert proxy.status(path) == 404
    reply = proxy.get("/openapi.yaml", headers={"X-Request-Id": "from \"outside\""})
    assert uuid.UUID(reply.headers["X-Request-Id"]), "an id that provisord would not take is replaced"


# --- what could hide a second request ------------------------------------------------------------------------

POST = b"POST /v1/feasibility HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
HIDDEN = b"GET /openapi.yaml HTTP/1.1\r\nHost: h\r\nX-Request-Id: %s\r\n\r\n"
SHAPES = {
    "HTTP/1.0 with a transfer coding": POST.replace(b"HTTP/1.1", b"HTTP/1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.0 with both": POST.replace(b"HTTP/1.1", b"HTTP/1.0") + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": POST + b"Content-Length: 0\r\nContent-Length: %d\r\n\r\n",
    "lengths in a list": POST + b"Content-Length: 0, %d\r\n\r\n",
    "a length with a sign": POST + b"Content-Length: +0\r\n\r\n",
    "length and transfer coding": POST + b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "transfer coding and length": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    "chunked twice": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked and identity": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a coding nobody knows": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "a folded line": POST + b"Transfer-Encoding:\r\n chunked\r\nContent-Length: %d\r\n\r\n",
    "a space before the colon": POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a bare LF in a chunk's extension": POST + b"Transfer-Encoding: chunked\r\n\r\n2;a\n{}\r\n0\r\n\r\n",
    "a bare LF after a size": POST + b"Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\n\r\n",
    "a bare CR in a header": POST + b"X: a\rTransfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n",
    "NUL in the target": b"GET /openapi.yaml\0x HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n",
    "NUL in a value": POST + b"X: a\0b\r\nContent-Length: %d\r\n\r\n",
    "a size that wraps": POST + b"Transfer-Encoding: chunked\r\n\r\n10000000000000002\r\n{}\r\n0\r\n\r\n",
    "two hosts": POST + b"Host: other\r\nContent-Length: %d\r\n\r\n",
    "a host that is none": POST.replace(b"Host: h", b"Host: a b/c@d") + b"Content-Length: %d\r\n\r\n",
}


def exchange(proxy, raw):
    """All that comes back until the proxy closes or has nothing more to say."""
    with contextlib.closing(proxy.connect()) as s:
        s.sendall(raw)
        s.settimeout(1)
        data = b""
        with contextlib.suppress(socket.timeout, ConnectionError, ssl.SSLError):
            while True:
                piece = s.recv(65536)
                if not piece:
                    break
                data += piece
    return data


# A line may end in LF alone for HAProxy; it writes the chunks anew, so what follows is a request to both.
UNDERSTOOD = {"a bare LF in a chunk's extension", "a bare LF after a size"}


def test_no_shape_hides_a_request(behind):
    """Behind each shape comes a request with an id of its own: provisord never sees it, unless the proxy did, too."""
    service, proxy, _ = behind
    answers = {}
    for number, (shape, raw) in enumerate(SHAPES.items()):
        hidden = HIDDEN % (b"hidden-%d" % number)
        answers[shape] = exchange(proxy, raw.replace(b"%d", b"%d" % len(hidden)) + hidden)
    assert proxy.get("/openapi.yaml", headers={"X-Request-Id": "afterwards"}).status_code == 200
    wait_until(lambda: '"afterwards"' in service.log.read_text() and "{afterwards}" in proxy.log.read_text(), "no line of the last request")
    seen, proxied = service.log.read_text(), proxy.log.read_text()
    assert {shape for number, shape in enumerate(SHAPES) if '"hidden-%d"' % number in seen} <= UNDERSTOOD
    assert {shape for number, shape in enumerate(SHAPES) if '"hidden-%d"' % number in seen and "{hidden-%d}" % number not in proxied} == set()
    answered = {shape: answer.count(b"HTTP/1.1 ") + answer.count(b"HTTP/1.0 ") for shape, answer in answers.items()}
    assert {shape for shape, n in answered.items() if n > 1} <= UNDERSTOOD
    ambiguous = {shape for shape in SHAPES if shape.startswith(("HTTP/1.0", "two lengths", "NUL", "a host", "chunked twice"))}
    assert {shape: answers[shape][:100] for shape in ambiguous if not answers[shape].startswith(b"HTTP/1.1 400 ")} == {}


# --- the server is taken out, and comes back ------------------------------------------------------------------


def test_a_replica_that_is_not_ready_is_taken_out_and_comes_back(behind):
    service, proxy, _ = behind
    service.stop_database()
    try:
        wait_until(lambda: proxy.status() == 503, "a replica without PostgreSQL is still asked")
        reply = proxy.get("/openapi.yaml")
        assert reply.status_code == 503 and int(reply.headers["Retry-After"]) > 0
        assert reply.headers["Content-Type"] == "application/problem+json" and reply.json()["detail"] == "no replica is ready"
        assert requests.get(service.base_url + "/openapi.yaml", timeout=10).status_code == 200, "the replica itself lives"
    finally:
        service.start_database()
    wait_until(lambda: proxy.status() == 200, "a replica that is ready again is not asked")

"""Connections: kept and used again, dropped when they are stale, encrypted, through proxies, in other processes."""
import multiprocessing
import re
import socket
import ssl
import subprocess
import threading
import time

import pytest

import provisor
from stub import JSON, Stub, problem, stub

HEALTH = (200, JSON, '{"status": "ok"}')


class Gate:
    """A proxy that counts connections, and cuts them on request."""

    def __init__(self, port):
        self.port, self.accepted, self.open = port, 0, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.serve, daemon=True).start()

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.listener.getsockname()[1]

    def serve(self):
        while True:
            try:
                inner = self.listener.accept()[0]
            except OSError:
                return
            self.accepted += 1
            outer = socket.create_connection(("127.0.0.1", self.port))
            for s in (inner, outer):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.open += [inner, outer]
            for one, two in ((inner, outer), (outer, inner)):
                threading.Thread(target=self.pump, args=(one, two), daemon=True).start()

    @staticmethod
    def pump(one, two):
        try:
            while True:
                more = one.recv(65536)
                if not more:
                    break
                two.sendall(more)
        except OSError:
            pass
        for s in (one, two):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        for s in self.open:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.open = []

    def close(self):
        self.listener.close()
        self.cut()


@pytest.fixture
def gate(service):
    gate = Gate(service.port)
    yield gate
    gate.close()


def test_calls_one_after_the_other_share_a_connection(gate, service):
    with provisor.Client(gate.url, service.alpha_token) as client:
        for _ in range(200):
            client.usage()
            client.health()
        with pytest.raises(provisor.NotFound):
            client.app("no-such-app")
        list(client.apps(page_size=2, limit=4))
        client.contract()
        client.ingest_named  # nothing is sent for looking at a method
        assert gate.accepted == 1


def test_as_many_connections_as_threads_and_kept(gate, service):
    with provisor.Client(gate.url, service.alpha_token) as client:
        barrier = threading.Barrier(4)

        def work():
            barrier.wait()
            for _ in range(50):
                client.usage()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert gate.accepted <= 4


def test_a_connection_that_was_closed_meanwhile_is_not_used(gate, service):
    with provisor.Client(gate.url, service.alpha_token, retries=0) as client:
        client.usage()
        gate.cut()
        time.sleep(0.1)
        client.usage()
        assert gate.accepted == 2


def test_an_old_connection_is_not_used(gate, service, monkeypatch):
    monkeypatch.setattr("provisor.transport.IDLE_S_MAX", 0.05)
    with provisor.Client(gate.url, service.alpha_token) as client:
        client.usage()
        time.sleep(0.1)
        client.usage()
        assert gate.accepted == 2


def test_a_stream_that_is_not_read_to_its_end_gives_no_connection_back(gate, service, history):
    with provisor.Client(gate.url, service.alpha_token) as client:
        runs = client.export_runs("nightly-etl")
        next(runs)
        runs.close()
        client.usage()
        list(client.export_runs("nightly-etl"))
        client.usage()
        assert gate.accepted == 2


def test_close(gate, service):
    client = provisor.Client(gate.url, service.alpha_token)
    client.usage()
    client.close()
    client.usage()
    client.usage()
    assert gate.accepted == 3 and not client._transport._idle


def in_child(client, queue):
    queue.put([client.usage().to_dict() is not None for _ in range(20)])


def test_a_child_does_not_use_the_connections_of_its_parent(gate, service):
    with provisor.Client(gate.url, service.alpha_token) as client:
        client.usage()
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=in_child, args=(client, queue))
        child.start()
        for _ in range(20):
            client.usage()
        assert queue.get(timeout=30) == [True] * 20
        child.join()
        assert gate.accepted == 2


# --- TLS ---


def certificate(folder, names):
    """A certificate authority of one's own, and a certificate of it."""
    def openssl(*words):
        subprocess.run(["openssl", *map(str, words)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=an authority", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=provisor", "-keyout", "key.pem", "-out", "request.pem")
    (folder / "names").write_text("subjectAltName=" + names)
    openssl("x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names",
            "-out", "cert.pem")
    return folder


def tls(folder, *answers):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    server = Stub(answers)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    return server, server.url.replace("http:", "https:")


def test_an_authority_of_ones_own(tmp_path, monkeypatch):
    certificate(tmp_path, "IP:127.0.0.1")
    server, url = tls(tmp_path, HEALTH)
    peers = set()
    server.answers = [lambda handler: (peers.add(handler.client_address), answer_ready(handler))]
    try:
        with provisor.Client(url, "prv_x", ca_file=tmp_path / "ca.pem") as client:
            for _ in range(20):
                client.readiness()
        assert len(peers) == 1
        monkeypatch.setenv("PROVISOR_CA_FILE", str(tmp_path / "ca.pem"))
        with provisor.Client(url, "prv_x") as client:
            client.readiness()
    finally:
        server.shutdown()


def answer_ready(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "16")
    handler.end_headers()
    handler.wfile.write(b'{"status": "ok"}')


def test_certificates_that_are_not_accepted(tmp_path, hasty):
    """Another authority, another name: said at once, and nothing is sent."""
    certificate(tmp_path, "DNS:elsewhere.example")
    server, url = tls(tmp_path, HEALTH)
    try:
        for settings, reason in (({}, "self-signed|unable to get local issuer"), ({"ca_file": tmp_path / "ca.pem"}, "mismatch|not valid")):
            client = hasty(url, **settings)
            with pytest.raises(provisor.ConnectionFailed, match="is not accepted.*(%s)" % reason):
                client.usage()
            assert client.waits == []
        assert server.requests == []
    finally:
        server.shutdown()
    for wrong in ("nowhere.pem", "names"):
        with pytest.raises(provisor.ConfigurationError, match=wrong):
            provisor.Client(url, "prv_x", ca_file=tmp_path / wrong)


def test_an_upload_over_tls(tmp_path, hasty):
    certificate(tmp_path, "IP:127.0.0.1")
    server, url = tls(tmp_path, (201, JSON, '{"id": "x"}'))
    content = bytes(range(256)) * 20000
    try:
        client = hasty(url, ca_file=tmp_path / "ca.pem")
        for _ in range(3):
            assert client.ingest("a", content).id == "x"
    finally:
        server.shutdown()
    assert [body == content for _, _, _, body in server.requests] == [True] * 3


# --- proxies ---


def test_a_proxy_of_the_environment(hasty, monkeypatch):
    with stub((200, JSON, '{"runs": 1}')) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert hasty("http://provisor.invalid:81/base").usage().to_dict() == {"runs": 1}
        assert proxy.requests[0][1] == "http://provisor.invalid:81/base/v1/usage" and proxy.requests[0][2]["Host"] == "provisor.invalid:81"
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        with stub((200, JSON, '{"runs": 2}')) as server:
            assert hasty(server.url).usage().to_dict() == {"runs": 2}
        assert len(proxy.requests) == 1


def test_a_tunnel_through_a_proxy(tmp_path, hasty, monkeypatch):
    """The proxy sees where to and who asks it, and neither path nor token."""
    certificate(tmp_path, "DNS:provisor.invalid")
    server, url = tls(tmp_path, (200, JSON, '{"runs": 3}'))
    listener, seen = socket.create_server(("127.0.0.1", 0)), []

    def proxy():
        inner = listener.accept()[0]
        seen.append(inner.recv(65536))
        inner.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        outer = socket.create_connection(server.server_address)
        threading.Thread(target=Gate.pump, args=(outer, inner), daemon=True).start()
        Gate.pump(inner, outer)

    threading.Thread(target=proxy, daemon=True).start()
    monkeypatch.setenv("https_proxy", "http://user:p%%40ss@127.0.0.1:%d" % listener.getsockname()[1])
    try:
        assert hasty("https://provisor.invalid", ca_file=tmp_path / "ca.pem").usage().to_dict() == {"runs": 3}
    finally:
        server.shutdown()
        listener.close()
    assert seen[0].startswith(b"CONNECT provisor.invalid:443 HTTP/1.1\r\n") and b"Proxy-Authorization: Basic dXNlcjpwQHNz\r\n" in seen[0]
    assert b"prv_" not in seen[0] and re.search(b"/v1", seen[0]) is None


def test_the_path_of_the_url_and_the_user_agent(hasty):
    with stub((200, JSON, "{}")) as server:
        hasty(server.url + "/behind/a/proxy/", user_agent="my-notebook/1").usage()
    assert server.requests[0][1] == "/behind/a/proxy/v1/usage"
    assert re.fullmatch(r"my-notebook/1 provisor-python/[\d.]+ Python/3\.\d+", server.requests[0][2]["User-Agent"])


def test_calls_that_need_no_token_do_not_send_it(hasty):
    with stub(HEALTH) as server:
        client = hasty(server.url)
        client.health()
        client.usage()
    assert ["Authorization" in headers for _, _, headers, _ in server.requests] == [False, True]


def test_an_early_reply_ends_an_upload(hasty):
    """The service refuses a log before it has read it."""
    listener = socket.create_server(("127.0.0.1", 0))
    body = problem(413, "too large")[2].encode()

    def serve():
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            connection.recv(1000)
            connection.sendall(b"HTTP/1.1 413 x\r\nContent-Type: application/problem+json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            time.sleep(3)
            connection.close()

    threading.Thread(target=serve, daemon=True).start()
    begin = time.monotonic()
    with pytest.raises(provisor.TooLarge, match="too large"):
        hasty("http://127.0.0.1:%d" % listener.getsockname()[1]).ingest("a", bytes(50 << 20))
    assert time.monotonic() - begin < 2
    listener.close()


def raw(reply, seen):
    """Writes these bytes and keeps the connection; seen: from where requests came."""
    def answer(handler):
        seen.append(handler.client_address)
        handler.wfile.write(reply)
        handler.wfile.flush()

    return answer


def test_what_follows_a_reply_is_not_the_next_one(hasty):
    """A second reply behind the first, which nobody asked for: the connection is not used again."""
    seen, first = [], b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"runs\": 1}"
    with stub(raw(first + first.replace(b"1}", b"9}"), seen), raw(first, seen)) as server:
        client = hasty(server.url)
        assert [client.usage().to_dict() for _ in range(2)] == [{"runs": 1}] * 2
    assert len(set(seen)) == 2


@pytest.mark.parametrize("lengths", [b"Content-Length: 11\r\nContent-Length: 12", b"Content-Length: +11", b"Content-Length: 1_1"])
def test_a_length_that_can_be_read_two_ways_is_refused(hasty, lengths):
    with stub(raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + lengths + b"\r\n\r\n{\"runs\": 1}", [])) as server:
        client = hasty(server.url)
        with pytest.raises(provisor.ConnectionFailed, match="no HTTP"):
            client.usage()
    assert client.waits == []


@pytest.mark.parametrize("part", [b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999\r\n\r\n{}"],
                         ids=["head", "body"])
def test_a_reply_that_is_cut_is_asked_for_again(hasty, part):
    """In the head, too; and its length takes no memory before the bytes are there."""
    def cut(handler):
        handler.wfile.write(part)
        handler.close_connection = True

    with stub(cut, (200, JSON, '{"runs": 1}')) as server:
        assert hasty(server.url).usage().to_dict() == {"runs": 1}
    assert len(server.requests) == 2

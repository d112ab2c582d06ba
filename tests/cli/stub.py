"""A server that answers as a test says: what a service behind bad weather looks like."""
import contextlib
import http.server
import json
import socket
import threading


class Stub(http.server.ThreadingHTTPServer):
    """answers: a list of (status, headers, body), each for one request and the last for all that follow; a callable
    gets the handler and writes what it likes. requests: what came in, as (method, path, headers, body)."""

    daemon_threads = True

    def __init__(self, answers):
        self.answers, self.requests, self.lock = list(answers), [], threading.Lock()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.server_address[1]

    def next_answer(self):
        with self.lock:
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are written one after the other

    def log_message(self, *words):
        pass

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.requests.append((self.command, self.path, dict(self.headers), body))
        answer = self.server.next_answer()
        if callable(answer):
            answer(self)
            return
        status, headers, text = answer
        text = text if isinstance(text, bytes) else text.encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer


@contextlib.contextmanager
def stub(*answers):
    server = Stub(answers)
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


JSON = {"Content-Type": "application/json"}
PROBLEM = {"Content-Type": "application/problem+json"}


def problem(status, detail, **headers):
    return status, {**PROBLEM, **headers}, json.dumps({"type": "/problems/x", "title": "x", "status": status, "detail": detail})


def page(status=200):
    return status, {"Content-Type": "text/html; charset=utf-8"}, "<html><body>Corporate proxy</body></html>"


def cut(handler):
    """Half a reply, and the end of the connection."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"items": [')
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True

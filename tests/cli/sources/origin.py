"""A server of HTTP that does as a test says, wrongly too, and remembers what it was asked."""
import contextlib
import dataclasses
import http.server
import ssl
import threading
import time
import urllib.parse


@dataclasses.dataclass
class Answer:
    status: int = 200
    body: object = b""  # bytes, or an iterable of them
    headers: dict = dataclasses.field(default_factory=dict)
    length: object = ...  # Content-Length: that of the body; None: none, and the connection closes behind it
    cut_after: int = None  # close the connection after so many bytes of the body
    stall_after: int = None  # say nothing any more after so many bytes


@dataclasses.dataclass
class Request:
    path: str  # as it came
    query: str  # as it came
    headers: object
    at: float
    connection: tuple

    @property
    def parameters(self):
        return dict(urllib.parse.parse_qsl(self.query, keep_blank_values=True))

    @property
    def range(self):
        return self.headers.get("Range")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, _, query = self.path.partition("?")
        request = Request(path, query, self.headers, time.monotonic(), self.client_address)
        with self.server.lock:
            self.server.requests.append(request)
        with contextlib.suppress(ConnectionError, TimeoutError):
            self.send(self.server.answer(request))

    def do_PUT(self):
        """Takes a body in chunks and keeps it."""
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        with self.server.lock:
            self.server.bodies[self.path] = body
        self.send(Answer())

    def send(self, answer):
        self.send_response(answer.status)
        pieces = [answer.body] if isinstance(answer.body, bytes) else answer.body
        length = answer.length
        if length is ...:
            length = len(answer.body) if isinstance(answer.body, bytes) else None
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.close_connection = length is None or answer.cut_after is not None
        self.end_headers()
        sent = 0
        ends = [end for end in (answer.cut_after, answer.stall_after) if end is not None]
        for piece in pieces:
            piece = piece[:min(ends) - sent] if ends else piece
            self.wfile.write(piece)
            sent += len(piece)
            if ends and sent >= min(ends):
                break
        self.wfile.flush()
        if answer.stall_after is not None:
            self.server.stopping.wait(30)
            self.close_connection = True

    def log_message(self, *_):
        pass


class Origin(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answer, tls=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.requests, self.bodies, self.lock = answer, [], {}, threading.Lock()
        self.stopping = threading.Event()
        self.tls = tls is not None
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls)
            self.socket = context.wrap_socket(self.socket, server_side=True)

    @property
    def port(self):
        return self.server_address[1]

    @property
    def url(self):
        return "%s://127.0.0.1:%d" % ("https" if self.tls else "http", self.port)

    def handle_error(self, *_):
        pass  # who is read from may go away


@contextlib.contextmanager
def serving(answer, **kwargs):
    origin = Origin(answer, **kwargs)
    thread = threading.Thread(target=origin.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield origin
    finally:
        origin.stopping.set()
        origin.shutdown()
        thread.join()
        origin.server_close()

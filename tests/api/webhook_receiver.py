"""An endpoint of webhooks for tests: records what it gets, verifies signatures by the letter of Standard Webhooks, and misbehaves on request."""
import base64
import collections
import hashlib
import hmac
import http.server
import json
import socket
import socketserver
import threading
import time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

Message = collections.namedtuple("Message", "path headers body at")


def secret_bytes(secret):
    assert secret.startswith("whsec_"), secret
    return base64.b64decode(secret[len("whsec_"):], validate=True)


def verify(message, secrets=(), public_keys=()):
    """Raise unless one of the signatures is by one of these; how many there are is returned."""
    headers = message.headers
    signed = b"%s.%s.%s" % (headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), message.body)
    assert abs(time.time() - int(headers["webhook-timestamp"])) < 300
    found = headers["webhook-signature"].split(" ")
    for signature in found:
        version, _, text = signature.partition(",")
        given = base64.b64decode(text, validate=True)
        if version == "v1" and any(hmac.compare_digest(given, hmac.new(secret_bytes(s), signed, hashlib.sha256).digest()) for s in secrets):
            return len(found)
        if version == "v1a":
            for key in public_keys:
                try:
                    Ed25519PublicKey.from_public_bytes(base64.b64decode(key[len("whpk_"):], validate=True)).verify(given, signed)
                    return len(found)
                except Exception:  # noqa: BLE001 - any other key
                    continue
    raise AssertionError("no signature of %s is valid" % found)


class Receiver:
    """`answer(message, number)` gives a status, or (status, headers, body), or one of the words hang, drop, trickle, flood."""

    def __init__(self, answer=204, host="127.0.0.1", port=0):
        self.answer = answer if callable(answer) else lambda message, number: answer
        self.messages, self.lock, self.open, self.most_open, self.flooded = [], threading.Lock(), 0, 0, 0
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with receiver.lock:
                    message = Message(self.path, {k.lower(): v for k, v in self.headers.items()}, body, time.time())
                    receiver.messages.append(message)
                    number = len(receiver.messages)
                    receiver.open += 1
                    receiver.most_open = max(receiver.most_open, receiver.open)
                try:
                    self.reply(receiver.answer(message, number))
                except OSError:
                    self.close_connection = True
                finally:
                    with receiver.lock:
                        receiver.open -= 1

            def reply(self, answer):
                if answer == "drop":
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                elif answer == "hang":
                    receiver.released.wait(120)
                    self.close_connection = True
                elif answer == "trickle":
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                    while not receiver.released.wait(1):
                        self.wfile.write(b".")
                elif answer == "flood":
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
                    for _ in range(1 << 14):
                        self.wfile.write(b"x" * (1 << 16))
                        receiver.flooded += 1 << 16
                else:
                    status, headers, body = answer if isinstance(answer, tuple) else (answer, {}, b"")
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    if status != 204:
                        self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *words):
                pass

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True
            request_queue_size = 512

        self.released = threading.Event()
        self.server = Server((host, port), Handler)
        self.port = self.server.server_address[1]
        self.url = "http://%s:%d/hook" % (host, self.port)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def bodies(self):
        with self.lock:
            return [json.loads(m.body) for m in self.messages]

    def ids(self):
        with self.lock:
            return [m.headers["webhook-id"] for m in self.messages]

    def wait(self, count, seconds=30, of=None):
        """The messages, once there are so many (of that event type)."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with self.lock:
                found = [m for m in self.messages if of is None or json.loads(m.body).get("type") == of]
            if len(found) >= count:
                return found
            time.sleep(0.01)
        raise AssertionError("%d of %d messages came" % (len(found), count))

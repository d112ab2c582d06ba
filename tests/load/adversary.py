#!/usr/bin/python3
"""Requests that are almost right, and connections that break off, until the time is over.

    adversary.py PORT SEED SECONDS SEEDS TORN

SEEDS is a file of JSON: [[method, path, {header: value}, body in base64], ...], each a request that succeeds. Every
request sent is one of them with something changed: bytes, numbers, members, headers, the query, the coding of the body;
with TORN=1 its connection is cut, half-closed, reset or left to trickle as well. Prints in JSON how often each status
came, and the first requests that were answered 500, or by something that is no HTTP.
"""
import base64
import collections
import copy
import gzip
import json
import random
import socket
import struct
import sys
import time

PORT, SECONDS = int(sys.argv[1]), float(sys.argv[3])
draw = random.Random(int(sys.argv[2]))
SEEDS = [(m, p, h, base64.b64decode(b)) for m, p, h, b in json.load(open(sys.argv[4]))]
TORN = sys.argv[5] == "1"
NUMBERS = [0, -1, 1, 2 ** 31, 2 ** 53 + 1, 2 ** 63, -2 ** 63, 1e308, 5e-324, -0.0, 0.1, 1e-9, 1e9]
TEXTS = ["", " ", "\x00", "a" * 300, "\ud800", "🜁", "../../x", "%s%n", "'; --", "null", "-1", "1e999", "😀" * 100]
BYTES = [b"\x00", b"\xff", b"{", b"}", b"[", b"]", b"\"", b"\\", b",", b":", b"-", b"e", b"1e400", b"\r\n", b"\n", b"NaN", b"\x1f\x8b"]


def mutate_value(value):
    """Another value in place of it, mostly of the same type."""
    kind = draw.randrange(8)
    if isinstance(value, dict) and value and kind < 6:
        changed, key = dict(value), draw.choice(list(value))
        if kind == 0:
            del changed[key]
        elif kind == 1:
            changed[draw.choice(TEXTS)] = changed.pop(key)
        elif kind == 2:
            changed[key] = copy.deepcopy(value)
        else:
            changed[key] = mutate_value(value[key])
        return changed
    if isinstance(value, list) and value and kind < 6:
        changed, at = list(value), draw.randrange(len(value))
        if kind == 0:
            del changed[at]
        elif kind == 1:
            changed = changed * draw.choice([2, 10, 200])
        elif kind == 2:
            changed.insert(at, changed[draw.randrange(len(changed))])
        else:
            changed[at] = mutate_value(changed[at])
        return changed[:20000]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and kind < 6:
        return draw.choice([*NUMBERS, value * draw.choice([-1, 0.5, 2, 1000, 1e-6]), value + draw.choice([-1, 1])])
    return draw.choice([None, True, False, [], {}, [[]], *NUMBERS, *TEXTS])


def mutate_bytes(data):
    data = bytearray(data or b"{}")
    for _ in range(draw.choice([1, 1, 2, 8])):
        at = draw.randrange(len(data) + 1)
        kind = draw.randrange(5)
        if kind == 0 and data:
            data[at % len(data)] = draw.randrange(256)
        elif kind == 1:
            data[at:at] = draw.choice(BYTES)
        elif kind == 2:
            del data[at:at + draw.choice([1, 3, 100, 5000])]
        elif kind == 3:
            data[at:at] = data[at:at + draw.choice([1, 10, 1000])] * draw.choice([1, 3, 20])
        else:
            del data[at:]
    return bytes(data)


def mutate_body(body):
    kind = draw.randrange(4)
    try:
        if kind < 3:
            value = json.loads(body)
            for _ in range(draw.choice([1, 1, 2, 4])):
                value = mutate_value(value)
            return json.dumps(value).encode("utf-8", "surrogatepass")
    except ValueError:
        pass
    return mutate_bytes(body)


def mutate_path(path):
    kind = draw.randrange(6)
    at = draw.randrange(len(path) + 1)
    if kind == 0:
        return path + ("&" if "?" in path else "?") + draw.choice(["limit=-1", "label=a:b", "cursor=" + "A" * 40, "since=x", "%00=1", "x" * 9000, "&" * 600])
    if kind == 1:
        return path[:at] + draw.choice(["%", "%00", "%ff", "%2f", "//", "..", "é", " ", "\t", "#", ";"]) + path[at:]
    if kind == 2:
        return path[:at]
    return path


def mutate_headers(headers):
    changed = dict(headers)
    kind = draw.randrange(12)
    name = draw.choice(["Prefer", "If-Match", "If-None-Match", "Idempotency-Key", "Accept", "Content-Type", "Content-Encoding", "Content-Length",
                        "Transfer-Encoding", "Host", "Expect", "Last-Event-ID", "traceparent", "X-Request-Id", "Connection", "Upgrade", "Authorization"])
    if kind < 4:
        changed[name] = draw.choice([*(t for t in TEXTS if "\ud800" != t), "wait=1", "100-continue", "chunked", "*", "gzip", "close", "0", "99999999999999999999"])
    elif kind == 4 and changed:
        del changed[draw.choice(list(changed))]
    elif kind == 5:
        changed.update({"X-%d" % i: "y" * draw.choice([1, 500]) for i in range(draw.choice([3, 60, 300]))})
    return changed


def wire(method, path, headers, body):
    """The request as it goes out; now and then chunked, compressed, or wrong in its framing."""
    headers = dict({"Host": "h"}, **headers)
    kind = draw.randrange(10)
    if kind == 0 and body:
        body = gzip.compress(body)
    if kind == 1 and body:
        headers.setdefault("Transfer-Encoding", "chunked")
        cut = draw.randrange(len(body) + 1)
        body = b"".join(b"%x%s\r\n%s\r\n" % (len(p), draw.choice([b"", b";x=y"]), p) for p in (body[:cut], body[cut:]) if p) + b"0\r\n\r\n"
    elif body or method in ("POST", "PUT", "PATCH"):
        headers.setdefault("Content-Length", str(max(0, len(body) + draw.choice([0] * 20 + [-1, 1]))))
    version = draw.choice(["HTTP/1.1"] * 20 + ["HTTP/1.0", "HTTP/2.0", "HTTP/1.1 "])
    head = "%s %s %s\r\n%s\r\n" % (method, path, version, "".join("%s: %s\r\n" % item for item in headers.items()))
    return head.encode("utf-8", "replace") + body


def send_torn(s, data):
    """In a way that no client means. false: nothing will come back."""
    kind = draw.randrange(6)
    if kind == 0:
        s.sendall(data[:draw.randrange(len(data) + 1)])
        return False
    if kind == 1:
        s.sendall(data[:draw.randrange(len(data) + 1)])
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False
    if kind == 2:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
    elif kind == 3:
        for at in range(0, min(len(data), 400), 40):
            s.sendall(data[at:at + 40])
            time.sleep(0.002)
        s.sendall(data[400:])
    elif kind == 4:
        s.sendall(data * 3)
    else:
        s.sendall(data)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False
    return True


def exchange(data):
    """Status of the answer; 0: none came; -1: it is no HTTP."""
    with socket.create_connection(("127.0.0.1", PORT), timeout=20) as s:
        if TORN and draw.random() < 0.6:
            if not send_torn(s, data):
                return 0
        else:
            s.sendall(data)
        answer = b""
        s.settimeout(3 if TORN else 20)
        while b"\r\n" not in answer:
            more = s.recv(4096)
            if not more:
                break
            answer += more
        if not answer:
            return 0
        return int(answer[9:12]) if answer[:7] == b"HTTP/1." and answer[9:12].isdigit() else -1


def main():
    statuses, strange = collections.Counter(), []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        method, path, headers, body = draw.choice(SEEDS)
        if draw.random() < 0.9:
            body = mutate_body(body) if body else body
            path, headers = mutate_path(path), mutate_headers(headers)
        data = wire(method, path, headers, body)
        try:
            status = exchange(data)
        except (OSError, ValueError):
            status = 0
        statuses[status] += 1
        if status in (-1, 500, 502) and len(strange) < 5:
            strange.append([status, data[:3000].decode("latin-1")])
    print(json.dumps({"statuses": statuses, "strange": strange}))


main()

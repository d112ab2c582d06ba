#!/usr/bin/python3
"""What one team can do to a service with a token: each attack runs until it is told to stop.

    attacks.py NAME PORT TOKEN [OPEN_LOOP]

Prints "ready" once the load is on, ends when its standard input does, and prints in JSON how often each status came
(0: no answer). Nothing here waits politely: refused requests are sent again at once, or nearly so.
"""
import collections
import contextlib
import gzip
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

NAME, PORT, TOKEN = sys.argv[1], int(sys.argv[2]), sys.argv[3]
OPEN_LOOP = sys.argv[4] if len(sys.argv) > 4 else None
JSON = {"Content-Type": "application/json"}
stopped = threading.Event()
statuses = collections.Counter()


def ask(method, path, body=None, timeout=60, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=timeout)
    try:
        connection.request(method, path, body, dict(headers, Authorization="Bearer " + TOKEN))
        reply = connection.getresponse()
        reply.read()
        return reply.status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def hammer(method, path, body, threads, **headers):
    """So many clients, each asking again as soon as it was answered."""
    def client():
        while not stopped.is_set():
            status = ask(method, path, body, **headers)
            statuses[status] += 1
            if status in (0, 429, 503):
                time.sleep(0.1)
    for _ in range(threads):
        threading.Thread(target=client, daemon=True).start()


def send_head(text, body=b"", buffer=None):
    """A connection on which a request was sent, or the beginning of one."""
    s = socket.socket()
    if buffer:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    s.settimeout(30)
    s.connect(("127.0.0.1", PORT))
    s.sendall((text % TOKEN).encode() + body)
    return s


def hold(n, opener, again=True):
    """n connections, kept as long as the service lets them be, and then opened again."""
    def keep():
        while not stopped.is_set():
            try:
                s = opener()
                first = s.recv(4096)
                statuses[int(first[9:12]) if first[:5] == b"HTTP/" else 0] += 1
                while not stopped.is_set() and s.recv(1):
                    time.sleep(0.5)
                s.close()
            except (OSError, ValueError):
                statuses[0] += 1
            if not again:
                return
            stopped.wait(0.2)
    for _ in range(n):
        threading.Thread(target=keep, daemon=True).start()


def large_replies():
    """F1: answers of 100 MB to 150 kB, hardly read."""
    jobs = [{"name": "j%d" % i, "release_s": 0, "deadline_s": 1e6, "stages": [{"id": 0, "tasks": 999, "task_duration_s": 1}]}
            for i in range(1000)]
    body = json.dumps({"include": ["schedule"], "cluster": {"executors": 16, "cores_per_executor": 4}, "jobs": jobs}).encode()
    head = "POST /v1/feasibility HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    hold(20, lambda: send_head(head % len(body), body, 4096))


def unfinished_lines():
    """F1: uploads whose 60 MB line fits 60 kB of gzip and never ends."""
    data = gzip.compress(b'{"Event":"SparkListenerLogStart","x":"' + b"a" * (60 << 20))
    head = "POST /v1/applications/hostile/eventlogs HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %%s\r\nContent-Length: %d\r\n\r\n"
    hold(40, lambda: send_head(head % (len(data) + 1000), data))


def json_trees():
    """F1 and F6: 7 MB of JSON that is half a gigabyte as a tree."""
    hammer("POST", "/v1/stage-plans", b"[" + b",".join([b'{"":0}'] * 1000000) + b"]", 16, **JSON)


def large_bodies():
    """F6: bodies that take long to read, on calls that ask the database."""
    stages = [{"id": i, "parents": [i - 1] if i else [], "task_durations_s": [j / 7 for j in range(40)]} for i in range(10000)]
    body = json.dumps({"deadline_s": 1e6, "cluster": {"executors": 16, "cores_per_executor": 4}, "stages": stages}).encode()[:8000000]
    hammer("POST", "/v1/stage-plans", body, 12, **JSON)
    hammer("POST", "/v1/applications/hostile/runs", b'{"labels": {' + b" " * 7900000, 4, **JSON)


def bombs():
    """F6: uploads that are a thousandth of what they decompress to."""
    line = b'{"Event":"SparkListenerTaskGettingResult","x":"' + b"a" * 900 + b'"}\n'
    hammer("POST", "/v1/applications/hostile/eventlogs", gzip.compress(line * 60000), 16)


def copy_plans():
    """F2: a core for seconds, sixteen at a time."""
    clusters, tasks, draw = 60, 6000, random.Random(1)
    names = ["c%d" % i for i in range(clusters)]
    body = {"epsilon": 0.8, "slot_s": 1,
            "clusters": [{"name": n, "slots": 200, "unreachable_probability": 0.01, "ingress_bytes_per_s": 1e9, "egress_bytes_per_s": 1e9,
                          "processing": {"map": [[1e6 * (k + 1 + i % 5), 1 / 12] for k in range(12)]}} for i, n in enumerate(names)],
            "bandwidth": [{"from": a, "to": b, "distribution": [[1e7 * (k + 1), 1 / 12] for k in range(12)]}
                          for a in names for b in names if a != b],
            "jobs": [{"name": "j", "unprocessed_bytes": 6e11,
                      "tasks": [{"id": "t%d" % t, "operation": "map", "size_bytes": 1e8, "inputs": draw.sample(names, 20)} for t in range(tasks)]}]}
    hammer("POST", "/v1/copy-plans", json.dumps(body).encode(), 16, **JSON)


def open_loop(rate, connections, path, body):
    """More than the service can do, however slowly it answers."""
    with tempfile.NamedTemporaryFile(delete=False) as out:
        out.write(("POST %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                   % (path, TOKEN, len(body))).encode() + body)

    def run():
        while not stopped.is_set():
            text = subprocess.run([OPEN_LOOP, str(PORT), str(rate), "2", str(connections), out.name], stdout=subprocess.PIPE, text=True).stdout
            for status, of in json.loads(text or "{}").items():
                statuses[int(status)] += of["n"]
    threading.Thread(target=run, daemon=True).start()


def fits():
    """F2: fits of `auto`, three hundred at a time."""
    rows = [{"problem_size": n, "executors": m, "duration_s": 40 + 0.8 * n * (1 + 1.0 / m) + 0.4 * m + (n * m) % 7}
            for n in range(8, 108, 4) for m in range(1, 41, 2)]
    open_loop(300, 300, "/v1/models/fit", json.dumps({"model": "auto", "observations": rows}).encode())


def advice():
    """F7: advice at several times what the machine can make."""
    open_loop(6000, 3000, "/v1/advice?dry_run=true", json.dumps({"application": "hostile", "problem_size": 64, "deadline_s": 1200}).encode())


def stored_advice():
    """F13: advice that is kept, as fast as it goes."""
    open_loop(2000, 300, "/v1/advice", json.dumps({"application": "hostile", "problem_size": 64, "deadline_s": 1200}).encode())


def simulations():
    """F3: long work for a day."""
    body = {"kind": "geo", "workload": {"workflows": 5000}, "policies": [{"policy": "pingan", "epsilon": 0.6}, {"policy": "spark"}],
            "arrival_rates_per_s": [0.15], "repetitions": 20}
    for _ in range(8):
        statuses[ask("POST", "/v1/simulations", json.dumps(body).encode(), **JSON)] += 1


def slow_exports():
    """F4: exports that are read at a few bytes a second."""
    head = "GET /v1/applications/hostile/runs/export HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\n\r\n"
    hold(8, lambda: send_head(head, b"", 4096))


def waits():
    """F10: more held replies and streams than there are places."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
    connection.request("GET", "/v1/operations?limit=1", headers={"Authorization": "Bearer " + TOKEN})
    items = json.loads(connection.getresponse().read())["items"]
    path = "/v1/operations/" + items[0]["id"]
    held = []
    for k in range(700):
        text = "GET %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %%s\r\n%s\r\n" % (path + ("/events" if k % 8 == 0 else ""), "Prefer: wait=20\r\n")
        try:
            held.append(send_head(text))
        except OSError:
            statuses[0] += 1
    threading.Thread(target=lambda: (stopped.wait(), held.clear()), daemon=True).start()


def half_archives():
    """F11: archives that fill the spool and never end."""
    block = os.urandom(1 << 20)

    def begin():
        s = send_head("POST /v1/applications/hostile/eventlogs HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\nContent-Length: 4000000000\r\n\r\n")
        s.sendall(b"PK\x03\x04")
        for _ in range(200):
            s.sendall(block)
        return s
    hold(4, begin)


def idle_connections():
    """F12: as many connections as the service takes, and more, without a word."""
    held = []

    def keep():
        while not stopped.is_set():
            try:
                held.append(socket.create_connection(("127.0.0.1", PORT), timeout=5))
            except OSError:
                statuses[0] += 1
                time.sleep(0.01)
            if len(held) > 900:
                held.pop(0).close()
                time.sleep(0.002)
    threading.Thread(target=keep, daemon=True).start()
    time.sleep(1)


def false_tokens():
    """F22: a false token with each request."""
    def client():
        connection = None
        while not stopped.is_set():
            try:
                connection = connection or http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
                connection.request("GET", "/v1/applications", headers={"Authorization": "Bearer prv_%064x" % random.getrandbits(256)})
                reply = connection.getresponse()
                reply.read()
                statuses[reply.status] += 1
            except (OSError, http.client.HTTPException):
                connection = None
    for _ in range(32):
        threading.Thread(target=client, daemon=True).start()


def diagnoses():
    """F14: answers that need the database, while it does not answer."""
    hammer("GET", "/v1/applications/hostile/diagnosis", None, 16)


if __name__ == "__main__":
    os.nice(19)  # the service has the machine: attackers would have their own
    os.setsid()
    with contextlib.suppress(OSError):  # among groups of processes, too, where the kernel makes them
        pathlib.Path("/proc/self/autogroup").write_text("19")
    globals()[NAME]()
    print("ready", flush=True)
    sys.stdin.read()
    stopped.set()
    print(json.dumps(statuses), flush=True)
    os.killpg(0, signal.SIGKILL)  # generators of load, too

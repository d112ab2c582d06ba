"""What a team that does nothing wrong sees: each of its calls again and again, timed."""
import http.client
import json
import time

HISTORY = [{"problem_size": n, "executors": m, "duration_s": 40 + 0.8 * n * (1 + 1.0 / m) + 0.4 * m}
           for n in (8, 16, 32, 64) for m in (1, 2, 4, 8, 16)]
CALLS = {
    "list": ("GET", "/v1/applications", None),
    "advice": ("POST", "/v1/advice?dry_run=true", {"application": "nightly-etl", "problem_size": 64, "deadline_s": 1200}),
    "stored advice": ("POST", "/v1/advice", {"application": "nightly-etl", "problem_size": 64, "deadline_s": 1200}),
    "feasibility": ("POST", "/v1/feasibility", {"cluster": {"executors": 1, "cores_per_executor": 2},
                                                "jobs": [{"name": "A", "deadline_s": 5, "stages": [{"id": 0, "task_durations_s": [1, 2, 3]}]}]}),
    "fit": ("POST", "/v1/models/fit", {"model": "usba", "observations": HISTORY}),
    "readyz": ("GET", "/readyz", None),
}
STATELESS = ("fit", "feasibility")


class Call:
    """One call on a connection of its own, as a client with keep-alive makes it."""

    def __init__(self, port, token, name):
        self.port, self.connection = port, None
        self.method, self.path, body = CALLS[name]
        self.body = json.dumps(body) if body else None
        self.headers = {"Content-Type": "application/json"} if body else {}
        if name != "readyz":
            self.headers["Authorization"] = "Bearer " + token
        self.ms, self.refused = [], []

    def make(self):
        """Timed from before the connection: a new one has to be had under load, too."""
        began = time.monotonic()
        for _ in range(2):  # an idle connection may just have been closed
            fresh = self.connection is None
            try:
                if fresh:
                    self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                self.connection.request(self.method, self.path, self.body, self.headers)
                reply = self.connection.getresponse()
                reply.read()
                status = reply.status
                break
            except (OSError, http.client.HTTPException):
                self.connection, status = None, 0
                if fresh:
                    break
        self.ms.append((time.monotonic() - began) * 1e3)
        if status not in (200, 201):
            self.refused.append(status)


class Seen:
    """What was seen of one call: how long each took, in ms, and the statuses of those that were refused."""

    def __init__(self, ms=(), refused=()):
        self.ms, self.refused = sorted(ms), list(refused)

    def __add__(self, other):
        return Seen(self.ms + other.ms, self.refused + other.refused)

    def percentile(self, share):
        return self.ms[min(len(self.ms) - 1, int(len(self.ms) * share))]

    @property
    def median(self):
        return self.percentile(0.5)

    @property
    def p99(self):
        return self.percentile(0.99)

    @property
    def longest(self):
        return self.ms[-1]


def measure(port, token, names, seconds, pause=0.005):
    """{name: Seen}"""
    calls = {name: Call(port, token, name) for name in names}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for call in calls.values():
            call.make()
            time.sleep(pause)
    return {name: Seen(c.ms, c.refused) for name, c in calls.items()}

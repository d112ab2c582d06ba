"""Open-loop load at multiples of what a service can do: what is accepted, how soon, and how soon the rest is refused."""
import contextlib
import json
import os
import resource
import subprocess
import tempfile

from patience import BUILD

OPEN_LOOP = BUILD / "tests" / "load" / "open_loop"
TICK_US = 500  # how often the generator sends and reads: woken by each answer, it takes of the service's cores


def come_first():
    """Clients have machines of their own: what the generator waits for a processor here is no latency of the service."""
    with contextlib.suppress(PermissionError):
        os.nice(-10)


def processor_s():
    """Of processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Load:
    """One request, sent at a rate, in one run of the generator after another."""

    def __init__(self, port, token, path, body, connections=8000):
        self.port, self.connections = port, connections
        self.processor_s = 0  # that the generator took in its last run
        data = json.dumps(body).encode()
        self.file = tempfile.NamedTemporaryFile()
        self.file.write(("POST %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                         % (path, token, len(data))).encode() + data)
        self.file.flush()

    def run(self, rate, seconds):
        """{status: {"n", "in_time", "p50_ms", "p99_ms", "max_ms"}}; 0: no answer; in_time: while requests came."""
        before_s = processor_s()
        out = subprocess.run([str(w) for w in (OPEN_LOOP, self.port, rate, seconds, self.connections, self.file.name, TICK_US)],
                             check=True, stdout=subprocess.PIPE, text=True, preexec_fn=come_first).stdout
        self.processor_s = processor_s() - before_s
        return {int(status): of for status, of in json.loads(out).items()}

    def capacity(self, seconds):
        """Accepted requests a second at a rate that keeps the service busy but not flooded: found by doubling."""
        rate, best = 250, 0
        while True:
            done = accepted(self.run(rate, seconds))["in_time"] / seconds
            if done < 0.7 * rate:
                return max(best, done)
            rate, best = 2 * rate, done


def accepted(statuses):
    none = {"n": 0, "in_time": 0, "p50_ms": 0.0, "p99_ms": 0.0, "max_ms": 0.0}
    return statuses.get(200) or statuses.get(201) or none


def refusals(statuses):
    """All that was refused: how many, and the latest 99th percentile of their statuses."""
    refused = [of for status, of in statuses.items() if status in (429, 503)]
    return {"n": sum(of["n"] for of in refused), "p50_ms": max((of["p50_ms"] for of in refused), default=0.0),
            "p99_ms": max((of["p99_ms"] for of in refused), default=0.0)}

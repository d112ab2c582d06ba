"""Many callers that reserve, extend and give back at random, and whether a cluster was ever promised more than it has."""
import datetime
import random
import threading
import time

import requests

CORES, MEMORY = 40, 160 << 30
CLUSTER = {"executors": 10, "cores_per_executor": 4, "memory_bytes_per_executor": 16 << 30}


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def text(at):
    return at.astimezone(datetime.timezone.utc).isoformat().replace("+00:00", "Z")


def from_now(seconds):
    return text(datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds))


def items_of(client, query=""):
    """All pages."""
    items, cursor = [], ""
    while cursor is not None:
        page = client.get("/v1/admissions?limit=200%s%s" % (query, "&cursor=" + cursor if cursor else "")).json()
        items += page["items"]
        cursor = page["next_cursor"]
    return items


def peak(items):
    """(cores, memory) at the instants at which most is held, each by itself. Cores are counted in whole quanta."""
    changes = []
    for item in items:
        begin, end = instant(item["starts_at"]), instant(item["ended_at"] or item["expires_at"])
        if end > begin:
            quanta, memory = round(item["granted_cores"] * 20), item["memory_bytes"] or 0
            changes += [(begin, 1, quanta, memory), (end, 0, -quanta, -memory)]
    cores = memory = most_cores = most_memory = 0
    for _, _, more_cores, more_memory in sorted(changes):
        cores, memory = cores + more_cores, memory + more_memory
        most_cores, most_memory = max(most_cores, cores), max(most_memory, memory)
    return most_cores / 20, most_memory


class Caller(threading.Thread):
    """Reserves at random, under a key each time, on whichever replica answers; now and then extends or gives back."""

    def __init__(self, services, token, cluster, count, seed, seconds=120):
        super().__init__(daemon=True)
        self.services, self.token, self.cluster, self.count = services, token, cluster, count
        self.random = random.Random(seed)
        self.seed, self.end = seed, time.monotonic() + seconds
        self.granted, self.released, self.refused, self.fault = {}, set(), 0, None
        self.clients = {}

    def client(self):
        service = self.random.choice(self.services)
        if service not in self.clients:
            self.clients[service] = service.client(self.token)
        return self.clients[service]

    def until_answered(self, method, path, wanted, **more):
        """A conflict is that the same request, by its key, is still running."""
        while time.monotonic() < self.end:
            try:
                reply = self.client().request(method, path, **more)
                if reply.status_code in wanted:
                    return reply
                if reply.status_code != 503 and not ("headers" in more and reply.json()["type"] == "/problems/conflict"):
                    raise AssertionError("%s %s: %d %s" % (method, path, reply.status_code, reply.text))
            except requests.RequestException:
                self.clients.clear()
            time.sleep(0.02)
        raise AssertionError("%s %s was never answered" % (method, path))

    def ask(self, number):
        draw = self.random
        body = {"cluster": self.cluster, "application": "caller-%d" % self.seed, "cores": draw.randint(1, 400) / 20,
                "starts_at": from_now(draw.uniform(-1, 60)), "expires_s": draw.uniform(2, 40)}
        if draw.random() < 0.5:
            body["cores_min"] = body["cores"] if draw.random() < 0.3 else 0.05
        if draw.random() < 0.5:
            body["memory_bytes"] = draw.randint(1, MEMORY // 3)
        key = {"Idempotency-Key": "%d-%d" % (self.seed, number)}
        reply = self.until_answered("POST", "/v1/admissions", (201, 409, 422), json=body, headers=key)
        if reply.status_code == 422:  # nobody answered for so long that it would be over
            assert "is over already" in reply.json()["detail"], reply.text
            return
        if reply.status_code == 409:
            self.refused += 1
            return
        self.granted[reply.json()["id"]] = reply.json()

    def change(self):
        live = [i for i in self.granted if i not in self.released]
        if not live:
            return
        chosen = self.random.choice(live)
        path = "/v1/admissions/" + chosen
        if self.random.random() < 0.5:
            self.until_answered("DELETE", path, (204,))
            self.released.add(chosen)
            return
        later = text(instant(self.granted[chosen]["expires_at"]) + datetime.timedelta(seconds=self.random.uniform(-1, 20)))
        self.until_answered("PATCH", path, (200, 409, 422), json={"expires_at": later})  # somebody is in the way; it is over

    def run(self):
        try:
            for number in range(self.count):
                self.ask(number)
                if self.random.random() < 0.4:
                    self.change()
        except Exception as fault:  # noqa: BLE001 -- it is raised again where the thread is joined
            self.fault = fault


def finish(callers, seconds=180):
    for caller in callers:
        caller.join(timeout=seconds)
        assert not caller.is_alive(), "a caller did not come to its end"
        if caller.fault is not None:
            raise caller.fault


def check(client, callers, cluster):
    """What was acknowledged is there, and at no instant more was promised than there is."""
    items = items_of(client, "&cluster=" + cluster)
    there = {item["id"]: item for item in items}
    granted = {i for caller in callers for i in caller.granted}
    assert granted <= set(there), "acknowledged and gone: %s" % (granted - set(there))
    for caller in callers:
        assert all(there[i]["status"] != "held" for i in caller.released)
    cores, memory = peak(items)
    assert cores <= CORES, cores
    assert memory <= MEMORY, memory
    return items, cores

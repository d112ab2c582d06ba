"""Few database connections are shared: nobody holds one while waiting for another."""
import threading
import uuid

import pytest

CONNECTIONS = 3


@pytest.fixture(scope="module")
def few(make_service):
    """More workers than connections, and no cache of histories: advice reads the database before it computes."""
    service = make_service(PROVISOR_DATABASE_CONNECTIONS=CONNECTIONS, PROVISOR_IO_WORKERS=4 * CONNECTIONS, PROVISOR_HISTORY_CACHE_MS=0)
    service.alpha_token = service.token("alpha")
    return service.start()


def test_keyed_advice_waits_for_no_second_connection(few, name):
    client = few.client(few.alpha_token)
    client.post("/v1/applications/%s/runs" % name,
                {"problem_size": 100, "executors": 4, "cores_per_executor": 4, "duration_s": 50,
                 "stages": [{"id": 0, "tasks": 100, "task_duration_s": 6}]}, 201)
    asked = {"application": name, "deadline_s": 60}
    statuses, lock, together = [], threading.Lock(), threading.Barrier(4 * CONNECTIONS)

    def ask():
        mine = few.client(few.alpha_token)
        mine.get("/v1/applications")
        together.wait()
        for _ in range(5):
            reply = mine.post("/v1/advice", asked, headers={"Idempotency-Key": str(uuid.uuid4())})
            with lock:
                statuses.append(reply.status_code)

    threads = [threading.Thread(target=ask) for _ in range(4 * CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [201] * len(threads) * 5


def test_a_key_is_answered_from_what_was_kept(few, name):
    """Twelve at once with one key: one advice; the others get its reply or are told that it is still being made."""
    client = few.client(few.alpha_token)
    client.post("/v1/applications/%s/runs" % name,
                {"problem_size": 100, "executors": 4, "cores_per_executor": 4, "duration_s": 50,
                 "stages": [{"id": 0, "tasks": 100, "task_duration_s": 6}]}, 201)
    asked, key = {"application": name, "deadline_s": 60}, str(uuid.uuid4())
    replies, together = [], threading.Barrier(4 * CONNECTIONS)

    def ask():
        mine = few.client(few.alpha_token)
        mine.get("/v1/applications")
        together.wait()
        replies.append(mine.post("/v1/advice", asked, {201, 409}, headers={"Idempotency-Key": key}))

    threads = [threading.Thread(target=ask) for _ in range(4 * CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = {r.json()["id"] for r in replies if r.status_code == 201}
    assert len(made) == 1 and len([a for a in client.get("/v1/advice?application=" + name).json()["items"]]) == 1
    again = client.post("/v1/advice", asked, 201, headers={"Idempotency-Key": key})
    assert {again.json()["id"]} == made and again.headers["Idempotency-Replayed"] == "true"
    client.refuse("POST", "/v1/advice", 422, header="Idempotency-Key", json=dict(asked, deadline_s=61), headers={"Idempotency-Key": key})

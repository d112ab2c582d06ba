"""Applications: create, read, change under a version, delete with everything that is theirs."""
import threading
import concurrent.futures
import json
import time
import urllib.parse
import uuid

import psycopg2
import pytest

from patience import PATIENCE
from test_eventlogs import tiny_log

RUN = {"problem_size": 8, "executors": 2, "cores_per_executor": 2, "duration_s": 16.5}


def path_of(name, rest=""):
    return "/v1/applications/" + urllib.parse.quote(name, safe="") + rest


def test_created_with_a_location_that_leads_to_it(client, name):
    body = {"name": name, "description": "loads the warehouse", "labels": {"owner": "data", "a": "1"}}
    made = client.post("/v1/applications", body, 201)
    assert made.headers["Location"] == path_of(name)
    found = client.get(made.headers["Location"])
    assert found.json() == made.json()
    assert found.json()["description"] == body["description"] and found.json()["labels"] == body["labels"]
    assert found.json()["retention"] == {"days": None, "runs": None} and found.json()["runs"] == 0
    assert found.headers["ETag"] == made.headers["ETag"]


def test_a_name_is_taken_once_in_a_team_and_free_in_another(client, stranger, name):
    client.post("/v1/applications", {"name": name}, 201)
    client.post("/v1/applications", {"name": name}, 409)
    stranger.post("/v1/applications", {"name": name}, 201)


def test_names_with_slashes_blanks_and_umlauts_are_one_path_segment(client):
    name = "täglich/ETL 100% ?#" + uuid.uuid4().hex[:8]
    made = client.post("/v1/applications", {"name": name}, 201)
    assert client.get(made.headers["Location"]).json()["name"] == name
    run = client.post(path_of(name, "/runs"), RUN, 201)
    assert client.get(run.headers["Location"]).json()["application"] == name
    client.delete(path_of(name))
    client.get(path_of(name), 404)


def test_faults_name_their_place(client, name):
    refuse = lambda body, pointer: client.refuse("POST", "/v1/applications", 422, pointer=pointer, json=body)
    refuse({}, "/name")
    refuse({"name": ""}, "/name")
    refuse({"name": "x" * 256}, "/name")
    refuse({"name": name, "labels": {"a": 1}}, "/labels/a")
    refuse({"name": name, "owner": "me"}, "/owner")
    client.refuse("POST", "/v1/applications", 400, data=b"{", headers={"Content-Type": "application/json"})
    client.get(path_of(name), 404)


def test_an_idempotency_key_makes_one_application(client, name):
    headers = {"Idempotency-Key": '"%s"' % uuid.uuid4()}
    first = client.post("/v1/applications", {"name": name}, 201, headers=headers)
    again = client.post("/v1/applications", {"name": name}, 201, headers=headers)
    assert again.json() == first.json() and again.headers["Location"] == first.headers["Location"]
    client.refuse("POST", "/v1/applications", 422, header="Idempotency-Key", json={"name": name + "x"}, headers=headers)


def test_a_patch_replaces_what_it_names_and_nothing_else(client, name):
    client.post("/v1/applications", {"name": name, "description": "d", "labels": {"a": "1", "b": "2"}}, 201)
    got = client.patch(path_of(name), {"retention": {"days": 30}}).json()
    assert (got["description"], got["labels"], got["retention"]) == ("d", {"a": "1", "b": "2"}, {"days": 30, "runs": None})
    got = client.patch(path_of(name), {"labels": {"c": "3"}, "description": None}).json()
    assert (got["description"], got["labels"], got["retention"]["days"]) == (None, {"c": "3"}, 30)
    assert client.patch(path_of(name), {"retention": None}).json()["retention"] == {"days": None, "runs": None}
    client.refuse("PATCH", path_of(name), 422, pointer="/name", json={"name": "other"})
    client.refuse("PATCH", path_of(name), 422, pointer="/retention/days", json={"retention": {"days": 0}})
    client.patch(path_of(name), {}, 422)
    client.patch(path_of(name + "x"), {"description": "d"}, 404)


def test_etags_guard_against_lost_updates(client, name):
    old = client.post("/v1/applications", {"name": name}, 201).headers["ETag"]
    client.get(path_of(name), 304, headers={"If-None-Match": old})
    client.get(path_of(name), 304, headers={"If-None-Match": '"other", W/' + old})
    new = client.patch(path_of(name), {"description": "mine"}, headers={"If-Match": old}).headers["ETag"]
    assert new != old
    client.get(path_of(name), 200, headers={"If-None-Match": old})
    client.patch(path_of(name), {"description": "theirs"}, 412, headers={"If-Match": old})
    client.patch(path_of(name), {"description": "theirs"}, 412, headers={"If-Match": "W/" + new})
    client.delete(path_of(name), 412, headers={"If-Match": old})
    assert client.get(path_of(name)).json()["description"] == "mine"
    client.post(path_of(name, "/runs"), RUN, 201)
    client.get(path_of(name), 200, headers={"If-None-Match": new})  # the number of runs is part of it
    client.patch(path_of(name), {"description": "any"}, headers={"If-Match": "*"})
    client.delete(path_of(name), headers={"If-Match": client.get(path_of(name)).headers["ETag"]})
    client.get(path_of(name), 404)


def test_one_made_anew_has_another_etag(client, name):
    old = client.post("/v1/applications", {"name": name}, 201).headers["ETag"]
    client.delete(path_of(name))
    new = client.post("/v1/applications", {"name": name, "description": "another"}, 201).headers["ETag"]
    assert new != old
    client.get(path_of(name), 200, headers={"If-None-Match": old})
    client.patch(path_of(name), {"description": "mine"}, 412, headers={"If-Match": old})
    client.delete(path_of(name), 412, headers={"If-Match": old})


def test_the_list_is_sorted_by_name_and_pages_without_gaps(client):
    prefix = "zz-" + uuid.uuid4().hex[:8]
    names = ["%s-%02d" % (prefix, i) for i in range(7)]
    for name in reversed(names):
        client.post("/v1/applications", {"name": name}, 201)
    seen, target = [], "/v1/applications?limit=3"
    while target:
        page = client.get(target)
        assert len(page.json()["items"]) <= 3
        seen += [a["name"] for a in page.json()["items"]]
        link = page.links.get("next", {}).get("url")
        cursor = page.json()["next_cursor"]
        assert (link is None) == (cursor is None)
        target = link
    assert [n for n in seen if n.startswith(prefix)] == names
    assert seen == sorted(set(seen), key=lambda n: n.encode())


def test_a_cursor_of_something_else_is_refused(client, name):
    client.post("/v1/applications", {"name": name}, 201)
    client.post("/v1/applications", {"name": name + "b"}, 201)
    cursor = client.get("/v1/applications?limit=1").json()["next_cursor"]
    client.refuse("GET", path_of(name, "/runs?cursor=" + cursor), 400, parameter="cursor")
    client.refuse("GET", "/v1/applications?cursor=abc", 400, parameter="cursor")
    swapped = cursor[:-4] + ("AAAA" if cursor[-4:] != "AAAA" else "BBBB")
    client.refuse("GET", "/v1/applications?cursor=" + swapped, 400, parameter="cursor")
    client.refuse("GET", "/v1/applications?limit=0", 422, parameter="limit")
    client.refuse("GET", "/v1/applications?limit=100000", 422, parameter="limit")
    client.refuse("GET", "/v1/applications?colour=red", 422, parameter="colour")


def test_deletion_takes_the_runs_along(client, name):
    run = client.post(path_of(name, "/runs"), RUN, 201).json()
    client.delete(path_of(name))
    client.get(path_of(name), 404)
    client.get(path_of(name, "/runs"), 404)
    client.get("/v1/runs/" + run["id"], 404)
    client.delete(path_of(name), 404)
    client.post(path_of(name, "/runs"), RUN, 201)
    assert client.get(path_of(name)).json()["runs"] == 1


def test_another_team_sees_and_changes_nothing(client, stranger, name):
    run = client.post(path_of(name, "/runs"), dict(RUN, stages=[{"id": 0, "duration_s": 1}]), 201).json()
    for rest in ("", "/runs", "/runs/" + run["id"], "/profile"):
        stranger.get(path_of(name, rest), 404)
    stranger.get("/v1/runs/" + run["id"], 404)
    stranger.patch(path_of(name), {"description": "x"}, 404)
    stranger.patch(path_of(name), {"description": "x"}, 404, headers={"If-Match": "*"})
    stranger.delete(path_of(name, "/runs/" + run["id"]), 404)
    stranger.delete(path_of(name), 404)
    assert name not in [a["name"] for a in stranger.get("/v1/applications?limit=200").json()["items"]]
    assert client.get("/v1/runs/" + run["id"]).json() == run


def test_scopes_are_asked_for(service, client, name):
    reader = service.client(service.token("alpha", scopes="read", name="reader"))
    writer = service.client(service.token("alpha", scopes="write", name="writer"))
    reader.post("/v1/applications", {"name": name}, 403)
    writer.post("/v1/applications", {"name": name}, 201)
    writer.get(path_of(name), 403)
    reader.get(path_of(name), 200)
    reader.delete(path_of(name), 403)
    reader.request("GET", path_of(name), 401, token=False)


NDJSON = {"Content-Type": "application/x-ndjson"}
ARRIVALS = {
    "run": lambda client, name: client.post(path_of(name, "/runs"), RUN, 201),
    "event log": lambda client, name: client.request("POST", path_of(name, "/eventlogs"), 201, data=tiny_log(),
                                                     headers={"Content-Type": "application/octet-stream"}),
    "import": lambda client, name: client.request("POST", path_of(name, "/runs/import"), 201, headers=NDJSON,
                                                  data=json.dumps(RUN).encode()),
}


def wait_until_somebody_waits(connection):
    end = time.monotonic() + PATIENCE
    with connection.cursor() as cursor:
        while True:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))")
            if cursor.fetchone()[0] > 0:
                return
            assert time.monotonic() < end, "nobody waits for the application"
            time.sleep(0.02)


@pytest.mark.parametrize("arrival", ARRIVALS)
def test_what_arrives_while_its_application_is_deleted_makes_a_new_one(service, client, name, arrival):
    """It finds the application, waits behind the deletion, and is taken as if it had come after it."""
    old = client.post("/v1/applications", {"name": name, "description": "old"}, 201).json()
    with psycopg2.connect(service.owner_url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT set_config('provisor.registry', 'on', true)")
        cursor.execute("SELECT team_id FROM provisor.team WHERE name = 'alpha'")
        team = cursor.fetchone()[0]
    with psycopg2.connect(service.database_url) as connection, concurrent.futures.ThreadPoolExecutor() as pool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('provisor.team_id', %s, true)", (team,))
            cursor.execute("DELETE FROM provisor.application WHERE name = %s", (name,))
            assert cursor.rowcount == 1
        arriving = pool.submit(ARRIVALS[arrival], client, name)
        wait_until_somebody_waits(connection)
        connection.commit()
        arriving.result()
    new = client.get(path_of(name)).json()
    assert new["description"] is None and new["created_at"] != old["created_at"] and new["runs"] == 1


def test_of_several_who_delete_one_deletes_and_the_others_find_nothing(client, service, name):
    for _ in range(25):
        client.post("/v1/applications", {"name": name}, 201)
        answers, together = [], threading.Barrier(6)

        def delete():
            mine = service.client(client.token)
            mine.get("/v1/applications")
            together.wait()
            answers.append(mine.request("DELETE", "/v1/applications/" + name, {204, 404}).status_code)

        threads = [threading.Thread(target=delete) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(answers) == [204] + [404] * 5


def test_lists_are_filtered_sorted_and_paged(service):
    client = service.client(service.token("lists-" + uuid.uuid4().hex[:8]))
    for name, day in (("etl-a", 3), ("etl-b", None), ("etl-c", 5), ("report", 4), ("Etl", None)):
        client.post("/v1/applications", {"name": name, "labels": {"owner": "data" if "etl" in name else "bi", "n": name}}, 201)
        if day is not None:
            client.post(path_of(name, "/runs"), dict(RUN, started_at="2026-01-0%dT00:00:00Z" % day), 201)
            client.post(path_of(name, "/runs"), dict(RUN, started_at="2025-01-01T00:00:00Z"), 201)

    def names(**query):
        page = client.get("/v1/applications", params=query).json()
        found = [a["name"] for a in page["items"]]
        while page["next_cursor"]:
            page = client.get("/v1/applications", params=dict(query, cursor=page["next_cursor"])).json()
            found += [a["name"] for a in page["items"]]
        return found

    assert names() == names(sort="name") == ["Etl", "etl-a", "etl-b", "etl-c", "report"], "by bytes: capitals first"
    assert names(name_prefix="etl") == ["etl-a", "etl-b", "etl-c"] and names(name_prefix="%") == []
    assert names(label="owner:bi") == ["Etl", "report"] and names(label=["owner:data", "n:etl-b"]) == ["etl-b"]
    for limit in (1, 2, 50):
        assert names(sort="last_run", limit=limit) == ["etl-c", "report", "etl-a", "Etl", "etl-b"]
        assert names(sort="last_run", name_prefix="etl", limit=limit) == ["etl-c", "etl-a", "etl-b"]
        assert names(sort="name_ignoring_case", limit=limit) == ["Etl", "etl-a", "etl-b", "etl-c", "report"]
    client.post("/v1/applications", {"name": "Report"}, 201)
    client.post("/v1/applications", {"name": "A_%t"}, 201)
    for limit in (1, 2, 50):
        assert names(limit=limit) == ["A_%t", "Etl", "Report", "etl-a", "etl-b", "etl-c", "report"]
        assert names(sort="name_ignoring_case", limit=limit) == ["A_%t", "Etl", "etl-a", "etl-b", "etl-c", "Report", "report"]
        assert names(name_contains="ETL", limit=limit) == ["Etl", "etl-a", "etl-b", "etl-c"]
        assert names(name_contains="t", name_prefix="R", sort="last_run", limit=limit) == ["Report"]
    assert names(name_contains="%") == names(name_contains="_%T") == ["A_%t"] and names(name_contains="nothing") == []
    client.refuse("GET", "/v1/applications?sort=size", 422, parameter="sort")
    cursor = client.get("/v1/applications?limit=1").json()["next_cursor"]
    client.refuse("GET", "/v1/applications?limit=1&name_prefix=e&cursor=" + cursor, 400)


def test_an_application_shows_its_latest_run_and_advice(client, name):
    made = client.post("/v1/applications", {"name": name}, 201)
    assert made.json()["last_run_at"] is None and made.json()["last_advice_at"] is None
    for k in (2, 1):
        client.post(path_of(name, "/runs"), dict(RUN, started_at="2026-01-0%dT00:00:00Z" % k, stages=[{"id": 0, "tasks": 8, "task_duration_s": 2}]), 201)
    seen = client.get(path_of(name))
    assert seen.json()["last_run_at"] == "2026-01-02T00:00:00Z" and seen.json()["last_advice_at"] is None
    advice = client.post("/v1/advice", {"application": name, "deadline_s": 60}, 201).json()
    after = client.get(path_of(name))
    assert after.json()["last_advice_at"] == advice["created_at"] and after.headers["ETag"] != seen.headers["ETag"]
    changed = client.request("PATCH", path_of(name), 200, json={"description": "x"}).json()
    assert changed["last_advice_at"] == advice["created_at"] and changed["last_run_at"] == "2026-01-02T00:00:00Z"
    assert [a for a in client.get("/v1/applications?name_prefix=" + name).json()["items"]] == [changed]


def test_the_latest_run_and_advice_come_along_where_asked(service):
    client = service.client(service.token("latest-" + uuid.uuid4().hex[:8]))
    for name, days in (("none", ()), ("one", (3,)), ("two", (5, 4))):
        client.post("/v1/applications", {"name": name}, 201)
        for day in days:
            client.post(path_of(name, "/runs"), dict(RUN, executors=day, started_at="2026-01-0%dT00:00:00Z" % day,
                                                     stages=[{"id": 0, "tasks": 8, "task_duration_s": 2}]), 201)
    advice = [client.post("/v1/advice", {"application": "two", "deadline_s": d}, 201).json() for d in (60, 90)][-1]
    plain = client.get("/v1/applications").json()["items"]
    assert all("last_run" not in a and "last_advice" not in a for a in plain)
    items = client.get("/v1/applications?include=last_run,last_advice").json()["items"]
    assert [a["last_run"] and a["last_run"]["executors"] for a in items] == [None, 3, 5]
    run = client.get("/v1/runs/" + items[2]["last_run"]["id"]).json()
    assert items[2]["last_run"] == {k: run[k] for k in ("id", "problem_size", "problem_size_measured_by", "executors", "cores_per_executor", "duration_s",
                                                             "succeeded")}
    assert [a["last_advice"] for a in items[:2]] == [None, None]
    assert items[2]["last_advice"] == dict(
        {k: advice[k] for k in ("id", "verdict", "feasible", "deadline_s", "confidence")}, executors=advice["recommendation"]["executors"],
        predicted_duration_s=advice["recommendation"]["predicted_duration_s"],
        deadline_probability=advice["recommendation"]["deadline_probability"])
    one = client.get(path_of("two", "?include=last_advice"))
    assert one.json()["last_advice"] == items[2]["last_advice"] and "last_run" not in one.json()
    assert one.headers["ETag"] == client.get(path_of("two")).headers["ETag"]
    short = client.get("/v1/applications?include=last_advice&fields=name,last_advice.verdict&sort=last_run&limit=1").json()["items"]
    assert short == [{"name": "two", "last_advice": {"verdict": advice["verdict"]}}]
    client.refuse("GET", "/v1/applications?include=last_runs", 422, parameter="include")


def test_letters_beyond_ascii_are_found_as_they_are(service):
    client = service.client(service.token("umlauts-" + uuid.uuid4().hex[:8]))
    for name in ("Ärger", "ärger", "minute"):
        client.post("/v1/applications", {"name": name}, 201)
    names = {text: sorted(i["name"] for i in client.get("/v1/applications", params={"name_contains": text}).json()["items"])
             for text in ("Ärger", "RGER", "İ")}
    assert names == {"Ärger": ["Ärger"], "RGER": sorted(["Ärger", "ärger"]), "İ": []}

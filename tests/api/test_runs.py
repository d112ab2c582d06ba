"""Runs as JSON: recorded losslessly, refused with the place at fault, listed in pages, averaged to a profile."""
import copy
import datetime
import re
import uuid

import pytest

from test_eventlogs import tiny_log, upload

RUN = {"problem_size": 64, "executors": 16, "cores_per_executor": 4, "duration_s": 412.7, "initialization_s": 9.1,
       "started_at": "2026-01-05T10:00:00Z", "succeeded": True, "advice_id": None, "labels": {"branch": "main"},
       "stages": [{"id": 0, "name": "map", "parents": [], "task_durations_s": [3.1, 2.9, 3.0], "task_time_s": 9.0,
                   "duration_s": 5.2, "input_records": 1000000, "nominal_rate_per_s": 41352.5, "skipped": False}]}
SMALL = {"problem_size": 8, "executors": 2, "cores_per_executor": 2, "duration_s": 16.5}


def runs_of(name):
    return "/v1/applications/%s/runs" % name


def test_the_example_of_the_contract_comes_back_as_it_was_sent(client, name):
    made = client.post(runs_of(name), RUN, 201)
    assert made.headers["Location"] == runs_of(name) + "/" + made.json()["id"]
    got = client.get(made.headers["Location"] + "?include=tasks").json()
    for key, value in RUN.items():
        if key != "stages":
            assert got[key] == value, key
    for key, value in RUN["stages"][0].items():
        assert got["stages"][0][key] == value, key
    assert "stages" not in made.json() and got["warnings"] == []
    assert client.get("/v1/runs/" + got["id"] + "?include=stages,tasks").json() == got


def test_executors_are_kept_as_they_came_and_went(client, name):
    seen = [{"added_s": 0.1 + 0.2, "removed_s": None, "cores": 4, "resource_profile_id": 0, "lost": False},
            {"added_s": 7, "removed_s": 1 / 3 + 7, "cores": None, "resource_profile_id": None, "lost": True}]
    made = client.post(runs_of(name), dict(RUN, executor_lifetimes=seen), 201).json()
    assert client.get("/v1/runs/%s?include=stages" % made["id"]).json()["executor_lifetimes"] == seen
    assert "executor_lifetimes" not in client.get("/v1/runs/%s" % made["id"]).json()
    record = client.get(runs_of(name) + "/export").json()
    assert record["executor_lifetimes"] == seen
    most = [{"added_s": i} for i in range(5000)]
    assert len(client.get("/v1/runs/%s?include=stages" % client.post(runs_of(name), dict(RUN, executor_lifetimes=most), 201).json()["id"])
               .json()["executor_lifetimes"]) == 5000
    none = client.post(runs_of(name), RUN, 201).json()
    assert client.get("/v1/runs/%s?include=stages" % none["id"]).json()["executor_lifetimes"] == []


def test_doubles_survive_to_the_last_bit(client, name):
    durations = [0.1 + 0.2, 1 / 3, 5e-324, 1e11 / 7, 0.0, 123456789.12345679]
    sent = dict(SMALL, initialization_s=2 / 3, duration_s=1e11 + 1 / 3, stages=[
        {"id": 2, "parents": [5, 5], "task_durations_s": durations, "started_s": -0.25},
        {"id": 5, "tasks": 7, "task_duration_s": 2 / 7, "input_records": 3},
        {"id": 9}])
    run = client.post(runs_of(name), sent, 201)
    got = client.get(run.headers["Location"] + "?include=tasks").json()
    assert got["initialization_s"] == 2 / 3 and got["duration_s"] == sent["duration_s"]
    first, second, third = got["stages"]
    assert first["task_durations_s"] == durations and first["started_s"] == -0.25 and first["parents"] == [5]
    assert second["tasks"] == 7 and second["task_duration_s"] == 2 / 7 and second["task_time_s"] == 7 * (2 / 7)
    assert second["nominal_rate_per_s"] == 3 / second["task_time_s"] and "task_durations_s" not in second
    assert third["tasks"] is None and third["task_time_s"] is None and third["name"] is None
    assert (got["started_at"], got["advice_id"], got["succeeded"], got["labels"]) == (None, None, True, {})
    stages = client.get(run.headers["Location"] + "?include=stages").json()["stages"]
    assert "task_durations_s" not in stages[0] and stages[0]["tasks"] == len(durations)


def test_no_stages_and_an_empty_list_are_told_apart(client, name):
    without = client.post(runs_of(name), SMALL, 201).headers["Location"]
    empty = client.post(runs_of(name), dict(SMALL, stages=[]), 201).headers["Location"]
    assert client.get(without + "?include=stages").json()["stages"] is None
    assert client.get(empty + "?include=stages").json()["stages"] == []


@pytest.mark.parametrize("change, pointer", [
    ({"problem_size": 0}, "/problem_size"),
    ({"problem_size": None}, "/problem_size"),
    ({"executors": 1.5}, "/executors"),
    ({"cores_per_executor": "4"}, "/cores_per_executor"),
    ({"duration_s": "NaN"}, "/duration_s"),
    ({"duration_s": -1}, "/duration_s"),
    ({"initialization_s": 500}, "/initialization_s"),
    ({"started_at": "2026-13-01T00:00:00Z"}, "/started_at"),
    ({"advice_id": str(uuid.uuid4())}, "/advice_id"),
    ({"advice_id": "x"}, "/advice_id"),
    ({"labels": {"k": None}}, "/labels/k"),
    ({"colour": "red"}, "/colour"),
    ({"stages": [{"id": 0}, {"id": 1}, {"id": 0}]}, "/stages/2/id"),
    ({"stages": [{"id": 0, "parents": [1]}]}, "/stages/0/parents/0"),
    ({"stages": [{"id": 0, "parents": [1]}, {"id": 1, "parents": [0]}]}, "/stages/1/parents"),
    ({"stages": [{"id": 0, "tasks": 3}]}, "/stages/0/task_duration_s"),
    ({"stages": [{"id": 0, "task_durations_s": [1, None]}]}, "/stages/0/task_durations_s/1"),
    ({"executor_lifetimes": [{"added_s": 1}, {"added_s": 3, "removed_s": 2.5}]}, "/executor_lifetimes/1/removed_s"),
    ({"executor_lifetimes": [{"removed_s": 2.5}]}, "/executor_lifetimes/0/added_s"),
    ({"executor_lifetimes": [{"added_s": -1}]}, "/executor_lifetimes/0/added_s"),
    ({"executor_lifetimes": [{"added_s": 1, "cores": 0}]}, "/executor_lifetimes/0/cores"),
    ({"executor_lifetimes": [{"added_s": 1}] * 5001}, "/executor_lifetimes"),
])
def test_what_is_wrong_is_pointed_at_and_nothing_is_kept(client, name, change, pointer):
    body = copy.deepcopy(RUN)
    body.update(change)
    client.refuse("POST", runs_of(name), 422, pointer=pointer, json=body)
    client.get(runs_of(name), 404)  # not even the application was made


def test_json_that_is_none_is_400(client, name):
    for text in (b'{"duration_s": NaN}', b'{"duration_s": 1e999}', b'{"a": "\xff"}', b'{"a": 1, "a": 2}', b"",
                 b'{"stages": ' + b"[" * 100 + b"]" * 100 + b"}"):
        client.refuse("POST", runs_of(name), 400, data=text, headers={"Content-Type": "application/json"})


def test_a_key_sent_twice_makes_one_run(client, name):
    headers = {"Idempotency-Key": "ci-" + uuid.uuid4().hex}
    first = client.post(runs_of(name), SMALL, 201, headers=headers).json()
    assert client.post(runs_of(name), SMALL, 201, headers=headers).json() == first
    client.refuse("POST", runs_of(name), 422, header="Idempotency-Key", json=RUN, headers=headers)
    assert [r["id"] for r in client.get(runs_of(name)).json()["items"]] == [first["id"]]


def test_120_runs_in_pages_of_seven_without_gaps_or_repeats(client, name):
    """Equal instants and runs that come in between must not disturb the pages."""
    start = datetime.datetime(2026, 1, 1)
    made = []
    for i in range(120):
        at = start + datetime.timedelta(minutes=i // 3)  # three runs an instant
        body = dict(SMALL, started_at=at.isoformat() + "Z", problem_size=i + 1)
        made.append((body["started_at"], client.post(runs_of(name), body, 201).json()["id"]))
    seen, target, pages = [], runs_of(name) + "?limit=7", 0
    while target:
        page = client.get(target)
        seen += [(r["started_at"], r["id"]) for r in page.json()["items"]]
        target = page.links.get("next", {}).get("url")
        if pages == 3:
            client.post(runs_of(name), dict(SMALL, started_at="2026-02-01T00:00:00Z"), 201)
        pages += 1
    assert pages == 18
    assert seen == sorted(made, reverse=True)


def test_lists_filter_by_labels_and_time(client, name):
    for i, labels in enumerate([{"branch": "main", "ci": "a:b"}, {"branch": "main"}, {"branch": "dev"}, {}]):
        client.post(runs_of(name), dict(SMALL, labels=labels, started_at="2026-01-0%dT00:00:00Z" % (i + 1)), 201)
    ask = lambda query: [r["started_at"][8:10] for r in client.get(runs_of(name) + query).json()["items"]]
    assert ask("") == ["04", "03", "02", "01"]
    assert ask("?label=branch:main") == ["02", "01"]
    assert ask("?label=branch:main&label=ci:a:b") == ["01"]
    assert ask("?label=branch:") == []
    assert ask("?since=2026-01-02T00:00:00Z&until=2026-01-04T00:00:00Z") == ["03", "02"]
    assert ask("?since=2026-01-03T01:00:00%2B01:00") == ["04", "03"]
    for query, parameter in (("?label=x", "label"), ("?label=a:1&label=a:2", "label"), ("?since=now", "since"),
                             ("?include=everything", "include"), ("?until=x", "until"), ("?page=2", "page")):
        client.refuse("GET", runs_of(name) + query, 422, parameter=parameter)


def check_windows(client, name):
    """Every combination of labels, bounds and page size against a filter of our own, three runs an instant: each run of
    the window once, newest first, whether its statement is planned for it or for all."""
    made = []
    for i in range(36):
        labels = {"branch": ("main", "dev")[i % 2], "host": str(i % 3), "ci": str(i % 4)}
        body = dict(SMALL, labels=labels, started_at="2026-03-%02dT00:00:00Z" % (1 + i // 3))
        made.append((body["started_at"], client.post(runs_of(name), body, 201).json()["id"], labels))
    made.sort(reverse=True)
    day = lambda n: "2026-03-%02dT00:00:00Z" % n
    for wanted in ({}, {"branch": "dev"}, {"branch": "dev", "host": "1"}, {"branch": "dev", "host": "1", "ci": "3"}, {"host": "9"}):
        for since, until in ((None, None), (day(4), None), (None, day(9)), (day(4), day(9)), (day(9), day(9)), (day(13), None)):
            query = "".join("&label=%s:%s" % item for item in wanted.items())
            query += "&since=" + since if since else ""
            query += "&until=" + until if until else ""
            seen, target = [], runs_of(name) + "?limit=4" + query
            while target:
                page = client.get(target)
                seen += [r["id"] for r in page.json()["items"]]
                target = page.links.get("next", {}).get("url")
            assert seen == [run_id for at, run_id, labels in made
                            if (since is None or at >= since) and (until is None or at < until)
                            and wanted.items() <= labels.items()], query


def test_pages_of_windows_hold_each_run_once(client, name):
    check_windows(client, name)


def test_a_cursor_belongs_to_its_filters_and_its_team(client, stranger, name):
    for _ in range(3):
        client.post(runs_of(name), dict(SMALL, labels={"k": "v"}), 201)
        stranger.post(runs_of(name), dict(SMALL, labels={"k": "v"}), 201)
    cursor = client.get(runs_of(name) + "?limit=1&label=k:v").json()["next_cursor"]
    assert len(client.get(runs_of(name) + "?limit=5&label=k:v&cursor=" + cursor).json()["items"]) == 2
    client.refuse("GET", runs_of(name) + "?cursor=" + cursor, 400, parameter="cursor")
    client.refuse("GET", runs_of(name) + "?label=k:w&cursor=" + cursor, 400, parameter="cursor")
    client.refuse("GET", runs_of(name) + "?label=k:v&since=2026-01-01T00:00:00Z&cursor=" + cursor, 400, parameter="cursor")
    stranger.refuse("GET", runs_of(name) + "?label=k:v&cursor=" + cursor, 400, parameter="cursor")


def test_a_deleted_run_is_gone_and_counted_off(client, name):
    keep = client.post(runs_of(name), SMALL, 201).json()["id"]
    gone = client.post(runs_of(name), RUN, 201).json()["id"]
    client.delete(runs_of(name) + "/" + gone)
    client.delete(runs_of(name) + "/" + gone, 404)
    client.get("/v1/runs/" + gone, 404)
    assert [r["id"] for r in client.get(runs_of(name)).json()["items"]] == [keep]
    assert client.get("/v1/applications/" + name).json()["runs"] == 1


def test_ids_that_are_none_or_of_another_application_find_nothing(client, name):
    run = client.post(runs_of(name), SMALL, 201).json()["id"]
    client.post(runs_of(name + "b"), SMALL, 201)
    client.get(runs_of(name + "b") + "/" + run, 404)
    client.delete(runs_of(name + "b") + "/" + run, 404)
    client.get(runs_of(name) + "/not-an-id", 404)
    client.get("/v1/runs/" + str(uuid.uuid4()), 404)
    client.get(runs_of(name) + "/" + run, 200)


def test_limits_have_their_own_answer(make_service):
    service = make_service(PROVISOR_STAGES_MAX=3, PROVISOR_TASKS_MAX=10, PROVISOR_LABELS_MAX=2,
                           PROVISOR_BODY_BYTES_MAX=20000)
    client = service.client(service.token("alpha"))
    service.start()
    post = lambda body, pointer: client.refuse("POST", runs_of("a"), 422, pointer=pointer, json=dict(SMALL, **body))
    post({"stages": [{"id": i} for i in range(4)]}, "/stages")
    post({"stages": [{"id": 0, "tasks": 11, "task_duration_s": 1}]}, "/stages/0/tasks")
    post({"stages": [{"id": 0, "tasks": 6, "task_duration_s": 1}, {"id": 1, "task_durations_s": [1] * 5}]},
         "/stages/1/task_durations_s")
    post({"labels": {"a": "", "b": "", "c": ""}}, "/labels")
    client.post(runs_of("a"), dict(SMALL, labels={"a": "x" * 30000}), 413)
    ids = [client.post(runs_of("b"), dict(SMALL, stages=[{"id": 0, "task_durations_s": [1] * n}]), 201).json()["id"]
           for n in (4, 5, 10, 3)]
    pages, target = [], runs_of("b") + "?include=tasks"  # pages of at most ten tasks, or one run
    while target:
        page = client.get(target)
        pages.append([(r["id"], len(r["stages"][0]["task_durations_s"])) for r in page.json()["items"]])
        target = page.links.get("next", {}).get("url")
    assert [[n for _, n in page] for page in pages] == [[3], [10], [5, 4]]
    assert [i for page in pages for i, _ in page] == ids[::-1]
    client.refuse("GET", runs_of("a") + "?label=a:1&label=b:1&label=c:1", 422, parameter="label")


# --- profile


STAGES = [{"id": 3, "name": "scan", "duration_s": 10, "tasks": 4, "task_duration_s": 5, "input_records": 100},
          {"id": 4, "name": "join", "parents": [3], "duration_s": 5, "tasks": 2, "task_duration_s": 4}]


def test_the_profile_averages_runs_of_the_latest_graph(client, name):
    other = [{"id": 0, "duration_s": 1}, {"id": 1, "duration_s": 1}]
    doubled = [dict(s, id=s["id"] + 2, duration_s=s["duration_s"] * 3, task_duration_s=s["task_duration_s"] * 3)
               for s in STAGES]
    doubled[1]["parents"] = [5]
    ids = [client.post(runs_of(name), dict(SMALL, stages=stages, started_at="2026-01-0%dT00:00:00Z" % (i + 1)), 201)
           .json()["id"] for i, stages in enumerate([other, doubled, STAGES])]
    client.post(runs_of(name), dict(SMALL, succeeded=False, stages=other, started_at="2026-01-09T00:00:00Z"), 201)
    got = client.get("/v1/applications/%s/profile" % name).json()
    assert got["run_id"] == ids[2] and got["graph_changed"] is True
    assert [r["id"] for r in got["source_runs"]] == [ids[2], ids[1]]
    scan, join = got["stages"]
    assert (scan["id"], scan["name"], scan["duration_s"], scan["task_duration_s"]) == (3, "scan", 20, 10)
    assert (join["parents"], join["duration_s"], join["nominal_rate_per_s"]) == ([3], 10, None)
    left = (scan["task_time_s"] + join["task_time_s"]) / scan["task_time_s"]
    assert scan["weight"] == pytest.approx(0.33 * 2 + 0.67 * left, rel=1e-12) and join["weight"] == 1
    assert scan["nominal_rate_per_s"] == pytest.approx((100 / 20 + 100 / 60) / 2, rel=1e-12)
    assert got["average_nominal_rate_per_s"] == pytest.approx(scan["nominal_rate_per_s"], rel=1e-12)


def test_one_graph_throughout_is_not_changed(client, name):
    for _ in range(2):
        client.post(runs_of(name), dict(SMALL, stages=STAGES), 201)
    got = client.get("/v1/applications/%s/profile" % name).json()
    assert got["graph_changed"] is False and len(got["source_runs"]) == 2


def test_without_stages_there_is_no_profile(client, name):
    client.get("/v1/applications/%s/profile" % name, 404)
    client.post(runs_of(name), SMALL, 201)
    client.get("/v1/applications/%s/profile" % name, 404)


def test_a_run_has_the_same_members_whatever_it_came_from(client, name):
    """What only a log says is null or empty in a run that was sent as JSON."""
    body = {"problem_size": 8, "executors": 2, "cores_per_executor": 2, "duration_s": 16.5}
    sent = client.post("/v1/applications/%s/runs" % name, body, 201).json()
    logged = upload(client, name, tiny_log()).json()
    assert set(sent) == set(logged)
    assert sent["spark_version"] is None and sent["gc_time_s"] is None and sent["jobs"] is None
    assert sent["warnings"] == [] and sent["resource_profiles"] == [] and sent["task_times_summarized"] is False
    assert client.get("/v1/runs/" + sent["id"]).json() == sent


@pytest.mark.parametrize("ahead_h, warned", [(48, True), (1, False), (-48, False)])
def test_a_run_that_starts_in_the_future_is_stored_with_a_warning(client, name, ahead_h, warned):
    """Clocks go wrong; lists have such a run first, and it counts as the latest."""
    at = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=ahead_h)).strftime("%Y-%m-%dT%H:%M:%SZ")
    run = client.post("/v1/applications/%s/runs" % name, {"problem_size": 4, "executors": 2, "cores_per_executor": 2, "duration_s": 10,
                                                          "started_at": at}, 201).json()
    assert [w["code"] for w in run["warnings"]] == ["starts_in_future"] * warned
    assert not warned or at in run["warnings"][0]["message"]
    assert client.get("/v1/runs/" + run["id"]).json()["warnings"] == run["warnings"]


def test_a_log_that_starts_in_the_future_is_stored_with_a_warning(client, name):
    ahead_ms = round((datetime.datetime.now().timestamp() + 3 * 86400) * 1000) - 1700000000000
    log = re.sub(r"17000\d{8}", lambda at: str(int(at[0]) + ahead_ms), tiny_log().decode())
    run = upload(client, name, log.encode()).json()
    assert "starts_in_future" in [w["code"] for w in run["warnings"]] and run["duration_s"] < 60
    again = upload(client, name, log.encode(), 200).json()
    assert again["warnings"] == run["warnings"]


def test_the_runs_of_all_applications_are_one_list(service):
    """Newest first, each run once, in pages of any size; another team's are not among them."""
    client = service.client(service.token("all-" + uuid.uuid4().hex[:8]))
    made = []
    for i in range(30):
        body = dict(SMALL, started_at="2026-01-%02dT10:00:00Z" % (1 + i * 7 % 28), succeeded=i % 3 > 0, labels={"i": str(i % 2)})
        made.append(client.post(runs_of("app/%d" % (i % 4)).replace("app/", "app%2F"), body, 201).json())
    made.sort(key=lambda run: (run["started_at"], run["id"]), reverse=True)

    def listed(query):
        items, path = [], "/v1/runs?" + query
        while True:
            page = client.get(path).json()
            items += page["items"]
            if page["next_cursor"] is None:
                return items
            path = "/v1/runs?%s&cursor=%s" % (query, page["next_cursor"])

    for limit in (1, 7, 30, 200):
        assert listed("limit=%d" % limit) == made
    assert {run["application"] for run in made} == {"app/%d" % i for i in range(4)}
    assert listed("limit=4&succeeded=false") == [run for run in made if not run["succeeded"]]
    window = "since=2026-01-05T10:00:00Z&until=2026-01-20T10:00:00Z"
    assert listed("limit=4&" + window) == [run for run in made if "2026-01-05" <= run["started_at"][:10] < "2026-01-20"] != []
    of_one = [run for run in made if run["application"] == "app/2"]
    assert listed("limit=3&application=app%2F2") == of_one == client.get(runs_of("app%2F2")).json()["items"]
    query = "label=i:1&include=stages&limit=200"
    assert client.get("/v1/runs?application=app%2F1&" + query).json() == client.get(runs_of("app%2F1") + "?" + query).json()
    assert len(listed("application=app%2F1&label=i:1")) == len([run for run in made if run["application"] == "app/1"])
    client.get("/v1/runs?application=nowhere", 404)
    client.refuse("GET", "/v1/runs?label=i:1", 422, parameter="label")
    client.refuse("GET", "/v1/runs?include=stages", 422, parameter="include")
    client.refuse("GET", "/v1/runs?name=app", 422, parameter="name")
    cursor = client.get("/v1/runs?limit=1").json()["next_cursor"]
    client.get("/v1/runs?limit=1&succeeded=true&cursor=" + cursor, 400)
    assert service.client(service.token("none-" + uuid.uuid4().hex[:8])).get("/v1/runs").json()["items"] == []


def test_corrections_and_what_is_stated_with_a_log_have_the_bound_of_clusters(client, name):
    """Executors times cores."""
    path = "/v1/applications/%s" % name
    body = {"problem_size": 5, "executors": 4, "cores_per_executor": 4, "duration_s": 60}
    run = client.post(path + "/runs", body, 201).json()
    at = path + "/runs/" + run["id"]
    for change, member in (({"cores_per_executor": 250001}, "cores_per_executor"), ({"executors": 250001}, "executors"),
                           ({"executors": 1000000, "cores_per_executor": 2}, "cores_per_executor"), ({"executors": 2000000}, "executors")):
        problem = client.refuse("PATCH", at, 422, pointer="/" + member, json=change)
        assert "(cores_max)" in problem["errors"][0]["detail"]
    assert client.get(at).json()["cores_per_executor"] == 4
    client.request("PATCH", at, 200, json={"cores_per_executor": 250000})
    client.request("PATCH", at, 200, json={"succeeded": False, "executors": None})
    client.refuse("PATCH", at, 422, pointer="/cores_per_executor", json={"cores_per_executor": 1000001})
    for query, member in (("cores_per_executor=1000001", "cores_per_executor"), ("executors=250001", "executors")):
        client.refuse("POST", path + "/eventlogs?" + query, 422, parameter=member, data=tiny_log(),
                      headers={"Content-Type": "application/octet-stream"})

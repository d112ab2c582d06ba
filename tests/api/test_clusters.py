"""Clusters: put, read, listed and deleted; versions, conditions, names, limits, and what refers to them."""
import threading
import urllib.parse
import uuid

import pytest

CLUSTERS = "/v1/clusters"
BOOKS = "/v1/price-books"
WHOLE = {"executors": 40, "cores_per_executor": 4, "memory_bytes_per_executor": 17179869184, "slots": 8, "slot_s": 0.5,
         "unreachable_probability": 0.01, "ingress_bytes_per_s": 1e9, "egress_bytes_per_s": 2.5e8, "machine_type": "m5.xlarge",
         "price_book": None, "description": "Frankfurt", "labels": {"region": "eu", "tier": ""}}
PRICES = {"currency": "EUR", "prices": [{"machine_type": "m5.xlarge", "per_executor_hour": 0.25}]}


@pytest.fixture
def lonely(service):
    """A client of a team of its own."""
    return service.client(service.token("clusters-" + uuid.uuid4().hex[:8]))


def at(name):
    return CLUSTERS + "/" + urllib.parse.quote(name, safe="")


def both(*calls):
    """Run them at the same time; their results in order."""
    results = [None] * len(calls)
    gate = threading.Barrier(len(calls))

    def run(i):
        gate.wait()
        results[i] = calls[i]()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    [t.start() for t in threads]
    [t.join() for t in threads]
    return results


def test_what_is_put_is_read_and_replaced_as_a_whole(lonely):
    made = lonely.put(at("eu-1"), WHOLE, 201)
    assert made.headers["Location"] == at("eu-1")
    body = made.json()
    assert {k: body[k] for k in WHOLE} == WHOLE and body["name"] == "eu-1" and body["version"] == 1
    read = lonely.get(at("eu-1"))
    assert read.json() == body and read.headers["ETag"] == made.headers["ETag"]
    lonely.request("GET", at("eu-1"), 304, headers={"If-None-Match": made.headers["ETag"]})
    again = lonely.put(at("eu-1"), {"slots": 0}, 200)
    assert "Location" not in again.headers and again.headers["ETag"] != made.headers["ETag"]
    now = again.json()
    assert now["slots"] == 0 and now["version"] == 2 and now["id"] == body["id"] and now["created_at"] == body["created_at"]
    assert all(now[k] is None for k in WHOLE if k not in ("slots", "labels")) and now["labels"] == {}
    lonely.delete(at("eu-1"))
    lonely.get(at("eu-1"), 404)
    lonely.delete(at("eu-1"), 404)
    assert [a["action"] for a in lonely.get("/v1/audit").json()["items"]][:3] == ["cluster.delete", "cluster.update", "cluster.insert"]


def test_what_is_shown_can_be_put_back(lonely):
    shown = lonely.put(at("a"), WHOLE, 201).json()
    writable = {k: v for k, v in shown.items() if k not in ("id", "name", "version", "created_at", "updated_at")}
    again = lonely.put(at("a"), writable).json()
    assert {k: again[k] for k in WHOLE} == WHOLE


@pytest.mark.parametrize("name", ["eu/1", "näch t", "a%2Fb", "?#&=", "...", "%", "'; DROP TABLE", "日" * 255, "\U0001f680"])
def test_names_with_odd_characters(lonely, name):
    made = lonely.put(at(name), {"executors": 1}, 201)
    assert made.json()["name"] == name
    location = made.headers["Location"]
    assert lonely.get(location).json()["name"] == name
    assert [c["name"] for c in lonely.get(CLUSTERS).json()["items"]] == [name]
    lonely.delete(location)


@pytest.mark.parametrize("name", ["a\nb", "x" * 256, "\u0085"])
def test_names_that_are_none(lonely, name):
    lonely.refuse("PUT", at(name), 422, parameter="name", json={})
    lonely.get(at(name), 404)


@pytest.mark.parametrize("body,pointer", [
    ({"executors": 0}, "/executors"), ({"executors": 1.5}, "/executors"), ({"executors": "4"}, "/executors"),
    ({"cores_per_executor": -1}, "/cores_per_executor"), ({"executors": 1000000, "cores_per_executor": 2}, "/executors"),
    ({"memory_bytes_per_executor": 0}, "/memory_bytes_per_executor"), ({"slots": -1}, "/slots"), ({"slot_s": 0}, "/slot_s"),
    ({"unreachable_probability": 1.01}, "/unreachable_probability"), ({"ingress_bytes_per_s": -1}, "/ingress_bytes_per_s"),
    ({"egress_bytes_per_s": "fast"}, "/egress_bytes_per_s"), ({"machine_type": ""}, "/machine_type"),
    ({"price_book": "nobody's"}, "/price_book"), ({"price_book": 7}, "/price_book"), ({"name": "a"}, "/name"),
    ({"labels": {"k": 1}}, "/labels/k"), ({"description": 1}, "/description"), ({"nodes": 4}, "/nodes"),
])
def test_faults_name_their_place_and_leave_nothing(lonely, body, pointer):
    lonely.refuse("PUT", at("a"), 422, pointer=pointer, json=body)
    lonely.get(at("a"), 404)


def test_conditions(lonely):
    lonely.refuse("PUT", at("a"), 412, json={}, headers={"If-Match": "*"})
    lonely.refuse("PUT", at("a"), 412, json={}, headers={"If-Match": '"v1-000000000000"'})
    first = lonely.put(at("a"), {}, 201, headers={"If-None-Match": "*"}).headers["ETag"]
    lonely.refuse("PUT", at("a"), 412, json={}, headers={"If-None-Match": "*"})
    second = lonely.put(at("a"), {"slots": 2}, headers={"If-Match": first}).headers["ETag"]
    lonely.refuse("PUT", at("a"), 412, json={}, headers={"If-Match": first})
    lonely.refuse("DELETE", at("a"), 412, headers={"If-Match": first})
    assert lonely.get(at("a")).json()["slots"] == 2
    lonely.delete(at("a"), headers={"If-Match": '"other", ' + second})
    # A version never comes again: what was read of the old cluster does not fit the new one.
    third = lonely.put(at("a"), {}, 201).headers["ETag"]
    assert third not in (first, second)
    lonely.refuse("PUT", at("a"), 412, json={}, headers={"If-Match": first})


def test_of_two_writers_with_one_version_one_wins(service, lonely):
    tag = lonely.put(at("a"), {"slots": 0}, 201).headers["ETag"]
    for turn in range(1, 6):
        others = [service.client(lonely.token) for _ in range(4)]
        replies = both(*(lambda c=c, i=i: c.request("PUT", at("a"), (200, 412), json={"slots": 10 * turn + i}, headers={"If-Match": tag})
                         for i, c in enumerate(others)))
        won = [r for r in replies if r.status_code == 200]
        assert len(won) == 1
        tag = won[0].headers["ETag"]
        assert lonely.get(at("a")).json()["slots"] == won[0].json()["slots"]


def test_of_two_makers_one_wins(service, lonely):
    others = [service.client(lonely.token) for _ in range(4)]
    replies = both(*(lambda c=c: c.request("PUT", at("a"), (201, 412), json={}, headers={"If-None-Match": "*"}) for c in others))
    assert sorted(r.status_code for r in replies) == [201, 412, 412, 412]
    # Without a condition all of them are carried out, one after another.
    replies = both(*(lambda c=c: c.request("PUT", at("b"), (200, 201), json={}) for c in others))
    assert sorted(r.status_code for r in replies) == [200, 200, 200, 201] and lonely.get(at("b")).json()["version"] == 4


def test_a_cluster_that_is_priced_stays(lonely):
    """A book may name a cluster before it comes; while both are there the cluster cannot go."""
    rows = [{"cluster": "a", "per_executor_hour": 1}, {"cluster": "later", "per_executor_hour": 2}]
    lonely.put(at("a"), {}, 201)
    lonely.put(BOOKS + "/book", dict(PRICES, prices=rows), 201)
    lonely.put(at("later"), {}, 201)
    for name in ("a", "later"):
        problem = lonely.refuse("DELETE", at(name), 409, parameter="name")
        assert 'price book "book"' in problem["detail"] and problem["errors"][0]["code"] == "referenced"
        lonely.get(at(name))
    lonely.put(BOOKS + "/book", PRICES)
    lonely.delete(at("a"))
    lonely.delete(at("later"))


def test_a_book_that_a_cluster_names_stays(lonely):
    lonely.put(BOOKS + "/book", PRICES, 201)
    for i in range(10):
        lonely.put(at("c%d" % i), {"price_book": "book"}, 201)
    problem = lonely.refuse("DELETE", BOOKS + "/book", 409, parameter="name")
    assert 'cluster "c0"' in problem["detail"] and len(problem["errors"]) == 8
    for i in range(10):
        lonely.put(at("c%d" % i), {}, 200)
    lonely.delete(BOOKS + "/book")


def test_deleting_a_book_races_with_clusters_that_name_it(service, lonely):
    """Either the cluster names a book that is there, or the book is gone and the cluster was refused."""
    for turn in range(12):
        name = "r%d" % turn
        lonely.put(BOOKS + "/" + name, PRICES, 201)
        a, b = service.client(lonely.token), service.client(lonely.token)
        put, deleted = both(lambda: a.request("PUT", at(name), (201, 422), json={"price_book": name}),
                            lambda: b.request("DELETE", BOOKS + "/" + name, (204, 409)))
        assert (put.status_code, deleted.status_code) in ((201, 409), (422, 204))
        lonely.get(BOOKS + "/" + name, 404 if deleted.status_code == 204 else 200)
        lonely.get(at(name), 200 if put.status_code == 201 else 404)


def test_deleting_a_cluster_races_with_a_book_that_prices_it(service, lonely):
    """Whoever comes first: a cluster that is there and priced is led to by its price, which shows in the next delete."""
    for turn in range(12):
        name = "r%d" % turn
        lonely.put(at(name), {}, 201)
        a, b = service.client(lonely.token), service.client(lonely.token)
        prices = dict(PRICES, prices=[{"cluster": name, "per_executor_hour": 1}])
        put, deleted = both(lambda: a.put(BOOKS + "/" + name, prices, 201), lambda: b.request("DELETE", at(name), (204, 409)))
        assert lonely.request("DELETE", at(name), (404, 409)).status_code == (404 if deleted.status_code == 204 else 409)


def test_pages_and_filters(lonely):
    lonely.put(BOOKS + "/book", PRICES, 201)
    for i in range(7):
        lonely.put(at("c%d" % i), {"labels": {"odd": str(i % 2), "all": "x"}, "machine_type": "m%d" % (i // 4),
                                   "price_book": "book" if i == 5 else None}, 201)

    def names(query):
        seen, path = [], CLUSTERS + "?" + query
        while path:
            page = lonely.get(path)
            seen += [c["name"] for c in page.json()["items"]]
            path = page.links.get("next", {}).get("url")
            assert (path is None) == (page.json()["next_cursor"] is None)
        return seen

    assert names("limit=3") == ["c%d" % i for i in range(7)]
    assert names("limit=1&label=odd:1&label=all:x") == ["c1", "c3", "c5"]
    assert names("machine_type=m1&limit=2") == ["c4", "c5", "c6"]
    assert names("price_book=book") == ["c5"] and names("price_book=other") == [] and names("label=all:y") == []
    cursor = lonely.get(CLUSTERS + "?limit=2").json()["next_cursor"]
    lonely.refuse("GET", CLUSTERS + "?machine_type=m1&cursor=" + cursor, 400, parameter="cursor")
    lonely.refuse("GET", CLUSTERS + "?label=odd", 422, parameter="label")
    lonely.refuse("GET", CLUSTERS + "?color=red", 422, parameter="color")


def test_teams_have_their_own(lonely, stranger):
    name = "c-" + uuid.uuid4().hex
    lonely.put(at(name), {"executors": 2}, 201)
    lonely.put(BOOKS + "/" + name, PRICES, 201)
    stranger.get(at(name), 404)
    stranger.refuse("PUT", at(name), 422, pointer="/price_book", json={"price_book": name})
    stranger.put(at(name), {"executors": 9}, 201)
    stranger.delete(at(name))
    assert lonely.get(at(name)).json()["executors"] == 2


def test_a_repetition_by_key_does_nothing_twice(lonely):
    head = {"Idempotency-Key": '"once"'}
    first = lonely.put(at("a"), {}, 201, headers=head)
    again = lonely.put(at("a"), {}, 201, headers=head)
    assert again.json() == first.json() and again.headers["Idempotency-Replayed"] == "true"
    assert lonely.get(at("a")).json()["version"] == 1


def test_limits(make_service):
    service = make_service(PROVISOR_CLUSTERS_MAX=3, PROVISOR_PRICE_BOOKS_MAX=1, PROVISOR_PRICES_MAX=2, PROVISOR_LABELS_MAX=1)
    service.start()
    client = service.client(service.token("limits"))
    calls = [service.client(client.token) for _ in range(6)]
    replies = both(*(lambda c=c, i=i: c.request("PUT", at("c%d" % i), (201, 422), json={}) for i, c in enumerate(calls)))
    assert sorted(r.status_code for r in replies) == [201] * 3 + [422] * 3, "no more than three, however many come at once"
    assert "clusters_max" in next(r for r in replies if r.status_code == 422).json()["detail"]
    there = client.get(CLUSTERS).json()["items"][0]["name"]
    client.put(at(there), {"slots": 1}, 200)
    client.refuse("PUT", at(there), 422, pointer="/labels", json={"labels": {"a": "", "b": ""}})
    rows = [{"machine_type": str(i), "per_executor_hour": 1} for i in range(3)]
    client.refuse("PUT", BOOKS + "/b", 422, pointer="/prices", json=dict(PRICES, prices=rows))
    client.put(BOOKS + "/b", dict(PRICES, prices=rows[:2]), 201)
    assert "price_books_max" in client.refuse("PUT", BOOKS + "/c", 422, json=PRICES)["detail"]
    text = "machine_type,currency,per_executor_hour\n" + "".join("m%d,EUR,1\n" % i for i in range(3))
    problem = client.refuse("PUT", BOOKS + "/b", 422, pointer="/prices", data=text, headers={"Content-Type": "text/csv"})
    assert "line 4" in problem["errors"][0]["detail"] and "prices_max" in problem["errors"][0]["detail"]
    assert client.get(BOOKS + "/b").json()["rows"] == 2

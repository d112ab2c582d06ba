"""What clusters report of speeds and outages, and what is known of them afterwards."""
import datetime
import math
import threading
import uuid

import pytest

WEEK_S = 7 * 86400


@pytest.fixture
def lonely(service):
    """A client of a team of its own."""
    return service.client(service.token("performance-" + uuid.uuid4().hex[:8]))


@pytest.fixture
def start(make_service):
    """A service with settings of its own."""
    def make_and_start(settings):
        made = make_service()
        made.start(**{"PROVISOR_" + k.upper(): v for k, v in settings.items()})
        return made
    return make_and_start


def ago(seconds):
    then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=seconds)
    return then.isoformat().replace("+00:00", "Z")


def make(client, *names, **traits):
    for name in names:
        client.put("/v1/clusters/" + name, traits, (200, 201))


def report(client, name, expect=204, headers=None, **lists):
    return client.request("POST", "/v1/clusters/%s/samples" % name, expect, json=lists, headers=headers)


def known(client, name, query=""):
    return client.get("/v1/clusters/%s/performance%s" % (name, query)).json()


def speed(operation, *values, **more):
    return [dict(operation=operation, bytes_per_s=v, **more) for v in values]


def near(got, want, tolerance=1e-9):
    return math.isclose(got, want, rel_tol=tolerance)


def test_what_is_reported_is_known(lonely):
    make(lonely, "eu", "us")
    report(lonely, "eu", processing=speed("map", 4e6, 6e6, 5e6) + speed("join", 1e6), transfers=[{"from": "us", "bytes_per_s": 2e7}])
    shown = known(lonely, "eu")
    join, mapped = shown["processing"]
    assert (join["operation"], mapped["operation"]) == ("join", "map")
    assert mapped["source"] == "cluster" and mapped["samples"] == 3 and near(mapped["mean_bytes_per_s"], 5e6, 1e-6)
    assert [near(v, w) for (v, p), w in zip(mapped["distribution"], (4e6, 5e6, 6e6))] == [True] * 3
    assert near(sum(p for v, p in mapped["distribution"]), 1) and near(mapped["weight"], 3, 1e-3) and 0 <= mapped["age_s"] < 30
    transfer, = shown["transfers"]
    assert transfer["from"] == "us" and near(transfer["mean_bytes_per_s"], 2e7) and transfer["samples"] == 1
    assert lonely.get("/v1/audit").json()["items"][0]["action"] == "cluster.samples"


def test_nothing_is_known_of_a_cluster_that_never_reported(lonely):
    make(lonely, "eu")
    shown = known(lonely, "eu")
    assert shown["processing"] == [] and shown["transfers"] == [] and shown["fallbacks"] == {"processing": [], "transfers": []}
    assert shown["availability"]["source"] == "prior" and shown["availability"]["first_at"] is None


def test_a_sample_a_half_life_old_counts_half(lonely):
    make(lonely, "eu")
    report(lonely, "eu", processing=speed("map", 1e6, at=ago(WEEK_S)) + speed("map", 4e6))
    (slow, few), (fast, many) = known(lonely, "eu")["processing"][0]["distribution"]
    assert near(few, 1 / 3, 1e-4) and near(many, 2 / 3, 1e-4) and near(slow, 1e6) and near(fast, 4e6)


def test_a_sample_of_long_ago_changes_nothing(lonely):
    make(lonely, "eu")
    report(lonely, "eu", processing=speed("map", 1, at=ago(11 * WEEK_S)) + speed("old", 1, at="1990-01-01T00:00:00Z") + speed("map", 4e6))
    only, = known(lonely, "eu")["processing"]
    assert only["operation"] == "map" and only["samples"] == 1 and near(only["mean_bytes_per_s"], 4e6)


def test_many_different_speeds_are_few_points_with_the_mean_kept(lonely):
    make(lonely, "eu")
    values = [1e6 * 1.01 ** i for i in range(900)]
    report(lonely, "eu", processing=speed("map", *values, at=ago(5)))
    shown, = known(lonely, "eu")["processing"]
    assert len(shown["distribution"]) <= 16 and shown["samples"] == 900
    assert near(shown["mean_bytes_per_s"], sum(values) / 900)
    assert near(sum(v * p for v, p in shown["distribution"]), sum(values) / 900)
    assert values[0] <= shown["distribution"][0][0] and shown["distribution"][-1][0] <= values[-1]


def test_concurrent_reports_are_all_counted_and_make_what_serial_ones_make(lonely):
    """Twelve writers at once, every one with operations and pairs in an order of its own."""
    make(lonely, "at-once", "in-turn", *["from-%d" % i for i in range(6)])
    now = ago(3)
    reports = []
    for writer in range(12):
        for turn in range(8):
            lists = {"processing": [{"operation": "op-%d" % i, "bytes_per_s": 1e6 * (1 + (writer * 7 + turn * 3 + i) % 29), "at": now} for i in range(6)],
                     "transfers": [{"from": "from-%d" % i, "bytes_per_s": 1e5 * (1 + (writer * 5 + turn + i) % 31), "at": now} for i in range(6)],
                     "outages": [{"at": ago(7200 + 600 * ((writer + turn) % 4)), "duration_s": 60}]}
            if writer % 2:
                lists = {k: v[::-1] for k, v in lists.items()}
            reports.append((writer, lists))
    failed = []

    def write(writer):
        mine = lonely.service.client(lonely.token)
        for of, lists in reports:
            if of == writer:
                reply = mine.request("POST", "/v1/clusters/at-once/samples", None, json=lists)
                if reply.status_code != 204:
                    failed.append(reply.text)

    threads = [threading.Thread(target=write, args=(w,)) for w in range(12)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failed, failed[0]
    for _, lists in reports:
        report(lonely, "in-turn", **lists)
    one, other = known(lonely, "at-once"), known(lonely, "in-turn")
    for part in ("processing", "transfers"):
        assert [i["samples"] for i in one[part]] == [96] * 6
        for a, b in zip(one[part], other[part]):
            assert a.get("operation") == b.get("operation") and a.get("from") == b.get("from")
            assert len(a["distribution"]) == len(b["distribution"])
            for (v, p), (w, q) in zip(a["distribution"], b["distribution"]):
                assert near(v, w, 1e-12) and near(p, q, 1e-12)
    assert one["availability"]["outage_count"] == other["availability"]["outage_count"] >= 4


def test_an_idempotency_key_keeps_a_repetition_from_counting(lonely):
    make(lonely, "eu")
    key = {"Idempotency-Key": '"%s"' % uuid.uuid4()}
    first = report(lonely, "eu", headers=key, processing=speed("map", 1e6))
    again = report(lonely, "eu", headers=key, processing=speed("map", 1e6))
    assert "Idempotency-Replayed" not in first.headers and again.headers["Idempotency-Replayed"] == "true"
    assert known(lonely, "eu")["processing"][0]["samples"] == 1


def test_the_key_of_another_report_is_a_conflict(lonely):
    make(lonely, "eu")
    key = {"Idempotency-Key": '"%s"' % uuid.uuid4()}
    report(lonely, "eu", headers=key, processing=speed("map", 1e6))
    assert report(lonely, "eu", expect=None, headers=key, processing=speed("map", 2e6)).status_code in (409, 422)
    assert known(lonely, "eu")["processing"][0]["samples"] == 1


# --- outages ---

def test_outages_told_again_or_overlapping_count_once(lonely):
    make(lonely, "eu", slot_s=60)
    at = ago(86400)
    report(lonely, "eu", outages=[{"at": at, "duration_s": 600}])
    once = known(lonely, "eu")["availability"]
    report(lonely, "eu", outages=[{"at": at, "duration_s": 600}, {"at": at, "duration_s": 300}])
    report(lonely, "eu", outages=[{"at": at, "duration_s": 600}])
    again = known(lonely, "eu")["availability"]
    assert once["outage_count"] == again["outage_count"] == 1 and again["source"] == "measured"
    assert near(again["downtime_s"], 600, 0.05) and near(again["outage_probability"], once["outage_probability"], 1e-3)
    report(lonely, "eu", outages=[{"at": at, "duration_s": 1200}])
    longer = known(lonely, "eu")["availability"]
    assert longer["outage_count"] == 1 and near(longer["downtime_s"], 1200, 0.05)


def test_watching_without_an_outage_lowers_the_probability(lonely):
    make(lonely, "eu")
    prior = known(lonely, "eu")["availability"]["outage_probability"]
    report(lonely, "eu", processing=speed("map", 1e6, at=ago(20 * 86400)))
    report(lonely, "eu")
    watched = known(lonely, "eu")["availability"]
    assert watched["outage_count"] == 0 and watched["outage_probability"] < prior / 2 and watched["observed_s"] > 10 * 86400


def test_a_longer_slot_is_likelier_touched_and_the_cluster_says_its_own(lonely):
    make(lonely, "eu", slot_s=30, unreachable_probability=0.125)
    told = known(lonely, "eu")["availability"]
    assert told["slot_s"] == 30 and told["source"] == "configured" and told["outage_probability"] == 0.125 and told["measured_outage_probability"] < 0.01
    longer = known(lonely, "eu", "?slot_s=3600")["availability"]
    assert longer["slot_s"] == 3600 and longer["measured_outage_probability"] > told["measured_outage_probability"]
    assert near(longer["outage_probability"], 1 - (1 - 0.125) ** 120), "what was told is of the cluster's own slot"
    make(lonely, "us")
    assert known(lonely, "us")["availability"]["slot_s"] == 1


def test_the_newest_outages_are_kept(start):
    service = start({"outages_max": "3"})
    client = service.client(service.token("outages-" + uuid.uuid4().hex[:8]))
    make(client, "eu")
    for i in range(6):
        report(client, "eu", outages=[{"at": ago(86400 - 3600 * i), "duration_s": 60}])
    assert known(client, "eu")["availability"]["outage_count"] == 3


# --- what others know ---

def test_own_then_type_then_pool(lonely):
    make(lonely, "a", "b", machine_type="big")
    make(lonely, "c", machine_type="small")
    make(lonely, "d")
    report(lonely, "a", processing=speed("map", 8e6, 8e6, 8e6), transfers=[{"from": "c", "bytes_per_s": 5e6}])
    report(lonely, "c", processing=speed("map", 2e6))

    def falls(name, part="processing"):
        item, = known(lonely, name)["fallbacks"][part]
        return item["source"], item["mean_bytes_per_s"], item["samples"]

    assert known(lonely, "a")["fallbacks"]["processing"] == []
    source, mean, samples = falls("b")
    assert (source, samples) == ("machine_type", 3) and near(mean, 8e6)
    source, mean, samples = falls("d")
    assert (source, samples) == ("team", 4) and near(mean, (3 * 8e6 + 2e6) / 4, 1e-4)
    into_b = {tuple(i["from_clusters"]): (i["source"], i["mean_bytes_per_s"]) for i in known(lonely, "b")["fallbacks"]["transfers"]}
    assert into_b[("c",)][0] == "machine_type" and into_b[("a", "d")][0] == "team" and near(into_b[("a", "d")][1], 5e6)
    only = known(lonely, "b", "?operation=map&from=c")
    assert [i["from_clusters"] for i in only["fallbacks"]["transfers"]] == [["c"]] and len(only["fallbacks"]["processing"]) == 1
    assert known(lonely, "b", "?operation=nothing")["fallbacks"]["processing"] == []


def test_what_is_not_known_anywhere_is_said_to_be(lonely):
    make(lonely, "a", "b")
    item, = known(lonely, "a")["fallbacks"]["transfers"]
    assert item["from_clusters"] == ["b"] and item["source"] == "none" and item["distribution"] is None and item["mean_bytes_per_s"] is None


def test_what_was_measured_stays_with_the_cluster_and_goes_with_it(lonely):
    make(lonely, "a", "b")
    report(lonely, "a", processing=speed("map", 8e6), transfers=[{"from": "b", "bytes_per_s": 5e6}])
    make(lonely, "a", slots=5)
    assert len(known(lonely, "a")["processing"]) == len(known(lonely, "a")["transfers"]) == 1
    lonely.delete("/v1/clusters/b")
    assert known(lonely, "a")["transfers"] == [] and len(known(lonely, "a")["processing"]) == 1
    lonely.delete("/v1/clusters/a")
    make(lonely, "a")
    shown = known(lonely, "a")
    assert shown["processing"] == [] and shown["availability"]["source"] == "prior"


def test_a_cluster_may_go_while_others_report_of_it(lonely):
    make(lonely, "a")
    statuses = set()

    def write():
        mine = lonely.service.client(lonely.token)
        for _ in range(30):
            reply = mine.request("POST", "/v1/clusters/a/samples", None, json={"transfers": [{"from": "b", "bytes_per_s": 5e6}]})
            statuses.add(reply.status_code)

    threads = [threading.Thread(target=write) for _ in range(3)]
    [t.start() for t in threads]
    for _ in range(15):
        lonely.request("PUT", "/v1/clusters/b", (200, 201), json={})
        lonely.request("DELETE", "/v1/clusters/b", 204)
    [t.join() for t in threads]
    assert statuses <= {204, 422}, statuses


# --- what is refused ---

@pytest.mark.parametrize("lists,pointer,code", [
    ({"processing": speed("map", 0)}, "/processing/0/bytes_per_s", "out_of_range"),
    ({"processing": speed("map", -5)}, "/processing/0/bytes_per_s", "out_of_range"),
    ({"processing": speed("map", 1e19)}, "/processing/0/bytes_per_s", "out_of_range"),
    ({"processing": [{"bytes_per_s": 5}]}, "/processing/0/operation", "required"),
    ({"processing": [{"operation": "map"}]}, "/processing/0/bytes_per_s", "required"),
    ({"processing": speed("map", 5) + [{"operation": "map", "bytes_per_s": 5, "speed": 1}]}, "/processing/1/speed", "unknown_field"),
    ({"processing": speed("map", 5, at="yesterday")}, "/processing/0/at", None),
    ({"processing": speed("map", 5, at="1969-12-31T23:59:59Z")}, "/processing/0/at", "out_of_range"),
    ({"processing": speed("map", 5, at=ago(-3600))}, "/processing/0/at", "in_future"),
    ({"transfers": [{"from": "us", "bytes_per_s": 1}, {"from": "nowhere", "bytes_per_s": 1}]}, "/transfers/1/from", "unknown_cluster"),
    ({"transfers": [{"from": "eu", "bytes_per_s": 1}]}, "/transfers/0/from", "same_cluster"),
    ({"transfers": [{"from": "us", "bytes_per_s": 0}]}, "/transfers/0/bytes_per_s", "out_of_range"),
    ({"outages": [{"at": ago(60)}]}, "/outages/0/duration_s", "required"),
    ({"outages": [{"duration_s": 60}]}, "/outages/0/at", "required"),
    ({"outages": [{"at": ago(60), "duration_s": 0}]}, "/outages/0/duration_s", "out_of_range"),
    ({"outages": [{"at": ago(60), "duration_s": 1e6}]}, "/outages/0/duration_s", "in_future"),
    ({"outages": [{"at": ago(-3600), "duration_s": 1}]}, "/outages/0/at", "in_future"),
    ({"processing": {}}, "/processing", None),
    ({"samples": []}, "/samples", "unknown_field"),
    ({"processing": speed("map", *[1] * 600), "transfers": [{"from": "us", "bytes_per_s": 1}] * 401}, "/transfers", "too_many_items"),
    ({"processing": speed("map", *[1] * 1001)}, "/processing", None),
])
def test_a_faulty_report_names_the_fault_and_leaves_nothing(lonely, lists, pointer, code):
    make(lonely, "eu", "us")
    good = {"processing": speed("good", 5)} if "processing" not in lists else {}
    fault = lonely.refuse("POST", "/v1/clusters/eu/samples", 422, pointer=pointer, json=dict(good, **lists))
    assert code is None or code in str(fault), fault
    shown = known(lonely, "eu")
    assert shown["processing"] == [] and shown["availability"]["source"] == "prior"


def test_each_name_that_is_unknown_is_told_once(lonely):
    make(lonely, "eu")
    reply = report(lonely, "eu", 422, transfers=[{"from": n, "bytes_per_s": 1} for n in ("x", "y", "x")])
    assert sorted(e["pointer"] for e in reply.json()["errors"]) == ["/transfers/0/from", "/transfers/1/from"]


def test_a_little_ahead_is_taken(lonely):
    make(lonely, "eu")
    report(lonely, "eu", processing=speed("map", 5, at=ago(-30)))
    assert known(lonely, "eu")["processing"][0]["age_s"] == 0


def test_there_has_to_be_a_cluster_of_the_name(lonely):
    report(lonely, "nowhere", 404, processing=speed("map", 5))
    lonely.get("/v1/clusters/nowhere/performance", 404)


@pytest.mark.parametrize("query,parameter", [("?slot_s=0", "slot_s"), ("?slot_s=-1", "slot_s"), ("?slot_s=x", "slot_s"), ("?limit=5", "limit")])
def test_a_faulty_question_names_its_parameter(lonely, query, parameter):
    make(lonely, "eu")
    lonely.refuse("GET", "/v1/clusters/eu/performance" + query, 422, parameter=parameter)


def test_reading_needs_no_right_to_write_and_reporting_does(service):
    team = "rights-" + uuid.uuid4().hex[:8]
    make(service.client(service.token(team)), "eu")
    reader = service.client(service.token(team, scopes="read"))
    reader.get("/v1/clusters/eu/performance")
    report(reader, "eu", 403, processing=speed("map", 5))


def test_limits_of_what_is_kept(start):
    service = start({"sampled_operations_max": "3", "sampled_senders_max": "2", "samples_max": "5", "performance_points": "4"})
    client = service.client(service.token("limits-" + uuid.uuid4().hex[:8]))
    make(client, "eu", "a", "b", "c")
    report(client, "eu", processing=speed("1", 1) + speed("2", 1), transfers=[{"from": "a", "bytes_per_s": 1}])
    report(client, "eu", processing=speed("2", 1) + speed("3", 1), transfers=[{"from": "b", "bytes_per_s": 1}])
    client.refuse("POST", "/v1/clusters/eu/samples", 422, pointer="/processing", json={"processing": speed("4", 1)})
    client.refuse("POST", "/v1/clusters/eu/samples", 422, pointer="/transfers", json={"transfers": [{"from": "c", "bytes_per_s": 1}]})
    client.refuse("POST", "/v1/clusters/eu/samples", 422, pointer="/processing", json={"processing": speed("1", *range(1, 7))})
    report(client, "eu", processing=speed("1", *[10 ** i for i in range(1, 6)]))
    shown = known(client, "eu")
    assert [p["samples"] for p in shown["processing"]] == [6, 2, 1] and len(shown["processing"][0]["distribution"]) <= 4


def test_what_has_faded_goes_with_the_housekeeping(start):
    """With a half-life of a second nothing is left after ten; a report in between is counted anew."""
    service = start({"performance_half_life_s": "1", "outage_half_life_s": "1"})
    client = service.client(service.token("faded-" + uuid.uuid4().hex[:8]))
    make(client, "eu", "us")
    report(client, "eu", processing=speed("map", 1, at=ago(8)), transfers=[{"from": "us", "bytes_per_s": 1, "at": ago(8)}])
    assert known(client, "eu")["processing"][0]["weight"] < 0.02
    deadline = datetime.datetime.now() + datetime.timedelta(seconds=8)
    while known(client, "eu")["processing"] and datetime.datetime.now() < deadline:
        pass
    assert known(client, "eu")["processing"] == []
    done = {line.split()[0]: int(line.split()[1]) for line in service.command("maintain").splitlines()}
    assert done["performance"] >= 1
    assert known(client, "eu")["fallbacks"]["processing"] == []


def test_a_cluster_is_shown_though_the_team_has_more_than_a_lowered_limit(start):
    service = start({"clusters_max": 2})
    token = service.token("alpha")
    client = service.client(token)
    make(client, "a", "b")
    report(client, "a", processing=speed("map", 1e6))
    report(client, "b", processing=speed("map", 5e6), transfers=[{"from": "a", "bytes_per_s": 2e7}])
    before = known(client, "b")
    service.stop()
    service.start(PROVISOR_CLUSTERS_MAX="1")
    after = known(service.client(token), "b")
    for shown in (before, after):  # old reports weigh less by the time of asking, so the last digits may differ
        assert [p["mean_bytes_per_s"] for p in shown["processing"]] == pytest.approx([5e6], rel=1e-12)
    assert [t["from"] for t in after["transfers"]] == ["a"]

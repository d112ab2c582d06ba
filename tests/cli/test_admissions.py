"""`provisor admit` and `provisor admissions` as scripts use them: following advice, repeated, and turned away."""
import json
import uuid

import pytest


def put_cluster(cli, name):
    cli("clusters", "put", name, "-", input=json.dumps({"executors": 10, "cores_per_executor": 4}))


@pytest.fixture
def team(service, make_cli):
    """The CLI of a team of its own, with a cluster of 10 x 4 cores."""
    cli = make_cli(service.base_url, service.token("admissions-" + uuid.uuid4().hex[:8]))
    put_cluster(cli, "shared")
    return cli


def admit(cli, *words, status=0):
    return cli("admit", "nightly-etl", "--cluster", "shared", *words, status=status)


def test_a_step_that_is_repeated_gets_the_same_admission(team):
    words = ("--cores", "30", "--deadline", "10m", "--idempotency-key", "build-7", "--id")
    admission = admit(team, *words).out.strip()
    assert admit(team, *words).out.strip() == admission
    assert [a["id"] for a in json.loads(team("admissions", "-o", "json").out)] == [admission]
    team("admissions", "release", admission)
    assert json.loads(team("admissions", "show", admission, "-o", "json").out)["status"] == "released"
    assert "250 characters" in admit(team, "--cores", "1", "--expires", "1m", "--idempotency-key", 'a"b', status=2).err


def test_too_little_free_has_a_status_of_its_own(team):
    whole = admit(team, "--cores", "40", "--expires", "1h", "--id").out.strip()
    refused = admit(team, "--cores", "1", "--deadline", "90", status=6)
    assert refused.out == ""
    assert "0 of its 40 cores" in refused.err and "enough is free from" in refused.err and "free now: 0 cores" in refused.err
    team("admissions", "release", whole)
    admit(team, "--cores", "1", "--deadline", "90")
    assert "--cores 41: the cluster" in admit(team, "--cores", "41", "--deadline", "90", status=2).err, "more than there is at all is another fault"


def test_an_admission_follows_advice(history, cli):
    put_cluster(cli, "followed")
    advice = json.loads(cli("advise", "nightly-etl", "--size", "64", "--deadline", "300", "--cluster", "followed", "-o", "json").out)
    made = json.loads(cli("admit", "--advice", advice["id"], "-o", "json").out)
    recommended = advice["recommendation"]
    assert (made["application"], made["cluster"], made["advice_id"]) == ("nightly-etl", "followed", advice["id"])
    assert made["granted_cores"] == recommended["executors"] * recommended["cores_per_executor"]
    later = json.loads(cli("admissions", "extend", made["id"], "--until", "2h", "-o", "json").out)
    assert later["expires_at"] > made["expires_at"] and later["granted_cores"] == made["granted_cores"]
    cli("admissions", "release", made["id"])


def test_sizes_and_instants_arrive(service, make_cli):
    cli = make_cli(service.base_url, service.token("admissions-" + uuid.uuid4().hex[:8]))
    cli("clusters", "put", "shared", "-", input=json.dumps({"executors": 2, "cores_per_executor": 4, "memory_bytes_per_executor": 2**34}))
    made = json.loads(admit(cli, "--cores", "0.05", "--memory", "1.5g", "--starts-at", "1d", "--expires", "90", "-o", "json").out)
    assert made["memory_bytes"] == 3 * 2**29 and made["cores"] == 0.05 and made["deadline_at"] is None
    assert made["starts_at"] > made["created_at"]
    whole = json.loads(admit(cli, "--cores", "1", "--starts-at", made["expires_at"], "--deadline", "60", "-o", "json").out)
    assert whole["starts_at"] == made["expires_at"]

"""What the service is delivered with: image, compose file, unit, proxy's configuration, list of packages. No container runs
here (tests/container does that); the files are read as the programs they are for would read them."""
import os
import re
import shutil
import subprocess

import pytest
import yaml

import house

OPS = house.ROOT / "ops"
BUILD = house.pathlib.Path(os.environ.get("PROVISOR_BUILD", house.ROOT / "build")).resolve()
DIGEST = "sha256:" + "0123456789abcdef" * 4
COMPOSE = yaml.safe_load((house.ROOT / "docker-compose.yml").read_text())


def run(*words, **kwargs):
    return subprocess.run([str(w) for w in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kwargs)


# --- the program ------------------------------------------------------------------------------------


def test_the_program_names_no_directory_of_its_build():
    """So that the same source gives the same bytes elsewhere; tests/reproducible builds it elsewhere."""
    program = (BUILD / "service" / "provisord").read_bytes()
    names = set(re.findall(rb"[\w./-]*service/[\w/]+\.c\b", program))
    assert names, "asserts name their files"
    assert [n for n in names if not n.startswith(b"service/")] == []
    assert str(house.ROOT).encode() not in program and str(BUILD).encode() not in program


# --- docker-compose.yml --------------------------------------------------------------------------------


def test_passwords_reach_containers_in_files_only():
    """The environment of a container is shown by `docker inspect` and inherited by whatever it starts."""
    for name, service in COMPOSE["services"].items():
        for variable, value in service["environment"].items():
            assert variable.endswith("_FILE"), "%s: %s" % (name, variable)
            assert value.startswith("/run/secrets/") and value.rsplit("/", 1)[1] in service["secrets"]
        assert set(service["secrets"]) <= set(COMPOSE["secrets"])


@pytest.mark.parametrize("name", sorted(COMPOSE["services"]))
def test_containers_have_limits(name):
    service = COMPOSE["services"][name]
    default = re.fullmatch(r"\$\{\w+:-(\d+)g\}", service["mem_limit"])
    assert default and int(default[1]) >= 1
    assert service["memswap_limit"] == service["mem_limit"], "memory beyond the limit is not swapped"
    assert re.fullmatch(r"\$\{\w+:-\d+\}", service["cpus"])
    assert 50 <= service["pids_limit"] <= 1000
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["restart"] == "unless-stopped"


def test_the_service_can_write_to_its_spool_only():
    service = COMPOSE["services"]["provisord"]
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"] and "privileged" not in service
    assert service["volumes"] == ["spool:/var/tmp"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_connections_have_open_files_in_the_container():
    """As many as raise_open_files (service/command/serve.c) asks for with the defaults."""
    settings = (house.ROOT / "docs" / "configuration.md").read_text()
    wanted = 256 + sum(int(re.search(r"`%s` \| `(\d+)`" % name, settings)[1])
                       for name in ("connections_max", "health_connections_max", "database_connections"))
    assert COMPOSE["services"]["provisord"]["ulimits"]["nofile"] >= wanted


def test_the_health_of_the_container_does_not_depend_on_its_load():
    """Compose and the image ask the second listener, which the image opens."""
    dockerfile = (house.ROOT / "Dockerfile").read_text()
    assert "PROVISOR_HEALTH_PORT=8081" in dockerfile and 'CMD ["provisord-health", "/healthz"]' in dockerfile
    assert COMPOSE["services"]["provisord"]["healthcheck"]["test"] == ["CMD", "provisord-health", "/readyz"]
    assert "PROVISOR_HEALTH_PORT" in (OPS / "health").read_text()


def test_make_secrets_makes_what_compose_mounts(tmp_path):
    folder = tmp_path / "secrets"
    assert run(OPS / "make-secrets", folder).returncode == 0
    assert {p.name for p in folder.iterdir()} == set(COMPOSE["secrets"])
    assert all(s["file"] == "./secrets/" + name for name, s in COMPOSE["secrets"].items())
    assert folder.stat().st_mode & 0o777 == 0o700, "others on this machine"
    assert all(p.stat().st_mode & 0o777 == 0o444 for p in folder.iterdir()), "users in the containers"
    made = {p.name: p.read_text() for p in folder.iterdir()}
    assert all(re.fullmatch("[0-9a-f]{48}", made[n]) for n in ("postgres_password", "owner_password", "service_password"))
    assert made["database_url"] == "postgresql://provisor_service:%s@database/provisor" % made["service_password"]
    assert made["database_owner_url"] == "postgresql://provisor_owner:%s@database/provisor" % made["owner_password"]
    assert len({made["postgres_password"], made["owner_password"], made["service_password"]}) == 3
    (folder / "database_url").unlink()
    assert run(OPS / "make-secrets", folder).returncode == 0
    assert {p.name: p.read_text() for p in folder.iterdir()} == made, "what is there stays"


# --- images by digest ------------------------------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path):
    """The files that pin-images reads and writes, and an environment whose docker answers with DIGEST."""
    for name in ("Dockerfile", "docker-compose.yml"):
        shutil.copy(house.ROOT / name, tmp_path)
    (tmp_path / "ops").mkdir()
    for name in ("pin-images", "common.sh"):
        shutil.copy(OPS / name, tmp_path / "ops")
    (tmp_path / "bin").mkdir()
    docker = tmp_path / "bin" / "docker"
    docker.write_text('#!/bin/sh\n[ "$2" = version ] || { echo "$*" >>"$0.asked"; echo "${DIGEST-%s}"; }\n' % DIGEST)
    docker.chmod(0o755)
    return tmp_path, dict(os.environ, PATH="%s:%s" % (docker.parent, os.environ["PATH"]))


def images(folder):
    """As docker would read them: the base of each stage, and compose's images."""
    dockerfile = (folder / "Dockerfile").read_text()
    base = re.search(r"^ARG BASE=(\S+)$", dockerfile, re.M)[1]
    assert re.findall(r"^FROM (\S+)", dockerfile, re.M) == ["${BASE}"] * 2
    services = yaml.safe_load((folder / "docker-compose.yml").read_text())["services"]
    return [base] + [s["image"] for s in services.values() if "image" in s]


def test_images_are_pinned_to_digests(checkout):
    folder, env = checkout
    before = [i.split("@")[0] for i in images(folder)]
    assert before == ["debian:12-slim", "postgres:15"]
    result = run(folder / "ops" / "pin-images", env=env)
    assert result.returncode == 0, result.stdout
    assert images(folder) == [tag + "@" + DIGEST for tag in before]
    assert [line.split()[-1] for line in (folder / "bin" / "docker.asked").read_text().splitlines()] == before
    assert run(folder / "ops" / "pin-images", "--check", env=env).stdout == ""
    # Nothing else is touched, and later the tag is asked for again.
    strip = re.compile(r"@sha256:[0-9a-f]{64}")
    for name in ("Dockerfile", "docker-compose.yml"):
        assert strip.sub("", (folder / name).read_text()) == strip.sub("", (house.ROOT / name).read_text())
    later = "sha256:" + "f" * 64
    assert run(folder / "ops" / "pin-images", env=dict(env, DIGEST=later)).returncode == 0
    assert images(folder) == [tag + "@" + later for tag in before]


def test_without_a_digest_nothing_is_written(checkout):
    folder, env = checkout
    before = images(folder)
    result = run(folder / "ops" / "pin-images", env=dict(env, DIGEST="unauthorized"))
    assert result.returncode == 1 and "gives no digest for debian:12-slim" in result.stdout
    assert images(folder) == before


def test_images_without_a_digest_are_named(checkout):
    folder, env = checkout
    for name in ("Dockerfile", "docker-compose.yml"):
        path = folder / name
        path.write_text(re.sub(r"@sha256:[0-9a-f]{64}", "", path.read_text()))
    result = run(folder / "ops" / "pin-images", "--check", env=env)
    assert result.returncode == 1 and result.stdout.split() == ["debian:12-slim", "postgres:15"]

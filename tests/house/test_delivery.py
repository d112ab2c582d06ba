"""What the service is delivered with: image, compose file, unit, proxy's configuration, list of packages. No container runs
here (tests/container does that); the files are read as the programs they are for would read them."""
import json
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
UNIT = (BUILD / "ops" / "provisord.service").read_text()
COMPOSE = yaml.safe_load((house.ROOT / "docker-compose.yml").read_text())


def run(*words, **kwargs):
    return subprocess.run([str(w) for w in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kwargs)


# --- the program ------------------------------------------------------------------------------------


def test_the_program_names_no_directory_of_its_build():
    """So that the same source gives the same bytes elsewhere; tests/reproducible builds it elsewhere."""
    program = (BUILD / "service" / "provisord").read_bytes()
    names = set(re.findall(rb"[\w./-]*service/[\w/]+\.c\b", program))
    assert names, "asserts name their files"
    # What is before a text without a / is other data.
    assert [n for n in names if b"/" in n.partition(b"service/")[0]] == []
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


def test_the_database_comes_before_the_service():
    """For the processor of a machine that both are on."""
    assert COMPOSE["services"]["provisord"]["cpu_shares"] < COMPOSE["services"]["database"].get("cpu_shares", 1024)
    weight, = re.findall(r"^CPUWeight=(\d+)$", UNIT, re.M)
    assert int(weight) < 100, "which PostgreSQL's unit has"


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
    assert set(re.findall(r"^FROM (\S+)", dockerfile, re.M)) == {"${BASE}", "source", "build", "runtime"}
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


# --- the list of what is in the image ----------------------------------------------------------------------

SPDX_ID = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")
EXPRESSION = re.compile(r"NOASSERTION|[A-Za-z0-9.() +-]+")


def bill(tmp_path, *packages):
    """Of some packages of this machine, and a program of three bytes."""
    if not shutil.which("dpkg-query"):
        pytest.skip("no dpkg to ask what is installed")
    program = tmp_path / "provisord"
    program.write_bytes(b"abc")
    result = subprocess.run([OPS / "sbom", "--program", program, *packages], text=True, check=True, stdout=subprocess.PIPE,
                            env=dict(os.environ, SOURCE_DATE_EPOCH="86400"))
    return result.stdout


def test_the_bill_of_materials_is_spdx(tmp_path):
    text = bill(tmp_path, "libjansson4", "libmicrohttpd12", "libgsl27", "libc6", "libzstd1")
    assert bill(tmp_path, "libjansson4", "libmicrohttpd12", "libgsl27", "libc6", "libzstd1") == text, "the same input, the same output"
    document = json.loads(text)
    assert (document["spdxVersion"], document["dataLicense"], document["SPDXID"]) == ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT")
    assert document["creationInfo"]["created"] == "1970-01-02T00:00:00Z" and document["creationInfo"]["creators"][0].startswith("Tool: ")
    assert re.fullmatch(r"https://spdx\.org/spdxdocs/provisor-[\d.]+-[0-9a-f-]{36}", document["documentNamespace"])
    packages = {p["SPDXID"]: p for p in document["packages"]}
    assert len(packages) == len(document["packages"]), "identifiers are unique"
    for identifier, package in packages.items():
        assert SPDX_ID.fullmatch(identifier)
        assert package["name"] and package["versionInfo"] and package["downloadLocation"] == "NOASSERTION" and package["filesAnalyzed"] is False
        assert EXPRESSION.fullmatch(package["licenseDeclared"]), package
        assert package["licenseDeclared"].count("(") == package["licenseDeclared"].count(")")
    for link in document["relationships"]:
        assert link["relationshipType"] in ("DESCRIBES", "DYNAMIC_LINK", "CONTAINS")
        assert {link["spdxElementId"], link["relatedSpdxElement"]} <= packages.keys() | {"SPDXRef-DOCUMENT"}
    named = {i["licenseId"] for i in document["hasExtractedLicensingInfos"]}
    assert set(re.findall(r"LicenseRef-[A-Za-z0-9.-]+", json.dumps(document["packages"]))) == named


def test_the_bill_of_materials_says_whose_and_under_which_licence(tmp_path):
    document = json.loads(bill(tmp_path, "libcsv3", "libgsl27", "libzstd1"))
    listed = {p["name"]: p for p in document["packages"]}
    own = listed["provisord"]
    assert own["licenseDeclared"] == "GPL-3.0-or-later"
    assert own["checksums"][0]["checksumValue"] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "libcsv3"], text=True, check=True, stdout=subprocess.PIPE).stdout
    csv = listed["libcsv3"]
    assert csv["versionInfo"] == version and csv["supplier"] == "Organization: Debian" and csv["licenseDeclared"] == "GPL-2.0-or-later AND LGPL-2.1-or-later"
    assert csv["externalRefs"][0]["referenceLocator"].startswith("pkg:deb/debian/libcsv3@%s?arch=" % version.replace("+", "%2B"))
    assert listed["libzstd1"]["licenseDeclared"] == "(BSD-3-Clause OR GPL-2.0-only) AND MIT AND Zlib"
    assert listed["libgsl27"]["licenseDeclared"] == "NOASSERTION", "its copyright file is for people only"
    linked = {link["relatedSpdxElement"] for link in document["relationships"] if link["relationshipType"] == "DYNAMIC_LINK"}
    assert {csv["SPDXID"], listed["libgsl27"]["SPDXID"]} <= linked


# --- unit and proxy ------------------------------------------------------------------------------------------

def directives(name):
    return [line.split("=", 1)[1] for line in UNIT.splitlines() if line.startswith(name + "=")]


def test_the_unit_is_understood_by_systemd(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("no systemd-analyze")
    unit = tmp_path / "provisord.service"
    unit.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", UNIT, flags=re.M))  # which need not be installed here
    result = run("systemd-analyze", "verify", "--man=no", unit)
    assert result.returncode == 0 and "provisord.service" not in result.stdout, result.stdout
    exposure = run("systemd-analyze", "security", "--offline=yes", unit).stdout.splitlines()[-1]
    assert float(re.search(r": (\d+\.\d)", exposure)[1]) < 2, exposure


def test_the_unit_bounds_the_service_and_hides_its_secrets():
    credentials = dict(c.split(":") for c in directives("LoadCredential"))
    variables = dict(pair.split("=", 1) for line in directives("Environment") for pair in line.split())
    assert variables["PROVISOR_DATABASE_URL_FILE"] == "%d/database_url" and "database_url" in credentials
    assert variables["PROVISOR_DATABASE_OWNER_URL_FILE"] == "%d/database_owner_url" and "database_owner_url" in credentials
    assert not [v for v in variables if v.endswith("_URL")], "passwords are in files only"
    assert directives("MemoryMax") and directives("MemorySwapMax") == ["0"]
    assert int(directives("TasksMax")[0]) >= COMPOSE["services"]["provisord"]["pids_limit"]
    assert int(directives("LimitNOFILE")[0]) >= COMPOSE["services"]["provisord"]["ulimits"]["nofile"]
    settings = (house.ROOT / "docs" / "configuration.md").read_text()
    known = {"PROVISOR_" + name.upper() for name in re.findall(r"^\| `(\w+)` \|", settings, re.M)}
    assert {re.sub("_FILE$", "", v) for v in variables} <= known


def test_the_configuration_of_the_proxy_names_paths_and_settings_that_are():
    """tests/api/test_proxy.py runs it; here what its words refer to."""
    text = (OPS / "haproxy.cfg").read_text()
    settings = (house.ROOT / "docs" / "configuration.md").read_text()
    for name in ("header_bytes_max", "headers_max", "request_timeout_ms", "import_timeout_s", "connection_idle_s", "health_port", "connections_max"):
        assert name in text and "`%s`" % name in settings
    value = dict(re.findall(r"^\| `(\w+)` \| `(\d+)`", settings, re.M))
    seconds = dict((name, int(n)) for name, n in re.findall(r"^    timeout ([\w-]+) (\d+)s", text, re.M))
    assert seconds["server"] * 1000 > int(value["request_timeout_ms"]) and seconds["http-keep-alive"] <= int(value["connection_idle_s"])
    assert int(re.search(r"set-timeout server (\d+)s", text)[1]) > int(value["import_timeout_s"])
    assert int(re.search(r"^    maxconn (\d+)", text, re.M)[1]) < int(value["connections_max"])

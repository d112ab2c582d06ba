"""What the documents name must exist: functions and files of the code map, links, file lists."""
import importlib.util
import re
import subprocess
import sys

import pytest

import code_map
import house

MAP = (house.ROOT / "docs" / "code-map.md").read_text()


def words(text):
    return set(re.findall(r"`([a-z][a-z0-9_/.]*)`", text))


def test_functions_of_the_code_map_exist():
    sources = "\n".join(p.read_text() for p in house.sources())
    named = {w for w in words(MAP) if "_" in w and "/" not in w and "." not in w}
    assert len(named) > 20
    assert {w for w in named if not re.search(r"\b%s\b" % w, sources)} == set()


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "docs/code-map.md"])
def test_paths_in_documents_exist(document):
    text = (house.ROOT / document).read_text()
    named = {w for w in words(text) if "/" in w} | {l for l in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in l}
    base = (house.ROOT / document).parent
    built = ("var", "build", "logs")

    def known(path):
        path = path.rstrip("/")
        if path.split("/")[0].startswith(built):
            return True
        roots = (house.ROOT, base, house.ROOT / "service", house.ROOT / "service" / "core")
        return any((r / path).exists() or list(r.glob(path + ".*")) for r in roots)

    assert {w for w in named if not known(w)} == set()


def headings(document):
    return {h.strip() for h in re.findall(r"^#+ (.*)$", (house.ROOT / document).read_text(), re.M)}


def test_definitions_that_the_code_cites_are_in_the_design():
    """Comments cite docs/design.md, "Heading" (several headings may follow); nothing outside the repository is cited."""
    known, cited = headings("docs/design.md"), 0
    for path in house.sources():
        text = re.sub(r"\n\s*(?:\*|//|#)?[ \t]*", " ", path.read_text())
        assert not re.search(r"(?<!docs/)\bdesign\.md|\bconventions \d|prediction-protocol", text), path
        for quoted in re.findall(r'docs/design\.md,((?: ?"[^"]+",?)+)', text):
            for heading in re.findall(r'"([^"]+)"', quoted):
                assert heading in known, "%s cites %r, which docs/design.md does not have" % (path, heading)
                cited += 1
        assert len(re.findall(r"docs/design\.md", text)) == len(re.findall(r'docs/design\.md, ?"', text)), path
    assert cited > 40


def test_other_documents_that_the_code_cites_exist():
    for path in house.sources():
        for name in re.findall(r"\bdocs/[\w./-]+\.(?:md|py|yaml)", path.read_text()):
            assert (house.ROOT / name).exists(), "%s cites %s" % (path, name)


DOCUMENTS = [*(house.ROOT / "docs").rglob("*.md"), *(house.ROOT / "clients").glob("*/README.md")]


@pytest.mark.parametrize("document", sorted(p.relative_to(house.ROOT).as_posix() for p in DOCUMENTS))
def test_links_between_documents_lead_somewhere(document):
    path = house.ROOT / document
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        if "://" in link or link.startswith("/"):
            continue
        target, _, anchor = link.partition("#")
        found = (path.parent / target).resolve() if target else path
        assert found.exists(), link
        if anchor:
            slugs = {re.sub(r"[^\w\- ]", "", h).strip().lower().replace(" ", "-") for h in headings(found.relative_to(house.ROOT))}
            assert anchor in slugs, link


@pytest.mark.parametrize("client", ["airflow", "argo", "receivers"])
def test_pages_lead_to_the_readmes_of_clients(client):
    """By links, which work where the repository is shown; the site shows them as words."""
    assert "](../clients/%s/README.md)" % client in (house.ROOT / "docs/orchestrators.md").read_text()


def test_the_site_has_no_links_to_what_it_does_not_contain(monkeypatch):
    folder = house.ROOT / "docs" / "site"
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    spec = importlib.util.spec_from_file_location("site_build", folder / "build.py")
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    page = build.adapt((house.ROOT / "docs" / "orchestrators.md").read_text(), "orchestrators.md")
    assert "](../clients" not in page and "`clients/argo/README.md`" in page and "](webhooks.md)" in page


def test_the_readme_is_short():
    assert len((house.ROOT / "README.md").read_text().splitlines()) <= 150


def test_the_code_map_says_what_each_room_may_use():
    assert code_map.written(MAP) == MAP, "run: python3 tests/house/code_map.py"
    rows = {m[1] for m in re.finditer(r"^\| `service/([\w/]+)` \|", MAP, re.M)}
    assert set(house.ROOMS) - {""} - rows - {"core/joblog/common"} == set(), "rooms without a row in the code map"
    rows = {m[1] for m in re.finditer(r"^\| `clients/([\w/]+)` \|", MAP, re.M)}
    assert set(house.CLI_ROOMS) - rows == set(), "rooms of the client without a row in the code map"


def test_a_wrong_column_would_be_noticed():
    assert code_map.may_use("service", "base") == "libc" and "libmicrohttpd" in code_map.may_use("service", "http")
    assert "store" not in code_map.may_use("service", "http") and "libcurl" in code_map.may_use("clients", "cli/remote")
    assert code_map.written("| `service/base` | the toolbox | store |") == "| `service/base` | the toolbox | libc |"

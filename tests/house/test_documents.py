"""What the documents name must exist: functions and files of the code map, links, file lists."""
import re
import subprocess

import pytest

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

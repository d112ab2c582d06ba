"""The OpenAPI document by itself: valid, linted, its examples allowed by its own schemas."""
import pathlib
import shutil
import subprocess
import sys

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "openapi"))
import bundle  # noqa: E402

LINT = ROOT / "openapi" / "lint"


@pytest.fixture(scope="session")
def redocly(tmp_path_factory):
    """The pinned linter, installed outside the tree."""
    folder = tmp_path_factory.mktemp("lint")
    for name in ("package.json", "package-lock.json", ".npmrc", "redocly.yaml"):
        shutil.copy(LINT / name, folder / name)
    installed = subprocess.run(["npm", "ci", "--ignore-scripts"], cwd=folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert installed.returncode == 0, installed.stdout[-3000:]

    def lint(document):
        return subprocess.run([folder / "node_modules" / ".bin" / "redocly", "lint", "--config", folder / "redocly.yaml",
                               "--max-problems", "30", document], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    return lint


def test_the_document_has_no_fault_and_no_warning(redocly, tmp_path):
    document = tmp_path / "provisor.yaml"
    document.write_text(bundle.bundle())
    result = redocly(document)
    assert result.returncode == 0 and "warning" not in result.stdout, result.stdout


@pytest.mark.parametrize("wrong", [
    # a schema that does not exist, an example the schema refuses, two calls of one name
    ("'#/components/schemas/Problem'", "'#/components/schemas/Nothing'"),
    ("cores_per_executor: 2}\n", "cores_per_executor: two}\n"),
    ("operationId: listRuns", "operationId: createRun"),
])
def test_a_broken_document_is_caught(redocly, tmp_path, wrong):
    text = bundle.bundle()
    assert wrong[0] in text
    broken = tmp_path / "provisor.yaml"
    broken.write_text(text.replace(wrong[0], wrong[1]))
    assert redocly(broken).returncode != 0


def test_the_lock_file_names_no_host():
    assert "resolved" not in (LINT / "package-lock.json").read_text()


def test_every_part_belongs_to_the_document():
    named = bundle.parts()
    assert len(named) == len(set(named))
    there = {p for p in (ROOT / "openapi").rglob("*.yaml") if "lint" not in p.relative_to(ROOT / "openapi").parts}
    assert there == set(named) | {bundle.ROOT}


def test_a_key_given_twice_is_caught(tmp_path):
    assert not list(bundle.repeated_keys(yaml.compose(bundle.bundle(), bundle.LOADER)))
    (tmp_path / "root.yaml").write_text("components:\n  schemas:\n    $parts: [a.yaml, b.yaml]\n")
    (tmp_path / "a.yaml").write_text("Name: {type: string}\n")
    (tmp_path / "b.yaml").write_text("# the same again\nName: {type: integer}\n")
    twice = subprocess.run([sys.executable, bundle.__file__, tmp_path / "root.yaml", tmp_path / "out.yaml"],
                           text=True, stderr=subprocess.PIPE)
    assert twice.returncode != 0 and "/components/schemas/Name" in twice.stderr
    assert not (tmp_path / "out.yaml").exists()

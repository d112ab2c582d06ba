"""Wheel and source distribution by Debian's tools, installed without a network; types and style."""
import ast
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import textwrap
import zipfile

import pytest

from conftest import FOLDER, INSTALLED, ROOT, WHEEL, build, copy_of_sources

PACKAGE = ROOT / "clients" / "python"
STRICT = ("--strict", "--config-file", PACKAGE / "pyproject.toml")


def run(*words, status=0, **kwargs):
    result = subprocess.run([str(w) for w in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, **kwargs)
    assert result.returncode == status, result.stdout[-6000:]
    return result.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    return build(copy_of_sources(folder), folder / "dist", "--sdist")


def contents(wheel):
    with zipfile.ZipFile(wheel) as packed:
        return {name: packed.read(name) for name in packed.namelist() if not name.endswith("/RECORD")}


def test_the_version_is_that_of_the_project():
    version = next(line.split("'")[1] for line in (ROOT / "meson.build").read_text().splitlines() if line.strip().startswith("version:"))
    assert WHEEL.name == "provisor-%s-py3-none-any.whl" % version
    assert '__version__ = "%s"' % version in (PACKAGE / "src" / "provisor" / "version.py").read_text()


def test_a_wheel_holds_the_whole_package_and_nothing_else():
    names = set(contents(WHEEL))
    written = {"provisor/" + str(p.relative_to(PACKAGE / "src" / "provisor")) for p in (PACKAGE / "src" / "provisor").rglob("*.py")}
    assert written <= names and "provisor/py.typed" in names
    for name in ("provisor/schemas/advice.py", "provisor/requests/deadlines.py", "provisor/calls/table.py"):
        assert name in names
    assert {name.partition("/")[0] for name in names} == {"provisor", WHEEL.name.rpartition("-py3")[0] + ".dist-info"}


def test_a_wheel_of_the_source_distribution_is_the_same(sdist, tmp_path):
    """It is built where no contract is, and so by people who have the source distribution alone."""
    with tarfile.open(sdist) as packed:
        packed.extractall(tmp_path)
    folder = next(tmp_path.iterdir())
    assert not (folder / "tools").exists()
    assert contents(build(folder, tmp_path / "dist", "--wheel")) == contents(WHEEL)


def test_nothing_that_is_made_is_in_the_repository():
    tracked = run("git", "-C", ROOT, "ls-files", "clients/python") if (ROOT / ".git").exists() else ""
    assert not any(part in tracked for part in ("/schemas/", "/requests/", "/calls/", "dist/", "egg-info"))


def test_installed_into_a_fresh_environment_without_a_network(tmp_path, service, sdist):
    for number, package in enumerate((WHEEL, sdist)):
        venv = tmp_path / str(number)
        # setuptools and wheel are Debian's, which the environment sees for the source distribution.
        run("/usr/bin/python3", "-m", "venv", *(["--system-site-packages"] if package == sdist else []), venv)
        isolated = ("unshare", "-rn") if subprocess.run(["unshare", "-rn", "true"], stderr=subprocess.DEVNULL).returncode == 0 else ()
        run(*isolated, venv / "bin" / "pip", "install", "--no-index", "--no-build-isolation", "--disable-pip-version-check", package)
        program = "import provisor; print(provisor.__file__, provisor.Client().health().status, provisor.__version__)"
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PROVISOR_URL": service.base_url, "PROVISOR_TOKEN": service.alpha_token}
        out = run(venv / "bin" / "python", "-c", program, cwd=tmp_path, env=env).split()
        assert out[0].startswith(str(venv)) and out[1] == "ok"


def test_it_needs_the_standard_library_alone():
    program = "import sys; sys.path.insert(0, sys.argv[1]); import provisor; provisor.Client('http://127.0.0.1:1', 'x'); import provisor.schemas.models"
    run("/usr/bin/python3", "-I", "-S", "-c", program, INSTALLED)


def test_importing_takes_little():
    """The many classes are read when a reply needs them."""
    program = "import sys; sys.path.insert(0, sys.argv[1]); import provisor; print(' '.join(m for m in sys.modules if m.startswith('provisor.schemas')))"
    assert run("/usr/bin/python3", "-c", program, INSTALLED).split() == ["provisor.schemas", "provisor.schemas.operations"]


@pytest.mark.parametrize("version", ["3.9", "3.11"])
def test_types(version):
    run("mypy", *STRICT, "--python-version", version, "--cache-dir", FOLDER / ("mypy" + version), "-p", "provisor", cwd=INSTALLED)


def test_types_of_the_tools():
    run("mypy", "--strict", "--cache-dir", FOLDER / "mypy-tools", "generate.py", cwd=PACKAGE / "tools")


USE = textwrap.dedent("""
    import provisor
    client = provisor.Client()
    advice = client.advise("nightly-etl", problem_size=64, deadline_s=90, constraints={"max_executors": 8})
    if advice.recommendation is not None:
        reveal_type(advice.recommendation.executors)
        reveal_type(advice.created_at)
    for run in client.runs("nightly-etl", limit=3):
        reveal_type(run)
    reveal_type(client.wait(client.refit("nightly-etl")))
    client.feasibility(cluster={"executors": 4, "cores_per_executor": 4}, jobs=[{"name": "a", "deadline_s": 9, "stages": []}])
""")

MISUSE = {
    'client.advise("a").recommendation.executors': 'Item "None" of "Optional[Recommendation]"',
    'client.advise("a").verdikt': 'has no attribute "verdikt"',
    'client.advise("a", objective="cheapest")': "incompatible type",
    'client.advise("a", deadline=90)': 'Unexpected keyword argument "deadline"',
    'client.stage_plan(application="a")': 'Missing named argument "deadline_s"',
    'client.advise("a", constraints={"max_executor": 3})': 'Argument "constraints" to "advise" of "AdviceCalls" has incompatible type',
    'client.advise("a").verdict == "mett"': "Non-overlapping equality check",
}


PAGES = [ROOT / "docs" / "python.md", PACKAGE / "README.md", *sorted((ROOT / "clients" / "notebooks").glob("*.ipynb"))]


def programs(path):
    """The programs in Python of a page or a notebook, as one."""
    if path.suffix == ".ipynb":
        return "\n".join("".join(cell["source"]) for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code")
    return "\n".join(re.findall(r"^```python\n(.*?)^```", path.read_text(), re.M | re.S))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_types_of_the_examples(tmp_path, path):
    """The examples of the documentation, as a reader puts them into a program."""
    text = programs(path)
    assert text.count("\n") > 3
    (tmp_path / "example.py").write_text(text)
    env = {**os.environ, "MYPYPATH": str(INSTALLED)}
    run("mypy", *STRICT, "--ignore-missing-imports", "--cache-dir", FOLDER / "mypy3.11", "example.py", cwd=tmp_path, env=env)


def test_a_type_checker_knows_results_and_parameters(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    env = {**os.environ, "MYPYPATH": str(INSTALLED)}
    out = run("mypy", *STRICT, "--cache-dir", FOLDER / "mypy3.11", "use.py", cwd=tmp_path, env=env)
    revealed = [line.partition('Revealed type is "')[2].rstrip('"') for line in out.splitlines() if "Revealed" in line]
    assert revealed == ["builtins.int", "Union[datetime.datetime, None]", "provisor.schemas.history.Run", "provisor.results.operations.Operation"]
    (tmp_path / "misuse.py").write_text("import provisor\nclient = provisor.Client()\n" + "\n".join(MISUSE) + "\n")
    out = run("mypy", *STRICT, "--cache-dir", FOLDER / "mypy3.11", "misuse.py", cwd=tmp_path, env=env, status=1)
    for number, text in enumerate(MISUSE.values(), 3):
        assert any(line.startswith("misuse.py:%d:" % number) and text in line for line in out.splitlines()), (number, text, out)


def test_style():
    run("flake8", "src", "setup.py", "tools", cwd=PACKAGE)
    run("flake8", "--max-line-length", "200", pathlib.Path(__file__).parent)


def test_the_oldest_python_understands_it():
    for path in [*INSTALLED.rglob("*.py"), PACKAGE / "setup.py"]:
        ast.parse(path.read_text(), feature_version=(3, 9))
    assert sys.version_info >= (3, 9)

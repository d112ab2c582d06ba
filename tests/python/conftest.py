"""The package `provisor` as it is shipped: the wheel is built from this tree, and tests import what is in it. Service and
command line client as in tests/cli/conftest.py."""
import contextlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import uuid
import zipfile

import pytest

CLI = pathlib.Path(__file__).resolve().parents[1] / "cli"
sys.path.insert(0, str(CLI))
spec = importlib.util.spec_from_file_location("cli_fixtures", CLI / "conftest.py")
cli_fixtures = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = cli_fixtures
spec.loader.exec_module(cli_fixtures)

contract = cli_fixtures.contract
databases = cli_fixtures.databases
own_server = cli_fixtures.own_server
make_service = cli_fixtures.make_service
service = cli_fixtures.service
name = cli_fixtures.name
make_cli = cli_fixtures.make_cli
sample = cli_fixtures.sample
history = cli_fixtures.history
ROOT = cli_fixtures.ROOT


def pytest_configure(config):
    cli_fixtures.pytest_configure(config)
    config.addinivalue_line("markers", "makes(*operations): calls of the contract that the test makes")


def copy_of_sources(to):
    """What a build needs of the tree, without what builds and tools left there; the package's folder in it."""
    unwanted = shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__", ".mypy_cache", "schemas", "requests", "calls")
    shutil.copytree(ROOT / "openapi", to / "openapi", ignore=shutil.ignore_patterns("node_modules"))
    shutil.copytree(ROOT / "clients" / "python", to / "clients" / "python", ignore=unwanted)
    return to / "clients" / "python"


def build(source, out, *words):
    """Wheel or sdist by Debian's python3-build, with PIP_NO_INDEX so that it fetches nothing; the file."""
    result = subprocess.run(["/usr/bin/python3", "-m", "build", "--no-isolation", "-o", str(out), *words, str(source)], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "PIP_NO_INDEX": "1"}, timeout=300)
    assert result.returncode == 0, result.stdout[-4000:]
    return max(out.iterdir(), key=lambda path: path.stat().st_mtime)


SCRATCH = tempfile.TemporaryDirectory(prefix="provisor-python-", ignore_cleanup_errors=True)
FOLDER = pathlib.Path(SCRATCH.name)
WHEEL = build(copy_of_sources(FOLDER), FOLDER / "dist", "--wheel")
INSTALLED = FOLDER / "installed"
with zipfile.ZipFile(WHEEL) as packed:
    packed.extractall(INSTALLED)
sys.path.insert(0, str(INSTALLED))

for variable in [v for v in os.environ if v.lower() in ("http_proxy", "https_proxy", "all_proxy") or v.startswith("PROVISOR_CLIENT")
                 or v in ("PROVISOR_URL", "PROVISOR_TOKEN", "PROVISOR_TOKEN_FILE", "PROVISOR_PROFILE", "PROVISOR_CA_FILE")]:
    del os.environ[variable]
os.environ["HOME"] = str(FOLDER)  # whoever runs the tests may have logged in
os.environ.pop("XDG_CONFIG_HOME", None)

import provisor  # noqa: E402


@pytest.fixture
def client(service):
    with provisor.Client(service.base_url, service.alpha_token, progress=False) as client:
        yield client


@pytest.fixture(scope="module")
def etl(service, sample):
    """The name of an application with the runs of the sample's nightly-etl, which no other module changes."""
    name = "etl-" + uuid.uuid4().hex[:8]
    with provisor.Client(service.base_url, service.alpha_token, progress=False) as client:
        client.create_app(name)
        for log in sorted((sample / "nightly-etl").iterdir()):
            client.ingest(name, log)
    return name


@pytest.fixture
def operator(service):
    with provisor.Client(service.base_url, service.operator_token, progress=False) as client:
        yield client


@pytest.fixture
def hasty():
    """A client of any URL that does not wait before it tries again; `waits` are the waits that it would have made."""
    with contextlib.ExitStack() as made:
        def make(url, **settings):
            client = made.enter_context(provisor.Client(url, settings.pop("token", "prv_test"), progress=False, **settings))
            client.waits = []
            client._transport.sleep = client.waits.append
            return client
        yield make

"""The documentation site in a browser, as the service sends it; fixtures of the service as in tests/api."""
import importlib.util
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
API = HERE.parent / "api"
sys.path[:0] = [str(API), str(HERE)]
spec = importlib.util.spec_from_file_location("api_fixtures", API / "conftest.py")
api_fixtures = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = api_fixtures
spec.loader.exec_module(api_fixtures)
from browser import Browser  # noqa: E402

contract = api_fixtures.contract
databases = api_fixtures.databases
own_server = api_fixtures.own_server
make_service = api_fixtures.make_service
service = api_fixtures.service
pytest_configure = api_fixtures.pytest_configure
ROOT, BUILD = api_fixtures.ROOT, api_fixtures.BUILD

SITE = BUILD / "service" / "api" / "site" / "site"
FILES = BUILD / "docs" / "html"


@pytest.fixture(scope="session")
def browser():
    with Browser() as started:
        yield started

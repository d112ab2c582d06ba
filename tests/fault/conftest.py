"""The service and its clients as in the API tests: their fixtures, for tests that kill things."""
import importlib.util
import pathlib
import sys

import pytest

API = pathlib.Path(__file__).resolve().parents[1] / "api"
sys.path.insert(0, str(API))
spec = importlib.util.spec_from_file_location("api_fixtures", API / "conftest.py")
api_fixtures = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = api_fixtures
spec.loader.exec_module(api_fixtures)

pytest_configure = api_fixtures.pytest_configure
contract = api_fixtures.contract
databases = api_fixtures.databases
make_service = api_fixtures.make_service


@pytest.fixture(scope="module")
def own_server():
    """Crashes are the subject here, so every PostgreSQL is durable and a service's own."""
    return True

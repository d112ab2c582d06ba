"""The service and its clients as in the API tests."""
import importlib.util
import pathlib
import sys

API = pathlib.Path(__file__).resolve().parents[1] / "api"
sys.path.insert(0, str(API))
spec = importlib.util.spec_from_file_location("api_fixtures", API / "conftest.py")
api_fixtures = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = api_fixtures
spec.loader.exec_module(api_fixtures)

contract = api_fixtures.contract
databases = api_fixtures.databases
own_server = api_fixtures.own_server
make_service = api_fixtures.make_service
ROOT, PATIENCE = api_fixtures.ROOT, api_fixtures.PATIENCE


def pytest_configure(config):
    api_fixtures.pytest_configure(config)

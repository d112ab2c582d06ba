"""The service and its history as in the tests of the client (tests/cli/conftest.py), and a server that misbehaves."""
import importlib.util
import pathlib
import sys

import pytest

import contract_members

CLI = pathlib.Path(__file__).resolve().parents[1] / "cli"
sys.path.insert(0, str(CLI))
spec = importlib.util.spec_from_file_location("cli_fixtures", CLI / "conftest.py")
cli_fixtures = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = cli_fixtures
spec.loader.exec_module(cli_fixtures)

pytest_configure = cli_fixtures.pytest_configure
contract = cli_fixtures.contract
databases = cli_fixtures.databases
own_server = cli_fixtures.own_server
make_service = cli_fixtures.make_service
service = cli_fixtures.service
sample = cli_fixtures.sample
history = cli_fixtures.history


@pytest.fixture(scope="session")
def contract_schemas():
    return contract_members.load()

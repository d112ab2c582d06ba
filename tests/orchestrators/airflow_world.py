"""Airflow for the tests of clients/airflow: the stub of its base classes, a DAG run around a task, and a connection.

The package under test is imported with the stub in the place of Airflow; as_airflow_3() imports it once more with the
names where Airflow 3 has them.
"""
import asyncio
import contextlib
import importlib
import json
import pathlib
import sys
import types

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "clients" / "airflow"
sys.path[:0] = [str(HERE / "airflow_stub"), str(PACKAGE)]

from airflow.exceptions import TaskDeferred  # noqa: E402
from airflow.hooks.base import BaseHook, Connection  # noqa: E402
from airflow.models.baseoperator import SENTINEL  # noqa: E402


class TaskInstance:
    """Of one try."""

    def __init__(self, task_id="ask", try_number=1, dag_id="nightly", run_id="scheduled__2026-11-25", map_index=-1):
        self.task_id, self.try_number, self.dag_id, self.run_id, self.map_index = task_id, try_number, dag_id, run_id, map_index


def context_of(try_number=1, **more):
    return {"ti": TaskInstance(try_number=try_number), "ds": "2026-11-25", **more}


def connect(base_url, token, conn_id="provisor_default", **extra):
    scheme, _, rest = base_url.partition("://")
    host, _, port = rest.partition(":")
    BaseHook.connections[conn_id] = Connection(conn_id, host=host, schema=scheme, port=int(port), password=token,
                                               extra=json.dumps(extra) if extra else None)


def run(operator, context=None):
    """What a worker does with a task: its return value."""
    context = context or context_of()
    operator.render_template_fields(context)
    return operator.execute(context, **{type(operator).__name__ + "__sentinel": SENTINEL})


def rebuilt(trigger):
    """The trigger as the triggerer makes it: from its serialized form, which went through a database as JSON."""
    path, arguments = json.loads(json.dumps(trigger.serialize()))
    module, _, name = path.rpartition(".")
    made = getattr(importlib.import_module(module), name)(**arguments)
    assert made.serialize() == trigger.serialize()
    return made


def fire(trigger, limit_s=60):
    """The payload of the first event of a trigger in a triggerer."""
    async def first():
        async for event in trigger.run():
            return event.payload
    return asyncio.run(asyncio.wait_for(first(), limit_s))


def run_deferred(operator, context=None):
    """A task that may defer itself: worker, triggerer, worker."""
    context = context or context_of()
    try:
        return run(operator, context)
    except TaskDeferred as deferred:
        assert deferred.timeout is not None
        event = fire(rebuilt(deferred.trigger))
        json.dumps(event)
        return operator.resume_execution(deferred.method_name, {"event": event}, context)


@contextlib.contextmanager
def as_airflow_3():
    """The package, imported anew, as it is with Airflow 3: airflow.sdk in place of the modules that it replaces."""
    import airflow.configuration
    import airflow.exceptions
    import airflow.models.baseoperator
    import airflow.sensors.base

    def module(name, **members):
        made = types.ModuleType(name)
        made.__dict__.update(members)
        return made
    sdk = {
        "airflow.sdk": module("airflow.sdk", BaseHook=BaseHook, BaseOperator=airflow.models.baseoperator.BaseOperator,
                              BaseSensorOperator=airflow.sensors.base.BaseSensorOperator, __path__=[]),
        "airflow.sdk.exceptions": module("airflow.sdk.exceptions", **{k: v for k, v in vars(airflow.exceptions).items() if not k.startswith("__")}),
        "airflow.sdk.configuration": module("airflow.sdk.configuration", conf=airflow.configuration.conf),
    }
    gone = {name: None for name in ("airflow.hooks.base", "airflow.models.baseoperator", "airflow.sensors.base", "airflow.exceptions", "airflow.configuration")}
    before = dict(sys.modules)
    for name in [name for name in sys.modules if name.startswith("provisor_airflow")]:
        del sys.modules[name]
    sys.modules.update({**gone, **sdk})
    try:
        yield importlib.import_module
    finally:
        sys.modules.clear()
        sys.modules.update(before)

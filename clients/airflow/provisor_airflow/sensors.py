"""A sensor for long-running operations: refits, simulations and imports."""
from __future__ import annotations

import datetime
import time
from typing import Any, Sequence

from provisor_airflow.airflow_api import DEFERRABLE, AirflowFailException, AirflowSensorTimeout, AirflowSkipException, BaseSensorOperator
from provisor_airflow.hooks import ProvisorHook
from provisor_airflow.http_client import ProvisorRefused, ProvisorUnavailable
from provisor_airflow.triggers import ENDED, ProvisorOperationTrigger, headline

# How much longer Airflow waits for the trigger than the trigger for the operation: its own words come first.
GRACE_S = 60


class ProvisorOperationSensor(BaseSensorOperator):
    """
    Wait until an operation has ended, and push a summary of its outcome.

    An operation that failed or was cancelled fails the sensor without another try, or skips it with `soft_fail`. While the
    service cannot be reached, the sensor asks again, until `timeout`.

    :param operation_id: the id of the operation, as ProvisorHook.start_operation returns it (templated)
    :param provisor_conn_id: the connection
    :param deferrable: wait in the triggerer, where the service's Retry-After decides when it is asked again
    """

    template_fields: Sequence[str] = ("operation_id",)
    ui_color = "#e8eaf6"

    def __init__(
        self,
        *,
        operation_id: str,
        provisor_conn_id: str = ProvisorHook.default_conn_name,
        deferrable: bool = DEFERRABLE,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.operation_id = operation_id
        self.provisor_conn_id = provisor_conn_id
        self.deferrable = deferrable
        self._ended: dict[str, Any] | None = None

    def poke(self, context: Any) -> bool:
        try:
            operation = ProvisorHook(self.provisor_conn_id).get_operation(self.operation_id).body
        except ProvisorUnavailable as error:
            self.log.warning("provisor: %s; the operation goes on, and is asked for again", error)
            return False
        except ProvisorRefused as error:
            self._give_up(str(error))
        if operation["status"] not in ENDED:
            self.log.info("provisor: operation %s is %s, %s", operation["id"], operation["status"], _progress(operation))
            return False
        self._ended = self._judge(headline(operation))
        return True

    def execute(self, context: Any) -> dict[str, Any] | None:
        if not self.deferrable:
            super().execute(context)
        elif not self.poke(context):
            seconds = _seconds(self.timeout)
            self.defer(
                trigger=ProvisorOperationTrigger(
                    operation_id=self.operation_id,
                    provisor_conn_id=self.provisor_conn_id,
                    poll_interval_s=_seconds(self.poke_interval),
                    end_time=time.time() + seconds,
                ),
                method_name="execute_complete",
                timeout=datetime.timedelta(seconds=seconds + GRACE_S),
            )
        return self._ended

    def execute_complete(self, context: Any, event: dict[str, Any]) -> dict[str, Any]:
        """Goes on here when the trigger has fired."""
        return self._judge(event)

    def _judge(self, ended: dict[str, Any]) -> dict[str, Any]:
        if ended["status"] == "succeeded":
            self.log.info("provisor: operation %s succeeded", ended["operation_id"])
            return ended
        message = "operation %s: %s%s" % (ended["operation_id"], ended["status"], ": " + ended["message"] if ended.get("message") else "")
        if ended["status"] == "timeout" and not self.soft_fail:
            raise AirflowSensorTimeout("provisor: " + message)  # as without the triggerer
        self._give_up(message)

    def _give_up(self, message: str) -> Any:
        if self.soft_fail:
            raise AirflowSkipException("provisor: " + message)
        raise AirflowFailException("provisor: " + message)


def _seconds(value: Any) -> float:
    """Of a time as sensors take them: a number, or a timedelta."""
    return value.total_seconds() if isinstance(value, datetime.timedelta) else float(value)


def _progress(operation: dict[str, Any]) -> str:
    progress = operation.get("progress") or {}
    return "%s of %s %s" % (progress.get("done", 0), progress.get("total") or "?", progress.get("unit") or "")

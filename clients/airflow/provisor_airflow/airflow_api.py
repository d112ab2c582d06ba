"""What this package takes from Airflow, wherever its release has it: 3 first, then 2.7 and later."""
from __future__ import annotations

try:
    from airflow.sdk import BaseHook
except ImportError:
    from airflow.hooks.base import BaseHook
try:
    from airflow.sdk import BaseOperator
except ImportError:
    from airflow.models.baseoperator import BaseOperator
try:
    from airflow.sdk import BaseSensorOperator
except ImportError:
    from airflow.sensors.base import BaseSensorOperator
try:
    from airflow.sdk.exceptions import AirflowFailException, AirflowSensorTimeout, AirflowSkipException
except ImportError:
    from airflow.exceptions import AirflowFailException, AirflowSensorTimeout, AirflowSkipException
try:
    from airflow.sdk.configuration import conf
except ImportError:
    from airflow.configuration import conf
from airflow.triggers.base import BaseTrigger, TriggerEvent

DEFERRABLE = conf.getboolean("operators", "default_deferrable", fallback=False)

__all__ = [
    "DEFERRABLE",
    "AirflowFailException",
    "AirflowSensorTimeout",
    "AirflowSkipException",
    "BaseHook",
    "BaseOperator",
    "BaseSensorOperator",
    "BaseTrigger",
    "TriggerEvent",
]

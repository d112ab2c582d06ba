"""provisor for Apache Airflow: advice, gates and long-running operations of provisor in DAGs."""
from __future__ import annotations

from typing import Any

__version__ = "0.2.0"


def get_provider_info() -> dict[str, Any]:
    """What Airflow asks a provider package for."""
    return {
        "package-name": "airflow-provider-provisor",
        "name": "provisor",
        "description": "Executors for Spark jobs that meet their deadlines.",
        "versions": [__version__],
        "connection-types": [{"connection-type": "provisor", "hook-class-name": "provisor_airflow.hooks.ProvisorHook"}],
    }

"""Waiting for an operation in the triggerer, without a worker.

HTTP is the standard library's, in threads of its own: Airflow does not always bring an asynchronous client (aiohttp
comes with a provider that Airflow 3 does not install by itself), and a poll is one short request.
"""
from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import time
from typing import Any, AsyncIterator

from provisor_airflow.airflow_api import BaseTrigger, TriggerEvent
from provisor_airflow.hooks import ProvisorHook
from provisor_airflow.http_client import ProvisorError, ProvisorUnavailable, Reply, retry_after_s

ENDED = ("succeeded", "failed", "cancelled")
POLL_S_MAX = 300.0

# A service that hangs must not take the threads of other triggers.
_threads = concurrent.futures.ThreadPoolExecutor(max_workers=8, thread_name_prefix="provisor-poll")


def headline(operation: dict[str, Any]) -> dict[str, Any]:
    """What a DAG gets to know of an operation: small, and the same from poke and trigger."""
    error = operation.get("error") or {}
    return {
        "operation_id": operation["id"],
        "kind": operation.get("kind"),
        "application": operation.get("application"),
        "status": operation["status"],
        "finished_at": operation.get("finished_at"),
        "message": error.get("detail") or error.get("title"),
    }


class ProvisorOperationTrigger(BaseTrigger):
    """
    Fires when an operation has ended, or cannot be followed any more (status `error`).

    :param operation_id: the operation
    :param provisor_conn_id: the connection; its token is read in the triggerer, and never stored with the trigger
    :param poll_interval_s: between polls, where the service names no time in Retry-After
    :param end_time: seconds since 1970 after which it gives up (status `timeout`)
    """

    def __init__(
        self,
        operation_id: str,
        provisor_conn_id: str = ProvisorHook.default_conn_name,
        poll_interval_s: float = 15.0,
        end_time: float | None = None,
    ) -> None:
        super().__init__()
        self.operation_id = operation_id
        self.provisor_conn_id = provisor_conn_id
        self.poll_interval_s = poll_interval_s
        self.end_time = end_time

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return (
            "provisor_airflow.triggers.ProvisorOperationTrigger",
            {
                "operation_id": self.operation_id,
                "provisor_conn_id": self.provisor_conn_id,
                "poll_interval_s": self.poll_interval_s,
                "end_time": self.end_time,
            },
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        try:
            hook = await self._hook()
            while True:
                wait = self.poll_interval_s
                try:
                    reply = await self._poll(hook)
                    if reply.body["status"] in ENDED:
                        yield TriggerEvent(headline(reply.body))
                        return
                    wait = retry_after_s(reply.headers) or wait
                except ProvisorUnavailable as error:
                    self.log.warning("provisor: %s; the operation goes on, and is asked for again", error)
                    wait = error.retry_after_s or wait
                wait = min(max(wait, 0.1), POLL_S_MAX)
                if self.end_time is not None and time.time() + wait > self.end_time:
                    yield TriggerEvent(self._without_end("timeout", "the operation has not ended in time"))
                    return
                await asyncio.sleep(wait)
        except Exception as error:  # a trigger that raises leaves its task without a reason
            message = str(error) if isinstance(error, ProvisorError) else "%s: %s" % (type(error).__name__, error)
            yield TriggerEvent(self._without_end("error", message))

    async def _hook(self) -> ProvisorHook:
        # The thread is asgiref's, which comes with every Airflow: Airflow 3 answers a question for a connection only to
        # one that knows the triggerer's loop.
        from asgiref.sync import sync_to_async

        hook = ProvisorHook(self.provisor_conn_id, attempts=1)
        await sync_to_async(hook.get_conn)()
        return hook

    async def _poll(self, hook: ProvisorHook) -> Reply:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(_threads, functools.partial(hook.get_operation, self.operation_id))

    def _without_end(self, status: str, message: str) -> dict[str, Any]:
        return {"operation_id": self.operation_id, "kind": None, "application": None, "status": status, "finished_at": None, "message": message}

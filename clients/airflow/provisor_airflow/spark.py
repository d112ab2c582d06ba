"""Advised properties for an operator that takes a `conf` of Spark properties."""
from __future__ import annotations

from typing import Any, Mapping, Sequence

from provisor_airflow.advice import FAIL, WARN, Advised, request_of, with_enforced
from provisor_airflow.airflow_api import AirflowFailException
from provisor_airflow.hooks import ProvisorHook
from provisor_airflow.http_client import ProvisorRefused
from provisor_airflow.operators import act_on, ask, checked_action

# Arguments of SparkSubmitOperator that set a property, too.
ARGUMENTS = {
    "num_executors": "spark.executor.instances",
    "executor_cores": "spark.executor.cores",
    "executor_memory": "spark.executor.memory",
    "total_executor_cores": "spark.cores.max",
    "driver_memory": "spark.driver.memory",
}


class ProvisorSparkSubmitMixin:
    """
    Before the operator runs, asks for advice and puts the advised properties into its `conf`.

    It comes before the operator among the bases: `class Mine(ProvisorSparkSubmitMixin, SparkSubmitOperator)`. What the
    author of the DAG sets, in `conf` or by arguments such as `executor_cores`, is kept, and the advice takes it into
    account. `spark.provisor.adviceId` in the event log names the advice, so that prediction and run are compared. If
    nothing is advised, the job runs unchanged.

    The parameters are those of ProvisorAdviceOperator with `provisor_` before their names.
    """

    provisor_template_fields: Sequence[str] = (
        "provisor_application",
        "provisor_problem_size",
        "provisor_deadline_s",
        "provisor_confidence",
        "provisor_labels",
        "provisor_constraints",
        "provisor_apply",
        "provisor_request",
    )

    def __init__(
        self,
        *,
        provisor_application: str | None = None,
        provisor_problem_size: float | str | None = None,
        provisor_deadline_s: float | str | None = None,
        provisor_confidence: float | str | None = None,
        provisor_labels: Mapping[str, str] | None = None,
        provisor_constraints: Mapping[str, Any] | None = None,
        provisor_apply: str | Sequence[str] | None = None,
        provisor_request: Mapping[str, Any] | None = None,
        provisor_on_missed: str = WARN,
        provisor_on_at_risk: str = WARN,
        provisor_on_unknown: str = WARN,
        provisor_on_unavailable: str = WARN,
        provisor_on_token_refused: str = FAIL,
        provisor_conn_id: str = ProvisorHook.default_conn_name,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.provisor_application = provisor_application
        self.provisor_problem_size = provisor_problem_size
        self.provisor_deadline_s = provisor_deadline_s
        self.provisor_confidence = provisor_confidence
        self.provisor_labels = provisor_labels
        self.provisor_constraints = provisor_constraints
        self.provisor_apply = provisor_apply
        self.provisor_request = provisor_request
        self.provisor_actions = {
            "missed": checked_action("provisor_on_missed", provisor_on_missed),
            "at_risk": checked_action("provisor_on_at_risk", provisor_on_at_risk),
            "unknown": checked_action("provisor_on_unknown", provisor_on_unknown),
            "unavailable": checked_action("provisor_on_unavailable", provisor_on_unavailable),
            "token_refused": checked_action("provisor_on_token_refused", provisor_on_token_refused),
        }
        self.provisor_conn_id = provisor_conn_id

    def execute(self, context: Any, **kwargs: Any) -> Any:
        # kwargs: from 2.8 to 2.10 Airflow says by one that a worker calls, which only the operator's own method takes out.
        advised = self.provisor_advise(context)
        act_on(self.log, advised, self.provisor_actions)  # type: ignore[attr-defined]
        self.provisor_configure(advised)
        return super().execute(context, **kwargs)  # type: ignore[misc]

    def provisor_own(self) -> dict[str, Any]:
        """The properties that the author sets, in whichever way."""
        own = dict(getattr(self, self._conf_name()) or {})
        for argument, key in ARGUMENTS.items():
            value = getattr(self, argument, None)
            if value is None:
                value = getattr(self, "_" + argument, None)
            if value is not None:
                own[key] = value
        return own

    def provisor_advise(self, context: Any) -> Advised:
        try:
            body = request_of(
                application=self.provisor_application,
                problem_size=self.provisor_problem_size,
                deadline_s=self.provisor_deadline_s,
                confidence=self.provisor_confidence,
                labels=self.provisor_labels,
                constraints=self.provisor_constraints,
                apply=self.provisor_apply,
                request=self.provisor_request,
            )
            return ask(ProvisorHook(self.provisor_conn_id), context, with_enforced(body, self.provisor_own()))
        except (ProvisorRefused, ValueError) as error:
            raise AirflowFailException(str(error)) from None

    def provisor_configure(self, advised: Advised) -> None:
        """Into `conf`, except what the author sets."""
        own, name = self.provisor_own(), self._conf_name()
        added = {key: value for key, value in advised.conf.items() if key not in own}
        for key, value in sorted(added.items()):
            self.log.info("provisor:   --conf %s=%s", key, value)  # type: ignore[attr-defined]
        setattr(self, name, {**added, **(getattr(self, name) or {})})

    def _conf_name(self) -> str:
        """Earlier releases of the Spark provider keep it under another name."""
        return "conf" if hasattr(self, "conf") else "_conf"

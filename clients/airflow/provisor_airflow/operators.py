"""Operators that ask for advice: one to configure later tasks with it, one to stop what would miss its deadline."""
from __future__ import annotations

from typing import Any, Mapping, Sequence

from provisor_airflow.advice import ACTIONS, FAIL, SKIP, WARN, Advised, idempotency_key, read_advice, request_of
from provisor_airflow.airflow_api import AirflowFailException, AirflowSkipException, BaseOperator
from provisor_airflow.hooks import ProvisorHook
from provisor_airflow.http_client import ProvisorRefused, ProvisorUnavailable


def ask(hook: ProvisorHook, context: Mapping[str, Any], body: Mapping[str, Any], dry_run: bool = False) -> Advised:
    """Ask, and return the answer, or that there is none. Raises ProvisorRefused."""
    try:
        reply = hook.ask_advice(body, key=idempotency_key(context, body), dry_run=dry_run)
    except ProvisorUnavailable as error:
        return Advised(None, str(error))
    except ProvisorRefused as error:
        if any(isinstance(fault, dict) and fault.get("code") == "unknown_application" for fault in error.errors):
            return Advised("unknown", "nothing has been recorded of application %s" % body.get("application"))
        raise
    return read_advice(reply, stored=not dry_run)


class ProvisorAdviceOperator(BaseOperator):
    """
    Ask how many executors a Spark job needs, and push the answer.

    The return value is small: `conf` (the advised Spark properties, `spark.provisor.adviceId` among them), `advice_id`,
    `verdict`, `message`, `executors`, `cores_per_executor`, `predicted_duration_s`, `deadline_probability`,
    `cost_change_percent`. `conf` is empty if nothing should be changed: the verdict is `missed` or `unknown`, or the
    service cannot be reached (then `verdict` is None).

    :param application: its name in provisor (templated)
    :param problem_size: how much the job will read, in the unit of its recorded runs; by default that of the latest run
        (templated)
    :param deadline_s: seconds that the job may take (templated)
    :param confidence: the probability with which it has to meet the deadline, by default 0.95 (templated)
    :param labels: of the runs to predict from (templated)
    :param constraints: as in the contract: `max_executors`, `enforced`, `preserve`, ... (templated)
    :param apply: kinds of proposals that `conf` sets, as a list or a text with commas: `memory`, `speculation`, `partitions`;
        by default none, and `conf` has the executors and what belongs to them (templated)
    :param request: further members of the request (templated)
    :param on_missed: `fail`, `skip` or `warn` if no executor count is predicted to meet the deadline
    :param on_at_risk: the same if one is, but with less than the requested confidence
    :param on_unknown: the same if too few runs are known to predict from
    :param on_unavailable: the same if the service cannot be reached
    :param dry_run: store no advice and send no event: `advice_id` is None, `conf` has no `spark.provisor.adviceId`, and a
        token with the scope `read` is enough
    :param provisor_conn_id: the connection
    """

    template_fields: Sequence[str] = ("application", "problem_size", "deadline_s", "confidence", "labels", "constraints", "apply", "request")
    template_fields_renderers = {"labels": "json", "constraints": "json", "request": "json"}
    ui_color = "#e8eaf6"

    def __init__(
        self,
        *,
        application: str | None = None,
        problem_size: float | str | None = None,
        deadline_s: float | str | None = None,
        confidence: float | str | None = None,
        labels: Mapping[str, str] | None = None,
        constraints: Mapping[str, Any] | None = None,
        apply: str | Sequence[str] | None = None,
        request: Mapping[str, Any] | None = None,
        on_missed: str = FAIL,
        on_at_risk: str = WARN,
        on_unknown: str = WARN,
        on_unavailable: str = WARN,
        dry_run: bool = False,
        provisor_conn_id: str = ProvisorHook.default_conn_name,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.application = application
        self.problem_size = problem_size
        self.deadline_s = deadline_s
        self.confidence = confidence
        self.labels = labels
        self.constraints = constraints
        self.apply = apply
        self.request = request
        self.on_missed, self.on_at_risk = checked_action("on_missed", on_missed), checked_action("on_at_risk", on_at_risk)
        self.on_unknown, self.on_unavailable = checked_action("on_unknown", on_unknown), checked_action("on_unavailable", on_unavailable)
        self.advice_dry_run = dry_run  # BaseOperator has a method of the other name
        self.provisor_conn_id = provisor_conn_id

    def execute(self, context: Any) -> dict[str, Any]:
        try:
            body = request_of(
                application=self.application,
                problem_size=self.problem_size,
                deadline_s=self.deadline_s,
                confidence=self.confidence,
                labels=self.labels,
                constraints=self.constraints,
                apply=self.apply,
                request=self.request,
            )
            advised = ask(self.hook(), context, body, self.advice_dry_run)
        except (ProvisorRefused, ValueError) as error:
            raise AirflowFailException(str(error)) from None
        self.act(advised)
        return advised.for_xcom()

    def hook(self) -> ProvisorHook:
        return ProvisorHook(self.provisor_conn_id)

    def act(self, advised: Advised) -> None:
        """Go on, skip or fail, by what became of the question."""
        actions = {None: self.on_unavailable, "missed": self.on_missed, "at_risk": self.on_at_risk, "unknown": self.on_unknown}
        act_on(self.log, advised, actions)


class ProvisorGateOperator(ProvisorAdviceOperator):
    """
    Stop before a job that is predicted to miss its deadline, or to become too expensive.

    By default the gate skips itself, and by Airflow's usual trigger rule all that follows. With `on_missed="fail"` and the
    like the DAG run fails. The gate lets a job pass if too little is known of it, or if the service cannot be reached.

    Its advice is not stored, by default: the job behind the gate asks for its own, and one run should not have two. What
    the job sets itself belongs into `constraints={"enforced": {...}}`, so that both ask the same question.

    :param max_cost_rise_percent: how much more the advised run may cost than with the executors of the last run; a
        greater rise counts as `missed`
    :param dry_run: False stores the advice, so that a gate that stops a job leaves an event `deadline.infeasible`
    """

    def __init__(
        self,
        *,
        max_cost_rise_percent: float | None = None,
        on_missed: str = SKIP,
        on_at_risk: str = SKIP,
        on_unknown: str = WARN,
        on_unavailable: str = WARN,
        dry_run: bool = True,
        **kwargs: Any,
    ) -> None:
        actions = {"on_missed": on_missed, "on_at_risk": on_at_risk, "on_unknown": on_unknown, "on_unavailable": on_unavailable}
        super().__init__(**actions, dry_run=dry_run, **kwargs)
        self.max_cost_rise_percent = max_cost_rise_percent

    def act(self, advised: Advised) -> None:
        super().act(advised)
        rise = advised.cost_change_percent
        if self.max_cost_rise_percent is not None and rise is not None and rise > self.max_cost_rise_percent:
            stop(self.log, self.on_missed, "the cost rises by %.1f percent, more than %g" % (rise, self.max_cost_rise_percent))


def act_on(log: Any, advised: Advised, actions: Mapping[str | None, str]) -> None:
    """What `actions` has for the verdict (None: the service could not be asked); a verdict that it does not have fails."""
    if advised.verdict == "met":
        log.info("provisor: %s", advised.message)
        return
    outcome = "the service cannot be reached" if advised.verdict is None else "verdict %s" % advised.verdict
    stop(log, actions.get(advised.verdict, FAIL), "%s: %s" % (outcome, advised.message))


def stop(log: Any, action: str, message: str) -> None:
    """Fail or skip the task with these words, or only warn."""
    if action == FAIL:
        # A try that follows at once would get the same answer.
        raise AirflowFailException("provisor: " + message)
    if action == SKIP:
        raise AirflowSkipException("provisor: " + message)
    log.warning("provisor: %s; the task goes on", message.rstrip("."))


def checked_action(name: str, value: str) -> str:
    if value not in ACTIONS:
        raise ValueError("%s must be one of %s, not %r" % (name, ", ".join(ACTIONS), value))
    return value

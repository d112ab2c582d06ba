"""Operators that ask for advice: one to configure later tasks with it, one to stop what would miss its deadline.

docs/pipelines.md has the table of situations and actions, which is the same for every integration.
"""
from __future__ import annotations

from typing import Any, Mapping, Sequence

from provisor_airflow.advice import ACTIONS, FAIL, SKIP, WARN, Advised, idempotency_key, number_of, read_advice, request_of
from provisor_airflow.airflow_api import AirflowFailException, AirflowSkipException, BaseOperator
from provisor_airflow.hooks import ProvisorHook
from provisor_airflow.http_client import ProvisorRefused, ProvisorUnavailable


SITUATIONS = ("missed", "at_risk", "unknown", "unavailable", "token_refused")


def ask(hook: ProvisorHook, context: Mapping[str, Any], body: Mapping[str, Any], dry_run: bool = False) -> Advised:
    """Ask, and return the answer, or why there is none. Raises ProvisorRefused for an invalid request."""
    try:
        reply = hook.ask_advice(body, key=idempotency_key(context, body), dry_run=dry_run)
    except ProvisorUnavailable as error:
        return Advised(None, str(error))
    except ProvisorRefused as error:
        if error.status == 401:
            return Advised(None, str(error), token_refused=True)
        if any(isinstance(fault, dict) and fault.get("code") == "unknown_application" for fault in error.errors):
            return Advised("unknown", "nothing has been recorded of application %s" % body.get("application"))
        raise
    return read_advice(reply, stored=not dry_run)


class ProvisorAdviceOperator(BaseOperator):
    """
    Ask how many executors a Spark job needs, and push the answer.

    The return value is small: `conf` (the advised Spark properties, `spark.provisor.adviceId` among them), `advice_id`,
    `verdict`, `message`, `executors`, `cores_per_executor`, `predicted_duration_s`, `deadline_probability`,
    `cost_change_percent`. `conf` is empty if nothing should be changed: the verdict is `missed` or `unknown`, or there is
    no answer (then `verdict` is None).

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
    :param on_token_refused: the same if the token is wrong, expired or revoked
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
        on_missed: str = WARN,
        on_at_risk: str = WARN,
        on_unknown: str = WARN,
        on_unavailable: str = WARN,
        on_token_refused: str = FAIL,
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
        self.on_token_refused = checked_action("on_token_refused", on_token_refused)
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
            self.check_question(body)
            advised = ask(self.hook(), context, body, self.advice_dry_run)
        except (ProvisorRefused, ValueError) as error:
            raise AirflowFailException(str(error)) from None
        self.act(advised)
        return advised.for_xcom()

    def check_question(self, body: Mapping[str, Any]) -> None:
        """Of a rendered request; ValueError if it is not one to ask."""

    def hook(self) -> ProvisorHook:
        return ProvisorHook(self.provisor_conn_id)

    def act(self, advised: Advised) -> None:
        """Go on, skip or fail, by what became of the question."""
        act_on(self.log, advised, {situation: getattr(self, "on_" + situation) for situation in SITUATIONS})


class ProvisorGateOperator(ProvisorAdviceOperator):
    """
    Stop before a job that is predicted to miss its deadline, or to become too expensive.

    By default the gate fails if the deadline is predicted to be missed or perhaps missed, if too little is known to tell,
    and if the token is refused. It lets the job pass, with a warning, if the service cannot be reached. With
    `on_missed="skip"` and the like it skips itself, and by Airflow's usual trigger rule all that follows.

    A gate needs `deadline_s` (or one in `request`) or `max_cost_rise_percent`: without them it could stop nothing.
    `no_deadline=True` says that this is meant. A `deadline_s` that is rendered to nothing is an error.

    Its advice is not stored, by default: the job behind the gate asks for its own, and one run should not have two. What
    the job sets itself belongs into `constraints={"enforced": {...}}`, so that both ask the same question.

    :param max_cost_rise_percent: how much more the advised run may cost than with the executors of the last run; a
        greater rise fails, or skips with `on_missed="skip"`
    :param no_deadline: the job has no deadline, which is meant
    :param warn_only: no verdict and no cost stops the job: all of them only warn
    :param dry_run: False stores the advice, so that a gate that stops a job leaves an event `deadline.infeasible`
    """

    def __init__(
        self,
        *,
        max_cost_rise_percent: float | None = None,
        no_deadline: bool = False,
        warn_only: bool = False,
        on_missed: str = FAIL,
        on_at_risk: str = FAIL,
        on_unknown: str = FAIL,
        on_unavailable: str = WARN,
        on_token_refused: str = FAIL,
        dry_run: bool = True,
        **kwargs: Any,
    ) -> None:
        if warn_only:
            on_missed = on_at_risk = on_unknown = WARN
        super().__init__(
            on_missed=on_missed,
            on_at_risk=on_at_risk,
            on_unknown=on_unknown,
            on_unavailable=on_unavailable,
            on_token_refused=on_token_refused,
            dry_run=dry_run,
            **kwargs,
        )
        self.max_cost_rise_percent, self.no_deadline, self.warn_only = max_cost_rise_percent, no_deadline, warn_only
        self._deadline_given = self.deadline_s is not None
        # What another task returns is known only when the gate runs.
        known = all(isinstance(value, (Mapping, type(None))) for value in (self.request, self.constraints))
        if known and not self._deadline_given:
            self._check_limits(request_of(application=None, constraints=self.constraints, request=self.request))

    def check_question(self, body: Mapping[str, Any]) -> None:
        if self._deadline_given and number_of("deadline_s", self.deadline_s) is None and not self.no_deadline:
            raise ValueError("deadline_s of the gate is empty: give seconds, or say no_deadline=True if the job has none")
        self._check_limits(body)

    def _check_limits(self, body: Mapping[str, Any]) -> None:
        deadline_s, max_cost = body.get("deadline_s"), (body.get("constraints") or {}).get("max_cost")
        if deadline_s is not None and self.no_deadline:
            raise ValueError("no_deadline=True must not be given together with a deadline")
        if deadline_s is None and self.max_cost_rise_percent is None and max_cost is None and not self.no_deadline:
            raise ValueError(
                "the gate has neither a deadline nor a limit on cost, so nothing could stop the job: give deadline_s or"
                " max_cost_rise_percent, or say no_deadline=True if none is meant"
            )

    def act(self, advised: Advised) -> None:
        super().act(advised)
        rise = advised.cost_change_percent
        if self.max_cost_rise_percent is not None and rise is not None and rise > self.max_cost_rise_percent:
            action = WARN if self.warn_only else SKIP if self.on_missed == SKIP else FAIL
            stop(self.log, action, "the cost rises by %.1f %%, more than %g %%" % (rise, self.max_cost_rise_percent))


def act_on(log: Any, advised: Advised, actions: Mapping[str, str]) -> None:
    """What `actions` has for the situation; a verdict that it does not have fails."""
    if advised.verdict == "met":
        log.info("provisor: %s", advised.message)
        return
    words = {"unavailable": "the service cannot be reached", "token_refused": "the service refuses the token"}
    outcome = words.get(advised.situation) or "verdict %s" % advised.verdict
    stop(log, actions.get(advised.situation, FAIL), "%s: %s" % (outcome, advised.message))


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

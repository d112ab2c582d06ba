"""What is asked, what the advice means for a DAG, and what is done for each verdict: no Airflow, no HTTP."""
from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

ADVICE_ID_PROPERTY = "spark.provisor.adviceId"
FAIL, SKIP, WARN = "fail", "skip", "warn"
ACTIONS = (FAIL, SKIP, WARN)

# Properties that bear on what is advised, of those that a DAG may set: names and secrets are nobody else's business.
_BEARING_PREFIXES = ("spark.executor.", "spark.dynamicAllocation.", "spark.memory.")
_BEARING = ("spark.shuffle.service.enabled", "spark.speculation", "spark.task.cpus")
_NOT_BEARING = ("JavaOptions", "Env.")
INSTANCES = "spark.executor.instances"
INITIAL = "spark.dynamicAllocation.initialExecutors"


@dataclass(frozen=True)
class Advised:
    """Advice in few words; verdict None: the service could not be asked, or refused the token (`token_refused`)."""

    verdict: str | None
    message: str
    advice_id: str | None = None
    conf: dict[str, str] = field(default_factory=dict)
    executors: int | None = None
    cores_per_executor: int | None = None
    predicted_duration_s: float | None = None
    deadline_probability: float | None = None
    cost_change_percent: float | None = None
    token_refused: bool = False

    @property
    def situation(self) -> str:
        """The row of the table of actions: `met`, a verdict, `unavailable` or `token_refused`."""
        return "token_refused" if self.token_refused else self.verdict or "unavailable"

    def for_xcom(self) -> dict[str, Any]:
        return {**{name: value for name, value in self.__dict__.items() if name != "token_refused"}, "conf": dict(self.conf)}


def read_advice(reply: Mapping[str, Any], stored: bool = True) -> Advised:
    """Of a reply of POST /v1/advice. Its properties are for use where some executor count is predicted to be in time:
    where none is, the least late one is no advice to act on. The id of advice that is not stored leads nowhere: no run
    can be compared with it."""
    recommendation = reply.get("recommendation") or {}
    verdict = reply["verdict"]
    conf: dict[str, str] = {}
    if verdict in ("met", "at_risk"):
        conf = {key: value for key, value in _properties(reply.get("spark") or {}).items() if _is_property(key, value)}
        if stored:
            conf[ADVICE_ID_PROPERTY] = reply["id"]
    reasons = reply.get("reasons") or []
    return Advised(
        verdict=verdict,
        message=reasons[0]["message"] if reasons else verdict,
        advice_id=reply["id"] if stored else None,
        conf=conf,
        executors=recommendation.get("executors"),
        cores_per_executor=recommendation.get("cores_per_executor"),
        predicted_duration_s=recommendation.get("predicted_duration_s"),
        deadline_probability=recommendation.get("deadline_probability"),
        cost_change_percent=(reply.get("last_run") or {}).get("cost_change_percent"),
    )


def _is_property(key: str, value: Any) -> bool:
    """A name and a value as Spark has them, on one line."""
    named = key.startswith("spark.") and all(c.isascii() and (c.isalnum() or c in "._-") for c in key)
    return named and isinstance(value, str) and "\n" not in value and "\r" not in value


def number_of(name: str, value: Any) -> float | int | None:
    """A number that a template may have rendered as text; nothing and "" are None."""
    if value is None or (isinstance(value, str) and value.strip() in ("", "None")):
        return None
    if isinstance(value, bool):
        raise ValueError("%s is no number: %r" % (name, value))
    if isinstance(value, (int, float)):
        return value
    try:
        return int(value)
    except (TypeError, ValueError):
        pass
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError("%s is no number: %r" % (name, value)) from None


def kinds_of(apply: str | Sequence[str] | None) -> list[str] | None:
    """Kinds of proposals to apply, each once; a template may have rendered them as one text, "memory,speculation"."""
    words = apply.split(",") if isinstance(apply, str) else apply or []
    return list(dict.fromkeys(word.strip() for word in words if word.strip() not in ("", "None"))) or None


def request_of(
    *,
    application: str | None,
    problem_size: Any = None,
    deadline_s: Any = None,
    confidence: Any = None,
    labels: Mapping[str, str] | None = None,
    constraints: Mapping[str, Any] | None = None,
    apply: str | Sequence[str] | None = None,
    request: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The body of POST /v1/advice: further members come from `request`, which the others override."""
    body: dict[str, Any] = {"include": ["spark"], **(request or {})}
    given = {
        "application": application or None,
        "problem_size": number_of("problem_size", problem_size),
        "deadline_s": number_of("deadline_s", deadline_s),
        "confidence": number_of("confidence", confidence),
        "labels": dict(labels) if labels else None,
        "apply": kinds_of(apply),
    }
    body.update({name: value for name, value in given.items() if value is not None})
    if constraints:
        body["constraints"] = {**(body.get("constraints") or {}), **constraints}
    return body


def _properties(spark: Mapping[str, Any]) -> dict[str, Any]:
    """The advised properties. Instances that the advice removes are set to the initial executors, because spark-submit cannot
    unset what another place sets, and more than maxExecutors would end Spark at its start."""
    properties = dict(spark.get("properties") or {})
    removed = [change["key"] for change in spark.get("changes") or [] if change["new"] is None]
    if INSTANCES in removed and INITIAL in properties:
        properties[INSTANCES] = properties[INITIAL]
    return properties


def _with_instances_as_initial(own: Mapping[str, str]) -> dict[str, str]:
    """Under dynamic allocation Spark reads the instances as the least initial executors."""
    instances, initial = own.get(INSTANCES), own.get(INITIAL, "0")
    if instances is None or own.get("spark.dynamicAllocation.enabled", "").lower() != "true":
        return dict(own)
    larger = instances if not (instances.isdigit() and initial.isdigit()) or int(instances) > int(initial) else initial
    return {**{key: value for key, value in own.items() if key != INSTANCES}, INITIAL: larger}


def with_enforced(body: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The request, with what the DAG sets itself as properties that the advice is to go with."""
    bearing = {
        key: _text(value)
        for key, value in own.items()
        if value is not None
        and (key.startswith(_BEARING_PREFIXES) or key in _BEARING)
        and not any(word in key for word in _NOT_BEARING)
    }
    if not bearing:
        return dict(body)
    constraints = dict(body.get("constraints") or {})
    constraints["enforced"] = {**(constraints.get("enforced") or {}), **_with_instances_as_initial(bearing)}
    return {**body, "constraints": constraints}


def _text(value: Any) -> str:
    """As Spark writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def idempotency_key(context: Mapping[str, Any], body: Mapping[str, Any]) -> str | None:
    """The same for repeated requests of one try of one task instance, another for every other question; None where the
    context names no task instance."""
    instance = context.get("ti") or context.get("task_instance")
    if instance is None:
        return None
    names = [getattr(instance, name, None) for name in ("dag_id", "task_id", "run_id", "map_index", "try_number")]
    words = json.dumps([names, body], sort_keys=True, default=str)
    return "airflow-" + hashlib.sha256(words.encode()).hexdigest()[:40]

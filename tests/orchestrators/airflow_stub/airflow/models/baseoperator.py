import functools
import logging

import jinja2

from airflow.exceptions import TaskDeferred


SENTINEL = object()


def guarded(execute):
    """As in Airflow 2.8 to 2.10: a worker's call has a keyword that only methods of operators know."""
    @functools.wraps(execute)
    def call(self, context, **kwargs):
        if kwargs.pop(type(self).__name__ + "__sentinel", None) is not SENTINEL:
            self.log.warning("%s cannot be called outside TaskInstance!", execute.__qualname__)
        return execute(self, context, **kwargs)
    return call


class BaseOperatorMeta(type):
    def __new__(mcs, name, bases, namespace):
        if "execute" in namespace:
            namespace["execute"] = guarded(namespace["execute"])
        return super().__new__(mcs, name, bases, namespace)


class BaseOperator(metaclass=BaseOperatorMeta):
    template_fields = ()

    def __init__(self, *, task_id, retries=0, trigger_rule="all_success", do_xcom_push=True, **kwargs):
        if kwargs:
            raise TypeError("Invalid arguments were passed to %s: %s" % (type(self).__name__, sorted(kwargs)))
        self.task_id, self.retries, self.trigger_rule, self.do_xcom_push = task_id, retries, trigger_rule, do_xcom_push
        self.log = logging.getLogger("airflow.task.operators." + type(self).__name__)

    def dry_run(self):
        """Render the templates only."""

    def execute(self, context):
        raise NotImplementedError

    def render_template_fields(self, context):
        for name in self.template_fields:
            setattr(self, name, self._render(getattr(self, name), context))

    def _render(self, value, context):
        if isinstance(value, str):
            return jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(value).render(**context)
        if isinstance(value, dict):
            return {key: self._render(of, context) for key, of in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self._render(of, context) for of in value)
        return value

    def defer(self, *, trigger, method_name, kwargs=None, timeout=None):
        raise TaskDeferred(trigger=trigger, method_name=method_name, kwargs=kwargs, timeout=timeout)

    def resume_execution(self, next_method, next_kwargs, context):
        return getattr(self, next_method)(context, **(next_kwargs or {}))

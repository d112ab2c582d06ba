import logging

import jinja2

from airflow.exceptions import TaskDeferred


class BaseOperator:
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

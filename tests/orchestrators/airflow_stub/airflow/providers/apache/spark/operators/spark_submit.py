from airflow.models.baseoperator import BaseOperator


class SparkSubmitOperator(BaseOperator):
    """With some of its arguments; remembers the command that spark-submit would be run as."""

    template_fields = ("application", "conf", "name")
    names = {"num_executors": "--num-executors", "executor_cores": "--executor-cores", "executor_memory": "--executor-memory"}

    def __init__(self, *, application="", conf=None, conn_id="spark_default", name="arrow-spark", num_executors=None,
                 executor_cores=None, executor_memory=None, total_executor_cores=None, driver_memory=None, **kwargs):
        super().__init__(**kwargs)
        self.application, self.conf, self._conn_id, self.name = application, conf, conn_id, name
        self._num_executors, self._executor_cores, self._executor_memory = num_executors, executor_cores, executor_memory
        self._total_executor_cores, self._driver_memory = total_executor_cores, driver_memory

    def execute(self, context):
        words = ["spark-submit"]
        for key, value in (self.conf or {}).items():
            words += ["--conf", "%s=%s" % (key, value)]
        for name, option in self.names.items():
            if getattr(self, "_" + name) is not None:
                words += [option, str(getattr(self, "_" + name))]
        self.command = words + ["--name", self.name, self.application]

import datetime
import time

from airflow.exceptions import AirflowSensorTimeout, AirflowSkipException
from airflow.models.baseoperator import BaseOperator


class BaseSensorOperator(BaseOperator):
    def __init__(self, *, poke_interval=60, timeout=7 * 24 * 3600, soft_fail=False, mode="poke", **kwargs):
        super().__init__(**kwargs)
        self.poke_interval, self.timeout = (v.total_seconds() if isinstance(v, datetime.timedelta) else v for v in (poke_interval, timeout))
        self.soft_fail, self.mode = soft_fail, mode

    def poke(self, context):
        raise NotImplementedError

    def execute(self, context):
        began = time.monotonic()
        while not self.poke(context):
            if time.monotonic() - began > self.timeout:
                if self.soft_fail:
                    raise AirflowSkipException("Snap. Time is OUT.")
                raise AirflowSensorTimeout("Snap. Time is OUT.")
            time.sleep(self.poke_interval)

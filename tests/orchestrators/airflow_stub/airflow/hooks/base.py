import json
import logging

from airflow.exceptions import AirflowNotFoundException


class Connection:
    def __init__(self, conn_id, conn_type="provisor", host=None, schema=None, login=None, password=None, port=None, extra=None):
        self.conn_id, self.conn_type, self.host, self.schema, self.login = conn_id, conn_type, host, schema, login
        self.password, self.port, self.extra = password, port, extra

    @property
    def extra_dejson(self):
        return json.loads(self.extra) if self.extra else {}


class BaseHook:
    connections = {}  # what a database or a secrets backend holds

    def __init__(self, logger_name=None):
        self.log = logging.getLogger("airflow.task.hooks." + type(self).__name__)

    @classmethod
    def get_connection(cls, conn_id):
        if conn_id not in cls.connections:
            raise AirflowNotFoundException("The conn_id `%s` isn't defined" % conn_id)
        return cls.connections[conn_id]

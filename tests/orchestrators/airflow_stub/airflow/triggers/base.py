import logging


class BaseTrigger:
    def __init__(self, **kwargs):
        self.log = logging.getLogger("airflow.triggers." + type(self).__name__)

    def serialize(self):
        raise NotImplementedError

    async def run(self):
        raise NotImplementedError
        yield


class TriggerEvent:
    def __init__(self, payload):
        self.payload = payload

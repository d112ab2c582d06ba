"""How a task ends that does not simply return."""


class AirflowException(Exception):
    pass


class AirflowFailException(AirflowException):
    """Failed, without another try."""


class AirflowSkipException(AirflowException):
    pass


class AirflowSensorTimeout(AirflowException):
    pass


class AirflowNotFoundException(AirflowException):
    pass


class TaskDeferred(BaseException):
    """The task waits for a trigger; what follows is a method of the operator."""

    def __init__(self, *, trigger, method_name, kwargs=None, timeout=None):
        super().__init__()
        self.trigger, self.method_name, self.kwargs, self.timeout = trigger, method_name, kwargs, timeout

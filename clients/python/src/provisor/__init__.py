"""provisor: how many executors a Spark job needs to meet its deadline, and why.

    client = provisor.Client()
    client.advise("nightly-etl", problem_size=64, deadline_s=90).recommendation.executors
"""
from typing import TYPE_CHECKING, Any, List

from .client import Client as Client
from .encode import UNSET as UNSET
from .errors import (
    ApiError as ApiError,
    BadRequest as BadRequest,
    ConfigurationError as ConfigurationError,
    Conflict as Conflict,
    ConnectionFailed as ConnectionFailed,
    Forbidden as Forbidden,
    Gone as Gone,
    Invalid as Invalid,
    InvalidReply as InvalidReply,
    NotFound as NotFound,
    NotModified as NotModified,
    OperationCancelled as OperationCancelled,
    OperationEnded as OperationEnded,
    OperationFailed as OperationFailed,
    PreconditionFailed as PreconditionFailed,
    ProvisorError as ProvisorError,
    ServerError as ServerError,
    TimedOut as TimedOut,
    TokenWarning as TokenWarning,
    TooLarge as TooLarge,
    TooManyRequests as TooManyRequests,
    Unauthorized as Unauthorized,
    Unavailable as Unavailable,
    UnsupportedMediaType as UnsupportedMediaType,
)
from .pages import Pages as Pages
from .record import Record as Record
from .results import Operation as Operation
from .version import __version__ as __version__

if TYPE_CHECKING:
    from .watching import WatchWarning as WatchWarning, watch as watch
else:
    def __getattr__(name):
        """What only sessions of Spark need is loaded when it is used."""
        if name not in ("watch", "WatchWarning"):
            raise AttributeError("module 'provisor' has no attribute %r" % name)
        from . import watching
        globals()[name] = found = getattr(watching, name)
        return found


def __dir__() -> List[str]:
    return sorted({*globals(), "watch", "WatchWarning"})


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext provisor`."""
    from .magic import load
    load(shell)

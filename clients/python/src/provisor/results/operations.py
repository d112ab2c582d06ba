"""Long work."""
from __future__ import annotations

from .. import schemas
from ..errors import OperationCancelled, OperationFailed
from ..events import ENDS


class Operation(schemas.Operation):
    __doc__ = schemas.Operation.__doc__

    @property
    def ended(self) -> bool:
        """For good: succeeded, failed or cancelled."""
        return self.status in ENDS

    def raise_for_failure(self) -> None:
        """OperationFailed or OperationCancelled, if it ended so."""
        if self.status == "failed":
            problem = self.error
            why = problem.to_dict().get("detail") if problem is not None else None
            raise OperationFailed("%s %s failed: %s" % (self.kind, self.id, why or "for a reason that is not known"), self)
        if self.status == "cancelled":
            raise OperationCancelled("%s %s was cancelled" % (self.kind, self.id), self)

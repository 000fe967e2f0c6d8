"""What accounting remembers: the property and its gaming days, the ledger, and who did what."""

from accounting.models.audit import AuditHead, AuditRecord
from accounting.models.ledger import Account, Document, Event, Stream, Total, Transfer
from accounting.models.numbers import HouseNumber
from accounting.models.property import GamingDay, Property

__all__ = [
    "Account",
    "AuditHead",
    "AuditRecord",
    "Document",
    "Event",
    "GamingDay",
    "HouseNumber",
    "Property",
    "Stream",
    "Total",
    "Transfer",
]

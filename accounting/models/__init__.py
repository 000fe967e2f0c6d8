"""What accounting remembers: the property and its gaming days, the ledger, and who did what."""

from accounting.models.audit import AuditHead, AuditRecord
from accounting.models.day import ClosedDay, ClosedHead, Reading, ReadingNote, ReadingPhoto, Verified
from accounting.models.ledger import Account, Document, Event, Stream, Total, Transfer
from accounting.models.numbers import HouseNumber
from accounting.models.property import GamingDay, Property

__all__ = [
    "Account",
    "AuditHead",
    "AuditRecord",
    "ClosedDay",
    "ClosedHead",
    "Document",
    "Event",
    "GamingDay",
    "HouseNumber",
    "Property",
    "Reading",
    "ReadingNote",
    "ReadingPhoto",
    "Stream",
    "Total",
    "Transfer",
    "Verified",
]

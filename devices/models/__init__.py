"""What devices remember: the gateways, every message they sent, and what waits to be settled."""

from devices.models.device import Contact, Device, Heartbeat, SignificantEvent
from devices.models.message import Attempt, Deal, Looked, Message, Passed, Queued, Reference, Stoppage

__all__ = [
    "Attempt",
    "Contact",
    "Deal",
    "Device",
    "Heartbeat",
    "Looked",
    "Message",
    "Passed",
    "Queued",
    "Reference",
    "SignificantEvent",
    "Stoppage",
]

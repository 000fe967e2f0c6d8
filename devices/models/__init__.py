"""What devices remember: the gateways, every message they sent, and what waits to be settled."""

from devices.models.device import Device, Heartbeat, SignificantEvent
from devices.models.message import Attempt, Message, Queued, Reference, Stoppage

__all__ = ["Attempt", "Device", "Heartbeat", "Message", "Queued", "Reference", "SignificantEvent", "Stoppage"]

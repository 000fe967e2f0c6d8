"""Comparing what recorded balances were measured against with the transfers of their streams (REQUIREMENTS R84).

The rules decide such an act again from its cause; what was won and not handed over by then the cause brings along.
"""

import msgspec

from accounting.event_queries import documented
from accounting.queries import streams, unpaid_between
from accounting.rules.events import FUNDS
from devices.audit.findings import same


def compare_funds() -> None:
    """Compare the unpaid of every recorded balance with the transfers before it. Raises Difference."""
    for stream_id, code, _ in streams():
        unpaid = reached = 0
        for event in documented(stream_id, [FUNDS]):
            unpaid += unpaid_between(stream_id, reached, event.sequence)
            reached = event.sequence
            payload = msgspec.json.decode(event.cause)["payload"]
            where = f"stream {code}, sequence {event.sequence} (balance)"
            same(where, "what was won and not handed over", unpaid, payload["unpaid_cents"])

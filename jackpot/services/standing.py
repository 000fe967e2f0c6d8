"""A link as the events of its stream make it, to decide on (ARCHITECTURE §3a)."""

from typing import Any

import msgspec

from accounting.event_queries import Documented, documented
from accounting.rules.edition import FIRST
from accounting.rules.events import TERMS
from jackpot.models import ProgressiveEdition
from jackpot.rules import installing
from jackpot.rules.state import LinkState, filed
from jackpot.services.meters import LinkMeters


def paytable_definitions() -> dict[str, dict[str, Any]]:
    """The definitions of the progressive editions on record, by code."""
    return dict(ProgressiveEdition.objects.values_list("code", "definition"))


def of_link(stream_id: int, meters: LinkMeters) -> LinkState:
    """The link of a stream whose row the caller holds locked, with its terms and states, on its meters as they stand."""
    found: LinkState | None = None
    definitions = paytable_definitions()
    for event in documented(stream_id, TERMS):
        for change in _changes(event, definitions):
            if change["what"] == "link.installed":
                terms = installing.terms_of({"link": change["definition"], "paytable": change["paytable"]})
                found = installing.installed(terms)
            elif change["what"] == "link.filed":
                found = filed(change, installing.filed_on(msgspec.json.decode(event.cause)))
            elif change["what"].startswith("link."):
                assert found is not None, "a link is opened before it changes"
                if change["link"] == found.code:  # an act that moved both may have changed another
                    found.change(change)
    assert found is not None, "the stream of a link begins with its opening"
    found.meters, found.next_hit = meters.values, meters.next_hit
    return found


def _changes(event: Documented, definitions: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    result = msgspec.json.decode(event.result)
    if event.rules == FIRST:
        return [installing.first_change(result, definitions[result["paytable"]], event.recorded_at.isoformat())]
    changes: list[dict[str, Any]] = result.get("changes", [])
    return changes

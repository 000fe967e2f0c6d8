"""What an act is about: whatever a subject names, and in whatever state it is, the house refuses as `settle` does."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from accounting.office import registry
from accounting.office.rules.person import Person
from accounting.office.services import proposals
from accounting.rules.acts import ActRefused
from accounting.rules.roles import ROLES
from jackpot.rules.decision import Act, read_act
from jackpot.rules.meter import opening
from tables.rules.deciding import SHAPES, decide
from tables.rules.floor import read_floor
from tables.rules.house import house_of
from tables.services import past
from tests.rules.lines import Lines
from tests.services.house import (
    ALONE,
    FLOOR,
    LINKED,
    RECEIVED,
    TWIN,
    House,
    locked,
    message,
    rows,
    royal,
)

ANYBODY = Person("anybody", frozenset(ROLES), "10.0.0.7")
PLAYED: list[dict[str, Any]] = [
    royal("R-1"),
    message("held", dealing={"method": "shuffler", "players": 5}),
    message("void", irregularities=[{"code": "shoe_failed"}]),
    locked("waits"),
    royal("R-2", table=TWIN),
    message("R-3", table=ALONE),
]
LEVEL = {"code": "major", "reset_cents": 10_000, "rate_ppm": 170_000}
LINK = {"code": "nn", "name": "New", "paytable": "ms-mg-01", "decks": 1, "levels": [LEVEL], "tie_policy": "sequential"}
PAYLOADS: dict[str, dict[str, Any]] = {
    "link.file": {"link": LINK, "initial": {"major": 25_000}, "filing": "F"},
    "link.close": {"disposition": [{"level": "major", "part": "display", "to": "regulator_order"}]},
    "link.terms": {"levels": [{"code": "major", "rate_ppm": 1_000}]},
    "table.join": {"link": "twin"},
    "table.terms": {"minimum_cents": 500},
    "level.adjust": {"part": "display", "cents": 500, "reason": "correction"},
    "level.transfer": {"to": "twin/grand", "parts": ["display"]},
    "hit.verify": {"checks": ["cards"]},
    "hit.approve": {"note": "seen"},
    "hit.pay": {"method": "cage"},
    "hit.withhold": {"method": "cage", "cents": 24},
    "payout.withhold": {"method": "table", "cents": 24},
    "payout.pay": {"method": "table"},
    "day.close": {"sequences": {"ms-mg01": 3}},
}
"""Of the right shape; without one an act takes none."""


def payload_of(name: str, subject: str) -> dict[str, Any]:
    """A payload that fits a subject; a corrected message is of the round that is named."""
    if name != "round.correct":
        return PAYLOADS.get(name, {})
    table, _, reference = subject.partition("/")
    return {"message": message("held") | {"round": reference, "table": table}}


SUBJECTS = [
    "nothing", "zz", "zz/major", "ms-mg01/none", "MS-999", "MS-999/R-1", "MS-101/none", "MS-101/", "/R-1", "/", "//", " ",
    "ms-mg01-000009", "ms-mg01-1", "ms-mg01-", "ms-mg01-00000１", "MS-101/R-1/3/1", "MS-101/R-1/1/1", "MS-101/R-1/x/y",
    "MS-101/R-1/1/3/", "MS-101/R-1/99999999999999999999/3", "a/b/c/d/e", "2026-02-30", "2026-11-2７", "20261127", "9" * 150,
    "MS-101\u00a0", "ms-101", "MS-MG01", "é", "e\u0301",
    # What is there, each for the acts that are about something else or come too early.
    "ms-mg01", "twin", "ms-mg01/major", "twin/grand", LINKED, TWIN, ALONE, "MS-101/R-1", "MS-101/held", "MS-101/void",
    "MS-101/waits", "TW-201/R-2", "VIP-7/R-3", "ms-mg01-000001", "twin-000001", "MS-101/R-1/1/3", "TW-201/R-2/1/3",
    "2026-11-27", "2026-11-20",
]  # fmt: skip


MORE_IN_THE_HOUSE = {("done", "slip_needed"), ("done", "not_ready")}
"""A house pays with a slip, and closes a day once nothing stands in its way."""


@pytest.fixture
def lines() -> Lines:
    """The same house and the same evening as lines of a file."""
    floor = read_floor(FLOOR)
    found = Lines()
    start = {code: {level.code: opening(level) for level in link.levels} for code, link in floor.links.items()}
    found.house = house_of(floor, start)
    for sent in PLAYED:
        found.line(json.loads(json.dumps(sent)))
    return found


def said_by_settle(lines: Lines, name: str, subject: str, at: datetime) -> str:
    line = {"act": name, "subject": subject, "at": at.isoformat(), "payload": payload_of(name, subject)}
    try:
        decide(read_act(line, SHAPES), lines.house)  # nothing is done: the house stays as it is
    except ActRefused as refused:
        return refused.code
    return "done"


def said_by_house(name: str, subject: str, at: datetime) -> str:
    payload = payload_of(name, subject)
    if name == "day.close":
        payload = {"sequences": dict(rows("SELECT code, next_sequence - 1 FROM accounting_stream"))}
    act = registry.acts().get(name)
    try:
        if act is None:  # done with another act, never asked for by itself
            past.foresee(Act(name, subject, at.isoformat(), payload), at=at)
        else:
            reason = act.reasons[0] if act.reasons else "asked"
            body = {
                "act": name,
                "subject": subject,
                "payload": payload,
                "reason": reason,
                "evidence": {"reference": "E-1"},
            }
            proposals.judge(body, by=ANYBODY, at=at)
    except ActRefused as refused:
        return refused.code
    return "done"


def test_every_subject_is_refused_by_the_house_as_by_settle(house: House, lines: Lines) -> None:
    house.play(*PLAYED)
    at = RECEIVED + timedelta(hours=1)
    different = []
    for name in sorted(SHAPES):
        for subject in SUBJECTS:
            said = said_by_settle(lines, name, subject, at), said_by_house(name, subject, at)
            if len(set(said)) > 1 and said not in MORE_IN_THE_HOUSE:
                different.append((name, subject, *said))
    assert not different

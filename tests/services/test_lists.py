"""Lists stand by code, whenever what they list was put there: the house was opened in another order than its codes'."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import Any

import pytest
from django.core.cache import cache

import accounting.queries
import devices.queries
import jackpot.queries
import jackpot.services.meters
import tables.queries.floor
import tables.queries.projection
import tables.queries.set_up
import tables.services.terms
from devices import enrolment
from tables.services import floors
from tests.services.house import ALONE, FLOOR, LINKED, NEIGHBOUR, OPENED, TWIN, House, forget, message, rows, run
from tests.services.played import stirred

LATER = OPENED + timedelta(days=1)
FIRST_TABLE, MIDDLE_TABLE, FIRST_LINK = "AA-1", "MS-1011", "all"
TABLES = [FIRST_TABLE, LINKED, MIDDLE_TABLE, NEIGHBOUR, TWIN, ALONE]
LINKS = [FIRST_LINK, "ms-mg01", "twin"]
LONE = [MIDDLE_TABLE, ALONE]  # tables with a stream of their own


@pytest.fixture
def grown(house: House) -> House:
    """The floor with a link whose levels are not in the order of their codes, and tables between the others."""
    head = FLOOR[: FLOOR.index("[[links]]")]
    twin = FLOOR[FLOOR.index('[[links]]\ncode = "twin"') : FLOOR.index("[[tables]]")]
    table = FLOOR[FLOOR.index('[[tables]]\ncode = "TW-201"') : FLOOR.index('[[tables]]\ncode = "VIP-7"')]
    lone = FLOOR[FLOOR.index('[[tables]]\ncode = "VIP-7"') :]
    added = twin.replace('"twin"', f'"{FIRST_LINK}"') + table.replace(TWIN, FIRST_TABLE).replace(
        '"twin"', f'"{FIRST_LINK}"'
    )
    floors.install(head + added + lone.replace(ALONE, MIDDLE_TABLE), at=LATER)
    forget()
    cache.clear()
    stirred()
    return house


def codes(found: Iterable[Any], name: str = "code") -> list[str]:
    return [each[name] if isinstance(each, dict) else getattr(each, name) for each in found]


def test_tables_and_links_stand_by_their_codes(grown: House) -> None:
    today = date(2026, 11, 27)
    assert codes(tables.queries.floor.tables_now(today, OPENED)) == TABLES
    assert codes(tables.queries.set_up.tables_in_force()) == TABLES
    assert list(tables.queries.set_up.table_ids()) == TABLES
    assert tables.queries.projection.table_codes() == TABLES
    assert list(tables.services.terms.now_in_force()) == TABLES, "whatever streams they are on"
    editions = codes(tables.queries.projection.editions_shown())
    assert editions == sorted(editions) and len(editions) > 2
    assert codes(jackpot.queries.link_states()) == codes(jackpot.queries.links_with_terms(at=OPENED)) == LINKS


def test_levels_stand_as_their_link_has_them(grown: House) -> None:
    """In the order of the floor file, which is that of their prizes."""
    levels = [(FIRST_LINK, "grand"), (FIRST_LINK, "minor"), ("ms-mg01", "major"), ("twin", "grand"), ("twin", "minor")]
    grown.play(message("R-1", table=TWIN), message("R-2"))  # whose meters are written anew
    assert [(each.link, each.level) for each in jackpot.queries.liabilities()] == levels
    assert [
        (link["code"], level["code"]) for link in jackpot.queries.link_states() for level in link["levels"]
    ] == levels
    of_links: dict[str, list[str]] = {}
    for link, level in levels:
        of_links.setdefault(link, []).append(level)
    for link, own in of_links.items():
        settling = jackpot.services.meters.read(grown.stream(link))
        assert settling is not None and list(settling.levels) == list(settling.values) == own
    assert list(jackpot.queries.links_of_levels().items()) == [(f"{link}/{level}", link) for link, level in levels]
    as_opened = [f"{link}/{level}" for link, level in (*levels[2:], *levels[:2])]
    assert jackpot.queries.level_owners() == as_opened
    assert jackpot.queries.links_by_code() == LINKS


def test_every_link_is_read_with_its_own_levels_and_terms(grown: House) -> None:
    """And with the terms of each level in the order in which they count."""
    grown.play(message("R-1", table=TWIN), message("R-2"))
    grown.suspend("twin")
    grown.act("link.terms", "twin", levels=[{"code": "minor", "rate_ppm": 7}])
    for at, rate in ((OPENED, 54_321), (grown.now - timedelta(seconds=1), 54_321), (grown.now, 7)):
        (twin,) = jackpot.queries.links_with_terms("twin", at=at)
        assert [level["rate_ppm"] for level in twin["levels"]] == [123_457, rate], at
    for link_id, stream, link in rows("SELECT id, stream_id, code FROM jackpot_link"):
        levels = dict(rows("SELECT code, id FROM jackpot_level WHERE link_id = %s ORDER BY id", link_id))
        assert list(jackpot.queries.level_ids(link).items()) == list(levels.items())
        assert [(meter.level.code, meter.pk) for meter in jackpot.queries.meters_of(link)] == list(levels.items())
        read = jackpot.queries.reading(link_id, after_sequence=0)
        assert [level["code"] for level in read.levels] == list(levels)
        shown = jackpot.queries.link_shown(stream)
        assert shown is not None and (shown["code"], list(shown["levels"])) == (link, list(levels))
        for terms in shown["levels"].values():
            assert len(terms) == 1 + (link == "twin")
            assert [each["from"] for each in terms] == sorted(each["from"] for each in terms)
        defined = jackpot.queries.link_definition(stream)
        assert defined is not None and (defined.code, list(defined.level_ids.items())) == (link, list(levels.items()))
        assert [level["code"] for level in defined.definition["levels"]] == list(levels)
        assert set(jackpot.queries.meters_shown(stream)) == set(levels)
        assert [found["code"] for found in jackpot.queries.link_states(link)] == [link]
        settled = jackpot.services.meters.read(stream)
        assert settled is not None and (settled.link, list(settled.values)) == (link, list(levels))
    lone = grown.stream(ALONE)
    assert (jackpot.queries.link_shown(lone), jackpot.queries.link_definition(lone)) == (None, None)


def test_a_levels_version_moves_with_what_is_done_to_it_and_to_its_link(grown: House) -> None:
    """Not with another level of its name, nor with its link's other levels."""
    version = jackpot.queries.level_version
    before = {owner: version(owner) for owner in jackpot.queries.level_owners()}
    grown.act("level.adjust", "twin/minor", part="display", cents=5, reason="correction")
    after = {owner: version(owner) for owner in before}
    assert [owner for owner in before if after[owner] != before[owner]] == ["twin/minor"]
    grown.suspend(FIRST_LINK)
    assert [owner for owner in before if after[owner] != version(owner)] == [
        f"{FIRST_LINK}/grand",
        f"{FIRST_LINK}/minor",
    ]
    assert [version(owner) for owner in ("twin/none", "nowhere/grand", "grand")] == [None] * 3


def test_a_level_that_nothing_was_booked_on_owes_nothing(house: House) -> None:
    """As one does that is filed and not opened: its accounts are there, and no sum of them."""
    owner = "twin/minor"
    run("SET LOCAL session_replication_role = replica")
    run("DELETE FROM accounting_total WHERE account_id IN (SELECT id FROM accounting_account WHERE owner = %s)", owner)
    found = {f"{each.link}/{each.level}": each for each in jackpot.queries.liabilities()}
    assert list(found) == jackpot.queries.level_owners()
    balance = found[owner]
    assert (balance.liability_cents, balance.reserve_cents, balance.overflow_cents) == (0, 0, 0)
    assert balance.meter_cents == 5_000 and not balance.agrees


@pytest.mark.parametrize(
    "listed",
    [
        lambda: [code for _, code, _ in accounting.queries.streams()],
        lambda: [code for code, _, _ in accounting.queries.stream_heads()],
    ],
    ids=["streams", "their heads"],
)
def test_streams_stand_by_their_codes(listed: Callable[[], list[str]], grown: House) -> None:
    assert [code for code in listed() if code in LINKS] == LINKS
    assert [code for code in listed() if code not in LINKS] == LONE


def test_devices_stand_by_their_codes_and_name_their_tables_so(grown: House) -> None:
    for code in ("IDP-2", "IDP-1"):
        enrolment.enrol(code, [ALONE, FIRST_TABLE, LINKED], key=f"key of {code}", by="sam", at=LATER)
    found = [each for each in devices.queries.gateways() if each.code.startswith("IDP-")]
    assert [(each.code, each.tables) for each in found] == [
        (code, f"{FIRST_TABLE}, {LINKED}, {ALONE}") for code in ("IDP-1", "IDP-2")
    ]


def test_what_several_tables_call_the_same_is_found_by_their_codes_and_is_a_result(grown: House) -> None:
    grown.play(*(message("R-9", table=table) for table in (ALONE, TWIN, LINKED)))
    grown.play(message("R-8", table=LINKED))
    run(
        """
        INSERT INTO devices_reference (table_id, reference, kind, digest, message_id, received_at, device_id)
        SELECT table_id, reference, 'lock', digest, nextval('devices_message_id_seq'), received_at, device_id
        FROM devices_reference
        """
    )
    assert devices.queries.rounds_named("R-9") == [(LINKED, "R-9"), (TWIN, "R-9"), (ALONE, "R-9")]
    assert devices.queries.rounds_named("R-9", limit=2) == [(LINKED, "R-9"), (TWIN, "R-9")]

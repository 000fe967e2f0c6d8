"""The door: which messages are refused, for which fault first, and where the pointer points."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from tables.rules import door
from tables.rules.door import InvalidJson, Refusal
from tables.rules.message import RoundMessage

ABSENT = object()


@pytest.fixture
def good(harbor: Any) -> dict[str, Any]:
    """A message with every key that Mississippi Stud knows."""
    message: dict[str, Any] = harbor.message(
        "MS-101",
        "4d 9h 3s",
        harbor.seat(1, "Jc Jh", progressive=100),
        harbor.seat(4, "7d 2h", folded="third_street"),
        dealer="Kc Kd",
        irregularities=[{"code": "wrong_card_count", "seat": 4}, {"code": "wrong_card_count", "position": "dealer"}],
        device="IDP-0042",
        deck="blue",
        cards_in_deck=52,
        players=2,
    )
    return message | {"sequence": 7}


def change(message: dict[str, Any], pointer: str, value: object) -> dict[str, Any]:
    """A copy with the value at a pointer replaced, added, or taken away."""
    changed: Any = copy.deepcopy(message)
    place = changed
    *steps, last = pointer.removeprefix("/").split("/")
    for step in steps:
        place = place[int(step)] if isinstance(place, list) else place[step]
    last = last.replace("~1", "/").replace("~0", "~")
    if value is ABSENT:
        del place[int(last) if isinstance(place, list) else last]
    elif isinstance(place, list):
        place[int(last)] = value
    else:
        place[last] = value
    assert isinstance(changed, dict)
    return changed


def test_a_good_message_is_read_whole(harbor: Any, good: dict[str, Any]) -> None:
    message = harbor.read(good)
    assert isinstance(message, RoundMessage)
    assert message.dealing.players == 2
    assert message.seats[1].folded == "third_street"
    assert message.irregularities[1].position == "dealer"
    assert message.sequence == 7


@pytest.mark.parametrize(
    "pointer",
    [
        "/dealer",
        "/irregularities",
        "/sequence",
        "/dealing/device",
        "/dealing/deck",
        "/dealing/cards_in_deck",
        "/dealing/players",
        "/dealing/mode",
        "/seats/1/folded",
    ],
)
def test_optional_keys_may_be_left_out(harbor: Any, good: dict[str, Any], pointer: str) -> None:
    assert isinstance(harbor.read(change(good, pointer, ABSENT)), RoundMessage)


@pytest.mark.parametrize(
    "pointer",
    [
        "/round",
        "/table",
        "/dealt_at",
        "/dealing",
        "/dealing/method",
        "/community",
        "/seats",
        "/seats/0/seat",
        "/seats/0/cards",
        "/seats/0/wagers",
        "/irregularities/0/code",
        "/irregularities/0/seat",
    ],
)
def test_a_missing_key_is_named(harbor: Any, good: dict[str, Any], pointer: str) -> None:
    refusal = harbor.read(change(good, pointer, ABSENT))
    assert refusal == Refusal("missing_field", pointer, None if pointer == "/round" else "R-1")


@pytest.mark.parametrize(
    "pointer",
    [
        "/surrender",
        "/result",
        "/seats/1/result",
        "/kind",
        "/dealing/shuffles",
        "/seats/1/surrender",
        "/irregularities/0/why",
        "/a~1b~0c",
        "/seats/0/~0~1",
        "/",
    ],
)
def test_an_unknown_key_is_refused(harbor: Any, good: dict[str, Any], pointer: str) -> None:
    refusal = harbor.read(change(good, pointer, "x"))
    assert (refusal.code, refusal.pointer) == ("unknown_field", pointer)


BAD_VALUES: list[tuple[str, list[object]]] = [
    ("/round", [5, None, "", "x" * 65, ["R"], True, "a\0b"]),
    ("/table", [5, None, ["MS-101"], {}]),
    (
        "/dealt_at",
        [
            5,
            None,
            "",
            "yesterday",
            "2026-11-27",
            "2026-11-27T21:14:05",
            "2026-11-27T21:14-05:00",
            "2026-11-27 21:14:05-05:00",
            "2026-13-27T21:14:05Z",
            "2026-02-30T21:14:05Z",
            "2026-11-27T24:00:00Z",
            "2026-11-27T21:60:05Z",
            "2026-11-27T21:14:05.Z",
            "2026-11-27T21:14:05-0500",
            "2026-11-27T21:14:05+24:00",
            "2026-W48-5T21:14:05Z",
            "20261127T211405Z",
            "2026-11-27T21:14:05Z ",
            "9999-12-31T23:59:59-01:00",
            "9999-12-31T23:59:59Z",
            "0001-01-01T00:00:00Z",
            "1899-12-31T23:59:59Z",
            "1899-12-31T23:59:59-01:00",
            "2200-01-01T00:00:00Z",
            "2200-01-01T00:00:00+01:00",
            "٢٠٢٦-11-27T21:14:05Z",
        ],
    ),
    ("/dealing", [None, [], "shuffler"]),
    ("/dealing/method", [None, "", "machine", 1, ["hand"]]),
    ("/dealing/device", [None, "", 5, "x" * 65, "é" * 65, "x" * 1_000_000, "a\0b"]),
    ("/dealing/deck", [None, "", 5, "x" * 65]),
    ("/dealing/cards_in_deck", [None, -1, 52.0, "52", True, 2**63, 10**4_000]),
    ("/dealing/players", [None, -1, 1.0, "1", True, 2**63, 10**4_000]),
    ("/dealing/mode", [None, "", 1, [], "x" * 65]),
    ("/community", [None, "4d9h3s", {}]),
    ("/community/1", ["9x", "1h", "9H", "", "9hh", 9, None, ["9h"], {}]),
    ("/dealer", [None, {}]),
    ("/dealer/0", ["Xc", 1]),
    ("/seats", [None, [], {}, "x"]),
    ("/seats/1", [None, [], 4, "x"]),
    ("/seats/0/seat", [0, -1, "1", 1.0, True, None, 2**63, 10**4_000, -(10**4_000)]),
    ("/seats/0/cards", [None, "JcJh", {}]),
    ("/seats/0/cards/1", ["1h", None, 0, []]),
    ("/seats/1/folded", [None, "ante", "sixth_street", "", 3, ["third_street"]]),
    ("/seats/0/withdrawn", [None, "ante", {}]),
    ("/seats/0/wagers", [None, [], 1000]),
    ("/seats/0/wagers/ante", [0, -1, 1000.0, 1e3, "1000", True, None, [], {}, 10**12 + 1, 2**63 - 1, 10**4_000]),
    ("/seats/0/wagers/never~1heard~0of", [0, "1", 10**12 + 1]),
    ("/irregularities", [None, {}, "x"]),
    ("/irregularities/0", [None, "x", []]),
    ("/irregularities/0/code", [None, "misdeal", "", 1, ["forfeit"]]),
    ("/irregularities/0/seat", [None, 0, 3, "4", 4.0, True]),
    ("/irregularities/0/position", ["dealer", "left", None]),
    ("/irregularities/1/position", ["left", None, 1, ["dealer"]]),
    ("/sequence", [None, 0, -1, "7", 7.0, True, 2**63, 10**4_000]),
]


@pytest.mark.parametrize(("pointer", "value"), [(pointer, value) for pointer, values in BAD_VALUES for value in values])
def test_a_bad_value_is_pointed_at(harbor: Any, good: dict[str, Any], pointer: str, value: object) -> None:
    if pointer == "/dealing/device":
        good = change(good, "/dealing/device", "x")
    refusal = harbor.read(change(good, pointer, value))
    readable = value if pointer == "/round" else "R-1"
    assert refusal == Refusal("invalid_value", pointer, readable if isinstance(readable, str) else None)


def test_withdrawn_wagers_are_those_a_game_lets_go(harbor: Any, good: dict[str, Any]) -> None:
    assert isinstance(harbor.read(change(good, "/seats/0/withdrawn", [])), RoundMessage)
    refusal = harbor.read(change(good, "/seats/0/withdrawn", ["ante"]))
    assert (refusal.code, refusal.pointer) == ("invalid_value", "/seats/0/withdrawn/0")


def test_tables_and_seats(harbor: Any, good: dict[str, Any]) -> None:
    assert harbor.read(change(good, "/table", "MS-999")) == Refusal("unknown_table", "/table", "R-1")
    assert harbor.read(change(good, "/seats/1/seat", 1)) == Refusal("duplicate_seat", "/seats/1/seat", "R-1")
    assert harbor.read([good]) == Refusal("invalid_json", "", None)


def test_an_irregularity_of_a_seat_needs_a_seat_dealt_in(harbor: Any, good: dict[str, Any]) -> None:
    def reported(**report: object) -> object:
        return harbor.read(good | {"irregularities": [report]})

    assert reported(code="forfeit") == Refusal("missing_field", "/irregularities/0/seat", "R-1")
    assert reported(code="forfeit", seat=3) == Refusal("invalid_value", "/irregularities/0/seat", "R-1")
    assert reported(code="wrong_card_count") == Refusal("missing_field", "/irregularities/0/seat", "R-1")
    assert isinstance(reported(code="face_up_card"), RoundMessage)
    assert isinstance(reported(code="card_exposed_early", position="community"), RoundMessage)


def test_the_first_fault_counts(harbor: Any, good: dict[str, Any]) -> None:
    """Every fault alone and all that follow it: the keys in the order of CONTRACT §2, unknown ones before."""
    faults: list[tuple[str, object]] = [
        ("/sequence", 0),
        ("/irregularities/0/seat", 9),
        ("/irregularities/0/code", "x"),
        ("/irregularities/0/extra", 1),
        ("/seats/1/wagers/ante", 0),
        ("/seats/1/folded", "x"),
        ("/seats/1/cards/0", "x"),
        ("/seats/1/seat", 0),
        ("/seats/1/extra", 1),
        ("/seats/0/wagers/ante", 0),
        ("/dealer/0", "x"),
        ("/community/0", "x"),
        ("/dealing/mode", 0),
        ("/dealing/players", "x"),
        ("/dealing/cards_in_deck", "x"),
        ("/dealing/deck", 0),
        ("/dealing/device", 0),
        ("/dealing/method", "x"),
        ("/dealing/extra", 1),
        ("/dealt_at", "x"),
        ("/table", "x"),
        ("/round", ""),
        ("/extra", 1),
    ]
    for pointer, value in faults:
        good = change(good, pointer, value)
        assert harbor.read(good).pointer == pointer


def test_the_first_of_several_unknown_keys_is_named(harbor: Any, good: dict[str, Any]) -> None:
    assert harbor.read({"zeta": 1, "alpha": 2} | good).pointer == "/zeta"


def test_bounds_that_are_still_allowed(harbor: Any, good: dict[str, Any]) -> None:
    for pointer, value in [
        ("/round", "x" * 64),
        ("/round", "Ω é/~ 1"),
        ("/dealt_at", "2026-11-27T21:14:05Z"),
        ("/dealt_at", "2026-11-27t21:14:05.1234567z"),
        ("/dealt_at", "2028-02-29T23:59:59+14:00"),
        ("/community", []),
        ("/seats/0/seat", 2**63 - 1),
        ("/seats/0/wagers", {}),
        ("/seats/0/wagers/insurance", 1),
        ("/seats/0/wagers/ante", 1),
        ("/seats/0/wagers/ante", 10**12),
        ("/seats/0/wagers/never heard of", 10**12),
        ("/dealing/players", 0),
        ("/dealing/players", 2**63 - 1),
        ("/dealing/cards_in_deck", 0),
        ("/dealing/cards_in_deck", 2**63 - 1),
        ("/dealing/device", "é" * 64),
        ("/dealing/deck", "🂡" * 64),
        ("/dealing/mode", "x" * 64),
        ("/sequence", 1),
        ("/sequence", 2**63 - 1),
        ("/dealt_at", "1900-01-01T00:00:00+23:59"),
        ("/dealt_at", "2199-12-31T23:59:59.999999999-23:59"),
        ("/dealing/mode", "standard"),
    ]:
        assert isinstance(harbor.read(change(good, pointer, value)), RoundMessage), pointer


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{not json",
        b'{"a": 1} {"b": 2}',
        b'{"a": 1, "a": 1}',
        b'{"a": [{"b": 1, "b": 2}]}',
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": -Infinity}',
        b'{"a": 01}',
        b"{'a': 1}",
        b'{"a": 1,}',
        b'{"a": "\xff"}',
        b'\xef\xbb\xbf{"a": 1}',
        "\ufeff{}".encode("utf-16"),
        b'{"a": "\\ud800"}',
        b'{"\\udc00": 1}',
        b'{"a": "tab\there"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 50_000 + b"]" * 50_000,
    ],
)
def test_what_readers_could_disagree_about_is_not_json(raw: bytes) -> None:
    with pytest.raises(InvalidJson):
        door.parse(raw)


def test_json_that_everybody_reads_alike() -> None:
    assert door.parse(b' {"a": "\\ud83c\\udccf \\u00e9", "b": [1, 2.5, true, null]}\r\n') == {
        "a": "🃏 é",
        "b": [1, 2.5, True, None],
    }


NUMBERS = ["/seats/0/wagers/ante", "/seats/1/seat", "/dealing/players", "/dealing/cards_in_deck", "/sequence", "/round"]
NUMBERS += ["/dealt_at", "/community/0", "/irregularities/0/seat", "/dealing/device", "/seats/0/wagers", "/seats"]


@pytest.mark.parametrize("digits", [4_300, 4_301, 20_000])
@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("pointer", NUMBERS)
def test_a_number_of_any_length_is_refused_where_it_stands(
    harbor: Any, good: dict[str, Any], pointer: str, sign: str, digits: int
) -> None:
    raw = json.dumps(change(good, pointer, "@")).replace('"@"', sign + "9" * digits)
    assert harbor.read(door.parse(raw)) == Refusal("invalid_value", pointer, None if pointer == "/round" else "R-1")


def test_a_number_of_any_length_under_an_unknown_key_or_as_the_whole_is_refused_as_that(
    harbor: Any, good: dict[str, Any]
) -> None:
    raw = json.dumps(good | {"surplus": "@"}).replace('"@"', "9" * 4_301)
    assert harbor.read(door.parse(raw)) == Refusal("unknown_field", "/surplus", "R-1")
    assert harbor.read(door.parse("9" * 4_301)) == Refusal("invalid_json", "", None)


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def test_nesting_is_followed_to_a_depth_that_does_not_depend_on_who_asks() -> None:
    """Signs inside texts do not count, and what stands side by side is not deep."""
    quoted = json.dumps(nested(2_000) + '"[' + "\\")
    for text in (nested(500), f"[{quoted}, {nested(499)}]", "[" + ",".join(["[]"] * 2_000) + "]"):
        door.parse(text)
    for text in (nested(501), f"[{quoted}, {nested(500)}]", '{"a":' * 501 + "1" + "}" * 501):
        with pytest.raises(InvalidJson, match="deeper"):
            door.parse(text)


@pytest.mark.parametrize("before", ["", "[]," * 40, "{}," * 40, '"]]",' * 40, '"[[",' * 40])
def test_how_deep_a_text_is_nested_is_counted_whatever_lies_beside(before: str) -> None:
    """What was closed again takes nothing off, and brackets in texts do not count."""

    def nested(levels: int) -> str:
        return "[" + before + "[" * (levels - 1) + "]" * levels

    deepest = door.DEEPEST
    assert isinstance(door.parse(nested(deepest)), list)
    with pytest.raises(InvalidJson):
        door.parse(nested(deepest + 1))

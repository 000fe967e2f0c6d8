"""The door: what a round message must look like before it is looked at (CONTRACT §2).

DECISIONS A5-A8, A43, A45, A47 and A49 say it in detail.

A message is refused for its first fault: not JSON, then its keys in the order in which CONTRACT §2 prints them, an
object's unknown keys before its known ones.  What is well formed but cannot be true is not refused; it is held.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from accounting.rules.moments import is_moment
from tables.rules.game import Game
from tables.rules.games import Games
from tables.rules.irregularities import CODES, POSITIONS
from tables.rules.message import Dealing, Irregularity, RoundMessage, Seat

LONGEST_REFERENCE: Final = 64
LONGEST_TEXT: Final = 64  # of a device, a deck or a mode, in code points
MOST_CENTS: Final = 1_000_000_000_000
MOST_NUMBER: Final = 2**63 - 1  # of a seat, of cards or players counted, of a device's own number: what can be stored
DEEPEST: Final = 500  # levels of nesting; a message has four

MESSAGE_KEYS: Final = frozenset(
    {"round", "table", "dealt_at", "dealing", "community", "dealer", "seats", "irregularities", "sequence"}
)
DEALING_KEYS: Final = frozenset({"method", "device", "deck", "cards_in_deck", "players", "mode"})
SEAT_KEYS: Final = frozenset({"seat", "cards", "folded", "wagers", "withdrawn"})
IRREGULARITY_KEYS: Final = frozenset({"code", "seat", "position"})
RESULT: Final = frozenset({"result"})  # of a round or a seat, in games that post one
METHODS: Final = frozenset({"manual_shoe", "automated_shoe", "hand", "shuffler"})


OUTSIDE_TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)


class InvalidJson(ValueError):
    """The text is not one JSON value that everybody reads alike."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a message was refused: a code, the RFC 6901 pointer of the fault, and the round where it can be read."""

    code: str
    pointer: str
    round: str | None


class Fault(Exception):
    """The first fault of a message, while it is being read."""

    def __init__(self, code: str, pointer: str) -> None:
        super().__init__(code, pointer)
        self.code = code
        self.pointer = pointer


class TooLong:
    """Stands for a number of so many digits that nothing can be reckoned with it; no key accepts one."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise InvalidJson("a key is there twice")
    return value


def _no_constant(name: str) -> None:
    raise InvalidJson(f"{name} is not JSON")


def _number(digits: str) -> int | TooLong:
    try:
        return int(digits)
    except ValueError:
        return TooLong()


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
_PATIENT_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_number)


def parse(raw: bytes | str) -> Any:
    """The JSON value of a text; InvalidJson where readers could disagree about it (RFC 8259, RFC 7493).

    Refused are repeated keys, NaN and infinities, a byte order mark, anything but UTF-8, half a surrogate pair, and
    nesting too deep to follow.
    """
    try:
        text = raw if isinstance(raw, str) else raw.decode("utf-8")
        if _is_too_deep(text):
            raise InvalidJson(f"nested deeper than {DEEPEST}")
        try:
            value = _DECODER.decode(text)
        except json.JSONDecodeError:
            raise
        except ValueError as problem:
            if isinstance(problem, InvalidJson):
                raise
            # Python declines to read numbers of thousands of digits; which key holds one is for `read` to say.
            value = _PATIENT_DECODER.decode(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
        elif isinstance(raw, str):
            raw.encode("utf-8")
    except InvalidJson:
        raise
    except (ValueError, RecursionError) as problem:
        raise InvalidJson(str(problem)) from None
    return value


def _is_too_deep(text: str) -> bool:
    """Whether a JSON text is nested deeper than every reader can follow, wherever it is called from."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    depth = 0
    for found in OUTSIDE_TEXT.finditer(text):
        match found[0]:
            case "[" | "{":
                depth += 1
                if depth > DEEPEST:
                    return True
            case "]" | "}":
                depth -= 1
    return False


def read(value: object, games: Games) -> RoundMessage | Refusal:
    """The message that a JSON value is, or the refusal of its first fault; `games` are those of the tables of this house.

    What `read` returns can be settled or held without looking at the value again.
    """
    if type(value) is not dict:
        return Refusal("invalid_json", "", None)
    try:
        return _message(value, games)
    except Fault as fault:
        reference = value.get("round")
        return Refusal(fault.code, fault.pointer, reference if isinstance(reference, str) else None)


def _message(value: dict[str, Any], games: Games) -> RoundMessage:
    if not MESSAGE_KEYS.issuperset(value):
        known = MESSAGE_KEYS | RESULT if _posts_results(value, games) else MESSAGE_KEYS
        if not known.issuperset(value):
            raise _unknown(value, known, "")
    reference = _required(value, "round", "")
    if type(reference) is not str or not 0 < len(reference) <= LONGEST_REFERENCE or "\0" in reference:
        raise Fault("invalid_value", "/round")
    code = _required(value, "table", "")
    if type(code) is not str:
        raise Fault("invalid_value", "/table")
    game = games.get(code)
    if game is None:
        raise Fault("unknown_table", "/table")
    dealt_at = _required(value, "dealt_at", "")
    if not is_moment(dealt_at):
        raise Fault("invalid_value", "/dealt_at")
    dealing = _dealing(_required(value, "dealing", ""))
    deck = game.deck
    community = _cards(_required(value, "community", ""), deck, "/community")
    dealer = _cards(value["dealer"], deck, "/dealer") if "dealer" in value else []
    entries = _required(value, "seats", "")
    if type(entries) is not list or not entries:
        raise Fault("invalid_value", "/seats")
    seats: list[Seat] = []
    numbers: set[int] = set()
    for index, entry in enumerate(entries):
        seats.append(_seat(entry, index, numbers, deck, game))
    irregularities: list[Irregularity] = []
    if "irregularities" in value:
        reports = value["irregularities"]
        if type(reports) is not list:
            raise Fault("invalid_value", "/irregularities")
        irregularities = [_irregularity(report, index, numbers) for index, report in enumerate(reports)]
    sequence = value.get("sequence")
    if "sequence" in value and (type(sequence) is not int or not 1 <= sequence <= MOST_NUMBER):
        raise Fault("invalid_value", "/sequence")
    result = _result(value, game.results, "") if "result" in value else None
    return RoundMessage(reference, code, dealt_at, dealing, community, seats, dealer, irregularities, sequence, result)


def _posts_results(value: dict[str, Any], games: Games) -> bool:
    """Whether the table's game is settled from a posted result; for any other game `result` is an unknown key."""
    code = value.get("table")
    game = games.get(code) if type(code) is str else None
    return game is not None and bool(game.results)


def _result(value: dict[str, Any], allowed: Collection[str], at: str) -> str:
    result = value["result"]
    if type(result) is not str or result not in allowed:
        raise Fault("invalid_value", f"{at}/result")
    return result


def _dealing(value: object) -> Dealing:
    if type(value) is not dict:
        raise Fault("invalid_value", "/dealing")
    if not DEALING_KEYS.issuperset(value):
        raise _unknown(value, DEALING_KEYS, "/dealing")
    method = _required(value, "method", "/dealing")
    if type(method) is not str or method not in METHODS:
        raise Fault("invalid_value", "/dealing/method")
    device = _text(value, "device") if "device" in value else None
    deck = _text(value, "deck") if "deck" in value else None
    cards_in_deck = _count(value, "cards_in_deck") if "cards_in_deck" in value else None
    players = _count(value, "players") if "players" in value else None
    mode = _text(value, "mode") if "mode" in value else None
    return Dealing(method, device, deck, cards_in_deck, players, mode)


def _seat(
    value: object,
    index: int,
    numbers: set[int],
    deck: frozenset[str],
    game: Game[Any],
) -> Seat:
    if type(value) is not dict:
        raise Fault("invalid_value", f"/seats/{index}")
    if not SEAT_KEYS.issuperset(value):
        known = SEAT_KEYS | RESULT if game.seat_results else SEAT_KEYS
        if not known.issuperset(value):
            raise _unknown(value, known, f"/seats/{index}")
    try:
        number, held, wagers = value["seat"], value["cards"], value["wagers"]
    except KeyError:
        number, held, wagers = value.get("seat", _ABSENT), value.get("cards", _ABSENT), value.get("wagers", _ABSENT)
    if type(number) is not int or not 1 <= number <= MOST_NUMBER:
        raise _fault(number, f"/seats/{index}/seat")
    if number in numbers:
        raise Fault("duplicate_seat", f"/seats/{index}/seat")
    numbers.add(number)
    if held is _ABSENT:
        raise Fault("missing_field", f"/seats/{index}/cards")
    cards = _cards(held, deck, f"/seats/{index}/cards")
    folded = None
    if "folded" in value:
        folded = value["folded"]
        if type(folded) is not str or folded not in game.streets:
            raise Fault("invalid_value", f"/seats/{index}/folded")
    if type(wagers) is not dict:
        raise _fault(wagers, f"/seats/{index}/wagers")
    for name, cents in wagers.items():
        if type(cents) is not int or not 1 <= cents <= MOST_CENTS:
            raise Fault("invalid_value", f"/seats/{index}/wagers/{_escaped(name)}")
    if "withdrawn" not in value and "result" not in value:
        return Seat(number, cards, wagers, folded)
    withdrawn = value.get("withdrawn", [])
    if type(withdrawn) is not list:
        raise Fault("invalid_value", f"/seats/{index}/withdrawn")
    for place, name in enumerate(withdrawn):
        if type(name) is not str or name not in game.withdrawable or name in withdrawn[:place]:
            raise Fault("invalid_value", f"/seats/{index}/withdrawn/{place}")
    result = _result(value, game.seat_results, f"/seats/{index}") if "result" in value else None
    return Seat(number, cards, wagers, folded, withdrawn, result)


def _irregularity(value: object, index: int, numbers: Collection[int]) -> Irregularity:
    """One report; a misdealt or forfeiting seat is one of those dealt in (DECISIONS A47)."""
    at = f"/irregularities/{index}"
    if type(value) is not dict:
        raise Fault("invalid_value", at)
    if not IRREGULARITY_KEYS.issuperset(value):
        raise _unknown(value, IRREGULARITY_KEYS, at)
    code = _required(value, "code", at)
    if type(code) is not str or code not in CODES:
        raise Fault("invalid_value", f"{at}/code")
    seat, position = value.get("seat"), value.get("position")
    needs_seat = code == "forfeit" or (code == "wrong_card_count" and "position" not in value)
    if needs_seat and "seat" not in value:
        raise Fault("missing_field", f"{at}/seat")
    if "seat" in value and (type(seat) is not int or seat not in numbers):
        raise Fault("invalid_value", f"{at}/seat")
    if "position" in value and not (
        type(position) is str
        and position in POSITIONS
        # A misdeal is a seat's or the table's, not both at once.
        and (seat is None or code not in ("wrong_card_count", "forfeit"))
    ):
        raise Fault("invalid_value", f"{at}/position")
    return Irregularity(code, seat, position)


_ABSENT: Final = object()


def _fault(value: object, pointer: str) -> Fault:
    return Fault("missing_field" if value is _ABSENT else "invalid_value", pointer)


def _required(value: dict[str, Any], key: str, at: str) -> Any:
    try:
        return value[key]
    except KeyError:
        raise Fault("missing_field", f"{at}/{key}") from None


def _unknown(value: dict[str, Any], known: Collection[str], at: str) -> Fault:
    key = next(key for key in value if key not in known)
    return Fault("unknown_field", f"{at}/{_escaped(key)}")


def _escaped(key: str) -> str:
    """A key as a step of an RFC 6901 pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def _cards(value: object, deck: frozenset[str], at: str) -> list[str]:
    if type(value) is not list:
        raise Fault("invalid_value", at)
    try:
        if deck.issuperset(value):
            return value
    except TypeError:
        pass  # a list or an object among them; the search below finds it
    for index, card in enumerate(value):
        if type(card) is not str or card not in deck:
            raise Fault("invalid_value", f"{at}/{index}")
    return value


def _text(value: dict[str, Any], key: str) -> str:
    text = value[key]
    if type(text) is not str or not 0 < len(text) <= LONGEST_TEXT or "\0" in text:
        raise Fault("invalid_value", f"/dealing/{key}")
    return text


def _count(value: dict[str, Any], key: str) -> int:
    """How many the device counted.  It may have counted none: that is for a supervisor to judge."""
    count = value[key]
    if type(count) is not int or not 0 <= count <= MOST_NUMBER:
        raise Fault("invalid_value", f"/dealing/{key}")
    return count

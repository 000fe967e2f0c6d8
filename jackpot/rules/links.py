"""The life of a link: filed, opened, suspended and resumed, its terms changed, closed (CONTRACT §7, DECISIONS A54-A56, A65, A70).

Every change counts from a moment that is not before it is decided; money moves at once (DECISIONS A53, A54).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from accounting.rules.accounts import Movement
from accounting.rules.acts import MOMENT, NESTED, TEXT, ActRefused, Field, Shape, escaped
from accounting.rules.moments import nanoseconds
from jackpot.rules import definition
from jackpot.rules import link as definitions
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.definition import DefinitionRefused
from jackpot.rules.hits import HitState
from jackpot.rules.levels import MOST_CENTS, target_of
from jackpot.rules.link import LEVEL_KEYS, LINK_KEYS, LinkTerms
from jackpot.rules.meter import MILLION, Meter
from jackpot.rules.parts import PARTS, account, carry_over, held, holding
from jackpot.rules.paytable import ProgressivePaytable, builtin
from jackpot.rules.probability import FIVE_CARD_GAMES, hit_probability, rarity
from jackpot.rules.progressive import meter_rows
from jackpot.rules.state import CLOSED, FILED, OPEN, SUSPENDED, LinkState, filed

# Where a part of a closing link may go when it goes to no level, and the account that gets it (DECISIONS A65).
ENDS: Final = {"regulator_order": "adjustments", "revenue_booked": "revenue"}
MAY_BE_NONE: Final = ("limit_cents", "unreasonable_cents")

_INITIAL: Final = {"type": "integer", "minimum": 0, "maximum": MOST_CENTS}
_CENTS: Final = {"type": "integer", "minimum": 0, "maximum": definition.MOST_CENTS}
_PPM: Final = {"type": "integer", "minimum": 0, "maximum": MILLION}
LEVEL_SCHEMA: Final[dict[str, Any]] = {
    "code": {"type": "string"},
    "reset_cents": _CENTS,
    "rate_ppm": _PPM,
    "reserve_ppm": _PPM,
    "limit_cents": _CENTS | {"minimum": 1},
    "unreasonable_cents": _CENTS,
    "overflow_policy": {"enum": ["next_reset", "revenue"]},
    "seed_funding": {"enum": ["reserve_then_house", "house"]},
    "floor_policy": {"enum": ["allow", "top_up"]},
}
"""The JSON Schema of each key of a level, for whoever fills in a form; what it may hold is said by `link.read`."""


def _object(value: Any, pointer: str, keys: Collection[str], what: str) -> None:
    if type(value) is not dict:
        raise ActRefused("invalid_value", pointer, f"{what}: an object is expected")
    for key in value:
        if key not in keys:
            raise ActRefused("unknown_field", f"{pointer}/{escaped(key)}", f"{what} has no {key}")


def _read_link(value: Any, pointer: str) -> None:
    """A link as CONTRACT §1 has it; with a paytable that only the floor knows it is read again by `file`."""
    _object(value, pointer, LINK_KEYS, "a link")
    try:
        definitions.read(value, builtin(), however_rare=True)
    except DefinitionRefused as refused:
        if refused.path != "paytable" or refused.code != "invalid_value":
            raise ActRefused(refused.code, f"{pointer}{refused.pointer}", refused.detail) from None


def _read_initial(value: Any, pointer: str) -> None:
    if type(value) is not dict:
        raise ActRefused("invalid_value", pointer, "Initial amounts: an object is expected")
    for level, cents in value.items():
        if type(cents) is not int or not 0 <= cents <= MOST_CENTS:
            raise ActRefused("invalid_value", f"{pointer}/{escaped(level)}", "a whole number of cents is expected")


def _read_levels(value: Any, pointer: str) -> None:
    if type(value) is not list or not value:
        raise ActRefused("invalid_value", pointer, "Levels: a list of levels is expected")
    for place, level in enumerate(value):
        at = f"{pointer}/{place}"
        _object(level, at, LEVEL_KEYS, "a level")
        if "code" not in level:
            raise ActRefused("missing_field", f"{at}/code", "which level is missing")
        if type(level["code"]) is not str or level["code"] in (other["code"] for other in value[:place]):
            raise ActRefused("invalid_value", f"{at}/code", "a level, each once, is expected")
        for key in LEVEL_KEYS:
            if key in level and not _may_be(key, level[key]):
                raise ActRefused("invalid_value", f"{at}/{key}", f"{key} cannot be {level[key]}")


def _may_be(key: str, value: object) -> bool:
    """Whether a level's key may hold a value, by itself; None takes a limit away."""
    schema = LEVEL_SCHEMA[key]
    if value is None:
        return key in MAY_BE_NONE
    if "enum" in schema:
        return value in schema["enum"]
    if schema["type"] == "string":
        return type(value) is str
    return type(value) is int and schema["minimum"] <= value <= schema["maximum"]


def _read_disposition(value: Any, pointer: str) -> None:
    if type(value) is not list:
        raise ActRefused("invalid_value", pointer, "Disposition: a list is expected")
    for place, item in enumerate(value):
        at = f"{pointer}/{place}"
        _object(item, at, ("level", "part", "to"), "a disposition")
        for key in ("level", "part", "to"):
            if key not in item:
                raise ActRefused("missing_field", f"{at}/{key}", f"{key} is missing")
            if type(item[key]) is not str or (key == "part" and item[key] not in PARTS):
                raise ActRefused("invalid_value", f"{at}/{key}", f"{key}: {item[key]} is not expected")


COUNTS_FROM: Final = Field(
    "counts_from", MOMENT, "Counts from", required=False, help="not before it is decided; at once where it is left out"
)
FILE: Final = Shape(
    "link.file",
    "link",
    (
        Field(
            "link", NESTED, "Link", read=_read_link,
            schema={
                "type": "object",
                "properties": {
                    "code": {"type": "string"}, "name": {"type": "string"}, "paytable": {"type": "string"},
                    "decks": {"type": "integer", "minimum": 1, "maximum": 8},
                    "envy_scope": {"enum": ["table"]}, "tie_policy": {"enum": ["sequential"]},
                    "levels": {
                        "type": "array",
                        "items": {
                            "type": "object", "properties": LEVEL_SCHEMA,
                            "required": ["code", "reset_cents", "rate_ppm"], "additionalProperties": False,
                        },
                    },
                },
                "required": ["code", "paytable", "levels"],
                "additionalProperties": False,
            },
        ),
        Field(
            "initial", NESTED, "Initial amounts", required=False, read=_read_initial,
            help="what each level opens with; its reset where it is not named",
            schema={"type": "object", "additionalProperties": _INITIAL},
        ),
        Field("filing", TEXT, "Filing", least=1, most=200, help="the reference of the approval"),
    ),
)  # fmt: skip
OPENING: Final = Shape("link.open", "link", (COUNTS_FROM,))
SUSPEND: Final = Shape("link.suspend", "link", (COUNTS_FROM,))
RESUME: Final = Shape("link.resume", "link", (COUNTS_FROM,))
CLOSE: Final = Shape(
    "link.close",
    "link",
    (
        Field(
            "disposition", NESTED, "Disposition", read=_read_disposition,
            help="where each part goes that is not at zero",
            schema={
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "level": {"type": "string"},
                        "part": {"enum": list(PARTS)},
                        "to": {"type": "string", "description": f"LINK/LEVEL, or {' or '.join(ENDS)}"},
                    },
                    "required": ["level", "part", "to"],
                    "additionalProperties": False,
                },
            },
        ),
    ),
)  # fmt: skip
TERMS: Final = Shape(
    "link.terms",
    "link",
    (
        Field(
            "levels", NESTED, "Levels", read=_read_levels,
            schema={
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": LEVEL_SCHEMA
                    | {key: LEVEL_SCHEMA[key] | {"type": ["integer", "null"]} for key in MAY_BE_NONE},
                    "required": ["code"],
                    "additionalProperties": False,
                },
            },
        ),
        COUNTS_FROM,
    ),
)  # fmt: skip

Links = Mapping[str, LinkState]


def file(act: Act, links: Links, paytables: Mapping[str, ProgressivePaytable], taken: Collection[str] = ()) -> Decision:
    """A new link, with nothing on its meters; `taken` are the codes of tables, which name streams of their own."""
    payload = FILE.read(act.payload)
    initial = payload.get("initial", {})
    try:
        terms = definitions.read(payload["link"], paytables, however_rare=True)
    except DefinitionRefused as refused:
        raise ActRefused(refused.code, f"/payload/link{refused.pointer}", refused.detail) from None
    if terms.code != act.subject:
        raise ActRefused("invalid_value", "/payload/link/code", f"it must be {act.subject}")
    for level in initial:
        if level not in terms.level:
            raise ActRefused("invalid_value", f"/payload/initial/{escaped(level)}", f"there is no level {level}")
    if terms.code in links or terms.code in taken:
        raise ActRefused("wrong_state", detail=f"the code {terms.code} is in use")
    too_rare = rarity(terms.paytable)
    if too_rare is not None:
        raise ActRefused("rarer_than_allowed", detail=too_rare)
    change = {
        "what": "link.filed",
        "link": terms.code,
        "definition": definitions.definition_of(terms),
        "initial": {level.code: initial.get(level.code, level.reset_cents) for level in terms.levels},
        "odds": _odds(terms),
        "filing": payload["filing"],
        "counts_from": act.at,
    }
    meters = filed(change, paytables).meters
    return done(act, [], meter_rows(terms, meters, meters), changes=[change])


def _odds(terms: LinkTerms) -> dict[str, dict[str, str]]:
    """The probability that one wager hits a level, by game, as an exact fraction."""
    return {
        level.code: {
            game: str(hit_probability(terms.paytable, level.code, game))
            for game in terms.paytable.games
            if game in FIVE_CARD_GAMES
        }
        for level in terms.levels
    }


def open_link(act: Act, links: Links) -> Decision:
    """The initial amounts are put in, and rounds that count from the moment on may bring progressive wagers."""
    payload = OPENING.read(act.payload)
    link, since = _link_and_moment(act, links, payload)
    if link.state(since) != FILED or link.was_opened():
        raise _wrong_state(link, since, FILED)
    terms = link.terms.at(since)
    after: dict[str, Meter] = {}
    moved: list[Movement] = []
    for level in terms.levels:
        cents = link.initial.get(level.code, level.reset_cents)
        meter = link.meters[level.code]
        after[level.code] = holding(meter, "display", held(meter, "display") + cents * MILLION)
        moved.append(Movement("seed_expense", account(link.code, level.code, "display"), cents, "seed"))
    return _turned(act, payload, link, OPEN, moved, after)


def suspend(act: Act, links: Links) -> Decision:
    """Rounds that count from the moment on are held `link_not_open` when they bring a progressive wager."""
    return _turn(act, links, SUSPEND, OPEN, SUSPENDED)


def resume(act: Act, links: Links) -> Decision:
    """Rounds that count from the moment on are settled again."""
    return _turn(act, links, RESUME, SUSPENDED, OPEN)


def _turn(act: Act, links: Links, shape: Shape, before: str, after: str) -> Decision:
    payload = shape.read(act.payload)
    link, since = _link_and_moment(act, links, payload)
    if link.state(since) != before:
        raise _wrong_state(link, since, before)
    return _turned(act, payload, link, after)


def _turned(
    act: Act,
    payload: Mapping[str, Any],
    link: LinkState,
    state: str,
    moved: list[Movement] | None = None,
    after: dict[str, Meter] | None = None,
) -> Decision:
    counts_from = payload.get("counts_from", act.at)
    change = {"what": "link.state", "link": link.code, "state": state, "counts_from": counts_from}
    rows = link.rows(after or {}, nanoseconds(counts_from))
    return done(act, moved or [], rows, {link.code: after} if after else None, [change])


def change_terms(act: Act, links: Links, paytables: Mapping[str, ProgressivePaytable]) -> Decision:
    """What is named counts from the moment on, what is not named stays; null takes a limit away (DECISIONS A55)."""
    payload = TERMS.read(act.payload)
    link = link_of(act.subject, links)
    counts_from = payload.get("counts_from", act.at)
    since = nanoseconds(counts_from)
    before = link.terms.at(since)
    after = _changed(before, payload["levels"], paytables)
    _not_in_the_past(act, since)
    state = link.state(since)
    if state not in (OPEN, SUSPENDED):
        raise _wrong_state(link, since, SUSPENDED)
    if state == OPEN:
        raise ActRefused("link_open", detail=f"link {link.code} is open: suspend it first")
    for level in after.levels:
        limit_cents = level.limit_cents
        if limit_cents is None or limit_cents == before.level[level.code].limit_cents:
            continue
        if held(link.meters[level.code], "display") > limit_cents * MILLION:
            raise ActRefused(
                "limit_below_meter", detail=f"level {level.code} shows more than its new limit of {limit_cents} cents"
            )
    change = {
        "what": "link.terms",
        "link": link.code,
        "definition": definitions.definition_of(after),
        "counts_from": counts_from,
    }
    return done(act, [], link.rows({}, since), changes=[change])


def _changed(
    before: LinkTerms, levels: list[dict[str, Any]], paytables: Mapping[str, ProgressivePaytable]
) -> LinkTerms:
    """A link's terms with what is named changed; ActRefused where CONTRACT §1 would refuse them, at the key that was sent."""
    named = {level["code"]: (place, level) for place, level in enumerate(levels)}
    changed = definitions.definition_of(before)
    for place, level in enumerate(levels):
        if level["code"] not in before.level:
            raise ActRefused("invalid_value", f"/payload/levels/{place}/code", f"there is no level {level['code']}")
    for standing in changed["levels"]:
        for key, value in named.get(standing["code"], (0, {}))[1].items():
            if value is None and key in MAY_BE_NONE:
                standing.pop(key, None)
            else:
                standing[key] = value
    try:
        return definitions.read(changed, paytables, however_rare=True)
    except DefinitionRefused as refused:
        raise ActRefused("invalid_value", _pointer(refused, changed, named), refused.detail) from None


def _pointer(
    refused: DefinitionRefused, changed: Mapping[str, Any], named: Mapping[str, tuple[int, Mapping[str, Any]]]
) -> str:
    """The key of the payload that a refused definition is about: of two that clash, one that was sent."""
    _, _, place, *rest = refused.pointer.split("/")
    key = rest[0] if rest else "code"
    at, sent = named.get(changed["levels"][int(place)]["code"], (0, {}))
    if not sent:
        # The levels together take too much; this one is as it was, so the fault is the first that was sent.
        at, sent = next(iter(named.values()))
    if key not in sent:
        clashing = {"limit_cents": "reset_cents", "reserve_ppm": "rate_ppm", "rate_ppm": "reserve_ppm"}
        key = clashing.get(key, key)
    return f"/payload/levels/{at}/{escaped(key)}"


def close(
    act: Act,
    links: Links,
    hits: Mapping[str, HitState],
    has_open_locks: Callable[[str], bool],
) -> Decision:
    """Every part goes where the disposition says, and the link never moves again."""
    disposition = CLOSE.read(act.payload)["disposition"]
    link = link_of(act.subject, links)
    at = nanoseconds(act.at)
    goes: dict[tuple[str, str], list[str]] = {}
    concerned = {link.code}
    for place, item in enumerate(disposition):
        if item["level"] not in link.meters:
            raise ActRefused(
                "invalid_value", f"/payload/disposition/{place}/level", f"there is no level {item['level']}"
            )
        if item["to"] not in ENDS:
            pointer = f"/payload/disposition/{place}/to"
            target, _ = target_of(item["to"], links, at, pointer, but=link.code)
            if target.state(at) == CLOSED:
                raise ActRefused("invalid_value", pointer, f"link {target.code} is closed for good")
            concerned.add(target.code)
        goes.setdefault((item["level"], item["part"]), []).append(item["to"])
    if link.state(at) != SUSPENDED:
        raise _wrong_state(link, at, SUSPENDED)
    for level, meter in link.meters.items():
        for part in PARTS:
            if held(meter, part) and len(goes.get((level, part), ())) != 1:
                raise ActRefused("money_left", detail=f"the {part} of level {level} must go to one place")
    if has_open_locks(link.code):
        raise ActRefused("open_locks", detail=f"link {link.code} has locks whose rounds are not decided")
    if any(hit.link == link.code and hit.is_open for hit in hits.values()):
        raise ActRefused("open_hits", detail=f"link {link.code} has hits that are neither paid nor rejected")
    after: dict[str, dict[str, Meter]] = {link.code: dict(link.meters)}
    moved: list[Movement] = []
    for terms in link.terms.at(at).levels:
        for part in PARTS:
            if held(after[link.code][terms.code], part):
                moved += _disposed(links, link.code, terms.code, part, goes[terms.code, part][0], after, at)
    rows = [row for code in links if code in concerned for row in links[code].rows(after.get(code, {}), at)]
    change = {"what": "link.state", "link": link.code, "state": CLOSED, "counts_from": act.at}
    return done(act, moved, rows, after, [change])


def _disposed(
    links: Links, code: str, level: str, part: str, to: str, after: dict[str, dict[str, Meter]], at: int
) -> list[Movement]:
    """Empty one part of a closing link; `after` is moved along."""
    meter = after[code][level]
    if to in ENDS:
        # The one place where a fraction of a cent ends without a booking (SPEC §9).
        after[code][level] = holding(meter, part, 0)
        return [Movement(account(code, level, part), ENDS[to], held(meter, part) // MILLION, to)]
    target, to_level = target_of(to, links, at, "")
    aims = after.setdefault(target.code, dict(target.meters))
    limit_cents = target.terms.at(at).level[to_level].limit_cents
    after[code][level], aims[to_level], moved = carry_over(
        (code, level, meter), (target.code, to_level, aims[to_level]), part, limit_cents
    )
    return moved


def link_of(subject: str, links: Links) -> LinkState:
    """The link that an act is about; ActRefused `unknown_subject` where there is none."""
    try:
        return links[subject]
    except KeyError:
        raise ActRefused("unknown_subject", detail=f"there is no link {subject}") from None


def _link_and_moment(act: Act, links: Links, payload: Mapping[str, Any]) -> tuple[LinkState, int]:
    link = link_of(act.subject, links)
    since = nanoseconds(payload.get("counts_from", act.at))
    _not_in_the_past(act, since)
    return link, since


def _not_in_the_past(act: Act, since: int) -> None:
    if since < nanoseconds(act.at):
        raise ActRefused("in_the_past", detail="nothing counts from before it is decided")


def _wrong_state(link: LinkState, at: int, expected: str) -> ActRefused:
    return ActRefused("wrong_state", detail=f"link {link.code} is {link.state(at)}, not {expected}")

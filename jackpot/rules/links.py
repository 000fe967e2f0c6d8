"""The life of a link: filed, opened, suspended and resumed, its terms changed, closed (CONTRACT §7, DECISIONS A54-A56, A65, A70).

Every change counts from a moment that is not before it is decided; money moves at once (DECISIONS A53, A54).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from accounting.rules.accounts import Movement
from accounting.rules.acts import ActRefused, Shape, escaped
from accounting.rules.moments import nanoseconds
from jackpot.rules import link as definitions
from jackpot.rules.decision import Act, Decision, done
from jackpot.rules.definition import DefinitionRefused
from jackpot.rules.hits import HitState
from jackpot.rules.levels import target_of
from jackpot.rules.link import LinkTerms
from jackpot.rules.link_shapes import CLOSE, ENDS, FILE, OPENING, RESUME, SUSPEND, TERMS
from jackpot.rules.meter import MILLION, Meter
from jackpot.rules.parts import PARTS, account, carry_over, held, holding
from jackpot.rules.paytable import ProgressivePaytable
from jackpot.rules.probability import FIVE_CARD_GAMES, hit_probability, rarity
from jackpot.rules.progressive import meter_rows
from jackpot.rules.state import CLOSED, FILED, OPEN, SUSPENDED, LinkState, filed

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
    """Rounds that count from the moment on are settled again; not where what is owed must be covered and is not (R84)."""
    decision = _turn(act, links, RESUME, SUSPENDED, OPEN)
    if links[act.subject].short:
        raise ActRefused("funds_short", detail=f"the balance recorded for link {act.subject} is less than it owes")
    return decision


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


def change_terms(act: Act, links: Links) -> Decision:
    """What is named counts from the moment on, what is not named stays; null takes a limit away (DECISIONS A55)."""
    payload = TERMS.read(act.payload)
    link = link_of(act.subject, links)
    counts_from = payload.get("counts_from", act.at)
    since = nanoseconds(counts_from)
    before = link.terms.at(since)
    after = changed(before, payload["levels"])
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
    # Only what is named: a key that comes with a later version is then as if this change had never spoken of it.
    change = {"what": "link.terms", "link": link.code, "changed": payload["levels"], "counts_from": counts_from}
    return done(act, [], link.rows({}, since), changes=[change])


def changed(before: LinkTerms, levels: list[dict[str, Any]]) -> LinkTerms:
    """A link's terms with what is named changed; ActRefused where CONTRACT §1 would refuse them, at the key that was sent."""
    named = {level["code"]: (place, level) for place, level in enumerate(levels)}
    for place, level in enumerate(levels):
        if level["code"] not in before.level:
            raise ActRefused("invalid_value", f"/payload/levels/{place}/code", f"there is no level {level['code']}")
    try:
        return definitions.changed_terms(before, levels)
    except DefinitionRefused as refused:
        raise ActRefused("invalid_value", _pointer(refused, before, named), refused.detail) from None


def _pointer(refused: DefinitionRefused, before: LinkTerms, named: Mapping[str, tuple[int, Mapping[str, Any]]]) -> str:
    """The key of the payload that a refused definition is about: of two that clash, one that was sent."""
    _, _, place, *rest = refused.pointer.split("/")
    key = rest[0] if rest else "code"
    at, sent = named.get(before.levels[int(place)].code, (0, {}))
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

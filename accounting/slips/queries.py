"""Reading slips: one with all that became of it, the register with its gaps, totals and rows for spreadsheets."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from accounting.rules.parameters import Parameters
from accounting.slips.models import Particulars, Payer, Slip, SlipCounter, SlipPayment, SlipPrint, SlipVoid, TaxForm
from accounting.slips.rules.amounts import in_words
from accounting.slips.rules.register import ISSUED, PAID, STATES, VOID, gaps, slip_name, slip_number, state

MOST = 1_000
AT_ONCE = 1_000


def latest(slip: Slip) -> list[TaxForm]:
    """The forms of a slip that count."""
    found = list(TaxForm.objects.filter(slip=slip).order_by("-edition", "payee"))
    return [form for form in found if form.edition == found[0].edition]


def withheld_on(slip: Slip) -> int:
    """What is withheld on a slip by its forms that count, in whole cents."""
    return sum(form.withheld_cents for form in latest(slip))


def particulars_of(subject: str) -> list[Particulars]:
    """Who shares in a payout by its latest edition of particulars; nobody while nobody is known."""
    found = list(Particulars.objects.filter(subject=subject).order_by("-edition", "payee"))
    return [one for one in found if one.edition == found[0].edition]


def slip_named(name: str) -> Slip | None:
    """A slip by its number as printed, zeros left out or not; None where there is none."""
    number = slip_number(name)
    return None if number is None else _slips().filter(number=number).first()


def slip_of(subject: str) -> Slip | None:
    """The last slip of a payout, void or not; None where it has none."""
    return _slips().filter(subject=subject).first()


def slips_at(stream_id: int, sequence: int, line: int) -> list[dict[str, Any]]:
    """Every slip of a payout as the register has it, void ones too, the first first; and how often each was printed."""
    found = _slips().filter(stream_id=stream_id, sequence=sequence, line=line).order_by("number")
    return [row(slip) | {"prints": prints} for slip, prints in ((slip, slip.prints.count()) for slip in found)]


def place_of_slip(name: str) -> tuple[int, int, int] | None:
    """The stream, sequence and line of the payout that a slip is for; None where there is no such slip."""
    number = slip_number(name)
    if number is None:
        return None
    return Slip.objects.filter(number=number).values_list("stream_id", "sequence", "line").first()


def numbers_of(places: list[tuple[int, int, int]]) -> dict[tuple[int, int, int], str]:
    """The number of the last slip of each of these payouts that has one, by stream, sequence and line."""
    if not places:
        return {}
    streams, sequences = {place[0] for place in places}, {place[1] for place in places}
    found = Slip.objects.filter(stream_id__in=streams, sequence__in=sequences).order_by("number")
    return {
        (stream, sequence, line): slip_name(number)
        for stream, sequence, line, number in found.values_list("stream_id", "sequence", "line", "number")
    }


def _slips() -> QuerySet[Slip]:
    return Slip.objects.select_related("void", "payment", "replaced_by")


def _one(slip: Slip, name: str) -> Any:
    """A row that a slip has one of or none."""
    return getattr(slip, name, None)


def row(slip: Slip) -> dict[str, Any]:
    """A slip on one line of the register; whole cents."""
    void, payment = _one(slip, "void"), _one(slip, "payment")
    replaced = _one(slip, "replaced_by")
    return {
        "slip": slip_name(slip.number),
        "state": state(is_void=void is not None, is_paid=payment is not None),
        "kind": slip.kind,
        "subject": slip.subject,
        "table": slip.table,
        "link": slip.link,
        "seat": slip.seat,
        "hand": slip.hand,
        "cents": slip.cents,
        "method": slip.method,
        "form": slip.form,
        "gaming_date": slip.gaming_date,
        "issued_at": slip.issued_at,
        "prepared_by": slip.prepared_by,
        "paid_at": payment.at if payment else None,
        "paid_by": payment.by if payment else None,
        "void_at": void.at if void else None,
        "void_by": void.by if void else None,
        "void_reason": void.reason if void else None,
        "void_agreed_by": void.approved_by if void else None,
        "replaces": slip_name(slip.replaces_id) if slip.replaces_id else None,
        "replaced_by": slip_name(replaced.number) if replaced else None,
        "override": slip.override,
        "complete": slip.complete,
    }


def slip_shown(slip: Slip) -> dict[str, Any]:
    """A slip with what it says, what became of it, its prints and its tax forms."""
    forms = latest(slip)
    withheld = sum(form.withheld_cents for form in forms)
    prints = SlipPrint.objects.filter(slip=slip).order_by("copy")
    return row(slip) | {
        "facts": json.loads(bytes(slip.facts)),
        "digest": bytes(slip.digest).hex(),
        "words": in_words(slip.cents),
        "withheld_cents": withheld,
        "net_cents": slip.cents - withheld,
        "net_words": in_words(slip.cents - withheld),
        "prints": [
            {"copy": copy, "at": at, "by": by, "digest": bytes(digest).hex()}
            for copy, at, by, digest in prints.values_list("copy", "at", "by", "digest")
        ],
        "forms": [form_shown(form) for form in forms],
        "forms_open": any(form.particulars == 0 for form in forms),
    }


def form_shown(form: TaxForm) -> dict[str, Any]:
    """A tax form as it was worked out, without the winner's particulars; whole cents."""
    return {
        "payee": form.payee,
        "known": form.particulars > 0,
        "edition": form.edition,
        "paid_on": form.paid_on,
        "terms_from": form.terms_from,
        "paid_cents": form.paid_cents,
        "wager_cents": form.wager_cents,
        "winnings_cents": form.winnings_cents,
        "withholding": form.withholding,
        "withheld_cents": form.withheld_cents,
    }


def signatures(name: str | None) -> list[dict[str, str]]:
    """Who signed for a payout by the slip of this name: what, by whom, when (RFC 3339); nobody without one."""
    slip = slip_named(name) if name else None
    if slip is None:
        return []
    facts, shown = json.loads(bytes(slip.facts)), row(slip)
    found = [{"what": step["what"], "by": step["by"], "at": step["at"]} for step in facts["payout"]["steps"]]
    issued_at = facts["issued"]["at"]
    found.append({"what": f"Slip {shown['slip']} prepared", "by": slip.prepared_by, "at": issued_at})
    found += [{"what": "Slip signed", "by": by, "at": issued_at} for by in facts["issued"]["approved_by"]]
    if shown["paid_at"] is not None:
        found.append({"what": "Paid", "by": shown["paid_by"], "at": shown["paid_at"].isoformat()})
    return found


def print_of(name: str, copy: int) -> SlipPrint | None:
    """A print of a slip as it was handed out; None where there is none."""
    number = slip_number(name)
    return None if number is None else SlipPrint.objects.filter(slip=number, copy=copy).first()


@dataclass(frozen=True, slots=True)
class Register:
    """A page of the register, the highest number first; `next` is the cursor of the one after."""

    items: list[dict[str, Any]]
    next: str | None


def page(filters: Mapping[str, str], *, limit: int = 100) -> Register:
    """A page of slips. BadParameter names the filter at fault."""
    found = list(_matching(filters)[: limit + 1])
    return Register([row(slip) for slip in found[:limit]], str(found[limit - 1].number) if len(found) > limit else None)


def every(filters: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """All slips that match, page by page, so that no snapshot is held while somebody downloads."""
    wanted = dict(filters)
    while True:
        found = page(wanted, limit=AT_ONCE)
        yield from found.items
        if found.next is None:
            return
        wanted["cursor"] = found.next


@dataclass(frozen=True, slots=True)
class Totals:
    """How many slips match and what they come to by their state, in whole cents; a void slip adds to no sum but its own."""

    count: int
    cents: int
    paid_count: int
    paid_cents: int
    issued_count: int
    issued_cents: int
    void_count: int
    void_cents: int
    withheld_cents: int


def totals(filters: Mapping[str, str]) -> Totals:
    """What all slips that match come to; a cursor among the filters does not count."""
    found = _matching({name: text for name, text in filters.items() if name != "cursor"}).order_by()
    sums = {}
    for name, which in IN_STATE.items():
        matching = found.filter(which)
        sums[name] = (matching.count(), int(matching.aggregate(cents=Sum("cents"))["cents"] or 0))
    standing = _standing(TaxForm.objects.filter(slip__in=found.filter(void__isnull=True).values("number")))
    return Totals(
        sums[PAID][0] + sums[ISSUED][0], sums[PAID][1] + sums[ISSUED][1], *sums[PAID], *sums[ISSUED],
        *sums[VOID], int(standing.aggregate(cents=Sum("withheld_cents"))["cents"] or 0),
    )  # fmt: skip


REGISTERED = ("state", "kind", "method", "table", "link")


def issued_between(first: date, last: date, filters: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The slips of some gaming days in the order of their numbers, each with what is withheld on it, a run at a time.

    Narrowed to a state, kind, method, table or link of `filters`.
    """
    narrowed = {name: filters[name] for name in REGISTERED if name in filters}
    found = _matching(narrowed).filter(gaming_date__range=(first, last)).order_by("number")
    after = 0
    while run := list(found.filter(number__gt=after)[:AT_ONCE]):
        withheld: Counter[int] = Counter()
        for form in _standing(TaxForm.objects.filter(slip__in=[slip.number for slip in run])):
            withheld[form.slip_id] += form.withheld_cents
        for slip in run:
            shown = row(slip)
            yield shown | {"withheld_cents": 0 if shown["state"] == VOID else withheld[slip.number]}
        after = run[-1].number


@dataclass(frozen=True, slots=True)
class FormPaid:
    """A tax form that counts, one of so many of its slip; whole cents. `known` says whether its payee was taken down."""

    slip_id: int
    payee: int
    payees: int
    paid_on: date
    terms_from: date
    paid_cents: int
    wager_cents: int
    winnings_cents: int
    withholding: str
    withheld_cents: int
    known: bool


def forms_between(first: date, last: date) -> Iterator[FormPaid]:
    """The tax forms of slips that stand whose payment is dated from one day to another, a run at a time.

    The latest slip first, and of each its payees in their order.
    """
    slips = _standing(TaxForm.objects.filter(paid_on__range=(first, last), slip__void__isnull=True))
    numbers = sorted(set(slips.values_list("slip_id", flat=True)), reverse=True)
    for place in range(0, len(numbers), AT_ONCE):
        run = _standing(TaxForm.objects.filter(slip__in=numbers[place : place + AT_ONCE])).order_by("-slip_id", "payee")
        payees = Counter(form.slip_id for form in run)
        for form in run:
            yield FormPaid(
                form.slip_id, form.payee, payees[form.slip_id], form.paid_on, form.terms_from, form.paid_cents, form.wager_cents,
                form.winnings_cents, form.withholding, form.withheld_cents, form.particulars > 0,
            )  # fmt: skip


def withheld_when_paid() -> int:
    """What was withheld on all slips that were paid and stand, in whole cents."""
    forms = _standing(TaxForm.objects.filter(slip__void__isnull=True, slip__payment__isnull=False))
    return int(forms.aggregate(cents=Sum("withheld_cents"))["cents"] or 0)


def _standing(forms: QuerySet[TaxForm]) -> QuerySet[TaxForm]:
    """Of these forms those that count: a slip's latest edition."""
    return forms.exclude(Exists(TaxForm.objects.filter(slip=OuterRef("slip"), edition__gt=OuterRef("edition"))))


def missing_numbers() -> tuple[list[tuple[str, str]], int]:
    """The stretches of numbers that no slip has, first and last of each, and the last number given out (R74).

    The database refuses gaps: whatever stands here was taken out past its guards.
    """
    counter = SlipCounter.objects.first()
    last = 0 if counter is None else counter.last
    found = gaps(Slip.objects.order_by("number").values_list("number", flat=True).iterator(), last)
    return [(slip_name(first), slip_name(end)) for first, end in found], last


def in_order() -> Iterator[Slip]:
    """Every slip in the order of numbers."""
    yield from Slip.objects.order_by("number").iterator()


def payments() -> Iterator[tuple[Slip, SlipPayment]]:
    """Every slip that was paid, with its payment, in the order of numbers."""
    for payment in SlipPayment.objects.select_related("slip").order_by("slip_id").iterator():
        yield payment.slip, payment


def is_void(slip: Slip) -> bool:
    """Whether a slip is void."""
    return SlipVoid.objects.filter(slip=slip).exists()


def columns(slip: Slip) -> tuple[object, ...]:
    """What the columns of a slip say beside its facts, for whoever compares them."""
    return (
        slip.number, slip.line, slip.kind, slip.table, slip.link, slip.seat, slip.hand, slip.cents, slip.method,
        slip.form, slip.prepared_by, slip.issued_at.isoformat(), slip.gaming_date.isoformat(), slip.override,
        slip.complete, slip.replaces_id,
    )  # fmt: skip


def standing_names(*, most: int = 50) -> list[str]:
    """The numbers of the latest slips that are not void, the newest first."""
    found = Slip.objects.filter(void__isnull=True).order_by("-number").values_list("number", flat=True)
    return [slip_name(number) for number in found[:most]]


def last_days() -> tuple[date | None, date | None]:
    """The first and the last gaming day on which slips were issued; None where none was."""
    days = Slip.objects.order_by("gaming_date").values_list("gaming_date", flat=True)
    return days.first(), days.last()


def subjects_open() -> list[Slip]:
    """Slips that stand and whose winners are not known though a form is due, the oldest first."""
    due = TaxForm.objects.filter(slip=OuterRef("pk"))
    return list(
        _slips()
        .filter(Exists(due), void__isnull=True)
        .exclude(Exists(due.filter(particulars__gt=0)))
        .order_by("number")
    )


def _matching(filters: Mapping[str, str]) -> QuerySet[Slip]:
    given = Parameters({name: text for name, text in filters.items() if text})
    found = _slips()
    for name, read in FILTERS.items():
        if name in given:
            found = found.filter(read(given, name))
    return found.order_by("-number")


def _state(given: Parameters, name: str) -> Q:
    return IN_STATE[given.choice(name, STATES) or ISSUED]


def _number(given: Parameters, name: str) -> Q:
    number = slip_number(given.text(name) or "")
    return Q(number=number) if number is not None else Q(pk__in=[])


def _moment_or_day(given: Parameters, name: str, after: bool) -> Q:
    asked = given.day_or_moment(name)
    field = "issued_at" if isinstance(asked, datetime) else "gaming_date"
    return Q(**{f"{field}__{'gte' if after else 'lte'}": asked})


def _noted(given: Parameters, name: str) -> Q:
    asked = given.choice(name, NOTED)
    return {
        "override": ~Q(override=""),
        "checks": Q(complete=False),
        "form": Exists(TaxForm.objects.filter(slip=OuterRef("pk"))),
        "form_open": Exists(TaxForm.objects.filter(slip=OuterRef("pk")))
        & ~Exists(TaxForm.objects.filter(slip=OuterRef("pk"), particulars__gt=0)),
        "replaced": Q(replaces__isnull=False),
    }[asked or "override"]  # type: ignore[return-value]


IN_STATE = {
    PAID: Q(void__isnull=True, payment__isnull=False),
    ISSUED: Q(void__isnull=True, payment__isnull=True),
    VOID: Q(void__isnull=False),
}
NOTED = ("override", "checks", "form", "form_open", "replaced")
"""What a slip may be noted for: an override, checks left out, a tax form, one whose winner is not known, a replacement."""

FILTERS: dict[str, Callable[[Parameters, str], Q]] = {
    "from": lambda given, name: _moment_or_day(given, name, True),
    "to": lambda given, name: _moment_or_day(given, name, False),
    "slip": _number,
    "state": _state,
    "kind": lambda given, name: Q(kind=given.choice(name, ("hit", "envy"))),
    "table": lambda given, name: Q(table=given.text(name)),
    "link": lambda given, name: Q(link=given.text(name)),
    "method": lambda given, name: Q(method=given.choice(name, ("cage", "table"))),
    "by": lambda given, name: Q(prepared_by=given.text(name)),
    "min_cents": lambda given, name: Q(cents__gte=given.whole(name, most=2**62)),
    "max_cents": lambda given, name: Q(cents__lte=given.whole(name, most=2**62)),
    "noted": _noted,
    "cursor": lambda given, name: Q(number__lt=given.whole(name, least=1, most=2**62)),
}


def last_payer() -> Payer | None:
    """The last that was stated of the payer on tax forms."""
    return Payer.objects.order_by("-id").first()

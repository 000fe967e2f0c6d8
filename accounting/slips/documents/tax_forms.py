"""Tax forms as they are filed: the data of a Form W-2G of one payee, of a Form 5754 where several share. Boxes as on the forms.

Nothing in them moves with the time of printing: the same forms and the same particulars give the same bytes.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from accounting.slips.documents import compiled, money, words
from accounting.slips.rules.winners import written

W2G: Final = "w-2g"
F5754: Final = "5754"
DOCUMENTS: Final = {W2G: "Form W-2G", F5754: "Form 5754"}


def tax_document(
    kind: str, slip: Mapping[str, Any], people: Sequence[Mapping[str, Any]], payee: int, payer: Mapping[str, str] | None
) -> bytes:
    """A form as PDF: of one payee, or of all who share. `people` are the payees in clear, each with its form.

    `payer` is the house as it was stated for the day of payment; None leaves its boxes to be filled in.
    """
    template = "w2g.typ" if kind == W2G else "f5754.typ"
    said = w2g_data(slip, people, payee) if kind == W2G else f5754_data(slip, people)
    return compiled(template, said | {"payer": None if payer is None else dict(payer)})


def w2g_data(slip: Mapping[str, Any], people: Sequence[Mapping[str, Any]], payee: int) -> dict[str, Any]:
    """All that a Form W-2G says of one payee, in words."""
    one = next(one for one in people if one["payee"] == payee)
    form, payout = one["form"], slip["facts"]["payout"]
    return _common(slip, people) | {
        "year": str(form["paid_on"].year),
        "payee": payee,
        "payees": len(people),
        "name": one["name"],
        "address": one["address"],
        "number": written(one["taxpayer_number"]) if one["taxpayer_number"] else "",
        "first_id": one["first_id"],
        "second_id": one["second_id"],
        "winnings": money(form["winnings_cents"]),
        "withheld": money(form["withheld_cents"]),
        "withholding": "none" if form["withholding"] == "none" else f"{form['withholding']} withholding",
        "share": money(one["share_cents"]),
        "wager": money(form["wager_cents"]),
        "net": money(one["share_cents"] - form["withheld_cents"]),
        "terms_from": _day(form["terms_from"]),
        "edition": form["edition"],
        "cashier": slip["paid_by"] or "",
        "window": "Cage" if slip["method"] == "cage" else f"Table {payout['table']}",
    }


def f5754_data(slip: Mapping[str, Any], people: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """All that a Form 5754 says: who is paid, and everybody who shares."""
    return _common(slip, people) | {
        "paid": money(sum(one["share_cents"] for one in people)),
        "wager": money(sum(one["form"]["wager_cents"] for one in people)),
        "withheld": money(sum(one["form"]["withheld_cents"] for one in people)),
        "people": [
            {
                "payee": one["payee"],
                "name": one["name"],
                "address": one["address"],
                "number": written(one["taxpayer_number"]) if one["taxpayer_number"] else "",
                "share": money(one["share_cents"]),
                "withheld": money(one["form"]["withheld_cents"]),
            }
            for one in people
        ],
    }


def _common(slip: Mapping[str, Any], people: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    payout = slip["facts"]["payout"]
    won_at = datetime.fromisoformat(payout["counts_at"]).astimezone(ZoneInfo(slip["time_zone"]))
    return {
        "property": slip["property"],
        "code": slip["property_code"],
        "jurisdiction": slip["jurisdiction"],
        "slip": slip["slip"],
        "payout": payout["id"],
        "digest": slip["digest"],
        "won_on": _day(won_at.date()),
        "paid_on": _day(people[0]["form"]["paid_on"]),
        "wager_type": f"{words(payout['game'])}, progressive",
        "table": payout["table"],
        "seat": payout["seat"],
        "hand": words(payout["hand"]).lower(),
        "particulars": people[0]["edition"],
    }


def _day(day: date) -> str:
    return f"{day:%m/%d/%Y}"

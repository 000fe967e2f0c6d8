"""Giving accounts the house's own numbers: every change is kept, and on the audit trail."""

import re
from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from accounting.models import Account, HouseNumber
from accounting.queries import NO_NUMBER, NUMBERED, house_numbers
from accounting.services import audit
from accounting.statements import execute

PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9. /-]{0,39}", re.ASCII)


class NumberRefused(ValueError):
    """A number that no account can have; `account` is the code of the account it was for."""

    def __init__(self, account: str, detail: str) -> None:
        super().__init__(f"{account}: {detail}")
        self.account = account


@transaction.atomic
def give(numbers: Mapping[str, str], *, by: str, at: datetime, origin: str = "") -> int:
    """Let accounts have these numbers, by code, from now on; an empty one takes the number away. How many changed.

    Several accounts may share a number: the house may keep fewer of them. NumberRefused names the account at fault; nothing
    is then changed.
    """
    for code, number in numbers.items():
        if number and (number == NO_NUMBER or PLAIN.fullmatch(number) is None):
            raise NumberRefused(
                code, f"{number!r} is no number: 40 characters at most, letters, digits, dots, slashes, hyphens, blanks"
            )
    execute("SELECT pg_advisory_xact_lock(hashtext('house numbers'))")
    known = house_numbers()
    accounts = dict(Account.objects.filter(code__in=numbers).values_list("code", "id"))
    for code in numbers:
        if code not in accounts:
            raise NumberRefused(code, "there is no such account")
    changed = {code: number for code, number in numbers.items() if number != known.get(code, "")}
    HouseNumber.objects.bulk_create(
        HouseNumber(account_id=accounts[code], number=number, set_at=at, set_by=by) for code, number in changed.items()
    )
    for code, number in changed.items():
        change = {"what": "number", "before": known.get(code) or NO_NUMBER, "after": number or NO_NUMBER}
        audit.record(at=at, actor=by, action=NUMBERED, subject=code, detail={"changes": [change]}, origin=origin)
    return len(changed)

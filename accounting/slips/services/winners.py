"""Who won: taken down sealed, with a key that the database does not have; opened for those who file, each look on record.

AES-256-GCM over the particulars of one payee, bound to its place: sealed bytes that are moved to another payee or payout do
not open. The key comes from the environment or a file beside the data (`jackpot/config/README.md`).
"""

import json
from base64 import urlsafe_b64decode
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.db import transaction

from accounting.rules.acts import ActRefused
from accounting.rules.chain import canonical
from accounting.services import audit
from accounting.slips import trail
from accounting.slips.documents.tax_forms import DOCUMENTS, F5754, W2G, tax_document
from accounting.slips.models import Particulars, SlipCounter
from accounting.slips.payables import PAYABLES
from accounting.slips.queries import form_shown, latest, particulars_of, slip_of
from accounting.slips.rules.register import slip_name
from accounting.slips.rules.winners import winners
from accounting.slips.services import forms, payers
from accounting.slips.services.printing import document_of

NONCE = 12


class NoKey(ActRefused):
    """There is no key, none that can be read, or another one than something was sealed with."""

    def __init__(self, detail: str) -> None:
        super().__init__("no_key", None, detail)


@transaction.atomic
def take_down(
    subject: str, payees: object, *, by: str, at: datetime, random: Callable[[int], bytes], origin: str = ""
) -> list[Particulars]:
    """Keep who won a payout, anew where somebody was known; the forms of its slip are worked out with it.

    `payees` is a list of objects as `rules.winners` judges them. ActRefused names the fault; nothing is kept then.
    """
    found = winners(payees, PAYABLES.cents(subject))
    key, name = _key()
    SlipCounter.objects.select_for_update().get()
    known = particulars_of(subject)
    edition = known[0].edition + 1 if known else 1
    made = Particulars.objects.bulk_create(
        Particulars(
            subject=subject, edition=edition, payee=payee, share_cents=winner.share_cents,
            has_number=bool(winner.taxpayer_number), key=name, at=at, by=by,
            sealed=_sealed(key, winner.kept(), _place(subject, edition, payee), random(NONCE)),
        )
        for payee, winner in enumerate(found, 1)
    )  # fmt: skip
    slip = slip_of(subject)
    worked_out = []
    if slip is not None and getattr(slip, "void", None) is None:
        worked_out = forms.work_out_anew(slip, at=at, by=by)
    trail.note("take down particulars", subject, made, at=at, by=by, origin=origin, edition=edition, payees=len(made))
    if slip is not None:
        forms.on_trail(slip, worked_out, at=at, by=by)
    return made


@transaction.atomic
def look(subject: str, *, by: str, at: datetime, reason: str, origin: str = "") -> list[dict[str, Any]]:
    """Who won a payout, in clear, with their shares. The look is on record before anybody sees anything.

    ActRefused `missing_field` without a reason, `unknown_subject` where nobody was taken down, `no_key`.
    """
    found = _in_clear(subject, reason)
    _looked(subject, found, reason, by=by, at=at, origin=origin)
    return found


@transaction.atomic
def print_form(
    subject: str, kind: str, payee: int, *, by: str, at: datetime, reason: str, origin: str = ""
) -> tuple[str, bytes]:
    """A tax form of a payout as PDF, with the name of its file: the same bytes until forms or particulars are others.

    It is kept nowhere, as nothing in clear is; the look is on record with its SHA-256. ActRefused as `look`, and
    `unknown_subject` where there is no such form.
    """
    found, slip = _in_clear(subject, reason), slip_of(subject)
    made = {form.payee: form for form in latest(slip)} if slip is not None else {}
    people = [one | {"form": form_shown(made[one["payee"]])} for one in found if one["payee"] in made]
    wanted = [one for one in people if kind == F5754 or one["payee"] == payee]
    if slip is None or not wanted or (kind == F5754 and len(people) < 2):
        raise ActRefused("unknown_subject", detail=f"there is no {DOCUMENTS[kind]} of {subject} for payee {payee}")
    content = tax_document(kind, document_of(slip), people, payee, payers.said_on(people[0]["form"]["paid_on"]))
    name = f"{kind}-{slip_name(slip.number)}" + (f"-{payee}" if kind == W2G else "")
    said = {"document": name, "sha256": sha256(content).hexdigest()}
    _looked(subject, found, reason, by=by, at=at, origin=origin, **said)
    return f"{name}.pdf", content


def _in_clear(subject: str, reason: str) -> list[dict[str, Any]]:
    if not reason.strip():
        raise ActRefused("missing_field", "/reason", "say why you look")
    known = particulars_of(subject)
    if not known:
        raise ActRefused("unknown_subject", detail=f"nobody was taken down for {subject}")
    more = ("payee", "edition", "share_cents", "at", "by")
    return [_opened(row) | {name: getattr(row, name) for name in more} for row in known]


def _looked(
    subject: str, found: list[dict[str, Any]], reason: str, *, by: str, at: datetime, origin: str, **said: str
) -> None:
    detail = {"edition": found[0]["edition"], "payees": len(found), "reason": reason.strip(), **said}
    audit.record(at=at, actor=by, action="look at particulars", subject=subject, detail=detail, origin=origin)


def _place(subject: str, edition: int, payee: int) -> bytes:
    return canonical([subject, edition, payee])


def _key() -> tuple[bytes, str]:
    """The key and its name, the first of its SHA-256: which key sealed something is known, and nothing of the key."""
    given: str = settings.PATRON_KEY
    if not given:
        raise NoKey("particulars cannot be kept: JACKPOT_PATRON_KEY is not set")
    try:
        key = urlsafe_b64decode(given + "=" * (-len(given) % 4))
    except ValueError:
        key = b""
    if len(key) != 32:
        raise NoKey("particulars cannot be kept: JACKPOT_PATRON_KEY is not 32 bytes in URL-safe base64")
    return key, sha256(b"patron key" + key).hexdigest()[:16]


def _sealed(key: bytes, said: dict[str, Any], place: bytes, nonce: bytes) -> bytes:
    return nonce + AESGCM(key).encrypt(nonce, canonical(said), place)


def _opened(row: Particulars) -> dict[str, Any]:
    if not bytes(row.sealed):
        raise ActRefused("let_go", detail=f"who won {row.subject} was let go of after its term")
    key, name = _key()
    if name != row.key:
        raise NoKey(f"this was sealed with key {row.key}; the service has {name}")
    sealed = bytes(row.sealed)
    try:
        text = AESGCM(key).decrypt(sealed[:NONCE], sealed[NONCE:], _place(row.subject, row.edition, row.payee))
    except InvalidTag:
        raise NoKey("what was sealed is not as it was: it does not open") from None
    found: dict[str, Any] = json.loads(text)
    return found

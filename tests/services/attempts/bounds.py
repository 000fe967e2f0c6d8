"""Rows that stand at the very bound of what guards the tables: the last that are right."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from accounting.office import models as office
from accounting.slips import models as slips
from tests.services.attempts.office import new_file, new_job, new_part
from tests.services.attempts.rows import Attempt, new_edition, new_hit, new_level_terms, new_link
from tests.services.attempts.slips import new_particulars, new_print, new_slip, new_void
from tests.services.house import House, value


def over(term: str) -> datetime:
    """The moment from which something is kept whose term is over now: in a transaction the clock stands."""
    found: datetime = value("SELECT now() - %s::interval", term)
    return found


def ended(term: str) -> office.Job:
    """A job with a result of which the term has just passed."""
    return new_job(state="done", finished_at=over(term), result={"ok": True})


def emptied_after_its_term(house: House) -> object:
    return office.Job.objects.filter(id=ended("90 days").pk).update(result=None)


def file_after_its_term(house: House) -> object:
    return new_file(job=new_part(job=ended("90 days")).job).delete()


def part_of_another_file(house: House) -> object:
    """One that was written for a file that is not there yet."""
    return new_part(job=new_file().job, file=2).delete()


def who_won_after_its_term(house: House) -> object:
    """From the taking down and from the payment."""
    slip, at = new_slip(house), over("4 years")
    _, event = house.act("payout.pay", slip.subject, method="cage")
    slips.SlipPayment.objects.create(slip=slip, event=event, at=at, by="ada")
    return new_particulars(subject=slip.subject, at=at).__class__.objects.update(sealed=b"")


def original_of_the_second_slip(house: House) -> object:
    new_print(house, slip=new_void(house).slip)
    return new_print(house, slip=new_slip(house))


WITHIN: Final[tuple[Attempt, ...]] = (
    lambda house: new_link(decks=1),
    lambda house: new_link(decks=8),
    lambda house: new_link(next_hit=1),
    lambda house: new_hit(paid_cents=0),
    lambda house: new_hit(share_ppm=1),
    lambda house: new_hit(share_ppm=1_000_000),
    lambda house: new_edition(wager_cents=1),
    lambda house: new_level_terms(reset_cents=0, limit_cents=0, unreasonable_cents=0),
    lambda house: new_level_terms(rate_ppm=0, reserve_ppm=1_000_000),
    lambda house: new_level_terms(rate_ppm=1_000_000),
    lambda house: new_level_terms(hit_numerator=1, hit_denominator=1),
    emptied_after_its_term,
    file_after_its_term,
    part_of_another_file,
    who_won_after_its_term,
    original_of_the_second_slip,
)

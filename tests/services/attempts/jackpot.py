"""Attempts to get past what guards the tables of `jackpot`."""

from __future__ import annotations

from datetime import UTC, datetime

from jackpot import models as jackpot
from tests.services.attempts.rows import against, new_edition, new_hit, new_level_terms, new_link, the_level, the_link
from tests.services.house import (
    DEALT,
    OPENED,
    RECEIVED,
    House,
    run,
)


@against("a_link_is_filed_open_suspended_or_closed")
def _link_in_no_state(house: House) -> object:
    return run("UPDATE jackpot_link SET state = 'lost'")


@against("a_step_is_one_of_the_list")
def _step_of_a_dance(house: House) -> object:
    return jackpot.HitStep.objects.create(hit=new_hit(), state="danced", at=DEALT, by="x")


@against("a_hit_number_is_used_once")
def _hit_number_again(house: House) -> object:
    new_hit()
    return new_hit(sequence=2)


@against("an_award_is_one_hit")
def _award_twice(house: House) -> object:
    new_hit()
    return new_hit(number=100)


@against("a_share_is_part_of_the_level")
def _more_than_everything(house: House) -> object:
    return new_hit(share_ppm=1_000_001)


@against("a_share_is_part_of_the_level")
def _share_of_nothing(house: House) -> object:
    return new_hit(share_ppm=0)


@against("an_award_is_not_negative")
def _player_pays(house: House) -> object:
    return new_hit(paid_cents=-1)


@against("a_hit_takes_each_step_once")
def _verified_twice(house: House) -> object:
    step = {"hit": new_hit(), "state": "verified", "at": DEALT, "by": "somebody"}
    jackpot.HitStep.objects.create(**step)
    return jackpot.HitStep.objects.create(**step)


@against("a_link_has_one_to_eight_decks")
def _nine_decks(house: House) -> object:
    return new_link(decks=9)


@against("a_link_has_one_to_eight_decks")
def _no_decks(house: House) -> object:
    return new_link(decks=0)


@against("envy_is_paid_at_the_same_table")
def _envy_everywhere(house: House) -> object:
    return new_link(envy_scope="link")


@against("simultaneous_hits_are_sequential")
def _split_ties(house: House) -> object:
    return new_link(tie_policy="split")


@against("hits_are_numbered_from_one")
def _hit_number_nought(house: House) -> object:
    return new_link(next_hit=0)


@against("a_link_has_every_level_its_paytable_pays_from")
def _link_without_level(house: House) -> object:
    return new_link()


@against("a_link_has_every_level_its_paytable_pays_from")
def _level_without_meter(house: House) -> object:
    link = new_link()
    return jackpot.Level.objects.create(link=link, paytable=link.paytable, code="major")


@against("a_level_is_on_its_links_paytable")
def _level_of_another_paytable(house: House) -> object:
    return jackpot.Level.objects.create(link=the_link(), paytable=the_link("twin").paytable, code="grand")


@against("a_level_is_one_the_paytable_pays_from")
def _level_nobody_pays_from(house: House) -> object:
    return jackpot.Level.objects.create(link=the_link(), paytable=the_link().paytable, code="mystery")


@against("a_link_has_a_level_once")
def _level_twice(house: House) -> object:
    return jackpot.Level.objects.create(link=the_link(), paytable=the_link().paytable, code="major")


@against("one_edition_of_a_level_is_in_force_at_a_time")
def _overlapping_level_terms(house: House) -> object:
    return new_level_terms(in_force=(datetime(2026, 11, 20, tzinfo=UTC), None))


@against("a_level_is_hit_once_in_a_hundred_million_at_least")
def _jackpot_nobody_hits(house: House) -> object:
    return new_level_terms(hit_denominator=100_000_001)


@against("a_level_is_hit_once_in_a_hundred_million_at_least")
def _jackpot_beyond_certain(house: House) -> object:
    return new_level_terms(hit_numerator=2, hit_denominator=1)


@against("a_reset_is_not_negative")
def _negative_reset(house: House) -> object:
    return new_level_terms(reset_cents=-1)


@against("rates_are_shares_of_the_wager")
def _more_than_the_wager(house: House) -> object:
    return new_level_terms(rate_ppm=600_000, reserve_ppm=400_001)


@against("rates_are_shares_of_the_wager")
def _negative_reserve(house: House) -> object:
    return new_level_terms(reserve_ppm=-1)


@against("a_limit_is_not_below_the_reset")
def _limit_below_reset(house: House) -> object:
    return new_level_terms(limit_cents=999)


@against("an_unreasonable_contribution_is_not_negative")
def _nothing_is_unreasonable(house: House) -> object:
    return new_level_terms(unreasonable_cents=-1)


@against("overflow_joins_the_reset_or_is_revenue")
def _overflow_vanishes(house: House) -> object:
    return new_level_terms(overflow_policy="vanish")


@against("a_seed_comes_from_the_house_or_the_reserve_first")
def _seed_from_heaven(house: House) -> object:
    return new_level_terms(seed_funding="heaven")


@against("below_the_reset_is_allowed_or_topped_up")
def _floor_is_lava(house: House) -> object:
    return new_level_terms(floor_policy="lava")


@against("a_meter_is_not_negative")
def _negative_meter(house: House) -> object:
    return jackpot.Meter.objects.update(overflow_cents=-1)


@against("a_residual_is_a_fraction_of_a_cent")
def _whole_cent_as_fraction(house: House) -> object:
    return jackpot.Meter.objects.update(reserve_residual_millionths=1_000_000)


for _name in ("wagers", "hits", "wins_cents", "contributed_millionths", "reserved_millionths", "overflowed_millionths"):

    @against("lifetime_meters_are_not_negative")
    def _fewer_than_none(house: House, name: str = _name) -> object:
        level = jackpot.Level.objects.order_by("id").values_list("id", flat=True)[0]
        return jackpot.Meter.objects.create(level_id=level, value_cents=0, **{name: -1})


@against("lifetime_meters_never_fall")
def _wagers_forgotten(house: House) -> object:
    jackpot.Meter.objects.update(wagers=5)
    return jackpot.Meter.objects.update(wagers=4)


@against("a_progressive_wager_is_positive")
def _free_wager(house: House) -> object:
    return new_edition(wager_cents=0)


@against("a_game_fits_an_edition_once")
def _game_twice(house: House) -> object:
    return jackpot.ProgressiveGame.objects.create(edition=the_link().paytable, game="mississippi-stud")


@against("an_edition_names_a_level_once")
def _edition_level_twice(house: House) -> object:
    return jackpot.ProgressiveLevel.objects.create(edition=the_link().paytable, code="major")


@against("terms_only_end")
def _rate_changed_in_place(house: House) -> object:
    return jackpot.LevelTerms.objects.filter(level=the_level()).update(rate_ppm=1)


@against("terms_only_end")
def _ended_at_another_rate(house: House) -> object:
    return jackpot.LevelTerms.objects.filter(level=the_level()).update(in_force=(OPENED, DEALT), rate_ppm=1)


@against("terms_only_end")
def _going_on_as_they_are(house: House) -> object:
    return jackpot.LevelTerms.objects.filter(level=the_level()).update(in_force=(OPENED, None))


@against("terms_only_end")
def _begun_earlier(house: House) -> object:
    return jackpot.LevelTerms.objects.filter(level=the_level()).update(
        in_force=(datetime(2020, 1, 1, tzinfo=UTC), None)
    )


@against("terms_only_end")
def _begun_later(house: House) -> object:
    return jackpot.LevelTerms.objects.filter(level=the_level()).update(in_force=(DEALT, None))


@against("terms_only_end")
def _end_moved(house: House) -> object:
    jackpot.LevelTerms.objects.filter(level=the_level()).update(in_force=(OPENED, DEALT))
    return jackpot.LevelTerms.objects.filter(level=the_level()).update(in_force=(OPENED, RECEIVED))


@against("terms_only_end")
def _level_terms_removed(house: House) -> object:
    return jackpot.LevelTerms.objects.all().delete()


@against("a_meter_stays")
def _meter_removed(house: House) -> object:
    return jackpot.Meter.objects.all().delete()


@against("a_meter_stays")
def _meters_truncated(house: House) -> object:
    return run("TRUNCATE jackpot_meter")

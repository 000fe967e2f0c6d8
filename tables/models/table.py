"""Tables, the terms they are dealt under, and the editions of their base and side wagers."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import F, Q


class WagerEdition(models.Model):
    """A published paytable of a base or side wager. `definition` is the edition as read; `digest` is its SHA-256."""

    code = models.CharField(max_length=64, unique=True)
    game = models.CharField(max_length=30)
    wager = models.CharField(max_length=40)
    definition = models.JSONField()
    digest = models.BinaryField(max_length=32)
    published_at = models.DateTimeField()

    class Meta:
        ordering = ["code"]
        constraints = [
            # Target of the composite foreign key that keeps a table from offering another game's wager.
            models.UniqueConstraint(name="an_edition_is_of_one_game_and_wager", fields=["id", "game", "wager"]),
        ]

    def __str__(self) -> str:
        return self.code


class Table(models.Model):
    """A gaming table, named by its asset number. On a link it shares the link's paytable, decks and stream."""

    class State(models.TextChoices):
        OPEN = "open"
        CLOSED = "closed"

    code = models.CharField(max_length=64, unique=True)
    game = models.CharField(max_length=30)
    decks = models.SmallIntegerField()
    link = models.ForeignKey("jackpot.Link", on_delete=models.PROTECT, null=True, blank=True, related_name="tables")
    link_paytable = models.ForeignKey(
        "jackpot.ProgressiveEdition", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    stream = models.ForeignKey("accounting.Stream", on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=6, choices=State, default=State.OPEN)
    opened_at = models.DateTimeField()

    class Meta:
        ordering = ["code"]
        constraints = [
            models.CheckConstraint(
                name="a_linked_table_carries_its_links_paytable",
                condition=Q(link__isnull=True, link_paytable__isnull=True)
                | Q(link__isnull=False, link_paytable__isnull=False),
            ),
            models.CheckConstraint(name="a_table_is_open_or_closed", condition=Q(state__in=["open", "closed"])),
            models.CheckConstraint(name="a_table_has_at_least_one_deck", condition=Q(decks__gte=1)),
            models.UniqueConstraint(name="a_table_deals_one_game", fields=["id", "game"]),
        ]

    def __str__(self) -> str:
        return self.code


class TableTerms(models.Model):
    """The terms of a table while in force; a round keeps the id of the terms it was settled under."""

    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="terms")
    game = models.CharField(max_length=30)
    in_force = DateTimeRangeField()
    seats = models.SmallIntegerField()
    minimum_cents = models.BigIntegerField()
    maximum_cents = models.BigIntegerField()
    terms = models.JSONField(default=dict)

    class Meta:
        constraints = [
            ExclusionConstraint(
                name="one_edition_of_a_table_is_in_force_at_a_time",
                expressions=[("table", RangeOperators.EQUAL), ("in_force", RangeOperators.OVERLAPS)],
            ),
            models.CheckConstraint(name="a_table_has_seats", condition=Q(seats__gte=1)),
            models.CheckConstraint(
                name="a_minimum_is_positive_and_not_above_the_maximum",
                condition=Q(minimum_cents__gte=1) & Q(minimum_cents__lte=F("maximum_cents")),
            ),
            models.UniqueConstraint(name="terms_are_of_one_game_and_seats", fields=["id", "game", "seats"]),
        ]


class TablePaytable(models.Model):
    """The edition that a wager of a table pays by. `game` and `seats` repeat the terms so that SQL can compare them."""

    terms = models.ForeignKey(TableTerms, on_delete=models.PROTECT, related_name="paytables")
    game = models.CharField(max_length=30)
    seats = models.SmallIntegerField()
    wager = models.CharField(max_length=40)
    edition = models.ForeignKey(WagerEdition, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(name="a_wager_pays_by_one_edition", fields=["terms", "wager"]),
            models.CheckConstraint(
                name="a_cover_all_table_has_six_seats_at_most", condition=~Q(wager="cover_all") | Q(seats__lte=6)
            ),
        ]

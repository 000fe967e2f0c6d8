"""Progressive paytable editions: published once, never changed."""

from django.db import models
from django.db.models import Q


class ProgressiveEdition(models.Model):
    """What hands pay from a link's levels. `definition` is the edition as read; `digest` is its SHA-256."""

    code = models.CharField(max_length=64, unique=True)
    wager_cents = models.BigIntegerField()
    definition = models.JSONField()
    digest = models.BinaryField(max_length=32)
    published_at = models.DateTimeField()

    class Meta:
        ordering = ["code"]
        constraints = [
            models.CheckConstraint(name="a_progressive_wager_is_positive", condition=Q(wager_cents__gt=0)),
        ]

    def __str__(self) -> str:
        return self.code


class ProgressiveGame(models.Model):
    """A game that ranks the same hands with the same probability, so its tables may carry the wager (SPEC §6.9)."""

    edition = models.ForeignKey(ProgressiveEdition, on_delete=models.PROTECT, related_name="games")
    game = models.CharField(max_length=30)

    class Meta:
        constraints = [models.UniqueConstraint(name="a_game_fits_an_edition_once", fields=["edition", "game"])]


class ProgressiveLevel(models.Model):
    """A level that the edition pays from; a link on the edition has exactly these."""

    edition = models.ForeignKey(ProgressiveEdition, on_delete=models.PROTECT, related_name="levels")
    code = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(name="an_edition_names_a_level_once", fields=["edition", "code"])]

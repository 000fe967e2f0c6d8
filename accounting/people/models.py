"""What is remembered of people beside Django's own accounts and groups. An account is never deleted: it is suspended."""

from django.contrib.auth.models import User
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import F, Q

from accounting.people.rules.filters import LONGEST_NAME, LONGEST_QUERY, MOST_FILTERS
from accounting.rules.roles import ROLES

SHA256 = 32


class OneTimeLink(models.Model):
    """A way in for somebody who has no password yet, or lost it: good once and for a term, kept as a digest."""

    class Ended(models.TextChoices):
        """How a link came to its end; one that expired ends when it is found so."""

        USED = "used"
        WITHDRAWN = "withdrawn"

    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="one_time_links")
    digest = models.BinaryField(max_length=SHA256, unique=True)
    issued_at = models.DateTimeField()
    issued_by = models.CharField(max_length=150)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    ended = models.CharField(max_length=9, choices=Ended.choices, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                name="a_person_has_one_open_link", fields=["person"], condition=Q(ended_at__isnull=True)
            ),
            models.CheckConstraint(
                name="a_link_that_ended_says_how",
                condition=Q(ended_at__isnull=True, ended="")
                | Q(ended_at__isnull=False, ended__in=["used", "withdrawn"]),
            ),
            models.CheckConstraint(name="a_link_is_good_for_a_term", condition=Q(expires_at__gt=F("issued_at"))),
        ]

    def __str__(self) -> str:
        return f"link of {self.person_id}"


class PersonalToken(models.Model):
    """A key of a person for the API: whoever sends it acts as that person, with that person's roles."""

    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="tokens")
    digest = models.BinaryField(max_length=SHA256, unique=True)
    purpose = models.CharField(max_length=60, blank=True)
    demo = models.BooleanField(default=False)  # honoured in demo mode only
    issued_at = models.DateTimeField()
    issued_by = models.CharField(max_length=150)
    used_at = models.DateTimeField(null=True)  # to the minute
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"token {self.pk}"


class Session(AbstractBaseSession):
    """A session in a browser that knows whose it is, so that it can be shown and ended."""

    person = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="+")
    since = models.DateTimeField(null=True)
    address = models.CharField(max_length=64, blank=True)
    browser = models.CharField(max_length=200, blank=True)


class SavedFilter(models.Model):
    """A search that somebody keeps under a name: the query of a page's address, for its owner and perhaps a role's people.

    Each has a place of a few on its page, so that nobody keeps more than those.
    """

    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    page = models.CharField(max_length=40)
    place = models.SmallIntegerField()
    name = models.CharField(max_length=LONGEST_NAME)
    query = models.CharField(max_length=LONGEST_QUERY)
    shared_with = models.CharField(max_length=20, blank=True)
    saved_at = models.DateTimeField()

    class Meta:
        ordering = ["name", "person"]
        constraints = [
            models.UniqueConstraint(name="a_person_names_a_filter_once", fields=["person", "page", "name"]),
            models.UniqueConstraint(name="a_filter_has_a_place_of_its_own", fields=["person", "page", "place"]),
            models.CheckConstraint(
                name="a_person_keeps_a_few_filters_of_a_page", condition=Q(place__gte=1, place__lte=MOST_FILTERS)
            ),
            models.CheckConstraint(name="a_filter_has_a_name_and_asks_something", condition=~Q(name="") & ~Q(query="")),
            models.CheckConstraint(
                name="a_filter_is_shared_with_a_known_role", condition=Q(shared_with__in=["", *sorted(ROLES)])
            ),
        ]

    def __str__(self) -> str:
        return self.name

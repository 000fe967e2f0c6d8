"""The append-only ledger: streams, their events (journal entries), transfers, accounts and totals.

Rows that settling writes carry no foreign keys; a statement trigger refuses orphans once per batch instead
(ARCHITECTURE §4.12). The columns are still declared as relations, so that queries can follow them.
"""

from django.db import models
from django.db.models import F, Q

from accounting.fields import unguarded
from accounting.rules.accounts import LEVEL_ACCOUNTS, PROPERTY_ACCOUNTS, TABLE_ACCOUNTS
from accounting.rules.edition import FIRST
from accounting.rules.events import KINDS, REASONS

SHA256 = 32
ACCOUNT_KINDS = (*PROPERTY_ACCOUNTS, *TABLE_ACCOUNTS, *LEVEL_ACCOUNTS)


class Stream(models.Model):
    """One order of events: a link, or a table that is on no link. Its row is what settling locks."""

    code = models.CharField(max_length=64, unique=True)
    next_sequence = models.BigIntegerField(default=1)
    head = models.BinaryField(max_length=SHA256)
    terms_version = models.BigIntegerField(default=1)

    class Meta:
        constraints = [
            models.CheckConstraint(name="a_stream_counts_from_one", condition=Q(next_sequence__gte=1)),
        ]

    def __str__(self) -> str:
        return self.code


class Event(models.Model):
    """Whatever moves or dates money on a stream: one row, one journal entry, one link of the hash chain."""

    pk = models.CompositePrimaryKey("stream", "sequence")
    stream = unguarded("accounting.Stream")
    sequence = models.BigIntegerField()
    kind = models.CharField(max_length=16)
    subject = models.CharField(max_length=160)
    gaming_date = models.DateField()
    original_date = models.DateField(null=True)
    recorded_at = models.DateTimeField()
    rules = models.SmallIntegerField()
    message_digest = models.BinaryField(max_length=SHA256)
    result_digest = models.BinaryField(max_length=SHA256)
    previous = models.BinaryField(max_length=SHA256)
    hash = models.BinaryField(max_length=SHA256)

    class Meta:
        indexes = [
            # Among millions of rounds the few other events are found at once.
            models.Index(name="events_that_are_no_rounds", fields=["stream", "sequence"], condition=~Q(kind="round")),
            # What became of one hit, payout or round is looked up by its name, however much else was decided.
            models.Index(
                name="events_about_a_subject", fields=["stream", "subject", "sequence"], condition=~Q(kind="round")
            ),
        ]
        constraints = [
            models.CheckConstraint(name="an_event_is_numbered_from_the_opening", condition=Q(sequence__gte=0)),
            models.CheckConstraint(
                name="only_an_opening_is_number_zero",
                condition=Q(sequence=0, kind="opened") | Q(sequence__gte=1) & ~Q(kind="opened"),
            ),
            models.CheckConstraint(name="an_event_is_of_a_known_kind", condition=Q(kind__in=KINDS)),
            models.CheckConstraint(name="an_event_names_its_rules_edition", condition=Q(rules__gte=FIRST)),
        ]


class Document(models.Model):
    """Cause and result of an event that is no message's, as the very bytes that its hash covers. Never changed."""

    pk = models.CompositePrimaryKey("stream", "sequence")
    stream = unguarded("accounting.Stream")
    sequence = models.BigIntegerField()
    cause = models.BinaryField()
    result = models.BinaryField()


class Account(models.Model):
    """A ledger account of the property, a table or a level."""

    code = models.CharField(max_length=160, unique=True)
    kind = models.CharField(max_length=20)
    owner = models.CharField(max_length=140, blank=True)

    class Meta:
        ordering = ["code"]
        constraints = [
            models.CheckConstraint(name="an_account_is_of_the_chart", condition=Q(kind__in=ACCOUNT_KINDS)),
            models.UniqueConstraint(name="an_owner_has_one_account_of_a_kind", fields=["kind", "owner"]),
        ]

    def __str__(self) -> str:
        return self.code


class Transfer(models.Model):
    """One movement of whole cents inside a journal entry; both sides in one row, so it cannot be unbalanced."""

    pk = models.CompositePrimaryKey("stream", "sequence", "line")
    stream = unguarded("accounting.Stream")
    sequence = models.BigIntegerField()
    line = models.SmallIntegerField()
    debit = unguarded("accounting.Account")
    credit = unguarded("accounting.Account")
    amount_cents = models.BigIntegerField()
    reason = models.CharField(max_length=16)

    class Meta:
        constraints = [
            models.CheckConstraint(name="transfer_amount_is_positive", condition=Q(amount_cents__gt=0)),
            models.CheckConstraint(name="transfer_moves_between_two_accounts", condition=~Q(debit_id=F("credit_id"))),
            models.CheckConstraint(name="a_transfer_has_a_reason_of_the_list", condition=Q(reason__in=REASONS)),
        ]


class Total(models.Model):
    """What an account was debited and credited by one stream on one gaming day; summed on read.

    One transfer is a bigint at most; what a day of them comes to need not be.
    """

    pk = models.CompositePrimaryKey("account", "stream", "gaming_date")
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="totals", db_index=False)
    stream = models.ForeignKey(Stream, on_delete=models.PROTECT, related_name="+", db_index=False)
    gaming_date = models.DateField()
    debit_cents = models.DecimalField(max_digits=40, decimal_places=0, default=0)
    credit_cents = models.DecimalField(max_digits=40, decimal_places=0, default=0)

    class Meta:
        indexes = [models.Index(name="totals_of_a_gaming_day", fields=["gaming_date"])]
        constraints = [
            models.CheckConstraint(
                name="totals_only_grow_from_zero", condition=Q(debit_cents__gte=0, credit_cents__gte=0)
            ),
        ]

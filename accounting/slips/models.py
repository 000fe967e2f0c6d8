"""What is remembered of hand pays: slips with what became of them, particulars of winners, tax forms. All append-only.

A slip's number comes from one counter that only a new slip moves (`migrations/0002_guards`): no gap, no number twice.
"""

from django.db import models
from django.db.models import Q

from accounting.fields import unguarded
from accounting.rules.tax import WITHHOLDINGS
from accounting.slips.rules.register import FORMS

SHA256 = 32


class SlipCounter(models.Model):
    """The last number of a slip that this property gave out. One row, moved on by a trigger."""

    only = models.BooleanField(default=True, primary_key=True, editable=False)
    last = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.CheckConstraint(name="slips_have_one_counter", condition=Q(only=True))]


class Slip(models.Model):
    """A slip for one payout, the one at its place among the payouts; cents are whole and gross.

    `facts` is canonical JSON: what was won, as the record has it (`payout`), and how the slip was made (`issued`). `digest`
    is its SHA-256, which an audit record has as well.
    """

    number = models.BigIntegerField(primary_key=True)
    stream = unguarded("accounting.Stream")
    sequence = models.BigIntegerField()
    line = models.SmallIntegerField()
    subject = models.CharField(max_length=160)
    kind = models.CharField(max_length=4)
    table = models.CharField(max_length=64)
    link = models.CharField(max_length=64)
    seat = models.SmallIntegerField()
    hand = models.CharField(max_length=40)
    cents = models.BigIntegerField()
    method = models.CharField(max_length=5)
    form = models.CharField(max_length=6)
    prepared_by = models.CharField(max_length=150)
    issued_at = models.DateTimeField()
    gaming_date = models.DateField()
    override = models.TextField(blank=True)
    complete = models.BooleanField()
    replaces = models.OneToOneField("self", on_delete=models.PROTECT, null=True, related_name="replaced_by")
    facts = models.BinaryField()
    digest = models.BinaryField(max_length=SHA256)

    class Meta:
        ordering = ["-number"]
        indexes = [
            models.Index(name="slips_of_a_payout", fields=["stream", "sequence", "line"]),
            models.Index(name="slips_about", fields=["subject", "-number"]),
            models.Index(name="slips_of_a_gaming_day", fields=["gaming_date", "-number"]),
        ]
        constraints = [
            models.CheckConstraint(name="slips_are_numbered_from_one", condition=Q(number__gte=1)),
            models.CheckConstraint(name="a_slip_is_for_money", condition=Q(cents__gt=0)),
            models.CheckConstraint(name="a_slip_is_for_a_hit_or_envy", condition=Q(kind__in=["hit", "envy"])),
            models.CheckConstraint(name="a_slip_is_paid_from_cage_or_table", condition=Q(method__in=["cage", "table"])),
            models.CheckConstraint(name="a_slip_is_paid_in_a_known_form", condition=Q(form__in=FORMS)),
            models.CheckConstraint(name="a_table_pays_in_chips", condition=Q(method="cage") | Q(form="chips")),
            models.CheckConstraint(
                name="a_slip_follows_what_it_replaces", condition=Q(number__gt=models.F("replaces"))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number:06d}"


class SlipVoid(models.Model):
    """A slip is void: who asked, who agreed, why. It keeps its number."""

    slip = models.OneToOneField(Slip, on_delete=models.PROTECT, primary_key=True, related_name="void")
    at = models.DateTimeField()
    by = models.CharField(max_length=150)
    approved_by = models.CharField(max_length=400)
    reason = models.TextField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="a_void_slip_says_why", condition=~Q(reason="")),
            models.CheckConstraint(name="somebody_agrees_to_a_void_slip", condition=~Q(approved_by="")),
        ]

    def __str__(self) -> str:
        return f"{self.slip_id:06d} void"


class SlipPayment(models.Model):
    """A slip was paid by an event of its payout's stream; a slip that replaces a paid one is paid by the same event."""

    slip = models.OneToOneField(Slip, on_delete=models.PROTECT, primary_key=True, related_name="payment")
    event = models.BigIntegerField()
    at = models.DateTimeField()
    by = models.CharField(max_length=150)

    def __str__(self) -> str:
        return f"{self.slip_id:06d} paid"


class SlipPrint(models.Model):
    """A print of a slip as it was handed out, to the byte: 0 is the original, every other one is a duplicate."""

    slip = models.ForeignKey(Slip, on_delete=models.PROTECT, related_name="prints")
    copy = models.SmallIntegerField()
    at = models.DateTimeField()
    by = models.CharField(max_length=150)
    content = models.BinaryField()
    digest = models.BinaryField(max_length=SHA256)

    class Meta:
        ordering = ["slip", "copy"]
        constraints = [
            models.UniqueConstraint(name="a_slip_is_printed_once_under_a_number", fields=["slip", "copy"]),
            models.CheckConstraint(name="the_original_is_number_zero", condition=Q(copy__gte=0)),
        ]

    def __str__(self) -> str:
        return f"{self.slip_id:06d} copy {self.copy}"


class Particulars(models.Model):
    """Who won or shares in a win, for tax forms: sealed with a key that the database does not have.

    All that was taken down together about a payout is one edition, the latest counts. `share_cents` of the payees of an edition
    total what was paid (Form 5754). `has_number` says whether a taxpayer's number was given, which is all that the books need.
    """

    subject = models.CharField(max_length=160)
    edition = models.SmallIntegerField()
    payee = models.SmallIntegerField()
    share_cents = models.BigIntegerField()
    has_number = models.BooleanField()
    sealed = models.BinaryField()
    key = models.CharField(max_length=16)
    at = models.DateTimeField()
    by = models.CharField(max_length=150)

    class Meta:
        ordering = ["subject", "edition", "payee"]
        constraints = [
            models.UniqueConstraint(name="a_payee_stands_once_in_an_edition", fields=["subject", "edition", "payee"]),
            models.CheckConstraint(
                name="payees_and_editions_count_from_one", condition=Q(edition__gte=1, payee__gte=1)
            ),
            models.CheckConstraint(name="a_share_of_a_win_is_money", condition=Q(share_cents__gt=0)),
        ]

    def __str__(self) -> str:
        return f"{self.subject} payee {self.payee}"


class TaxForm(models.Model):
    """A Form W-2G as it was worked out for a slip: one for each who shares in the win; whole cents.

    Forms worked out together are one edition, of a slip the latest counts. `particulars` is the edition of the winner's
    particulars that it was worked out with, 0 where none were taken down yet. `terms_from` is the day from which its tax
    terms count.
    """

    slip = models.ForeignKey(Slip, on_delete=models.PROTECT, related_name="forms")
    edition = models.SmallIntegerField()
    particulars = models.SmallIntegerField()
    payee = models.SmallIntegerField()
    paid_on = models.DateField()
    terms_from = models.DateField()
    paid_cents = models.BigIntegerField()
    wager_cents = models.BigIntegerField()
    winnings_cents = models.BigIntegerField()
    withholding = models.CharField(max_length=7)
    withheld_cents = models.BigIntegerField()
    at = models.DateTimeField()
    by = models.CharField(max_length=150)

    class Meta:
        ordering = ["slip", "edition", "payee"]
        constraints = [
            models.UniqueConstraint(name="a_payee_has_one_form_of_an_edition", fields=["slip", "edition", "payee"]),
            models.CheckConstraint(
                name="forms_count_from_one", condition=Q(edition__gte=1, payee__gte=1, particulars__gte=0)
            ),
            models.CheckConstraint(name="a_form_withholds_by_a_known_rule", condition=Q(withholding__in=WITHHOLDINGS)),
            models.CheckConstraint(
                name="a_form_withholds_where_its_rule_says_so",
                condition=Q(withholding="none", withheld_cents=0) | ~Q(withholding="none") & Q(withheld_cents__gte=0),
            ),
            models.CheckConstraint(
                name="less_is_withheld_than_paid", condition=Q(withheld_cents__lt=models.F("paid_cents"))
            ),
        ]

    def __str__(self) -> str:
        return f"W-2G of {self.slip_id:06d}, payee {self.payee}"


class Payer(models.Model):
    """The house as tax forms name it, from a day of payment on; of several from one day the last one counts. Never changed."""

    id = models.BigAutoField(primary_key=True)
    counts_from = models.DateField()
    name = models.CharField(max_length=120)
    address = models.CharField(max_length=300)
    telephone = models.CharField(max_length=40)
    number = models.CharField(max_length=10)
    state_number = models.CharField(max_length=30, blank=True)
    at = models.DateTimeField()
    by = models.CharField(max_length=150)

    class Meta:
        ordering = ["counts_from", "id"]
        constraints = [
            models.CheckConstraint(
                name="a_payer_has_an_employers_number", condition=Q(number__regex=r"^[0-9]{2}-[0-9]{7}$")
            ),
            models.CheckConstraint(
                name="a_payer_is_named_with_an_address", condition=~Q(name="") & ~Q(address="") & ~Q(telephone="")
            ),
        ]

    def __str__(self) -> str:
        return self.name

"""Proposals and what people said to them; all append-only. A proposal's state follows from its rows."""

from django.db import models
from django.db.models import Q

from accounting.office.models.tier import TierEdition
from accounting.office.rules.approval import DONE, ENDS, EXPIRED, REFUSED
from accounting.office.rules.asking import LARGEST_FILE
from accounting.rules.roles import ROLES

SHA256 = 32


class Proposal(models.Model):
    """Somebody asks for an act. Who must agree is fixed here, and with it what was handed in (`evidence_digest`).

    `payload` is canonical JSON; `version` is the subject as it stood; `needs` is a list of `{role, count}`.
    """

    act = models.CharField(max_length=40)
    kind = models.CharField(max_length=20)
    subject = models.CharField(max_length=160)
    payload = models.BinaryField()
    reason = models.TextField()
    by = models.CharField(max_length=150)
    origin = models.CharField(max_length=64, blank=True)
    proposed_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    version = models.TextField()
    edition = models.ForeignKey(TierEdition, on_delete=models.PROTECT, related_name="+")
    amount_cents = models.BigIntegerField(null=True)
    needs = models.JSONField()
    evidence_digest = models.BinaryField(max_length=SHA256, null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(name="proposals_about", fields=["kind", "subject", "-id"]),
            models.Index(name="proposals_by", fields=["by", "-id"]),
        ]
        constraints = [
            models.CheckConstraint(name="a_proposal_says_why", condition=~Q(reason="")),
            models.CheckConstraint(
                name="a_proposal_waits_for_a_while", condition=Q(expires_at__gt=models.F("proposed_at"))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.act} {self.subject}"


class Evidence(models.Model):
    """What was handed in with a proposal: a reference, a note, a file."""

    proposal = models.OneToOneField(Proposal, on_delete=models.PROTECT, primary_key=True)
    reference = models.CharField(max_length=200, blank=True)
    note = models.TextField(blank=True)
    name = models.CharField(max_length=200, blank=True)
    content = models.BinaryField(null=True)
    content_digest = models.BinaryField(max_length=SHA256, null=True)
    size = models.IntegerField(null=True)
    digest = models.BinaryField(max_length=SHA256)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="evidence_is_something", condition=~Q(reference="", note="", content__isnull=True)
            ),
            models.CheckConstraint(
                name="a_file_has_a_name_a_size_and_a_digest",
                condition=Q(content__isnull=True, content_digest__isnull=True, size__isnull=True, name="")
                | Q(content__isnull=False, content_digest__isnull=False, size__gte=1, size__lte=LARGEST_FILE)
                & ~Q(name=""),
            ),
        ]

    def __str__(self) -> str:
        return self.reference or self.name or self.note[:80]


class Approval(models.Model):
    """Somebody else agrees, as one of the roles that the proposal still needs."""

    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="approvals")
    by = models.CharField(max_length=150)
    role = models.CharField(max_length=20)
    at = models.DateTimeField()
    note = models.TextField(blank=True)
    origin = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(name="nobody_approves_twice", fields=["proposal", "by"]),
            models.CheckConstraint(name="somebody_approves_as_a_known_role", condition=Q(role__in=sorted(ROLES))),
        ]

    def __str__(self) -> str:
        return f"{self.by} as {self.role}"


class Outcome(models.Model):
    """How a proposal ended, once: done, with its event where there is one; refused by a rule (`code`) or a person (`by`)…"""

    proposal = models.OneToOneField(Proposal, on_delete=models.PROTECT, primary_key=True)
    state = models.CharField(max_length=10)
    at = models.DateTimeField()
    by = models.CharField(max_length=150, blank=True)
    note = models.TextField(blank=True)
    code = models.CharField(max_length=60, blank=True)
    pointer = models.TextField(blank=True)
    detail = models.TextField(blank=True)
    stream = models.CharField(max_length=64, blank=True)
    sequence = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="a_proposal_ends_in_one_of_four_ways", condition=Q(state__in=ENDS)),
            models.CheckConstraint(
                name="only_what_is_done_has_an_event",
                condition=Q(sequence__isnull=True, stream="") | Q(state=DONE, sequence__isnull=False) & ~Q(stream=""),
            ),
            models.CheckConstraint(
                name="a_refusal_has_a_code_or_a_note",
                condition=~Q(state=REFUSED) & Q(code="") | Q(state=REFUSED) & (~Q(code="") | ~Q(by="") & ~Q(note="")),
            ),
            models.CheckConstraint(name="only_a_term_ends_by_itself", condition=Q(state=EXPIRED, by="") | ~Q(by="")),
        ]

    def __str__(self) -> str:
        return self.state

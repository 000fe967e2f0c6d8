"""What the API takes and gives, for its document; what is taken is judged by `accounting.office.rules.asking`."""

from typing import Any

from rest_framework import serializers

from accounting.office.rules import asking
from accounting.office.rules.approval import STATES


class TierShown(serializers.Serializer[Any]):
    """From an amount on, so many people of a role must agree."""

    from_cents = serializers.IntegerField()
    role = serializers.CharField()
    count = serializers.IntegerField()


class ActShown(serializers.Serializer[Any]):
    """What people may decide."""

    name = serializers.CharField()
    title = serializers.CharField()
    subject = serializers.CharField(help_text="what it is about: link, level, table, round …")
    schema = serializers.DictField(help_text="JSON Schema of the payload")
    proposes = serializers.ListField(child=serializers.CharField(), help_text="roles")
    approves = TierShown(many=True)
    reasons = serializers.ListField(child=serializers.CharField(), help_text="the only ones, where there are any")
    evidence = serializers.BooleanField(help_text="whether it is asked for")
    may_propose = serializers.BooleanField()
    may_approve = serializers.BooleanField()
    version = serializers.CharField(
        allow_null=True, required=False, help_text="of the subject asked about; null where there is none"
    )


class ActPage(serializers.Serializer[Any]):
    """The acts of this house; they fit on one page."""

    items = ActShown(many=True)
    next = serializers.CharField(allow_null=True)


class NeedShown(serializers.Serializer[Any]):
    """So many people of a role must agree."""

    role = serializers.CharField()
    count = serializers.IntegerField()


class ApprovalShown(serializers.Serializer[Any]):
    """Somebody agreed."""

    by = serializers.CharField()
    vars()["as"] = serializers.CharField(help_text="the role that agreed")  # a word of Python's own
    at = serializers.DateTimeField()
    note = serializers.CharField(allow_blank=True)


class EventNamed(serializers.Serializer[Any]):
    """The event that an act became."""

    stream = serializers.CharField()
    sequence = serializers.IntegerField()


class ProposalShown(serializers.Serializer[Any]):
    """Somebody asks for an act, and what came of it."""

    id = serializers.IntegerField()
    act = serializers.CharField()
    subject = serializers.CharField()
    payload = serializers.DictField()
    reason = serializers.CharField()
    by = serializers.CharField()
    at = serializers.DateTimeField()
    state = serializers.ChoiceField(STATES)
    needs = NeedShown(many=True)
    approvals = ApprovalShown(many=True)
    event = EventNamed(allow_null=True)
    code = serializers.CharField(allow_null=True, help_text="of the rule that refused it")
    detail = serializers.CharField(allow_null=True)
    pointer = serializers.CharField(allow_null=True)
    version = serializers.CharField(help_text="the subject as it stood")
    expires_at = serializers.DateTimeField()
    evidence = serializers.DictField(allow_null=True)
    ended = serializers.DictField(allow_null=True, help_text="by whom, when, with which note")


class ProposalPage(serializers.Serializer[Any]):
    """Proposals, newest first."""

    items = ProposalShown(many=True)
    next = serializers.CharField(allow_null=True)


class FileIn(serializers.Serializer[Any]):
    """A file to hand in."""

    name = serializers.CharField(max_length=asking.LONGEST_NAME)
    content = serializers.CharField(help_text=f"base64 of at most {asking.LARGEST_FILE:,} bytes")


class EvidenceIn(serializers.Serializer[Any]):
    """What is handed in with a proposal."""

    reference = serializers.CharField(required=False, max_length=asking.LONGEST_NAME)
    note = serializers.CharField(required=False, max_length=asking.LONGEST_WORDS)
    file = FileIn(required=False)


class ProposalIn(serializers.Serializer[Any]):
    """What is asked for."""

    act = serializers.CharField()
    subject = serializers.CharField(max_length=asking.LONGEST_SUBJECT)
    payload = serializers.DictField()
    reason = serializers.CharField(max_length=asking.LONGEST_WORDS)
    evidence = EvidenceIn(required=False)
    seen = serializers.CharField(required=False, help_text="the version of the subject that was looked at")


class ApprovalIn(serializers.Serializer[Any]):
    """What is said with an approval."""

    note = serializers.CharField(required=False, max_length=asking.LONGEST_WORDS)
    seen = serializers.CharField(required=False)


class NoteIn(serializers.Serializer[Any]):
    """What is said with a withdrawal."""

    note = serializers.CharField(required=False, max_length=asking.LONGEST_WORDS)


class RefusalIn(serializers.Serializer[Any]):
    """Why it is refused."""

    note = serializers.CharField(max_length=asking.LONGEST_WORDS)

"""Attempts to get past what guards the tables of the office."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from accounting.office import models as office
from tests.services.attempts.rows import DIGEST, against
from tests.services.house import House, run

AT = datetime(2026, 11, 28, 3, 0, tzinfo=UTC)
OVER = AT + timedelta(days=7)


def new_edition(**changes: Any) -> office.TierEdition:
    values: dict[str, Any] = {"act": "house.rename", "number": 1, "published_at": AT, "published_by": "a"}
    return office.TierEdition.objects.create(**values | changes)


def new_tier(**changes: Any) -> office.Tier:
    values: dict[str, Any] = {"from_cents": 0, "role": "manager", "count": 1}
    if "edition" not in changes:
        values["edition"] = new_edition(act="another")
    return office.Tier.objects.create(**values | changes)


def new_proposal(**changes: Any) -> office.Proposal:
    """Waits for two managers and a controller, with evidence that was not handed in yet."""
    values: dict[str, Any] = {
        "act": "house.rename", "kind": "property", "subject": "BOS", "payload": b"{}", "reason": "correction", "by": "ada",
        "proposed_at": AT, "expires_at": OVER, "version": "1",
        "needs": [{"role": "manager", "count": 2}, {"role": "controller", "count": 1}],
        "evidence_digest": b"\7" * 32,
    }  # fmt: skip
    if "edition" not in changes:
        values["edition"] = office.TierEdition.objects.filter(act="house.rename").first() or new_edition()
    return office.Proposal.objects.create(**values | changes)


def new_approval(**changes: Any) -> office.Approval:
    values: dict[str, Any] = {"by": "ben", "role": "manager", "at": AT}
    if "proposal" not in changes:
        values["proposal"] = new_proposal()
    return office.Approval.objects.create(**values | changes)


def new_outcome(**changes: Any) -> office.Outcome:
    values: dict[str, Any] = {"state": "refused", "by": "ben", "note": "no", "at": AT}
    if "proposal" not in changes:
        values["proposal"] = new_proposal()
    return office.Outcome.objects.create(**values | changes)


def new_evidence(**changes: Any) -> office.Evidence:
    content = b"a letter"
    values: dict[str, Any] = {
        "name": "a.txt", "content": content, "content_digest": sha256(content).digest(), "size": len(content),
        "digest": b"\7" * 32,
    }  # fmt: skip
    if "proposal" not in changes:
        values["proposal"] = new_proposal()
    return office.Evidence.objects.create(**values | changes)


def new_job(**changes: Any) -> office.Job:
    values: dict[str, Any] = {"kind": "verify", "by": "ada", "asked_at": AT}
    return office.Job.objects.create(**values | changes)


def decided(house: House) -> None:
    """A row in every table of the office, all of them right."""
    proposal = new_proposal(needs=[{"role": "manager", "count": 1}])
    new_tier()
    new_evidence(proposal=proposal)
    new_approval(proposal=proposal)
    new_outcome(proposal=proposal, state="done", note="", stream="ms-mg01", sequence=0)
    new_outcome(state="expired", by="", note="", at=OVER)
    new_outcome(state="withdrawn", by="ada", note="")
    new_job()


@against("editions_of_an_acts_tiers_are_numbered_once")
def _edition_twice(house: House) -> object:
    new_edition()
    return new_edition()


@against("editions_of_tiers_count_from_one")
def _edition_nought(house: House) -> object:
    return new_edition(number=0)


@against("a_role_has_one_tier_from_an_amount")
def _two_tiers_from_one_amount(house: House) -> object:
    return new_tier(edition=new_tier().edition, count=2)


@against("a_tier_begins_at_an_amount")
def _tier_from_below_nothing(house: House) -> object:
    return new_tier(from_cents=-1)


@against("a_tier_asks_for_a_few_people")
def _tier_of_fewer_than_nobody(house: House) -> object:
    return new_tier(count=-1)


@against("a_tier_asks_for_a_few_people")
def _tier_of_a_crowd(house: House) -> object:
    return new_tier(count=10)


@against("a_tier_asks_for_a_known_role")
def _tier_of_a_stranger(house: House) -> object:
    return new_tier(role="janitor")


@against("a_proposal_says_why")
def _without_a_reason(house: House) -> object:
    return new_proposal(reason="")


@against("a_proposal_waits_for_a_while")
def _over_before_it_began(house: House) -> object:
    return new_proposal(expires_at=AT)


@against("evidence_is_something")
def _nothing_handed_in(house: House) -> object:
    return new_evidence(name="", content=None, content_digest=None, size=None)


@against("a_file_has_a_name_a_size_and_a_digest")
def _file_without_a_name(house: House) -> object:
    return new_evidence(name="")


@against("a_file_has_a_name_a_size_and_a_digest")
def _name_without_a_file(house: House) -> object:
    return new_evidence(content=None, content_digest=None, size=None, note="a note")


@against("a_file_has_a_name_a_size_and_a_digest")
def _too_large_a_file(house: House) -> object:
    content = bytes(5 * 1024 * 1024 + 1)
    return new_evidence(content=content, content_digest=sha256(content).digest(), size=len(content))


@against("evidence_is_what_was_handed_in")
def _another_file(house: House) -> object:
    return new_evidence(content=b"another ")


@against("evidence_is_what_was_handed_in")
def _a_size_that_it_has_not(house: House) -> object:
    return new_evidence(size=9)


@against("evidence_is_what_was_handed_in")
def _evidence_afterwards(house: House) -> object:
    return new_evidence(proposal=new_proposal(evidence_digest=None))


@against("evidence_is_what_was_handed_in")
def _other_evidence(house: House) -> object:
    return new_evidence(digest=DIGEST)


@against("nobody_approves_twice")
def _twice_as_one_role(house: House) -> object:
    return new_approval(proposal=new_approval().proposal)


@against("nobody_approves_twice")
def _twice_as_two_roles(house: House) -> object:
    return new_approval(proposal=new_approval().proposal, role="controller")


@against("somebody_approves_as_a_known_role")
def _as_a_stranger(house: House) -> object:
    return new_approval(proposal=new_proposal(needs=[{"role": "janitor", "count": 1}]), role="janitor")


@against("nobody_approves_their_own_proposal")
def _their_own(house: House) -> object:
    return new_approval(by="ada")


@against("only_what_waits_is_approved")
def _after_a_refusal(house: House) -> object:
    return new_approval(proposal=new_outcome().proposal, by="cleo")


@against("only_what_waits_is_approved")
def _after_its_term(house: House) -> object:
    return new_approval(at=OVER)


@against("an_approval_counts_for_a_need")
def _as_nobody_is_needed(house: House) -> object:
    return new_approval(role="auditor")


@against("an_approval_counts_for_a_need")
def _one_too_many(house: House) -> object:
    proposal = new_approval(role="controller").proposal
    return new_approval(proposal=proposal, by="cleo", role="controller")


@against("a_proposal_ends_in_one_of_four_ways")
def _ends_some_other_way(house: House) -> object:
    return new_outcome(state="lost", note="")


@against("only_what_is_done_has_an_event")
def _refused_with_an_event(house: House) -> object:
    return new_outcome(stream="ms-mg01", sequence=0)


@against("only_what_is_done_has_an_event")
def _an_event_of_no_stream(house: House) -> object:
    return new_outcome(proposal=new_proposal(needs=[]), state="done", note="", sequence=0)


@against("a_refusal_has_a_code_or_a_note")
def _refused_without_a_word(house: House) -> object:
    return new_outcome(note="")


@against("a_refusal_has_a_code_or_a_note")
def _done_with_a_code(house: House) -> object:
    return new_outcome(proposal=new_proposal(needs=[]), state="done", note="", code="wrong_state")


@against("only_a_term_ends_by_itself")
def _withdrawn_by_nobody(house: House) -> object:
    return new_outcome(proposal=new_proposal(by=""), state="withdrawn", by="", note="")


@against("only_a_term_ends_by_itself")
def _expired_by_somebody(house: House) -> object:
    new_outcome(state="expired", by="", note="", at=OVER)
    return new_outcome(state="refused", by="", code="wrong_state", note="")


@against("what_is_done_was_approved")
def _done_without_approvals(house: House) -> object:
    return new_outcome(state="done", note="")


@against("what_is_done_was_approved")
def _done_with_one_missing(house: House) -> object:
    proposal = new_approval().proposal
    new_approval(proposal=proposal, by="cleo", role="controller")
    return new_outcome(proposal=proposal, state="done", note="")


@against("an_act_that_is_done_names_its_event")
def _done_by_no_event(house: House) -> object:
    return new_outcome(proposal=new_proposal(needs=[]), state="done", note="", stream="ms-mg01", sequence=4711)


@against("only_the_proposer_withdraws")
def _withdrawn_by_another(house: House) -> object:
    return new_outcome(state="withdrawn", note="")


@against("a_proposal_waits_for_its_term")
def _expired_too_early(house: House) -> object:
    return new_outcome(state="expired", by="", note="")


@against("a_job_is_in_a_known_state")
def _job_asleep(house: House) -> object:
    return new_job(state="asleep", finished_at=AT)


@against("a_job_that_ended_says_when")
def _job_done_at_no_time(house: House) -> object:
    return new_job(state="done")


@against("a_job_that_ended_says_when")
def _job_over_before_its_end(house: House) -> object:
    return new_job(finished_at=AT)


@against("one_job_of_a_kind_and_lane_at_a_time")
def _two_at_once(house: House) -> object:
    new_job()
    return new_job(state="running")


@against("only_what_is_done_has_a_result")
def _a_result_too_early(house: House) -> object:
    return new_job(result={"summary": "well"})


@against("a_job_counts_from_nothing")
def _less_than_nothing_done(house: House) -> object:
    return new_job(done=-1)


def finished_job() -> office.Job:
    """One that has just ended, with a result."""
    return new_job(state="done", finished_at=datetime.now(UTC), result={"ok": True})


@against("a_result_is_kept_for_its_term")
def _result_emptied_early(house: House) -> object:
    return office.Job.objects.filter(id=finished_job().pk).update(result=None)


@against("a_result_is_kept_for_its_term")
def _result_rewritten_however_old(house: House) -> object:
    old = new_job(state="done", finished_at=datetime.now(UTC) - timedelta(days=900), result={"ok": False})
    return office.Job.objects.filter(id=old.pk).update(result={"ok": True})


@against("a_job_stays_on_record")
def _job_removed(house: House) -> object:
    return finished_job().delete()


@against("a_job_is_not_truncated")
def _jobs_truncated(house: House) -> object:
    return run("TRUNCATE office_job CASCADE")  # a foreign key must not be what refuses it


def new_part(**changes: Any) -> office.ResultPart:
    values: dict[str, Any] = {"file": 1, "number": 0, "content": b"four"}
    if "job" not in changes:
        values["job"] = new_job(state="done", finished_at=AT)
    return office.ResultPart.objects.create(**values | changes)


def new_file(**changes: Any) -> office.ResultFile:
    """A file of one part, which is written first."""
    values: dict[str, Any] = {
        "number": 1, "name": "a.zip", "media_type": "application/zip", "size": 4, "parts": 1,
        "digest": sha256(b"four").digest(),
    } | changes  # fmt: skip
    if "job" not in values:
        values["job"] = new_part(file=values["number"]).job
    return office.ResultFile.objects.create(**values)


@against("a_part_of_a_file_comes_once")
def _part_twice(house: House) -> object:
    return new_part(job=new_part().job, content=b"five")


@against("a_part_of_a_file_is_some_of_it")
def _part_of_nothing(house: House) -> object:
    return new_part(content=b"")


@against("a_part_of_a_file_is_some_of_it")
def _part_of_too_much(house: House) -> object:
    return new_part(content=bytes(1024**2 + 1))


@against("a_part_of_a_file_is_some_of_it")
def _part_before_the_first(house: House) -> object:
    return new_part(number=-1)


@against("files_of_a_job_are_numbered_once")
def _two_first_files(house: House) -> object:
    return new_file(job=new_file().job, name="b.zip")


@against("files_of_a_job_have_their_own_names")
def _two_files_of_one_name(house: House) -> object:
    job = new_file().job
    new_part(job=job, file=2)
    return new_file(job=job, number=2)


@against("a_file_of_a_job_has_a_name")
def _result_without_a_name(house: House) -> object:
    return new_file(name="")


@against("a_file_of_a_job_has_a_name")
def _file_of_no_kind(house: House) -> object:
    return new_file(media_type="")


@against("files_of_a_job_count_from_one")
def _file_nought(house: House) -> object:
    return new_file(number=0)


@against("a_file_of_a_job_has_a_digest")
def _half_a_digest(house: House) -> object:
    return new_file(digest=bytes(16))


@against("a_file_has_all_its_parts")
def _file_that_lacks_a_part(house: House) -> object:
    return new_file(parts=2)


@against("a_file_has_all_its_parts")
def _file_longer_than_its_parts(house: House) -> object:
    return new_file(size=5)


@against("a_file_is_kept_for_its_term")
def _file_removed_early(house: House) -> object:
    return new_file(job=new_part(job=finished_job()).job).delete()


@against("a_part_goes_with_its_file")
def _part_removed_from_a_file(house: House) -> object:
    new_file()
    return office.ResultPart.objects.all().delete()


@against("a_file_is_not_truncated")
def _files_truncated(house: House) -> object:
    return run("TRUNCATE office_resultfile")

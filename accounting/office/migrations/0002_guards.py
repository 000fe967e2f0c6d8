"""What Django cannot declare: append-only rows, and what nobody may do to a proposal whatever the code says.

Each trigger locks the proposal first, so that of two who speak at once the second sees what the first has said.
"""

from django.db import migrations

GUARDS = """
CALL make_append_only('office_tieredition');
CALL make_append_only('office_tier');
CALL make_append_only('office_proposal');
CALL make_append_only('office_evidence');
CALL make_append_only('office_approval');
CALL make_append_only('office_outcome');

CREATE PROCEDURE refuse_to_record(said text, rule text, about text) LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', said USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = rule, TABLE = about;
END $$;

CREATE FUNCTION nobody_approves_their_own_proposal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM office_proposal WHERE id = NEW.proposal_id FOR NO KEY UPDATE;
    IF EXISTS (SELECT FROM office_proposal WHERE id = NEW.proposal_id AND "by" = NEW."by") THEN
        CALL refuse_to_record(format('proposal %s is by %s', NEW.proposal_id, NEW."by"), TG_NAME, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER nobody_approves_their_own_proposal BEFORE INSERT ON office_approval
    FOR EACH ROW EXECUTE FUNCTION nobody_approves_their_own_proposal();

CREATE FUNCTION only_what_waits_is_approved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM office_proposal WHERE id = NEW.proposal_id FOR NO KEY UPDATE;
    IF EXISTS (SELECT FROM office_outcome WHERE proposal_id = NEW.proposal_id)
        OR EXISTS (SELECT FROM office_proposal WHERE id = NEW.proposal_id AND NEW.at >= expires_at) THEN
        CALL refuse_to_record(format('proposal %s waits no longer', NEW.proposal_id), TG_NAME, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER only_what_waits_is_approved BEFORE INSERT ON office_approval
    FOR EACH ROW EXECUTE FUNCTION only_what_waits_is_approved();

CREATE FUNCTION an_approval_counts_for_a_need() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM office_proposal WHERE id = NEW.proposal_id FOR NO KEY UPDATE;
    IF NOT EXISTS (SELECT FROM office_proposal asked, jsonb_to_recordset(asked.needs) AS need (role text, count int)
            WHERE asked.id = NEW.proposal_id AND need.role = NEW.role AND need.count >
                (SELECT count(*) FROM office_approval given
                    WHERE given.proposal_id = asked.id AND given.role = need.role)) THEN
        CALL refuse_to_record(
            format('proposal %s needs no further %s', NEW.proposal_id, NEW.role), TG_NAME, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER an_approval_counts_for_a_need BEFORE INSERT ON office_approval
    FOR EACH ROW EXECUTE FUNCTION an_approval_counts_for_a_need();

CREATE FUNCTION what_is_done_was_approved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM office_proposal WHERE id = NEW.proposal_id FOR NO KEY UPDATE;
    IF EXISTS (SELECT FROM office_proposal asked, jsonb_to_recordset(asked.needs) AS need (role text, count int)
            WHERE asked.id = NEW.proposal_id AND need.count >
                (SELECT count(*) FROM office_approval given
                    WHERE given.proposal_id = asked.id AND given.role = need.role)) THEN
        CALL refuse_to_record(format('proposal %s lacks approvals', NEW.proposal_id), TG_NAME, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER what_is_done_was_approved BEFORE INSERT ON office_outcome
    FOR EACH ROW WHEN (NEW.state = 'done') EXECUTE FUNCTION what_is_done_was_approved();

CREATE FUNCTION an_act_that_is_done_names_its_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM accounting_event event JOIN accounting_stream stream ON stream.id = event.stream_id
            WHERE stream.code = NEW.stream AND event.sequence = NEW.sequence) THEN
        CALL refuse_to_record(format('no event %s of stream %s', NEW.sequence, NEW.stream), TG_NAME, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER an_act_that_is_done_names_its_event BEFORE INSERT ON office_outcome
    FOR EACH ROW WHEN (NEW.stream <> '') EXECUTE FUNCTION an_act_that_is_done_names_its_event();

CREATE FUNCTION only_the_proposer_withdraws() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM office_proposal WHERE id = NEW.proposal_id AND "by" = NEW."by") THEN
        CALL refuse_to_record(format('proposal %s is not by %s', NEW.proposal_id, NEW."by"), TG_NAME, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER only_the_proposer_withdraws BEFORE INSERT ON office_outcome
    FOR EACH ROW WHEN (NEW.state = 'withdrawn') EXECUTE FUNCTION only_the_proposer_withdraws();

CREATE FUNCTION a_proposal_waits_for_its_term() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM office_proposal WHERE id = NEW.proposal_id AND NEW.at < expires_at) THEN
        CALL refuse_to_record(format('proposal %s has time left', NEW.proposal_id), TG_NAME, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER a_proposal_waits_for_its_term BEFORE INSERT ON office_outcome
    FOR EACH ROW WHEN (NEW.state = 'expired') EXECUTE FUNCTION a_proposal_waits_for_its_term();

CREATE FUNCTION evidence_is_what_was_handed_in() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM office_proposal WHERE id = NEW.proposal_id AND evidence_digest = NEW.digest)
        OR sha256(NEW.content) <> NEW.content_digest OR octet_length(NEW.content) <> NEW.size THEN
        CALL refuse_to_record(
            format('proposal %s was made with other evidence', NEW.proposal_id), TG_NAME, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER evidence_is_what_was_handed_in BEFORE INSERT ON office_evidence
    FOR EACH ROW EXECUTE FUNCTION evidence_is_what_was_handed_in();
"""

UNDO = """
DROP FUNCTION nobody_approves_their_own_proposal, only_what_waits_is_approved, an_approval_counts_for_a_need,
    what_is_done_was_approved, an_act_that_is_done_names_its_event, only_the_proposer_withdraws,
    a_proposal_waits_for_its_term, evidence_is_what_was_handed_in CASCADE;
DROP PROCEDURE refuse_to_record;
"""


class Migration(migrations.Migration):
    dependencies = [("office", "0001_initial"), ("accounting", "0003_audit_chain")]

    operations = [migrations.RunSQL(GUARDS, UNDO)]

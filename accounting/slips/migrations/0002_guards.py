"""What Django cannot declare: append-only rows, numbers without a gap, one standing slip for a payout, its very amount."""

from django.db import migrations

GUARDS = """
CALL make_append_only('slips_slip');
CALL make_append_only('slips_slipvoid');
CALL make_append_only('slips_slippayment');
CALL make_append_only('slips_slipprint');
CALL make_append_only('slips_particulars');
CALL make_append_only('slips_taxform');

INSERT INTO slips_slipcounter ("only", last) VALUES (true, 0);

ALTER TABLE slips_slip ADD CONSTRAINT a_slip_is_digested_as_it_is CHECK (sha256(facts) = digest);
ALTER TABLE slips_slipprint ADD CONSTRAINT a_print_is_digested_as_it_is CHECK (sha256(content) = digest);
ALTER TABLE slips_slipvoid ADD CONSTRAINT nobody_agrees_to_their_own_void
    CHECK (NOT "by" = ANY (string_to_array(approved_by, ', ')));

-- Each trigger holds the counter's row first, until the slip is committed or gone: numbers are given out one after the other,
-- a slip that is rolled back gives its number back, and of two at once the second sees what the first has written.
CREATE FUNCTION number_slip() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE slips_slipcounter SET last = last + 1 WHERE last = NEW.number - 1;
    IF NOT FOUND THEN
        CALL refuse_to_record(format('slip %s does not follow the last one', NEW.number), TG_NAME, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER slips_are_numbered_without_a_gap BEFORE INSERT ON slips_slip
    FOR EACH ROW EXECUTE FUNCTION number_slip();

CREATE FUNCTION refuse_second_slip() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM slips_slipcounter FOR UPDATE;
    IF EXISTS (SELECT FROM slips_slip slip WHERE slip.stream_id = NEW.stream_id AND slip.sequence = NEW.sequence
            AND slip.line = NEW.line AND NOT EXISTS (SELECT FROM slips_slipvoid void WHERE void.slip_id = slip.number)) THEN
        CALL refuse_to_record(format('%s has a slip that stands', NEW.subject), TG_NAME, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER a_payout_has_one_standing_slip BEFORE INSERT ON slips_slip
    FOR EACH ROW EXECUTE FUNCTION refuse_second_slip();

CREATE FUNCTION refuse_other_replacement() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    latest bigint;
BEGIN
    PERFORM FROM slips_slipcounter FOR UPDATE;
    SELECT max(slip.number) INTO latest FROM slips_slip slip WHERE slip.stream_id = NEW.stream_id
        AND slip.sequence = NEW.sequence AND slip.line = NEW.line;
    IF NEW.replaces_id IS DISTINCT FROM latest THEN
        CALL refuse_to_record(format('slip %s replaces another than the last of %s', NEW.number, NEW.subject),
            TG_NAME, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER a_slip_replaces_the_last_of_its_payout BEFORE INSERT ON slips_slip
    FOR EACH ROW EXECUTE FUNCTION refuse_other_replacement();

CREATE FUNCTION refuse_other_amount() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM tables_payout payout WHERE payout.stream_id = NEW.stream_id
            AND payout.sequence = NEW.sequence AND payout.line = NEW.line AND payout.cents = NEW.cents
            AND payout.kind = CASE NEW.kind WHEN 'hit' THEN 'level' ELSE 'envy' END) THEN
        CALL refuse_to_record(format('slip %s is not what %s comes to', NEW.number, NEW.subject), TG_NAME, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER a_slip_says_what_its_payout_comes_to BEFORE INSERT ON slips_slip
    FOR EACH ROW EXECUTE FUNCTION refuse_other_amount();

CREATE FUNCTION refuse_moved_slip_counter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF pg_trigger_depth() < 2 OR NEW.last <> OLD.last + 1 THEN
        CALL refuse_to_record('the counter of slips moves on with a slip only', 'the_counter_moves_with_its_slips',
            TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER the_counter_moves_with_its_slips BEFORE UPDATE ON slips_slipcounter
    FOR EACH ROW EXECUTE FUNCTION refuse_moved_slip_counter();
CREATE TRIGGER the_counter_of_slips_stays BEFORE DELETE OR TRUNCATE ON slips_slipcounter
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the_counter_of_slips_stays');

CREATE FUNCTION number_print() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.copy <> (SELECT count(*) FROM slips_slipprint print WHERE print.slip_id = NEW.slip_id) THEN
        CALL refuse_to_record(format('print %s of slip %s does not follow the last one', NEW.copy, NEW.slip_id),
            'prints_are_numbered_without_a_gap', TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER prints_are_numbered_without_a_gap BEFORE INSERT ON slips_slipprint
    FOR EACH ROW EXECUTE FUNCTION number_print();

-- A slip is paid while it stands, by an event of its payout's own stream that pays it.
CREATE FUNCTION refuse_payment_of_void_slip() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM slips_slipcounter FOR UPDATE;
    IF EXISTS (SELECT FROM slips_slipvoid void WHERE void.slip_id = NEW.slip_id) THEN
        CALL refuse_to_record(format('slip %s is void', NEW.slip_id), TG_NAME, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER a_void_slip_is_not_paid BEFORE INSERT ON slips_slippayment
    FOR EACH ROW EXECUTE FUNCTION refuse_payment_of_void_slip();

CREATE FUNCTION refuse_payment_by_nothing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM slips_slip slip JOIN accounting_event event ON event.stream_id = slip.stream_id
            AND event.sequence = NEW.event AND event.subject = slip.subject
            AND event.kind = CASE slip.kind WHEN 'hit' THEN 'hit.pay' ELSE 'payout.pay' END
            WHERE slip.number = NEW.slip_id) THEN
        CALL refuse_to_record(format('no event %s paid slip %s', NEW.event, NEW.slip_id), TG_NAME, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER a_slip_is_paid_by_an_event BEFORE INSERT ON slips_slippayment
    FOR EACH ROW EXECUTE FUNCTION refuse_payment_by_nothing();
"""

UNDO = """
DROP FUNCTION number_slip, refuse_second_slip, refuse_other_replacement, refuse_other_amount, refuse_moved_slip_counter,
    number_print, refuse_payment_of_void_slip, refuse_payment_by_nothing CASCADE;
"""


class Migration(migrations.Migration):
    dependencies = [("slips", "0001_initial"), ("accounting", "0002_guards"), ("office", "0002_guards")]

    operations = [migrations.RunSQL(GUARDS, UNDO)]

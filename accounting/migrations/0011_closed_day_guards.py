"""What Django cannot declare: days are closed in order and for good, on events that are there; readings are not changed."""

from django.db import migrations

GUARDS = """
CALL make_append_only('accounting_closedday');
CALL make_append_only('accounting_closedhead');
CALL make_append_only('accounting_verified');
CALL make_append_only('accounting_reading');
CALL make_append_only('accounting_readingnote');

ALTER TABLE accounting_closedday ADD CONSTRAINT a_closed_day_is_signed
    CHECK (octet_length(signature) = 64 AND octet_length(public_key) = 32);
ALTER TABLE accounting_closedhead ADD CONSTRAINT a_closed_head_is_signed
    CHECK (octet_length(signature) = 64 AND octet_length(hash) = 32);

CALL make_orphans_refused(
    'a_closed_head_is_an_event_with_its_hash',
    'accounting_closedhead', 'stream_id,sequence,hash', 'accounting_event', 'stream_id,sequence,hash');
CALL make_orphans_refused(
    'what_was_verified_is_an_event_with_its_hash',
    'accounting_verified', 'stream_id,through,hash', 'accounting_event', 'stream_id,sequence,hash');
CALL make_orphans_refused(
    'a_reading_is_of_a_meter_after_an_event',
    'accounting_reading', 'stream_id,sequence', 'accounting_event', 'stream_id,sequence');
CALL make_orphans_refused(
    'a_reading_is_of_a_level', 'accounting_reading', 'level', 'accounting_account', 'owner');

CREATE FUNCTION refuse_day_out_of_order() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    last accounting_closedday%ROWTYPE;
BEGIN
    SELECT * INTO last FROM accounting_closedday ORDER BY number DESC LIMIT 1;
    IF NEW.number <> coalesce(last.number, 0) + 1 OR NEW.day <= last.day THEN
        RAISE EXCEPTION 'day % cannot be closing number % after day %', NEW.day, NEW.number, last.day
            USING ERRCODE = 'check_violation', CONSTRAINT = 'days_are_closed_in_order', TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER days_are_closed_in_order BEFORE INSERT ON accounting_closedday
    FOR EACH ROW EXECUTE FUNCTION refuse_day_out_of_order();

-- Whoever closes a day holds the property's row for it; at the commit the day is closed, or nothing is.
CREATE FUNCTION refuse_day_that_is_open() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM accounting_gamingday WHERE date = NEW.day AND closed_at = NEW.closed_at) THEN
        RAISE EXCEPTION 'day % is on record as closed and is open', NEW.day
            USING ERRCODE = 'check_violation', CONSTRAINT = 'a_day_on_record_as_closed_is_closed';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER a_day_on_record_as_closed_is_closed AFTER INSERT ON accounting_closedday
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_day_that_is_open();

CREATE FUNCTION refuse_reopening() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.date = OLD.date AND NEW.closed_at = OLD.closed_at THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'day % is closed for good', OLD.date
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'a_closed_day_stays_closed', TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER a_closed_day_stays_closed BEFORE UPDATE OR DELETE ON accounting_gamingday
    FOR EACH ROW WHEN (OLD.closed_at IS NOT NULL) EXECUTE FUNCTION refuse_reopening();
CREATE FUNCTION refuse_earlier_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'days through % are closed for good', OLD.closed_through
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'a_closed_day_stays_closed', TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER a_closed_day_stays_closed BEFORE UPDATE ON accounting_property
    FOR EACH ROW WHEN (OLD.closed_through IS NOT NULL
        AND (NEW.closed_through IS NULL OR NEW.closed_through < OLD.closed_through))
    EXECUTE FUNCTION refuse_earlier_end();

-- Once a batch: the property's row is held by whoever books, so it says what it said when the day was chosen.
CREATE FUNCTION refuse_booking_on_a_closed_day() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    closed date;
BEGIN
    SELECT closed_through INTO closed FROM accounting_property;
    IF EXISTS (SELECT FROM arrivals WHERE gaming_date <= closed) THEN
        RAISE EXCEPTION 'an event booked on a day through which all is closed (%)', closed
            USING ERRCODE = 'check_violation', CONSTRAINT = 'nothing_is_booked_on_a_closed_day', TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER nothing_is_booked_on_a_closed_day AFTER INSERT ON accounting_event
    REFERENCING NEW TABLE AS arrivals FOR EACH STATEMENT EXECUTE FUNCTION refuse_booking_on_a_closed_day();

CREATE FUNCTION refuse_own_signature() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM accounting_reading WHERE id = NEW.reading_id AND "by" = NEW."by")
        OR EXISTS (SELECT FROM accounting_readingnote
            WHERE reading_id = NEW.reading_id AND what = 'explained' AND "by" = NEW."by") THEN
        RAISE EXCEPTION 'reading % was taken or explained by %', NEW.reading_id, NEW."by"
            USING ERRCODE = 'check_violation', CONSTRAINT = 'nobody_signs_off_their_own_reading',
                TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER nobody_signs_off_their_own_reading BEFORE INSERT ON accounting_readingnote
    FOR EACH ROW WHEN (NEW.what = 'signed') EXECUTE FUNCTION refuse_own_signature();
"""

UNDO = """
DROP TRIGGER a_closed_day_stays_closed ON accounting_gamingday;
DROP TRIGGER a_closed_day_stays_closed ON accounting_property;
DROP FUNCTION refuse_day_out_of_order, refuse_day_that_is_open, refuse_reopening, refuse_earlier_end,
    refuse_booking_on_a_closed_day, refuse_own_signature, a_closed_head_is_an_event_with_its_hash,
    what_was_verified_is_an_event_with_its_hash, a_reading_is_of_a_meter_after_an_event, a_reading_is_of_a_level CASCADE;
"""


class Migration(migrations.Migration):
    dependencies = [("accounting", "0010_closed_days")]

    operations = [migrations.RunSQL([GUARDS], UNDO)]

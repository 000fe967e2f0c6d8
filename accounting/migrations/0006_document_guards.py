"""What Django cannot declare: documents that nobody changes, and no event without one that is no message's."""

from django.db import migrations

GUARDS = """
CALL make_append_only('accounting_document');
CALL make_orphans_refused(
    'a_document_belongs_to_an_event',
    'accounting_document', 'stream_id,sequence', 'accounting_event', 'stream_id,sequence');

-- Asked at commit, when the document is there; a message's event is not even looked at.
CREATE FUNCTION refuse_undocumented_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM accounting_document
        WHERE stream_id = NEW.stream_id AND sequence = NEW.sequence) THEN
        RAISE EXCEPTION 'event % of stream % (%) has no document', NEW.sequence, NEW.stream_id, NEW.kind
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'an_event_that_is_no_messages_has_a_document';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER an_event_that_is_no_messages_has_a_document
    AFTER INSERT ON accounting_event DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.kind NOT IN ('round', 'lock')) EXECUTE FUNCTION refuse_undocumented_event();
"""

UNDO = "DROP FUNCTION refuse_undocumented_event CASCADE; DROP FUNCTION a_document_belongs_to_an_event CASCADE;"


class Migration(migrations.Migration):
    dependencies = [("accounting", "0005_documents")]

    operations = [migrations.RunSQL([GUARDS], UNDO)]

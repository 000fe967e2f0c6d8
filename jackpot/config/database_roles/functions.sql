-- Functions of the server that anybody may call as it comes, and with which somebody who only reads could hinder those who work:
-- advisory locks (whoever settles holds one for its stream), notices, large objects and messages in the log, which fill the disk.
-- From now on they are the working roles' and the owner's; large objects are nobody's. In each database of the service, as
-- superuser: the functions are the server's own. May be run again.

DO $$
DECLARE
    hindering regprocedure;
    working text;
BEGIN
    FOR hindering IN
        SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
            AND (proname ~ '^pg_(try_)?advisory_' OR proname IN ('pg_notify', 'pg_logical_emit_message')
                OR proname ~ '^(lo_.*|lowrite|loread)$')
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', hindering);
        CONTINUE WHEN hindering::text ~ '^lo';
        FOR working IN
            SELECT rolname FROM pg_roles WHERE rolname IN ('jackpot_service', 'jackpot_settle', 'jackpot_owner')
        LOOP
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', hindering, working);
        END LOOP;
    END LOOP;
END $$;

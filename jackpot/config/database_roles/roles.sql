-- The roles that work on the database, for every server alike: the embedded one at each start, one in containers or of somebody
-- else's by docker/roles.sql. May be run again. None of them owns anything: what each may do to which table is written in
-- privileges.py and granted after every migration, by whoever owns the tables.
--   jackpot_service  web, jobs, beat, commands: reads, adds rows, changes those that show how things stand
--   jackpot_settle   settling workers: the same, but let go within seconds when they fall silent with a lock in hand
--   jackpot_auditor  reads, and not for so long that it hinders the house: its limits here are advice, which a role may lift for itself
-- As superuser, or as a role that may make roles.

DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['jackpot_service', 'jackpot_settle', 'jackpot_auditor'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT', wanted);
        END IF;
    END LOOP;
END $$;

ALTER ROLE jackpot_service CONNECTION LIMIT 100;
ALTER ROLE jackpot_settle CONNECTION LIMIT 40;
ALTER ROLE jackpot_auditor CONNECTION LIMIT 10;

ALTER ROLE jackpot_service SET idle_in_transaction_session_timeout = '30s';
ALTER ROLE jackpot_settle SET idle_in_transaction_session_timeout = '1500ms';
ALTER ROLE jackpot_settle SET lock_timeout = '10s';
ALTER ROLE jackpot_auditor SET default_transaction_read_only = on;
ALTER ROLE jackpot_auditor SET statement_timeout = '5min';
ALTER ROLE jackpot_auditor SET idle_in_transaction_session_timeout = '30s'; -- a forgotten snapshot keeps every version of every hot row
ALTER ROLE jackpot_auditor SET max_parallel_workers_per_gather = 0; -- a question takes one core, not all that settling works on

-- A client whose machine is gone without a word is found out within five seconds, in the middle of a COPY as well, and none of its
-- sessions is kept: without this a server asks after two hours.
DO $$
DECLARE
    connecting text;
BEGIN
    FOREACH connecting IN ARRAY ARRAY['jackpot_service', 'jackpot_settle', 'jackpot_auditor'] LOOP
        EXECUTE format('ALTER ROLE %I SET tcp_keepalives_idle = 2', connecting);
        EXECUTE format('ALTER ROLE %I SET tcp_keepalives_interval = 1', connecting);
        EXECUTE format('ALTER ROLE %I SET tcp_keepalives_count = 3', connecting);
        EXECUTE format('ALTER ROLE %I SET tcp_user_timeout = %L', connecting, '3s');
    END LOOP;
END $$;

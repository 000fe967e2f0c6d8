-- Who may do what in the database. Only the owner may change tables, so only the owner could switch a guard off, and the
-- owner's password is given to nobody but the migration.
--   jackpot_owner    owns and migrates
--   jackpot_service  web, jobs, beat: reads and writes rows
--   jackpot_settle   settling workers: the same, but let go within seconds when they fall silent with a lock in hand
--   jackpot_auditor  reads, and not for so long that it hinders the house
-- psql -v owner=… -v service=… -v settle=… -v auditor=… -f roles.sql, as superuser in the service's database.

CREATE ROLE jackpot_owner LOGIN PASSWORD :'owner';
CREATE ROLE jackpot_service LOGIN PASSWORD :'service' CONNECTION LIMIT 100;
CREATE ROLE jackpot_settle LOGIN PASSWORD :'settle' CONNECTION LIMIT 40;
CREATE ROLE jackpot_auditor LOGIN PASSWORD :'auditor' CONNECTION LIMIT 10;

SELECT format('ALTER DATABASE %I OWNER TO jackpot_owner', current_database()) \gexec
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database()) \gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO jackpot_service, jackpot_settle, jackpot_auditor', current_database()) \gexec

ALTER SCHEMA public OWNER TO jackpot_owner;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO jackpot_service, jackpot_settle, jackpot_auditor;

-- What the owner will create: rows for the service, never TRUNCATE; rows to read for auditors.
ALTER DEFAULT PRIVILEGES FOR ROLE jackpot_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO jackpot_service, jackpot_settle;
ALTER DEFAULT PRIVILEGES FOR ROLE jackpot_owner IN SCHEMA public
    GRANT USAGE, SELECT ON SEQUENCES TO jackpot_service, jackpot_settle;
ALTER DEFAULT PRIVILEGES FOR ROLE jackpot_owner IN SCHEMA public GRANT SELECT ON TABLES TO jackpot_auditor;

ALTER ROLE jackpot_settle SET idle_in_transaction_session_timeout = '1500ms';
ALTER ROLE jackpot_settle SET lock_timeout = '10s';
ALTER ROLE jackpot_service SET idle_in_transaction_session_timeout = '30s';
ALTER ROLE jackpot_auditor SET default_transaction_read_only = on;
ALTER ROLE jackpot_auditor SET statement_timeout = '5min';
ALTER ROLE jackpot_auditor SET idle_in_transaction_session_timeout = '30s'; -- a forgotten snapshot makes every hot row dearer

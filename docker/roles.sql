-- The owner of a database in containers or on somebody else's server, and the passwords of all roles. Only the owner may change
-- tables, so only the owner could switch a guard off, and the owner's password is given to nobody but the migration.
-- psql -v owner=… -v service=… -v settle=… -v auditor=… -f roles.sql, once, as superuser in the service's database.

\ir ../jackpot/config/database_roles/roles.sql

CREATE ROLE jackpot_owner LOGIN PASSWORD :'owner';
ALTER ROLE jackpot_service PASSWORD :'service';
ALTER ROLE jackpot_settle PASSWORD :'settle';
ALTER ROLE jackpot_auditor PASSWORD :'auditor';

SELECT format('ALTER DATABASE %I OWNER TO jackpot_owner', current_database()) \gexec
ALTER SCHEMA public OWNER TO jackpot_owner;

-- What lets the owner's function end who only reads for too long, and what nobody is to hinder the house with.
GRANT pg_signal_backend, pg_read_all_stats TO jackpot_owner;
\ir ../jackpot/config/database_roles/functions.sql
REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC;

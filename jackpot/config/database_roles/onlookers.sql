-- Ends sessions of those who only read once they have held a snapshot for longer than a term: it makes every row that changes often
-- dearer, and their own limits are theirs to lift. By role: whoever is `jackpot_auditor` or a member of it. Never who settles,
-- serves, migrates, exports or replicates. The service calls it; it runs with the rights of whoever owns the tables, who needs
-- pg_signal_backend and pg_read_all_stats for it (docker/roles.sql).
CREATE OR REPLACE FUNCTION public.end_onlookers(term interval)
    RETURNS TABLE (pid int, role text, seconds double precision, address text, ended boolean)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog
AS $$
BEGIN
    RETURN QUERY
    SELECT onlooker.pid, onlooker.usename::text, extract(epoch FROM clock_timestamp() - onlooker.xact_start)::double precision,
        coalesce(host(onlooker.client_addr), 'local'), pg_terminate_backend(onlooker.pid)
    FROM pg_stat_activity onlooker JOIN pg_roles who ON who.oid = onlooker.usesysid
    WHERE onlooker.datname = current_database() AND onlooker.backend_type = 'client backend'
        AND onlooker.xact_start < clock_timestamp() - term AND onlooker.pid <> pg_backend_pid()
        AND NOT who.rolsuper AND pg_has_role(who.oid, 'jackpot_auditor', 'MEMBER')
        AND who.rolname NOT IN ('jackpot_service', 'jackpot_settle', 'jackpot_owner')
        AND who.oid <> (SELECT datdba FROM pg_database WHERE datname = current_database());
END $$;

"""What the roles of the database can and cannot do, on the embedded server and on one that `docker/roles.sql` has furnished.

A statement that found its way into the service, or a stolen password of its roles, cannot rewrite the books.
"""

import os
import subprocess
import sys
from typing import Any

import psycopg
import pytest
from psycopg import errors

from jackpot.config.database_roles import privileges
from jackpot.config.database_roles.privileges import (
    APPENDED,
    AUDITOR,
    CHANGED,
    READ,
    ROLES,
    SECRET,
    SERVICE,
    SETTLE,
    SHOWN,
    WORKING,
)
from jackpot.config.embedded_postgres import BROKER
from tests.faults.furnished import ROOT, Place, embedded, without_roles

pytestmark = pytest.mark.xdist_group("database roles")

NO_GUARD_OFF = [
    "ALTER TABLE accounting_transfer DISABLE TRIGGER append_only",
    "ALTER TABLE accounting_transfer DISABLE TRIGGER ALL",
    "ALTER TABLE accounting_transfer ENABLE REPLICA TRIGGER append_only",
    "ALTER TABLE accounting_transfer DROP CONSTRAINT accounting_transfer_pkey",
    "ALTER TABLE accounting_transfer OWNER TO CURRENT_USER",
    "DROP TRIGGER append_only ON accounting_transfer",
    "CREATE TRIGGER mine BEFORE INSERT ON accounting_transfer FOR EACH ROW EXECUTE FUNCTION refuse_change()",
    "CREATE RULE mine AS ON INSERT TO accounting_transfer DO INSTEAD NOTHING",
    "DROP TABLE accounting_transfer CASCADE",
    "TRUNCATE accounting_transfer",
    "UPDATE accounting_transfer SET amount_cents = 1",
    "DELETE FROM accounting_transfer",
    "BEGIN; LOCK TABLE accounting_transfer IN ACCESS EXCLUSIVE MODE",
    "SET session_replication_role = replica",
    "ALTER FUNCTION refuse_change() RENAME TO refused_no_more",
    "ALTER FUNCTION refuse_change() SECURITY DEFINER",
    "DROP FUNCTION refuse_change() CASCADE",
    "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE TABLE mine (id int)",
    "CREATE TEMP TABLE accounting_transfer (id int)",
    "CREATE SCHEMA mine",
    "CREATE EXTENSION pg_trgm",
    "INSERT INTO django_migrations (app, name, applied) VALUES ('mine', '0001', now())",
    "SET ROLE $owner",
    "SET SESSION AUTHORIZATION $owner",
    "GRANT $owner TO CURRENT_USER",
    "ALTER ROLE CURRENT_USER SUPERUSER",
    "ALTER DATABASE jackpot SET session_replication_role = replica",
    "ALTER SYSTEM SET session_replication_role = replica",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "SELECT pg_read_file('PG_VERSION')",
]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("attempt", NO_GUARD_OFF)
def test_no_guard_can_be_switched_off_but_by_the_owner(place: Place, role: str, attempt: str) -> None:
    statement = attempt.replace("$owner", place.owner).encode()
    with (
        place.connect(role) as connection,
        pytest.raises((errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction)),
    ):
        connection.execute(statement)
    # An auditor may leave the mode that it starts in; what it may not do, it may not do then either.
    with place.connect(role) as connection, pytest.raises(errors.InsufficientPrivilege):
        connection.execute("SET default_transaction_read_only = off")
        connection.execute(statement)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("table", sorted(APPENDED))
def test_what_is_written_is_not_changed(place: Place, role: str, table: str) -> None:
    ((column, *_),) = place.rows(
        "SELECT column_name FROM information_schema.columns WHERE table_name = %s AND is_generated = 'NEVER' LIMIT 1",
        table,
    )
    with place.connect(role) as connection:
        connection.execute("SET default_transaction_read_only = off")
        changes = (f'UPDATE {table} SET "{column}" = "{column}"', f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE")
        for change in (*changes, f"SELECT FROM {table} FOR UPDATE"):
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(change.encode())


def tables(place: Place) -> set[str]:
    """Every table there is."""
    return {name for (name,) in place.rows(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')"
    )}  # fmt: skip


def rights(place: Place, role: str, table: str) -> set[str]:
    """What a role may do with a table or with any column of it, as the server says."""
    of_columns = place.rows(
        "SELECT word FROM unnest(%s::text[]) word WHERE has_any_column_privilege(%s, %s, word)",
        ["SELECT", "INSERT", "UPDATE", "REFERENCES"], role, table,
    )  # fmt: skip
    of_tables = place.rows(
        "SELECT word FROM unnest(%s::text[]) word WHERE has_table_privilege(%s, %s, word)",
        ["DELETE", "TRUNCATE", "TRIGGER"], role, table,
    )  # fmt: skip
    return {word for (word,) in of_columns + of_tables}


def test_every_table_is_named_once_and_granted_so(place: Place) -> None:
    """A new table must be put on one side or the other: it can be read and added to, and nothing else, until it is."""
    named = [*APPENDED, *CHANGED, *READ, *SHOWN]
    assert len(named) == len(set(named))
    assert tables(place) == set(named)
    for table in named:
        for role in ROLES:
            assert rights(place, role, table) == privileges.privileges(role, table), (role, table)
        assert rights(place, "public", table) == set(), table


KINDS = {
    "SELECT": "SELECT FROM {table} LIMIT 0",
    "INSERT": "INSERT INTO {table} DEFAULT VALUES",
    "UPDATE": 'UPDATE {table} SET "{column}" = "{column}" WHERE false',
    "DELETE": "DELETE FROM {table} WHERE false",
    "FOR UPDATE": "SELECT FROM {table} FOR UPDATE",
    "FOR KEY SHARE": "SELECT FROM {table} FOR KEY SHARE",
    "TRUNCATE": "TRUNCATE {table}",
    "COPY": "COPY {table} TO STDOUT",
    "COPY IN": "COPY {table} FROM STDIN",
    "ACCESS SHARE": "LOCK TABLE {table} IN ACCESS SHARE MODE",
    "EXCLUSIVE": "LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE",
    "TRIGGER": "CREATE TRIGGER mine BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_change()",
    "OWNER": "ALTER TABLE {table} ADD COLUMN mine int",
}


def may(role: str, kind: str, table: str) -> bool:
    """Whether `privileges.toml` lets a role do a kind of statement with a table."""
    rights = privileges.privileges(role, table)
    if kind in ("TRIGGER", "OWNER", "TRUNCATE"):
        return False
    if kind in ("FOR UPDATE", "FOR KEY SHARE"):  # whoever locks a row needs the right to change it
        return rights >= {"SELECT", "UPDATE"}
    if kind == "EXCLUSIVE":  # whoever may change all rows may keep others from them
        return bool(rights & {"UPDATE", "DELETE"})
    return {"COPY": "SELECT", "COPY IN": "INSERT", "ACCESS SHARE": "SELECT"}.get(kind, kind) in rights


@pytest.mark.parametrize("role", ROLES)
def test_each_role_does_with_each_table_each_kind_of_statement_or_is_refused(place: Place, role: str) -> None:
    """Not what the server says of rights, but what becomes of the statements; each is rolled back."""
    columns: dict[str, str] = dict(place.rows("""
        SELECT relname::text, (SELECT attname::text FROM pg_attribute WHERE attrelid = relation.oid AND attnum > 0
            AND attidentity = '' AND attgenerated = '' AND NOT attisdropped ORDER BY attnum LIMIT 1)
        FROM pg_class relation WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v')
    """))  # fmt: skip
    wrong = []
    with place.connect(role) as connection:
        connection.execute("SET default_transaction_read_only = off")
        for table in sorted({*APPENDED, *CHANGED, *READ, *SHOWN}):
            for kind, form in KINDS.items():
                if table in SHOWN and kind in (
                    "COPY",
                    "COPY IN",
                    "TRUNCATE",
                    "TRIGGER",
                    "OWNER",
                    "EXCLUSIVE",
                    "FOR UPDATE",
                ):
                    continue  # no statements for a view
                try:
                    with connection.transaction(force_rollback=True):
                        statement = form.format(table=table, column=columns[table]).encode()
                        if kind.startswith("COPY"):
                            with connection.cursor().copy(statement) as copy:
                                if kind == "COPY":
                                    list(copy)
                        else:
                            connection.execute(statement)
                    done = True
                except errors.InsufficientPrivilege:
                    done = False
                except (errors.IntegrityError, errors.RaiseException, errors.ObjectNotInPrerequisiteState):
                    done = True  # it was let in, and a row was refused for what it says
                if done != may(role, kind, table):
                    wrong.append((table, kind, "done" if done else "refused"))
    assert wrong == []


HINDERING = [
    "SELECT pg_advisory_lock(1784767339::bigint << 32)",
    "SELECT pg_advisory_lock(1, 2)",
    "SELECT pg_advisory_lock_shared(1)",
    "SELECT pg_advisory_xact_lock(1)",
    "SELECT pg_advisory_xact_lock_shared(1, 2)",
    "SELECT pg_try_advisory_lock(1)",
    "SELECT pg_try_advisory_lock_shared(1)",
    "SELECT pg_try_advisory_xact_lock(1)",
    "SELECT pg_advisory_unlock_all()",
    "SELECT pg_notify('settled', '1:1')",
    "SELECT pg_logical_emit_message(false, 'x', repeat('x', 1000))",
]
FILLING = [
    "SELECT lo_create(0)",
    "SELECT lo_creat(-1)",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT lo_put(1, 0, 'x')",
    "SELECT lo_unlink(1)",
    "SELECT lo_open(1, 131072)",
]
NEVER = [
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$owner' AND pid <> pg_backend_pid()",
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = '$owner' AND pid <> pg_backend_pid()",
    "SELECT pg_read_file('PG_VERSION')",
    "SELECT pg_ls_dir('.')",
    "SELECT rolpassword FROM pg_authid",
    "SELECT pg_reload_conf()",
    "SELECT pg_switch_wal()",
    "SELECT pg_create_restore_point('mine')",
    "SELECT pg_stat_reset()",
    "SELECT pg_create_physical_replication_slot('mine', true)",
    "SELECT pg_create_logical_replication_slot('mine', 'pgoutput')",
    "SELECT pg_replication_origin_create('mine')",
    "SELECT pg_backup_start('mine')",
    "CREATE TEMP TABLE mine (id int)",
    "CREATE PUBLICATION mine",
    "CREATE ROLE mine",
    "GRANT jackpot_service TO CURRENT_USER",
    "ALTER ROLE CURRENT_USER CONNECTION LIMIT 100",
    "ALTER ROLE $other SET statement_timeout = 1",
    "ALTER DATABASE jackpot SET statement_timeout = 1",
    "COMMENT ON TABLE accounting_event IS 'mine'",
    "ANALYZE (SKIP_LOCKED) accounting_event; SET client_min_messages = error; REINDEX TABLE accounting_event",
]


@pytest.mark.parametrize("role", ROLES)
def test_each_role_calls_what_it_works_with_and_an_auditor_nothing_that_hinders(place: Place, role: str) -> None:
    with place.somebody_to_end() as _, place.connect(role) as connection:
        connection.execute("SET default_transaction_read_only = off")
        done = {
            statement for statement in [*HINDERING, *FILLING, *NEVER] if _let(connection, role, statement, place.owner)
        }
        connection.execute("SELECT 1")
    assert done == (set() if role == AUDITOR else set(HINDERING))


def _let(connection: psycopg.Connection[Any], role: str, statement: str, owner: str) -> bool:
    """Whether a statement is let in, whatever becomes of it."""
    statement = statement.replace("$owner", owner).replace("$other", SERVICE if role == SETTLE else SETTLE)
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(statement.encode())
    except errors.InsufficientPrivilege:
        return False
    return True


def test_the_families_of_functions_that_hinder_are_whole(place: Place) -> None:
    """Nothing of them is left to everybody, whatever a later version of the server adds."""
    assert place.rows("""
        SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
            AND (proname ~ 'advisory' OR proname ~ '^lo_|^lo(read|write)$' OR proname ~ 'notify|emit_message')
            AND prorettype <> 'trigger'::regtype AND has_function_privilege('jackpot_auditor', oid, 'EXECUTE')
    """) == []  # fmt: skip


def test_an_auditor_sees_people_and_devices_and_no_way_in(place: Place) -> None:
    """Every column that a secret table has is shown by a view or is one that lets somebody in."""
    of_secrets = {
        (table, column) for table, column in place.rows(
            "SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_name = ANY (%s)",
            sorted(SECRET),
        )
    }  # fmt: skip
    shown = {(table, column) for table, columns in SHOWN.values() for column in columns}
    assert shown <= of_secrets
    for view, (table, columns) in SHOWN.items():
        assert table in SECRET
        found = place.rows(f"SELECT * FROM {view} LIMIT 0", role=AUDITOR)
        assert found == []
        assert [name for (name,) in place.rows(
            "SELECT attname::text FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum", view,
        )] == [*columns]  # fmt: skip
    telling = ("password", "digest", "key", "data", "hash")
    assert not {(table, column) for table, column in shown if any(word in column for word in telling)}
    told = place.rows("""
        SELECT table_name::text, column_name::text FROM information_schema.columns
        WHERE table_schema = 'public' AND column_name ~ 'password|session_key|session_data|session_hash|key_digest'
            AND has_column_privilege('jackpot_auditor', table_name::regclass, column_name::text, 'SELECT')
    """)
    assert told == []


@pytest.mark.parametrize("place", [embedded], indirect=True)
def test_an_auditor_makes_nothing_in_the_other_databases_either(place: Place) -> None:
    for database in (BROKER, "postgres", "template1"):
        with pytest.raises(psycopg.OperationalError, match="permission denied"):
            place.connect(AUDITOR, database)
    with place.connect(SERVICE, BROKER) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_table_of_records_is_one_that_only_grows(place: Place) -> None:
    # What is emptied after its term (`tgtype` without UPDATE) is guarded by a trigger of its own.
    guarded = {
        name
        for (name,) in place.rows(
            "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'append_only' AND tgtype & 16 <> 0"
        )
    }
    assert len(guarded) >= 24
    assert guarded <= APPENDED


def test_a_table_that_is_new_is_read_and_added_to(place: Place) -> None:
    """After the next migration, whatever rights it was made with; and what is as it should be is left alone."""
    with place.connect(place.owner) as connection, connection.transaction(force_rollback=True):
        connection.execute("CREATE TABLE newest (id int, more text)")
        connection.execute("GRANT ALL ON newest TO PUBLIC, jackpot_service")
        connection.execute("GRANT UPDATE (more) ON newest TO jackpot_auditor")
        connection.execute("GRANT TRUNCATE ON accounting_event TO jackpot_settle")
        assert sorted(privileges.apply(connection)) == [
            "accounting_event: jackpot_settle INSERT, SELECT",
            "newest: PUBLIC nothing",
            "newest: jackpot_auditor SELECT",
            "newest: jackpot_service INSERT, SELECT",
            "newest: jackpot_settle INSERT, SELECT",
        ]
        assert privileges.apply(connection) == []
        granted = connection.execute(
            "SELECT rolname, privilege_type FROM pg_class, aclexplode(relacl) JOIN pg_roles ON pg_roles.oid = grantee"
            " WHERE relname = 'newest' AND rolname <> %s ORDER BY 1, 2", [place.owner],
        ).fetchall()  # fmt: skip
    working = [(role, right) for role in sorted(WORKING) for right in ("INSERT", "SELECT")]
    assert granted == [(AUDITOR, "SELECT"), *working]


def test_what_was_granted_by_default_before_is_so_no_more(place: Place) -> None:
    assert place.rows("SELECT * FROM pg_default_acl") == []


def test_the_roles_own_nothing_and_are_nobody_elses_members(place: Place) -> None:
    assert place.rows(
        "SELECT * FROM pg_shdepend JOIN pg_roles ON refobjid = pg_roles.oid WHERE deptype = 'o' AND rolname = ANY (%s)",
        list(ROLES),
    ) == []  # fmt: skip
    assert place.rows(
        "SELECT rolname FROM pg_roles WHERE rolname = ANY (%s)"
        " AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls OR rolinherit)",
        list(ROLES),
    ) == []  # fmt: skip
    assert place.rows("SELECT * FROM pg_auth_members WHERE member = ANY (%s::regrole[])", list(ROLES)) == []
    for role in ROLES:
        assert place.rows("SELECT nspname FROM pg_namespace WHERE has_schema_privilege(%s, oid, 'CREATE')", role) == []
        assert place.rows("SELECT has_database_privilege(%s, 'jackpot', 'CREATE, TEMP')", role) == [(False,)]


def test_what_runs_with_the_owners_rights_is_known(place: Place) -> None:
    """Functions of triggers, which nobody can call, and those that are named beside the rights."""
    found = place.rows("""
        SELECT oid::regprocedure::text, prorettype = 'trigger'::regtype, has_function_privilege('public', oid, 'EXECUTE')
        FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace
    """)
    assert {name for name, of_a_trigger, _ in found if not of_a_trigger} == set(privileges.FUNCTIONS)
    assert not [name for name, of_a_trigger, anybody in found if anybody and not of_a_trigger]
    with place.connect(SERVICE) as connection:
        assert connection.execute("SELECT count(*) FROM lock_proposal(1)").fetchone() == (0,)
    with place.connect(AUDITOR) as connection, pytest.raises(errors.InsufficientPrivilege):
        connection.execute("SELECT lock_proposal(1)")


def test_numbers_are_taken_and_not_set_back(place: Place) -> None:
    with place.connect(SERVICE) as connection:
        assert connection.execute("SELECT nextval('devices_receipt') > 0").fetchone() == (True,)
        for statement in ("SELECT setval('devices_receipt', 1)", "ALTER SEQUENCE devices_receipt RESTART"):
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(statement.encode())


def test_an_auditor_reads_and_cannot_write(place: Place) -> None:
    with place.connect(AUDITOR) as connection:
        assert connection.execute("SELECT count(*) FROM accounting_transfer").fetchone() == (0,)
        with pytest.raises(errors.ReadOnlySqlTransaction):
            connection.execute("DELETE FROM tables_table")
        connection.execute("SET default_transaction_read_only = off")
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute("DELETE FROM tables_table")
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute("SELECT session_key FROM people_session")


@pytest.mark.parametrize("place", [embedded], indirect=True)
def test_a_data_folder_of_before_is_carried_over_at_the_next_start(place: Place) -> None:
    without_roles(place.server)
    with place.server.connect(BROKER) as broker:  # as workers made them before, and with what they may hold
        broker.execute("SELECT pgmq.disable_notify_insert('work'), pgmq.drop_queue('settle')")
    place.server.start()
    with place.server.connect("jackpot") as connection:
        assert privileges.apply(connection) == []
        assert connection.execute(
            "SELECT has_table_privilege(%s, 'accounting_event', 'INSERT')", [SERVICE]
        ).fetchone() == (True,)
    assert place.rows("SELECT pg_try_advisory_xact_lock(1), to_regproc('end_onlookers') IS NOT NULL", role=SERVICE) == [
        (True, True)
    ]
    heard = "SELECT count(*) FROM pg_trigger WHERE tgname = 'trigger_notify_queue_insert_listeners'"
    assert place.rows(heard, database=BROKER) == [(2,)]
    assert place.rows("SELECT queue_name::text FROM pgmq.list_queues() ORDER BY 1", role=SERVICE, database=BROKER) == [
        ("settle",),
        ("work",),
    ]


@pytest.mark.parametrize("place", [embedded], indirect=True)
def test_the_brokers_queues_are_used_and_not_made(place: Place) -> None:
    with place.connect(SERVICE, BROKER) as connection:
        assert connection.execute("SELECT pgmq.send('work', '{}')").fetchone() is not None
        assert connection.execute("SELECT count(*) FROM pgmq.read('work', 0, 1)").fetchone() == (1,)
        for statement in (
            "SELECT pgmq.create('mine')",
            "SELECT pgmq.drop_queue('work')",
            "CREATE TABLE pgmq.mine (id int)",
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(statement.encode())


def test_a_migration_by_the_service_is_refused_in_one_line(place: Place) -> None:
    environment = {**os.environ, "JACKPOT_NO_VENV": "1", "DATABASE_URL": place.server.url_of(SERVICE)}
    command = [sys.executable, "manage.py", "migrate", "people", "0001"]
    refused = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert refused.returncode == 2, refused.stderr
    assert refused.stderr.count("\n") == 1 and "must be owner" in refused.stderr and "DATABASE_URL" in refused.stderr


def test_the_page_of_the_roles_is_as_the_rights_are() -> None:
    assert privileges.PAGE.read_text("utf-8") == privileges.page(), (
        "python3 -m jackpot.config.database_roles.privileges"
    )

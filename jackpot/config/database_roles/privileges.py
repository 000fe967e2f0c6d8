"""What each role of the database may do, table by table, as `privileges.toml` says: the one place that says so.

`apply` makes it so, after every migration and at every start of the embedded server, as whoever owns the tables. Roles
are made by `roles.sql`. A server without these roles is left alone: there, DATABASE_URL is everybody.

python3 -m jackpot.config.database_roles.privileges     # writes docs/database-roles.md anew
"""

import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from psycopg import sql

SERVICE, SETTLE, AUDITOR = "jackpot_service", "jackpot_settle", "jackpot_auditor"
ROLES = (SERVICE, SETTLE, AUDITOR)
WORKING = (SERVICE, SETTLE)

_WRITTEN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

APPENDED = frozenset[str](_WRITTEN["appended"])
"""Tables whose rows are added and stay as they are. So it is with a table that is named nowhere."""

CHANGED = {str(table): (frozenset[str](rows["may"]), str(rows["why"])) for table, rows in _WRITTEN["changed"].items()}
"""What may happen to rows of others beside being read and added, and why."""

READ = frozenset[str](_WRITTEN["read"])
"""Tables that migrations write, or nobody."""

SECRET = frozenset[str](_WRITTEN["secret"])
"""Tables that auditors do not read."""

SHOWN = {str(view): (str(shown["of"]), tuple[str, ...](shown["columns"])) for view, shown in _WRITTEN["shown"].items()}
"""Views that auditors read instead: the table and the columns of it that are shown."""

NUMBERS = frozenset[str](_WRITTEN["numbers"])
"""Sequences that statements name."""

ONLOOKERS = "end_onlookers(interval)"
FUNCTIONS = ("lock_proposal(bigint)", ONLOOKERS)
"""Run with the rights of the owner: what they do, the service may do only so."""

ROLES_FILE = Path(__file__).with_name("roles.sql")
FUNCTIONS_FILE = Path(__file__).with_name("functions.sql")
ONLOOKERS_FILE = Path(__file__).with_name("onlookers.sql")
PAGE = Path(__file__).parents[3] / "docs" / "database-roles.md"


def privileges(role: str, table: str) -> frozenset[str]:
    """What a role may do with a table. Never TRUNCATE, REFERENCES, TRIGGER, MAINTAIN: those are the owner's."""
    if table in SHOWN:
        return frozenset({"SELECT"} if role == AUDITOR else ())
    if role == AUDITOR:
        return frozenset() if table in SECRET else frozenset({"SELECT"})
    if table in READ:
        return frozenset({"SELECT"})
    more, _ = CHANGED.get(table, (frozenset(), ""))
    return frozenset({"SELECT", "INSERT"}) | more


class Session(Protocol):
    """A connection or a cursor of psycopg's or of Django's, committing at once or inside a transaction."""

    def execute(self, query: Any, params: Any = None) -> Any:
        """Run a statement."""


def make_roles(session: Session) -> None:
    """Run `roles.sql` unless it was run as it is; for a superuser. A full disk keeps nobody from a server that has them."""
    text = ROLES_FILE.read_bytes()
    mark = sha256(text).hexdigest()
    said = session.execute(
        "SELECT shobj_description(oid, 'pg_authid') FROM pg_roles WHERE rolname = ANY (%s)", [list(ROLES)]
    ).fetchall()
    if said != [(mark,)] * len(ROLES):
        session.execute(text)
        for role in ROLES:
            session.execute(sql.SQL("COMMENT ON ROLE {} IS {}").format(sql.Identifier(role), sql.Literal(mark)))


OPEN_TO_ALL = """
    SELECT datname FROM pg_database WHERE datname IN ('postgres', 'template1', %s) AND (
        EXISTS (SELECT FROM aclexplode(coalesce(datacl, acldefault('d', datdba))) WHERE grantee = 0)
        OR datname = %s AND EXISTS (
            SELECT FROM pg_roles role
            WHERE rolname = ANY (%s) AND NOT has_database_privilege(role.oid, pg_database.oid, 'CONNECT')))
"""


def close_to_onlookers(session: Session, broker: str) -> None:
    """No role of ours makes tables for its session beside the house's database, and only who works reaches the broker's."""
    for (database,) in session.execute(OPEN_TO_ALL, [broker, broker, list(WORKING)]).fetchall():
        session.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(sql.Identifier(database)))
        if database == broker:
            working = sql.SQL(", ").join(map(sql.Identifier, WORKING))
            session.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(sql.Identifier(database), working))


# What is granted now, to whom, on every table and sequence; what is granted on single columns counts as another privilege.
GRANTED = """
    WITH wanted AS (
        SELECT relation.oid, relname, relkind, relowner, relacl FROM pg_class relation
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S', 'v', 'm'))
    SELECT relname, relkind, role.name, coalesce((
        SELECT array_agg(privilege_type) FROM (
            SELECT privilege_type, grantee FROM aclexplode(relacl)
            UNION ALL
            SELECT privilege_type || ' of ' || attname, grantee
                FROM pg_attribute, aclexplode(attacl) WHERE attrelid = wanted.oid
        ) granted WHERE grantee = role.grantee), '{}')
    FROM wanted, (
        SELECT rolname::text, oid FROM pg_roles WHERE rolname = ANY (%s) UNION ALL SELECT 'PUBLIC', 0) role (name, grantee)
    ORDER BY relname, role.name
"""


def apply(session: Session) -> list[str]:
    """Grant what is written here and revoke everything else; what was changed, in words. For the owner of the tables."""
    there = {
        name for (name,) in session.execute("SELECT rolname FROM pg_roles WHERE rolname = ANY (%s)", [list(ROLES)])
    }
    if not there:
        return []
    done = [*_functions(session), *_views(session), *_database(session, there)]
    found = list(session.execute(GRANTED, [list(there)]))
    for name, kind, role, granted in found:
        if kind in ("S", b"S"):
            wanted = frozenset({"USAGE"} if name in NUMBERS and role in WORKING else ())
        else:
            wanted = privileges(role, name) if role in there else frozenset()
        if set(granted) != wanted:
            done.append(_grant(session, "SEQUENCE" if kind in ("S", b"S") else "TABLE", name, role, wanted))
    return done


def _grant(session: Session, kind: str, name: str, role: str, wanted: frozenset[str]) -> str:
    who = sql.SQL("PUBLIC") if role == "PUBLIC" else sql.Identifier(role)
    what = sql.SQL(kind) + sql.SQL(" ") + sql.Identifier("public", name)
    session.execute(sql.SQL("REVOKE ALL ON {} FROM {}").format(what, who))
    if wanted:
        words = sql.SQL(", ").join(sql.SQL(word) for word in sorted(wanted))
        session.execute(sql.SQL("GRANT {} ON {} TO {}").format(words, what, who))
    return f"{name}: {role} {', '.join(sorted(wanted)) or 'nothing'}"


# Nobody but the owner makes anything in the schema, and nobody makes tables for a session, which would hide ours.
OURS = """
    SELECT current_database(), EXISTS (
        SELECT FROM aclexplode(coalesce(datacl, acldefault('d', datdba)))
        WHERE grantee = 0 OR privilege_type <> 'CONNECT' AND grantee::regrole::text = ANY (%s)), (
        SELECT count(*) FROM aclexplode(datacl) WHERE grantee::regrole::text = ANY (%s))
    FROM pg_database WHERE datname = current_database() AND pg_has_role(datdba, 'USAGE')
"""
SCHEMA = """
    SELECT EXISTS (
        SELECT FROM aclexplode(nspacl)
        WHERE grantee = 0 OR privilege_type <> 'USAGE' AND grantee::regrole::text = ANY (%s)), (
        SELECT count(*) FROM aclexplode(nspacl) WHERE grantee::regrole::text = ANY (%s))
    FROM pg_namespace WHERE nspname = 'public' AND pg_has_role(nspowner, 'USAGE')
"""
DEFAULTS = """
    SELECT DISTINCT defaclobjtype FROM pg_default_acl, aclexplode(defaclacl)
    WHERE defaclrole = current_user::regrole AND grantee::regrole::text = ANY (%s)
"""
CALLABLE = """
    SELECT EXISTS (SELECT FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0) OR EXISTS (
        SELECT FROM pg_roles WHERE rolname = ANY (%s) AND NOT has_function_privilege(pg_roles.oid, pg_proc.oid, 'EXECUTE'))
    FROM pg_proc WHERE oid = to_regprocedure(%s) AND pg_has_role(proowner, 'USAGE')
"""


# A superuser's alone: on a server of somebody else's, `functions.sql` is run by hand (docker/roles.sql).
HINDERED = """
    SELECT count(*) FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
        AND proname IN ('pg_advisory_lock', 'pg_notify', 'lo_create') AND current_setting('is_superuser') = 'on'
        AND (has_function_privilege('public', oid, 'EXECUTE') OR proname NOT LIKE 'lo%%' AND EXISTS (
            SELECT FROM pg_roles WHERE rolname = ANY (%s) AND NOT has_function_privilege(pg_roles.oid, pg_proc.oid, 'EXECUTE')))
"""
MADE = "SELECT obj_description(to_regprocedure(%s), 'pg_proc')"
SHOWS = "SELECT obj_description(to_regclass(%s), 'pg_class'), to_regclass(%s) IS NOT NULL"


def _functions(session: Session) -> Iterator[str]:
    """Take away the server's own functions that hinder, and make ours that ends onlookers."""
    for (left,) in list(session.execute(HINDERED, [list(WORKING)])):
        if left:
            session.execute(FUNCTIONS_FILE.read_bytes().decode())
            yield "functions that hinder: the working roles'"
    text = ONLOOKERS_FILE.read_bytes().decode()
    mark = sha256(text.encode()).hexdigest()
    for (said,) in list(session.execute(MADE, [f"public.{ONLOOKERS}"])):
        if said != mark:
            session.execute(text)
            named = sql.SQL(f"public.{ONLOOKERS}")
            session.execute(sql.SQL("COMMENT ON FUNCTION {} IS {}").format(named, sql.Literal(mark)))
            yield f"{ONLOOKERS}: made"


def _views(session: Session) -> Iterator[str]:
    """Make the views that differ from what is written here; without their tables there are none yet."""
    for view, (table, columns) in SHOWN.items():
        text = sql.SQL("SELECT {} FROM {}").format(
            sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier("public", table)
        )
        mark = sha256(repr((table, columns)).encode()).hexdigest()
        ((said, _),) = list(session.execute(SHOWS, [f"public.{view}"] * 2))
        ((_, there),) = list(session.execute(SHOWS, [f"public.{table}"] * 2))
        if there and said != mark:
            what = sql.Identifier("public", view)
            session.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(what))
            session.execute(sql.SQL("CREATE VIEW {} WITH (security_barrier) AS {}").format(what, text))
            session.execute(sql.SQL("COMMENT ON VIEW {} IS {}").format(what, sql.Literal(mark)))
            yield f"{view}: of {table}"


def _database(session: Session, there: set[str]) -> Iterator[str]:
    roles = sql.SQL(", ").join(map(sql.Identifier, sorted(there)))
    names = [sorted(there)]
    for database, too_much, may in list(session.execute(OURS, names * 2)):
        if too_much or may < len(there):
            what = sql.Identifier(database)
            session.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC, {}").format(what, roles))
            session.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(what, roles))
            yield f"database {database}: nobody but its owner and these roles"
    for too_much, may in list(session.execute(SCHEMA, names * 2)):
        if too_much or may < len(there):
            session.execute(sql.SQL("REVOKE ALL ON SCHEMA public FROM PUBLIC, {}").format(roles))
            session.execute(sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(roles))
            yield "schema public: to be used, and nothing made in it"
    for (kind,) in list(session.execute(DEFAULTS, names)):  # once they were how new tables were granted
        objects = {"r": "TABLES", "S": "SEQUENCES"}[kind if isinstance(kind, str) else kind.decode()]
        session.execute(
            sql.SQL("ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON {} FROM {}").format(
                sql.SQL(objects), roles
            )
        )
        yield f"default privileges on {objects.lower()}: none"
    working = sql.SQL(", ").join(sql.Identifier(role) for role in WORKING if role in there)
    for function in FUNCTIONS:
        for (wrong,) in list(session.execute(CALLABLE, [list(WORKING), f"public.{function}"])):
            if wrong:
                named = sql.SQL(f"public.{function}")
                session.execute(sql.SQL("REVOKE ALL ON FUNCTION {} FROM PUBLIC").format(named))
                session.execute(sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(named, working))
                yield f"{function}: the service's"


def before_migrations(using: str, plan: Any = (), **_: Any) -> None:
    """What Django calls before tables change: no view is in the way of a column's change. They are made anew afterwards."""
    if plan:
        for view in SHOWN:
            _through_django(using).execute(sql.SQL("DROP VIEW IF EXISTS {}").format(sql.Identifier("public", view)))


def after_migrations(using: str, **_: Any) -> None:
    """What Django calls when tables may have changed."""
    apply(_through_django(using))


def _through_django(using: str) -> Session:
    from django.db import connections

    class Rows:
        def execute(self, query: Any, params: Any = None) -> Any:
            with connections[using].cursor() as cursor:
                cursor.execute(query, params)
                return cursor.fetchall() if cursor.description else ()

    return Rows()


def page() -> str:
    """docs/database-roles.md as it should be."""
    rows = []
    for table in sorted(APPENDED | READ | CHANGED.keys()):
        _, why = CHANGED.get(
            table, ("", "written by migrations, or by nobody" if table in READ else "rows are added and stay")
        )
        cells = (", ".join(_in_order(privileges(role, table))) or "–" for role in (SERVICE, AUDITOR))
        rows.append(f"| `{table}` | {' | '.join(cells)} | {why} |")
    for view, (table, columns) in sorted(SHOWN.items()):
        rows.append(f"| `{view}` | – | SELECT | a view of `{table}`: {', '.join(columns)} |")
    return HEAD + "\n".join(rows) + "\n"


def _in_order(wanted: frozenset[str]) -> list[str]:
    return [word for word in ("SELECT", "INSERT", "UPDATE", "DELETE") if word in wanted]


HEAD = """# Who may do what in the database

Written by `python3 -m jackpot.config.database_roles.privileges` from what is granted after every migration, and at every start
of the embedded server. A test goes over every table there is and compares.

| role | who connects as it |
|---|---|
| the owner: `jackpot` on the embedded server, `jackpot_owner` elsewhere | `migrate`, and commands that make or empty tables |
| `jackpot_service` | web, jobs, beat, and every other command |
| `jackpot_settle` | settling workers: the same rights; let go of in 1.5 s when they fall silent with a lock in hand |
| `jackpot_auditor` | whoever reads: a person with psql, a report of somebody else's. Read only |

None of the last three owns anything, makes anything in the schema or for its session, is a member of another role or a superuser.
No guard can be switched off by them: triggers, functions, constraints and `session_replication_role` are the owner's or a
superuser's. A table that is not listed may be read and added to, and nothing else.

An auditor reads no way in: sessions, passwords, links, tokens and keys of devices are kept in tables it does not see, and what
may be seen of them is shown by views. The server's own functions that would let a reader hinder the house are taken from it:
advisory locks (whoever settles holds one for its stream), `pg_notify`, large objects, messages in the write-ahead log. `NOTIFY`
and `LISTEN` are statements that no server can forbid: a notice only makes who hears it read again.

The limits of `jackpot_auditor` (read only, five minutes and one core a statement, thirty seconds idle in a transaction) are
advisory: a role may lift its own. What it cannot lift: what it may do to which table, ten connections, and the watchdog. Every
ten seconds the service ends whatever session of `jackpot_auditor`, or of a role that is a member of it, has held a snapshot
longer than `JACKPOT_SNAPSHOT_SECONDS` (600); never one that settles, serves, exports, migrates or replicates. On a server where
nobody is superuser, run `functions.sql` and the grants of `docker/roles.sql` as whoever comes nearest; what that one may not
revoke stays callable, and reports belong on a replica.

The embedded server trusts whoever reaches its socket, which is its user alone (mode 0700): the roles hold against statements, not
against somebody who runs programs as that user. On a server of your own each role has its password, and only the migration is
given the owner's.

| table | `jackpot_service`, `jackpot_settle` | `jackpot_auditor` | rows |
|---|---|---|---|
"""


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")

"""Tables of the database belong to their app: who else may name them in SQL is on one list, and no app names those above it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps

ROOT = Path(__file__).resolve().parents[2]
BENEATH = {
    "accounting": 0,
    "office": 1,
    "people": 1,
    "slips": 1,
    "jackpot": 2,
    "tables": 3,
    "devices": 4,
}  # how many stand below each

# One statement over the tables of several apps, where several would be slower or not of one moment. Each stands in the
# lowest app that may know them all; whatever needs the tables of one app only is a query or a service of that app.
PART = "part of a statement: "
TOGETHER = {
    "jackpot/queries.py": {
        "LIABILITIES": "meters beside the ledger, of one moment while rounds go on being settled",
    },
    "jackpot/hits_on_record.py": {"STRAY_STEP": "steps of hits against events, an anti-join"},
    "jackpot/hit_queries.py": {
        "AWARDS": "awards to be handed over, with the gaming day that they were won on",
        "BOOKED_BETWEEN": PART + "hits whose events are booked on some gaming days",
    },
    "tables/queries/days.py": {"DAY": "a table's day with its movements, one pass"},
    "tables/queries/ends.py": {
        "STRAY_END": "ends of envy payouts and rounds against the steps of their acts",
        "OWED": "envy that is owed, with the event that it has been owed since",
    },
    "tables/queries/exceptions.py": {"LATE": "rounds booked on a later day, with when their events were recorded"},
    "tables/queries/explanations.py": {"DETAIL": "a payout with the settlement and terms of its round"},
    "tables/queries/floor.py": {
        "TABLES": "the floor page, every few seconds for everybody who watches",
        "LAST_ROUNDS": "the newest rounds of every table",
        "OF_TABLE": "a page of a table's rounds with their stream",
    },
    "tables/queries/locks.py": {
        "SHOWN": "a lock with its stream's code",
        "ENDED": "which rounds of a page of payouts count from their locks",
    },
    "tables/queries/payouts.py": {
        "NAME": "what the payouts of a page are called, each by key",
        "STATE": PART + "what became of a payout's hit",
        "BY_KEY": PART + "one payout by its stream's code",
        "LEVELS": PART + "the levels of a link",
        "FALLEN": PART + "payouts that were rejected, cancelled or voided, found from those few",
    },
    "tables/queries/record.py": {
        "CORRECTED": "rounds that people corrected, with the act's document",
        "SETTLEMENT": "a round's settlement with the digest that its event has of it",
        "AT": "meters after some events, for a drawing: each by key, however long the history",
        "BEFORE": "the head and result that a range of a replay begins from",
        "BEYOND": "rows after a stream's last event, as the stream stands in the same statement",
        "NOWHERE": "rows of no stream, an anti-join",
    },
    "tables/queries/unclaimed.py": {
        "ENVY": "envy to be handed over, with the gaming day that it was won on",
    },
    "devices/queries.py": {
        "RESULT": "the message of a round, one look by key",
        "SHOW": "a round wherever it stands",
        "RECEIPTS": "what the hashes of a page of rounds say of their messages",
        "NAMED": "rounds of one reference, one look by key a table",
        "rounds_on": "rounds of a stream in its order",
        "HEALTH": "the queue and whether there is a floor, asked once a second",
        "STOPPED": "streams that stand still, by code",
        "LATE": "streams whose oldest message waits too long, by code, with why",
        "GATEWAYS": "the last message of every device",
        "queues": "streams that wait, by code",
        "QUEUED_UNTIL": "what waits of a day, by the code of its stream",
    },
    "devices/audit/locks.py": {"LOCKS": "the locks of a range of events with their messages"},
    "devices/audit/set_aside.py": {"SET_ASIDE": "locks set aside with their messages, a thousand at a time"},
    "devices/audit/rows.py": {"EVENTS": "what a replay reads of each event: a million of them"},
    "devices/foresight/stretch.py": {
        "EVENTS": "what a replay under other terms reads of each event: a million of them"
    },
    "devices/audit/inbox_check.py": {
        "ASTRAY": "every message in one place, an anti-join over all of them",
        "WITHOUT_MESSAGE": "rows whose message is gone, an anti-join",
        "HELD": "every hold with its message and stream, a thousand at a time",
    },
    "devices/intake/lost_locks.py": {"LOST": "locks that wait longer than they may, with their moments and devices"},
    "devices/intake/deals.py": {
        "STREAMS": "streams with rounds since the last look at deals",
        "SETTLED": "rounds since then with their messages, a thousand at a time",
        "HELD": "held messages since then",
        "TWINS": "a deal that was there before, under which reference and at which table",
    },
    "devices/intake/settling.py": {
        "TAKE": "what waits, with the lock that each result decides: no further question of a stream without locks",
        "ATTEMPT": "lock, look and count in one way to the server: a quiet floor's batches are of one",
        "REROUTE": "messages follow their table to its stream",
    },
}


def owners() -> dict[str, str]:
    """Every table and sequence of our apps by name, with its app."""
    found = {}
    for model in apps.get_models(include_auto_created=True):
        if model._meta.app_label in BENEATH:
            found[model._meta.db_table] = model._meta.app_label
    return found | {"devices_receipt": "devices"}


def app_of(path: Path) -> str:
    """The app that a module is part of."""
    parts = path.relative_to(ROOT).parts
    return parts[1] if parts[0] == "accounting" and parts[1] in BENEATH else parts[0]


def modules() -> Iterator[Path]:
    """Every module of the product but its migrations, which are SQL of a moment."""
    for app in ("accounting", "jackpot", "tables", "devices"):
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def statements(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Every text of a module that is no docstring, with the function or the name at the top that it is part of."""
    for top in tree.body:
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(top)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        if isinstance(top, ast.Expr):
            continue
        name = getattr(top, "name", None)
        if isinstance(top, ast.Assign):
            name = getattr(top.targets[0], "id", None)
        texts = [
            node.value
            for node in ast.walk(top)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
        ]
        for text in texts:
            yield str(name), text


NAMES = re.compile(r"\b(?:accounting|office|people|jackpot|tables|devices)_[a-z_]+\b")


def naming() -> Iterator[tuple[str, str, str, set[str]]]:
    """Every text that names tables: its module, where in it, the module's app and the apps of the tables."""
    owned = owners()
    for path in modules():
        for where, text in statements(ast.parse(path.read_text())):
            apps_named = {owned[name] for name in NAMES.findall(text) if name in owned}
            if apps_named:
                yield str(path.relative_to(ROOT)), where, app_of(path), apps_named


def test_no_app_names_the_tables_of_an_app_above_it() -> None:
    for module, where, app, named in naming():
        for other in named - {app}:
            assert BENEATH[other] < BENEATH[app], f"{module}, {where}: {app} names a table of {other}"


def test_tables_of_other_apps_are_named_only_where_the_list_says() -> None:
    found: dict[str, set[str]] = {}
    for module, where, app, named in naming():
        if named - {app}:
            found.setdefault(module, set()).add(where)
    assert found == {module: set(places) for module, places in TOGETHER.items()}


def test_a_statement_stands_in_the_lowest_app_that_may_know_its_tables() -> None:
    """What needs the tables of one app only is asked of that app."""
    for module, where, app, named in naming():
        if not TOGETHER.get(module, {}).get(where, "").startswith(PART):
            assert app in named, f"{module}, {where}: a query of {max(named, key=BENEATH.__getitem__)} can say this"


def test_statements_are_found_wherever_they_stand() -> None:
    """In a name at the top, in a function, in pieces; not in what is said about them."""
    tree = ast.parse(
        'A = f"FROM tables_round {1} tables_hold"\ndef f():\n    """On tables_payout."""\n    g("devices_queued")'
    )
    assert list(statements(tree)) == [("A", "FROM tables_round "), ("A", " tables_hold"), ("f", "devices_queued")]
    assert len({where for _, where, _, _ in naming()}) > 40

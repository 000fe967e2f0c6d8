"""The planter of faults plants what it says: changes that Python takes, the same by the same seed, a fair share of each kind."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from tests.planted import __main__ as command
from tests.planted import drawing, faults, sql
from tests.planted.choosing import Map, Timed, whole, within
from tests.planted.faults import Fault

PYTHON = '''
"""A module; its words are no fault: SELECT 1 WHERE a <= 2."""

MOST = 3


def act(at: int, until: int, *, told: bool = False) -> int:
    """Words: 1 < 2 and not 3."""
    if at < until and not told:
        note(at, until)
    if at is None:
        raise ValueError("1 < 2")
    for one in range(at):
        if one == 2:
            continue
        state.at = one
    lock_stream(at)
    return at + until
'''
SQL = '''
TAKE = """
    SELECT DISTINCT one.id, coalesce(sum(one.cents), 0) FROM one LEFT JOIN other ON other.id = one.id AND other.kind = 2
    WHERE one.at <= %s AND one.stream_id = %s AND one.at BETWEEN %s AND %s -- AND nothing
    ORDER BY one.at DESC LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
"""
KEEP = "INSERT INTO one (id, at) VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET at = excluded.at WHERE one.at < 9 RETURNING id"
HOLD = "SELECT pg_try_advisory_xact_lock(%s), pg_advisory_xact_lock(%s, %s) FROM one WHERE two = 2 OR one = %s"
WORDS = "Rounds at a table are settled from where they were dealt, and < is no bound."


def found(at):
    return One.objects.filter(stream=1, at__lte=at).exclude(told=True).select_for_update().order_by("-at").first()
'''
MIGRATION = '''
GUARD = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.at <= OLD.at OR NEW.id <> OLD.id THEN
        RAISE EXCEPTION 'refused';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON one FOR EACH ROW EXECUTE FUNCTION refuse();
"""


class Migration(migrations.Migration):
    operations = [
        migrations.AddConstraint(
            model_name="one",
            constraint=models.CheckConstraint(condition=models.Q(("at__gte", 1), ("at__lt", 9)), name="at_is_small"),
        ),
    ]
'''


def changes(text: str, file: str = "jackpot/services/felt.py") -> set[tuple[str, str, str]]:
    """Kind, before and after of each fault of a text, with single spaces."""
    return {
        (fault.kind, " ".join(fault.before.split()), " ".join(fault.after.split()))
        for fault in faults.in_file(file, text)
    }


def test_faults_of_python_are_found_where_code_stands() -> None:
    assert changes(PYTHON) == {
        ("constant", "3", "4"),
        ("constant", "False", "True"),
        ("bound", "<", "<="),
        ("condition", "at < until and", ""),
        ("condition", "and not told", ""),
        ("negated", "at < until and not told", "(not (at < until and not told))"),
        ("not", "not told", "(told)"),
        ("statement", "note(at, until)", "pass"),
        ("arguments", "at, until", "until, at"),
        ("comparison", "is", "is not"),
        ("condition", "at is None", "True"),
        ("guard", 'raise ValueError("1 < 2")', "pass"),
        ("comparison", "==", "!="),
        ("condition", "one == 2", "True"),
        ("constant", "2", "3"),
        ("guard", "continue", "pass"),
        ("statement", "state.at = one", "pass"),
        ("lock", "lock_stream(at)", "pass"),
        ("sum", "+", "-"),
    }


def test_faults_of_sql_are_found_in_statements_and_queries() -> None:
    found = changes(SQL)
    assert found >= {
        ("sql bound", "<=", "<"),
        ("sql condition", "WHERE one.at <= %s", "WHERE (concat(%s::text) IS NULL OR true)"),
        ("sql condition", "AND one.stream_id = %s", "AND (concat(%s::text) IS NULL OR true)"),
        ("sql order", "DESC", ""),
        ("sql limit", "DISTINCT", ""),
        ("sql limit", "LIMIT %s", "LIMIT length(concat(%s::text)) + 1000000000"),
        ("sql join", "LEFT JOIN", "JOIN"),
        ("sql value", "coalesce(sum(one.cents), 0)", "sum(one.cents)"),
        ("sql conflict", "DO UPDATE SET at = excluded.at WHERE one.at < 9", "DO NOTHING"),
        ("lock", "pg_try_advisory_xact_lock(%s)", "(concat(%s::text) IS NULL OR true)"),
        ("lock", "pg_advisory_xact_lock(%s, %s)", "length(concat(%s::text, %s::text))"),
        ("sql condition", "OR one = %s", "OR (concat(%s::text) IS NULL AND false)"),
        ("lock", "FOR NO KEY UPDATE SKIP LOCKED", ""),
        ("lock", "SKIP LOCKED", ""),
        ("lock", ".select_for_update()", ""),
        ("query", "stream=1,", ""),
        ("query", ", at__lte=at", ""),
        ("query", "at__lte=at", "at__lt=at"),
        ("query", ".exclude(told=True)", ""),
        ("query", '"-at"', '"at"'),
    }
    taken = [(before.count("%s"), after.count("%s")) for _, before, after in found]
    assert all(before == after for before, after in taken), "none is refused for its number of parameters"
    assert not [change for change in found if "nothing" in change[1] or change[1].startswith("AND %s")], found
    assert {kind for kind, _, _ in found} <= {*sql.KINDS, "query", "lock", "constant"}


def test_faults_of_the_databases_guards_are_found_in_migrations() -> None:
    assert changes(MIGRATION, "jackpot/migrations/0009_felt.py") >= {
        ("trigger", "IF NEW.at <= OLD.at OR NEW.id <> OLD.id THEN", "IF false THEN"),
        ("trigger", "OR NEW.id <> OLD.id", ""),
        ("trigger", "<=", "<"),
        ("trigger", "<>", "="),
        ("trigger", "UPDATE OR", ""),
        ("check", '"at__gte"', "'at__gt'"),
        ("check", '"at__lt"', "'at__lte'"),
    }
    dropped = [
        after for kind, before, after in changes(MIGRATION, "jackpot/migrations/0009_felt.py") if "AddC" in before
    ]
    assert dropped == ['migrations.RunSQL("SELECT 1")']


def test_a_model_is_planted_in_what_it_does_alone() -> None:
    """What the database has of its fields and constraints stands in the migrations."""
    model = "class One(Model):\n    at = Field(null=True)\n\n    def late(self):\n        return self.at > 1\n"
    assert changes(model, "jackpot/models/one.py") == {("bound", ">", ">="), ("constant", "1", "2")}


def test_the_same_seed_draws_the_same_faults_and_each_is_a_change_that_python_takes() -> None:
    drawn = list(islice(drawing.drawn(5), 60))
    assert [fault.name for fault in drawn] == [fault.name for fault in islice(drawing.drawn(5), 60)]
    assert [fault.name for fault in drawn] != [fault.name for fault in islice(drawing.drawn(6), 60)]
    assert len({fault.name for fault in drawn}) == 60
    for fault in drawn:
        text = (faults.ROOT / fault.file).read_text("utf-8")
        assert faults.compiles(fault, text) and fault.planted(text) != text, str(fault)
    of_sql = [fault for fault in drawn if fault.kind in faults.SQL]
    assert len(of_sql) >= 15 and sum(fault.kind == "lock" for fault in drawn) == 3
    assert min(Counter(fault.app for fault in drawn).values()) >= 9, Counter(fault.app for fault in drawn)


def test_a_name_stays_when_lines_above_change() -> None:
    moved = PYTHON.replace("MOST = 3\n", "MOST = 3\n\n\n")
    names = [[fault.name for fault in faults.in_file("jackpot/felt.py", text)] for text in (PYTHON, moved)]
    assert names[0] == names[1] and len(set(names[0])) == len(names[0])


def fault_at(entry: tuple[int, ...], file: str = "jackpot/rules/meter.py") -> Fault:
    return Fault(file, 1, 0, 0, "", "", "bound", "", entry)


def test_the_tests_that_enter_a_function_are_chosen_the_quick_ones_first(tmp_path: Path) -> None:
    (tmp_path / "map.1").write_text(
        '{"id": "tests/api/test_a.py::one", "seconds": 0.1, "passed": true, "test": ["jackpot/rules/meter.py:7"]}\n'
        '{"id": "tests/rules/test_b.py::slow", "seconds": 3, "passed": true, "test": ["jackpot/rules/meter.py:7"]}\n'
        '{"id": "tests/rules/test_b.py::quick", "seconds": 1, "passed": true, "test": ["jackpot/rules/meter.py:7"]}\n'
        '{"id": "tests/rules/test_c.py::other", "seconds": 2, "passed": true, "test": ["jackpot/rules/meter.py:7"]}\n'
        '{"id": "tests/rules/test_c.py::broken", "seconds": 0, "passed": false, "test": ["jackpot/rules/meter.py:7"]}\n'
        '{"id": "tests/pages/test_d.py::page", "seconds": 1, "passed": true, "test": [], '
        '"fixtures": ["jackpot/rules/meter.py:7"]}\n',
        "utf-8",
    )
    (tmp_path / "map.processes").write_text("tests/pages/test_d.py::page\tjackpot/asgi.py\t3\n", "utf-8")
    tests = Map(tmp_path)
    seeing = [test.id.rsplit(":", 1)[1] for test in tests.seeing(fault_at((7,)))]
    assert seeing == ["quick", "other", "slow", "one", "page"]
    assert [test.id for test in tests.seeing(fault_at((3,), "jackpot/asgi.py"))] == ["tests/pages/test_d.py::page"]
    assert tests.seeing(fault_at((8,))) == []
    guard = fault_at((), "jackpot/migrations/0001_initial.py")
    assert {test.file for test in tests.seeing(guard)} == {"tests/api/test_a.py", "tests/pages/test_d.py"}
    assert whole(fault_at((1,), "jackpot/config/up.py"))


def test_tests_are_taken_until_the_time_is_over() -> None:
    tests = [Timed("a::1", 1.0), Timed("a::2", 1.0), Timed("a::3", 1.0)]
    assert within(tests, 2.2) == tests[:2]
    assert within(tests, 0.1) == tests[:1], "one at least, however long"


@pytest.mark.parametrize("entry", command.equivalent().items(), ids=lambda entry: entry[0])
def test_an_equivalent_fault_has_its_reason(entry: tuple[str, str]) -> None:
    name, reason = entry
    assert len(name) == 12 and len(reason.split()) >= 5


def test_every_equivalent_fault_is_still_one_that_can_be_planted() -> None:
    equivalent = set(command.equivalent())
    assert {fault.name for fault in drawing.named(equivalent)} == equivalent


def test_a_join_that_always_finds_its_row_is_not_left_open() -> None:
    """By a foreign key that is never null; where it may be, or stands in what was joined openly, or more is asked, it is."""

    def opened(words: str) -> list[str]:
        return [words[first:last] for _, first, last, after in sql.faults(words) if after == "LEFT JOIN"]

    select = "SELECT 1 FROM tables_round round"
    assert opened(f"{select} JOIN tables_table tabl ON tabl.id = round.table_id WHERE true") == []
    assert opened(f"{select} JOIN tables_table tabl ON round.table_id = tabl.id") == []
    for open_ in (
        "JOIN jackpot_level level ON level.id = round.level_id",
        "JOIN tables_table tabl ON tabl.id = round.table_id AND tabl.state = 'open'",
        "JOIN tables_lock lock ON lock.table_id = round.table_id",
        "LEFT JOIN tables_hold hold ON hold.message_id = round.message_id JOIN tables_table tabl ON tabl.id = hold.table_id",
    ):
        assert len(opened(f"{select} {open_}")) == 1, open_


def test_faults_of_a_file_and_a_kind_are_all_of_them() -> None:
    of_file = drawing.every(faults.KINDS, ["tables/queries/record.py"])
    assert {fault.file for fault in of_file} == {"tables/queries/record.py"}
    bounds = drawing.every(["sql bound"], ["tables/queries/record.py"])
    assert bounds == [fault for fault in of_file if fault.kind == "sql bound"] != []


def test_a_test_that_was_not_run_for_the_map_enters_what_its_other_parameters_do(tmp_path: Path) -> None:
    (tmp_path / "map.1").write_text(
        '{"id": "tests/api/test_a.py::one[1]", "seconds": 0.1, "passed": true, "test": ["jackpot/rules/meter.py:7"], '
        '"others": ["tests/api/test_a.py::one[2]", "tests/api/test_a.py::one[3]"]}\n',
        "utf-8",
    )
    seeing = [test.id.rsplit(":", 1)[1] for test in Map(tmp_path).seeing(fault_at((7,)))]
    assert seeing == ["one[1]", "one[2]", "one[3]"]


def test_a_constant_is_tried_by_whoever_names_its_module(tmp_path: Path) -> None:
    file = "tests/rules/test_planted.py"
    (tmp_path / "map.1").write_text(f'{{"id": "{file}::one", "seconds": 0.1, "passed": true, "test": []}}\n', "utf-8")
    tests = Map(tmp_path)
    assert [test.file for test in tests.seeing(fault_at((), "tests/planted/drawing.py"))] == [file]
    assert tests.seeing(fault_at((7,), "tests/planted/drawing.py")) == [], "in a function only by whoever enters it"

"""`manage.py settle`: what it reads, what it carries from line to line, what it refuses, and how soon it starts."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tables import settle as command
from tables.rules.settle import settle as settle_round

ROOT = Path(__file__).parents[2]
HARBOR = ROOT / "tests" / "acceptance" / "floors" / "harbor.toml"
BARE_SECONDS = 0.045  # what Python and the standard library's part took to start where the promise was written


class Command:
    """Runs the command in this process, on files of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys
        self.floor = HARBOR

    def run(self, *lines: object, meters: object = None) -> tuple[int, list[dict[str, Any]], str]:
        """Exit code, settlements and standard error; a line is bytes as they are, or a JSON value."""
        rounds = self.folder / "rounds.ndjson"
        rounds.write_bytes(
            b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
        )
        argv = [str(self.floor), str(rounds)]
        if meters is not None:
            file = self.folder / "meters.json"
            file.write_bytes(meters if isinstance(meters, bytes) else json.dumps(meters).encode())
            argv += ["--meters", str(file)]
        code = command.main(argv)
        written = self.capsys.readouterr()
        return code, [json.loads(line) for line in written.out.splitlines()], written.err

    def settled(self, *lines: object, meters: object = None) -> list[dict[str, Any]]:
        """The settlements of a run in which every line was read."""
        code, settlements, err = self.run(*lines, meters=meters)
        assert (code, err) == (0, "")
        return settlements


@pytest.fixture
def settle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path, capsys)


@pytest.fixture
def good(harbor: Any) -> dict[str, Any]:
    message: dict[str, Any] = harbor.message("MS-101", "4d 9h 3s", harbor.seat(1, "Jc Jh", progressive=100))
    return message


def refused(code: str, pointer: str, reference: str | None = "R-1") -> dict[str, Any]:
    return {"round": reference, "outcome": "refused", "code": code, "pointer": pointer}


def test_meters_carry_from_line_to_line_and_across_tables_of_a_link(settle: Command, good: dict[str, Any]) -> None:
    lines = [good, good | {"table": "MS-102"}, good | {"round": "R-2"}]
    assert [line["meters"][0]["after_cents"] for line in settle.settled(*lines)] == [1_000_017, 1_000_034, 1_000_051]


def test_a_reference_is_used_once_for_a_table(settle: Command, good: dict[str, Any]) -> None:
    other = good | {"community": ["4d", "9h", "2s"]}
    reordered = dict(reversed(good.items()))
    elsewhere = good | {"table": "MS-102"}
    outcomes = settle.settled(good, good, reordered, other, good | {"dealer": []}, elsewhere)
    assert outcomes[1] == outcomes[2] == refused("duplicate", "/round")
    assert outcomes[3] == refused("reference_reused", "/round")
    assert outcomes[4] == refused("duplicate", "/round")
    assert outcomes[5]["outcome"] == "settled"


def test_leaving_an_optional_key_out_is_other_content(settle: Command, good: dict[str, Any]) -> None:
    bare = {key: value for key, value in good.items() if key != "dealer"}
    assert settle.settled(good, bare)[1] == refused("reference_reused", "/round")


def test_a_held_round_uses_its_reference_up_and_a_refused_one_does_not(settle: Command, good: dict[str, Any]) -> None:
    held = good | {"community": ["Jc", "9h", "3s"]}
    faulty = good | {"community": ["Jx", "9h", "3s"]}
    assert [line["outcome"] for line in settle.settled(faulty, held, held, good)] == [
        "refused",
        "held",
        "refused",
        "refused",
    ]
    assert [line["outcome"] for line in settle.settled(faulty, good)] == ["refused", "settled"]


def test_what_is_not_a_message_is_refused_and_the_run_goes_on(settle: Command, good: dict[str, Any]) -> None:
    raw = json.dumps(good)
    lines: list[object] = [
        b"{not json",
        b"",
        b"  \t\r",
        b"[]",
        b'"text"',
        b"5",
        b"null",
        b"NaN",
        b'{"round": "R-1", "round": "R-1"}',
        b"\xff\xfe",
        b"\xef\xbb\xbf" + raw.encode(),
        b"[" * 200_000,
        raw.replace('"R-1"', '"\\ud800"').encode(),
        raw.encode() + b"\r",
    ]
    settlements = settle.settled(*lines)
    assert settlements[:-1] == [refused("invalid_json", "", None)] * (len(lines) - 3)
    assert settlements[-1]["outcome"] == "settled"


def test_a_refused_line_has_exactly_four_keys(settle: Command, good: dict[str, Any]) -> None:
    assert list(settle.settled(good | {"table": "MS-999"})[0]) == ["round", "outcome", "code", "pointer"]


def test_numbers_of_any_length(settle: Command, good: dict[str, Any], harbor: Any) -> None:
    """Up to ten thousand million dollars a wager is settled; a cent more, or thousands of digits, is refused."""
    message = harbor.message("MS-101", "7c 7d 7h", harbor.seat(1, "Jc Jh", three_card_bonus=10**12))
    (settlement,) = settle.settled(message)
    (line,) = [line for line in settlement["seats"][0]["lines"] if line["wager"] == "three_card_bonus"]
    assert (line["win_cents"], line["paid_cents"]) == (30 * 10**12, 31 * 10**12)
    for number in ("1000000000001", "9" * 200, "9" * 4_299, "9" * 20_000):
        raw = json.dumps(good).replace(": 100}", f": {number}}}").encode()
        assert settle.settled(raw) == [refused("invalid_value", "/seats/0/wagers/progressive")]


def test_the_last_line_needs_no_line_feed(settle: Command, good: dict[str, Any], tmp_path: Path) -> None:
    rounds = tmp_path / "one.ndjson"
    rounds.write_text(json.dumps(good))
    assert command.main([str(HARBOR), str(rounds)]) == 0
    assert json.loads(settle.capsys.readouterr().out)["outcome"] == "settled"


def test_meters_start_as_given_and_what_is_left_out_as_opened(settle: Command, good: dict[str, Any]) -> None:
    full = {
        "value_cents": 8_765_432,
        "residual_millionths": 970_000,
        "reserve_cents": 5,
        "reserve_residual_millionths": 6,
        "overflow_cents": 7,
        "overflow_residual_millionths": 8,
    }
    row = settle.settled(good, meters={"ms-mg01": {"major": full}})[0]["meters"][0]
    assert (row["before_cents"], row["after_cents"], row["residual_millionths"]) == (8_765_432, 8_765_449, 970_000)
    assert (row["reserve_cents"], row["reserve_residual_millionths"]) == (8, 6)
    assert (row["overflow_cents"], row["overflow_residual_millionths"]) == (7, 8)
    row = settle.settled(good, meters={"ms-mg01": {"major": {"reserve_cents": 5}}, "ms-st01": {}})[0]["meters"][0]
    assert (row["before_cents"], row["reserve_cents"]) == (1_000_000, 8)
    row = settle.settled(good, meters={})[0]["meters"][0]
    assert row["before_cents"] == 1_000_000
    row = settle.settled(good, meters={"ms-mg01": {"major": {"value_cents": 50_000_007}}})[0]["meters"][0]
    assert (row["after_cents"], row["overflow_cents"]) == (50_000_007, 17)


@pytest.mark.parametrize(
    ("meters", "named"),
    [
        (b"{", "meters"),
        (b"[]", "meters"),
        (b'{"ms-mg01": {}, "ms-mg01": {}}', "meters"),
        ({"ms-mg09": {}}, "ms-mg09"),
        ({"ms-mg01": {"minor": {}}}, "ms-mg01.minor"),
        ({"ms-mg01": {"major": {"value": 5}}}, "ms-mg01.major.value"),
        ({"ms-mg01": {"major": {"value_cents": "5"}}}, "ms-mg01.major.value_cents"),
        ({"ms-mg01": {"major": {"value_cents": 5.0}}}, "ms-mg01.major.value_cents"),
        ({"ms-mg01": {"major": {"value_cents": True}}}, "ms-mg01.major.value_cents"),
        ({"ms-mg01": {"major": {"value_cents": -1}}}, "ms-mg01.major.value_cents"),
        ({"ms-mg01": {"major": {"value_cents": None}}}, "ms-mg01.major.value_cents"),
        ({"ms-mg01": {"major": {"residual_millionths": 1_000_000}}}, "ms-mg01.major.residual_millionths"),
        ({"ms-mg01": {"major": 5}}, "ms-mg01.major"),
        ({"ms-mg01": []}, "ms-mg01"),
    ],
)
def test_bad_meters_end_the_run_before_it_starts(
    settle: Command, good: dict[str, Any], meters: object, named: str
) -> None:
    code, settlements, err = settle.run(good, meters=meters)
    assert (code, settlements) == (2, [])
    assert err.startswith(f"{named}: ")


def test_a_bad_floor_ends_the_run_before_it_starts(settle: Command, good: dict[str, Any], tmp_path: Path) -> None:
    settle.floor = tmp_path / "floor.toml"
    settle.floor.write_text(HARBOR.read_text().replace("seats = 6", "seats = 7", 1))
    assert settle.run(good) == (2, [], "tables[0].paytables.cover_all: six seats at most (seats = 7)\n")
    settle.floor.write_bytes(b"\xff")
    code, settlements, err = settle.run(good)
    assert (code, settlements) == (2, [])
    assert "UTF-8" in err


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["a"],
        ["a", "b", "c"],
        ["a", "b", "--colour"],
        [str(HARBOR), "/no/such/file"],
        [str(HARBOR), str(ROOT)],
        ["/no/such/floor", "-"],
        [str(HARBOR), "-", "--meters"],
        [str(HARBOR), "-", "--meters", "/no/such/file"],
    ],
)
def test_a_call_that_cannot_work_exits_with_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(argv) == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err


def test_a_message_the_rules_choke_on_is_held_alone(
    settle: Command, good: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def choking(message: Any, *args: Any) -> Any:
        if message.round == "R-2":
            raise ZeroDivisionError("a fault in the rules")
        return settle_round(message, *args)

    monkeypatch.setattr("tables.rules.deciding.settle", choking)
    code, settlements, err = settle.run(good, good | {"round": "R-2"}, good | {"round": "R-3"})
    assert code == 0
    assert [line["outcome"] for line in settlements] == ["settled", "held", "settled"]
    assert settlements[1]["reasons"] == ["processing_error"]
    assert "a fault in the rules" in err
    assert settlements[2]["meters"][0]["before_cents"] == 1_000_017


def run_process(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "manage.py", "settle", *arguments], cwd=ROOT, input=given, capture_output=True, timeout=60
    )


def test_the_command_reads_standard_input_and_needs_neither_packages_nor_django(good: dict[str, Any]) -> None:
    watch = (
        "import runpy, sys; sys.argv = ['manage.py', 'settle', *sys.argv[1:]]\n"
        "try:\n    runpy.run_path('manage.py', run_name='__main__')\n"
        "except SystemExit as end:\n    print(sorted(m for m in ('django', 'msgspec') if m in sys.modules), end.code)\n"
    )
    # -I and -S: no site packages at all.
    done = subprocess.run(
        [sys.executable, "-S", "-c", watch, str(HARBOR), "-"],
        cwd=ROOT,
        input=json.dumps(good).encode(),
        capture_output=True,
        timeout=60,
    )
    settlement, verdict = done.stdout.decode().splitlines()
    assert json.loads(settlement)["outcome"] == "settled"
    assert verdict == "[] 0"


def test_the_exit_code_reaches_the_shell(tmp_path: Path) -> None:
    floor = tmp_path / "floor.toml"
    floor.write_text("[property]\n")
    done = run_process(str(floor), "-")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"property.code: missing\n")


def test_each_line_is_answered_while_the_pipe_stays_open(good: dict[str, Any]) -> None:
    with subprocess.Popen(
        [sys.executable, "manage.py", "settle", str(HARBOR), "-"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for reference in ("R-1", "R-2"):
            process.stdin.write(json.dumps(good | {"round": reference}).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["round"] == reference
        process.stdin.close()
    assert process.returncode == 0


def test_a_reader_that_goes_away_is_no_crash(good: dict[str, Any]) -> None:
    lines = b"".join(json.dumps(good | {"round": f"R-{n}"}).encode() + b"\n" for n in range(2_000))
    done = subprocess.run(
        f"{sys.executable} manage.py settle {HARBOR} - | head -1",
        cwd=ROOT,
        input=lines,
        capture_output=True,
        shell=True,
        timeout=60,
    )
    assert done.stdout.count(b"\n") == 1
    assert b"Traceback" not in done.stderr


@pytest.mark.alone
def test_it_starts_in_under_three_tenths_of_a_second() -> None:
    """The contract's promise, on a machine as fast as where it was given; what bare Python takes tells how fast this one is."""
    took, bare = [], []
    for _ in range(7):
        begun = time.perf_counter()
        run_process(str(HARBOR), "-")
        took.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", "import argparse, dataclasses, datetime, json, tomllib, zoneinfo"], check=True
        )
        bare.append(time.perf_counter() - begun)
    assert min(took) < 0.3 * max(1.0, min(bare) / BARE_SECONDS), f"{min(took):.3f} s, bare Python {min(bare):.3f} s"

"""Floors on which random histories are played: that of the acts' cases, and one with every policy of SPEC §6."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Final

from tables.rules.floor import Floor, read_floor

PROPERTY: Final = """
[property]
code = "BOS"
name = "Boston Harbor"
time_zone = "America/New_York"
gaming_day_starts = "06:00"
jurisdiction = "MA"
"""
# A link of two levels, each with other policies.
TWO_LEVELS: Final = """
[[paytables]]
code = "two"
games = ["mississippi-stud"]
wager_cents = 100
rows = [
  {hand = "royal_flush", pays = "share", level = "major", share_ppm = 1000000, envy_cents = 5000},
  {hand = "straight_flush", pays = "share", level = "minor", share_ppm = 1000000},
  {hand = "flush", pays = "share", level = "minor", share_ppm = 125000},
]
[[links]]
code = "dd"
paytable = "two"
[[links.levels]]
code = "major"
reset_cents = 700
rate_ppm = 111111
reserve_ppm = 22222
limit_cents = 800
[[links.levels]]
code = "minor"
reset_cents = 90
rate_ppm = 333333
reserve_ppm = 44444
limit_cents = 95
overflow_policy = "revenue"
floor_policy = "top_up"
[[tables]]
code = "MS-7"
game = "mississippi-stud"
seats = 6
minimum_cents = 1000
maximum_cents = 50000
link = "dd"
paytables = { base = "ms-base" }
"""
RATES: Final = ((170_003, 30_007), (253_217, 31_113), (99_991, 111_119), (333_331, 7))


@dataclass(frozen=True)
class Stage:
    """A floor, and the links and tables of it that a history plays on."""

    text: str
    links: tuple[str, ...]
    tables: tuple[str, ...]

    @cached_property
    def floor(self) -> Floor:
        """The floor as it is read."""
        return read_floor(self.text)


def _link(place: int, overflow: str, funding: str, floor: str) -> str:
    """A link that stands close below its limit, with two tables of it that play by other terms."""
    rate, reserve = RATES[place % len(RATES)]
    text = f"""
[[links]]
code = "p{place}"
paytable = "ms-mg-01"
[[links.levels]]
code = "major"
reset_cents = {800 + 37 * place}
rate_ppm = {rate}
reserve_ppm = {reserve}
limit_cents = {830 + 40 * place}
overflow_policy = "{overflow}"
seed_funding = "{funding}"
floor_policy = "{floor}"
{"unreasonable_cents = 60" if place % 4 == 2 else ""}
"""
    for number in (1, 2):
        text += f"""
[[tables]]
code = "MS-{place}{number}"
game = "mississippi-stud"
seats = {5 + number}
minimum_cents = 1000
maximum_cents = 50000
link = "p{place}"
paytables = {{ base = "ms-base" }}
terms = {{ progressive_survives_fold = {"true" if number == 1 else "false"}, misdeal_voids = "{("seat", "round")[number - 1]}" }}
"""
    return text


# A link whose display has no limit and no reset.
FREE: Final = """
[[links]]
code = "free"
paytable = "ms-mg-01"
[[links.levels]]
code = "major"
reset_cents = 0
rate_ppm = 170001
reserve_ppm = 1
[[tables]]
code = "MS-90"
game = "mississippi-stud"
seats = 6
minimum_cents = 1000
maximum_cents = 50000
link = "free"
paytables = { base = "ms-base" }
"""
ALONE: Final = """
[[tables]]
code = "MS-91"
game = "mississippi-stud"
seats = 6
minimum_cents = 1000
maximum_cents = 50000
paytables = { base = "ms-base" }
"""


def _stage(*places: int, further: str = "") -> Stage:
    """Links of these policies, one of two levels or one without a limit beside them, and a table that is on none."""
    policies = list(product(("next_reset", "revenue"), ("reserve_then_house", "house"), ("allow", "top_up")))
    text = PROPERTY + "".join(_link(place, *policies[place]) for place in places) + further + ALONE
    floor = read_floor(text)
    tables = tuple(code for code, table in floor.tables.items() if table.game == "mississippi-stud")
    return Stage(text, tuple(floor.links), tables)


ACTS: Final = Stage(
    (Path(__file__).parents[1] / "acceptance" / "floors" / "acts.toml").read_text("utf-8") + TWO_LEVELS,
    ("aa", "bb", "cc", "dd"),
    ("MS-1", "MS-2", "MS-3", "MS-4", "MS-5", "MS-7"),
)
EVERY_POLICY: Final = (
    _stage(0, 3, 5), _stage(1, 6, further=TWO_LEVELS), _stage(2, 7, further=FREE), _stage(4, 1, further=TWO_LEVELS),
)  # fmt: skip
"""Three links each; among them are each overflow policy with each funding of seeds and each floor."""

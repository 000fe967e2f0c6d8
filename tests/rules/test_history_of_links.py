"""What a link was, is and will be: its terms, edition by edition, as its page shows them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from jackpot import history
from tests.rules.lines import Lines

CHANGED = datetime(2026, 11, 28, 3, 1, tzinfo=UTC)
"""22:01 of the evening before in Boston."""


def test_every_edition_stands_beside_the_others_and_what_it_changed_stands_out() -> None:
    lines = Lines()
    lines.done("link.suspend", "aa")
    lines.done("link.terms", "aa", "22:01", levels=[{"code": "major", "limit_cents": 13_000}])
    lines.done("link.terms", "aa", "22:02", levels=[{"code": "major", "limit_cents": 13_000, "rate_ppm": 5}])
    found = history.terms(lines.house.links["aa"], CHANGED)
    cells = {row.what: row.cells for row in found.rows}
    assert {len(each) for each in cells.values()} == {3}
    assert not any(changed for (_, changed), *_ in cells.values()), "the first edition changed nothing"
    stands_out = {what: [changed for _, changed in each] for what, each in cells.items() if any(c for _, c in each)}
    assert sorted(stands_out.values()) == [[False, False, True], [False, True, False]]
    assert ("$130.00", True) in [cell for each in cells.values() for cell in each]


def test_one_edition_is_in_force_at_any_moment_from_the_very_moment_it_counts_from() -> None:
    lines = Lines()
    lines.done("link.suspend", "aa")
    lines.done("link.terms", "aa", "22:01", levels=[{"code": "major", "limit_cents": 13_000}])
    link = lines.house.links["aa"]
    for at, now in ((CHANGED - timedelta(microseconds=1), "1"), (CHANGED, "2"), (CHANGED + timedelta(days=9), "2")):
        editions = history.terms(link, at).editions
        assert [(each.what, each.since, each.until) for each in editions] == [
            ("1", None, CHANGED),
            ("2", CHANGED, None),
        ]
        assert [each.what for each in editions if each.is_now] == [now]
    assert [each.what for each in history.states(link, CHANGED)] == ["open", "suspended"]

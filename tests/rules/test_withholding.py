"""Tax that is kept back when an award or envy is paid: once, of what was paid, less than that (REQUIREMENTS R110, R113)."""

from __future__ import annotations

import pytest

from tests.rules.lines import ROYAL, Lines, moved

HIT, ENVY = "aa-000001", "MS-1/R-1/1/5"
PAID_FROM = {"cage": "cage", "table": "table:MS-1:inventory"}


def won() -> Lines:
    """A royal with the envy of the neighbour; the hit is approved."""
    lines = Lines()
    lines.round("R-1", board=ROYAL)
    for step in ("hit.verify", "hit.approve"):
        lines.done(step, HIT)
    return lines


@pytest.mark.parametrize("method", ["cage", "table"])
@pytest.mark.parametrize(("what", "subject", "cents"), [("hit", HIT, 10_034), ("payout", ENVY, 100_000)])
def test_what_is_withheld_stays_where_it_was_paid_from_and_is_owed_to_the_revenue_service(
    what: str, subject: str, cents: int, method: str
) -> None:
    lines = won()
    withhold = f"{what}.withhold"
    early = lines.code(withhold, subject, method=method, cents=2_400)
    assert early == "wrong_state"
    lines.done(f"{what}.pay", subject, method=method)
    for wrong in (cents, cents + 1, 0, -1):
        assert lines.code(withhold, subject, method=method, cents=wrong) == ("invalid_value", "/payload/cents")
    answer = lines.done(withhold, subject, method=method, cents=cents - 1)
    assert moved(answer) == [(PAID_FROM[method], "withholding_payable", cents - 1, "withholding")]
    assert [row["link"] for row in answer["meters"]] == ["aa"]
    assert lines.code(withhold, subject, method=method, cents=1) == "already_withheld"
    assert lines.code(f"{what}.pay", subject, method=method) == "already_paid"


def test_of_what_is_not_there_nothing_is_withheld() -> None:
    lines = won()
    assert lines.code("hit.withhold", "aa-000009", method="cage", cents=1) == "unknown_subject"
    assert lines.code("payout.withhold", "MS-1/R-1/2/5", method="cage", cents=1) == "unknown_subject"

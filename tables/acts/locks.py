"""What people decide about locks whose result never came (CONTRACT §7), declared to the office."""

from accounting.office.acts import Act, Asked, Change, Foreseen, Tier
from accounting.rules.roles import MANAGER, SUPERVISOR
from accounting.shell.templatetags.pages import money
from jackpot.acts.asked import act_asked, performing
from tables.rules import locking
from tables.services import acts, locks


def _foresee(asked: Asked) -> Foreseen:
    """The meters that the void would take the lock's contributions from."""
    decision = locks.foresee_void(act_asked(asked), at=asked.at)
    rows = [Change("Lock", "locked", "void")]
    rows += [
        Change(f"Meter {row['link']}/{row['level']}", money(row["before_cents"]), money(row["after_cents"]))
        for row in decision.result["meters"]
    ]
    return Foreseen(
        tuple(rows), "All that it contributed is taken back; a result that still comes is decided as if it had no lock."
    )


LOCK_ACTS: tuple[Act, ...] = (
    Act(
        shape=locking.VOID_LOCK,
        title="Void a lock",
        proposes=frozenset({SUPERVISOR, MANAGER}),
        approves=(Tier(0, MANAGER, 1),),
        version=locks.version,
        foresee=_foresee,
        perform=performing(acts.perform),
        possible=lambda round_: locks.standing(round_) == "locked",
    ),
)

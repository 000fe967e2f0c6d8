"""What exactly is wrong with a round that waits, judged by the terms that count at its moment."""

from datetime import datetime

from accounting.rules.moments import instant_nanoseconds
from tables.models import Hold
from tables.rules import held
from tables.rules.faults import Fault
from tables.rules.round_acts import counts_at
from tables.services import lock_rows, terms
from tables.services.recording import decode


def of_held(message_id: int, raw: bytes, received_at: datetime) -> list[Fault]:
    """The faults of a held message as it came, every reason of its hold named at least once."""
    hold = Hold.objects.select_related("table").get(message_id=message_id)
    message = decode(raw)
    house = terms.house_of(hold.table.stream_id)
    lock = lock_rows.of_hold(hold.table_id, hold.reference)
    if lock is None:
        moment = counts_at(message, instant_nanoseconds(received_at), house)
        house = terms.house_where_it_counts(hold.table.stream_id, message.table, moment)
        game = house.game(house.tables[message.table], moment)
        return held.faults(message, game, hold.reasons, error=hold.error)
    house = terms.house_where_it_counts(hold.table.stream_id, message.table, lock.counts_at)
    game = house.game_on(house.tables[message.table], lock.counts_at, house.links[lock.link])
    return held.faults(message, game, hold.reasons, lock.stakes, hold.error)

"""What people decide about links, tables, rounds, locks, hits and slips (CONTRACT §7), declared to the office."""

from tables.acts.hits import HIT_ACTS
from tables.acts.links import LINK_ACTS
from tables.acts.locks import LOCK_ACTS
from tables.acts.rounds import ROUND_ACTS
from tables.acts.slips import SLIP_ACTS
from tables.acts.tables import TABLE_ACTS

ACTS = (*LINK_ACTS, *ROUND_ACTS, *LOCK_ACTS, *HIT_ACTS, *SLIP_ACTS, *TABLE_ACTS)

"""What people decide about links, tables and rounds (CONTRACT §7), declared to the office."""

from tables.acts.links import LINK_ACTS
from tables.acts.rounds import ROUND_ACTS
from tables.acts.tables import TABLE_ACTS

ACTS = (*LINK_ACTS, *ROUND_ACTS, *TABLE_ACTS)

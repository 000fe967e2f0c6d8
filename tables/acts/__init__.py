"""What people decide about tables and rounds (CONTRACT §7), declared to the office."""

from tables.acts.rounds import ROUND_ACTS
from tables.acts.tables import TABLE_ACTS

ACTS = (*ROUND_ACTS, *TABLE_ACTS)

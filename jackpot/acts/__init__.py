"""What people decide about links and their levels (CONTRACT §7), declared to the office."""

from jackpot.acts.levels import LEVEL_ACTS
from jackpot.acts.links import LINK_ACTS
from jackpot.queries import level_owners, links_by_code

ACTS = (*LEVEL_ACTS, *LINK_ACTS)
SUBJECTS = (("link", links_by_code), ("level", level_owners))

"""Before signing it, see it: proposed terms of a link foreseen, and its own recorded rounds replayed under them."""

"""Reading tables, rounds, holds and payouts."""

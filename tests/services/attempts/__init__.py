"""Attempts to get past a rule of the schema, by the app whose rule it is. Importing them enters them all."""

from tests.services.attempts import accounting, days, devices, jackpot, locks, office, slips, tables  # noqa: F401

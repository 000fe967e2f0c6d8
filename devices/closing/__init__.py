"""Closing a gaming day: the checklist that fills itself, the readings sheet, and where a cent went astray."""

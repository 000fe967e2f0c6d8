"""Worked examples of what every kind of event books."""

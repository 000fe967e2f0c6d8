"""Figures: how fast the service is beside a naive peer and beside the database's own limit. `manage.py bench` runs them."""

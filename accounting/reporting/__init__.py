"""Reports: one shape for all of them, declared by each app in its `reports.py`; the forms that they are handed out in."""

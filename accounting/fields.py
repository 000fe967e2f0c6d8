"""Model fields that several apps declare alike."""

from typing import Any

from django.db import models


def unguarded(to: str, **options: Any) -> Any:
    """A relation whose orphans are refused by a statement trigger once per batch, not by a foreign key per row.

    Rows that settling writes by COPY are declared this way (ARCHITECTURE §4.12).
    """
    options = {"related_name": "+", "db_index": False, **options}
    return models.ForeignKey(to, on_delete=models.DO_NOTHING, db_constraint=False, **options)

"""The app's name for Django."""

from django.apps import AppConfig


class AccountingConfig(AppConfig):
    """The ledger, gaming days, people and the audit trail."""

    name = "accounting"
    label = "accounting"
    verbose_name = "Accounting"

"""The Celery application: `celery -A jackpot.config.celery worker -Q settle`. Tasks live in each app's tasks.py."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jackpot.config.settings")

app = Celery("jackpot")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

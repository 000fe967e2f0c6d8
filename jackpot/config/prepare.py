"""What `up` does to a database before anything is served: migrations, a floor if it is empty, the demo's keys and people."""

import argparse
import json
import os
import sys
from pathlib import Path

import django
import psycopg
from django.apps import apps
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.utils import timezone
from django.utils.module_loading import import_string

from jackpot.config.broker_tables import install_broker
from jackpot.config.data_folder import ROOT, write_private
from jackpot.config.database import as_owner, one_line, refuse_a_pooler, refuse_newer
from jackpot.config.embedded_postgres import DatabaseProblem


def main(argv: list[str]) -> int:
    """Bring the database up to date; write demo.json when this is a demo. Exit code 1 with the reason on standard error."""
    options = argparse.ArgumentParser()
    options.add_argument("--floor", type=Path)
    options.add_argument("--base-url", required=True)
    wanted = options.parse_args(argv)

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jackpot.config.settings")
    django.setup()
    try:
        settings.DATA.create()  # whoever has every key from elsewhere has had no need of it so far
        with as_owner():
            refuse_newer()
            call_command("migrate", interactive=False, verbosity=0)
        refuse_a_pooler()
        if settings.CELERY_BROKER_URL.startswith("pgmq:"):
            where = settings.CELERY_BROKER_TRANSPORT_OPTIONS["conn_string"]
            with psycopg.connect(where, autocommit=True) as connection:
                install_broker(connection)
        if wanted.floor is not None and not apps.get_model("accounting", "Property").objects.exists():
            call_command("load_floor", str(wanted.floor))
            settings.DATA.floor.write_bytes(wanted.floor.read_bytes())
        import_string("accounting.services.releases.put_on_record")(ROOT, at=timezone.now())
    except (OperationalError, psycopg.OperationalError) as away:
        print(f"{one_line(away)}. Is it running, and is DATABASE_URL right?", file=sys.stderr)
        return 1
    except (DatabaseProblem, CommandError, OSError) as refused:
        print(one_line(refused), file=sys.stderr)
        return 1
    if settings.DEMO:
        demo = {"base_url": wanted.base_url, **import_string("devices.demo.ensure")()}
        write_private(settings.DATA.demo, json.dumps(demo, indent=1))
    else:
        import_string("accounting.people.services.demo.retire")(at=timezone.now())
        import_string("devices.demo.retire")()
        settings.DATA.demo.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The web process: `uvicorn jackpot.config.asgi:application`."""

import os
from concurrent.futures import ThreadPoolExecutor

from django.core.asgi import get_asgi_application
from django.utils.module_loading import import_string

from jackpot.config import celery
from jackpot.config.database import serve_when_it_fits

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jackpot.config.settings")
os.environ.setdefault("JACKPOT_ROLE", "web")

celery.app.set_default()  # wakes are published from this process

# Rounds take a way of their own (ARCHITECTURE §8), streams go on by themselves; everything else is Django's.
application = get_asgi_application()
with ThreadPoolExecutor(1) as aside:  # the server imports this inside its event loop, where Django asks no database
    serve_when_it_fits(lambda look: aside.submit(look).result())
for layer in ("jackpot.asgi.Pages", "jackpot.asgi.Streams", "devices.asgi.Posting"):
    application = import_string(layer)(application)

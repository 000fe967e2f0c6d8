"""The web process: `uvicorn jackpot.config.asgi:application`."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jackpot.config.settings")
os.environ.setdefault("JACKPOT_ROLE", "web")

application = get_asgi_application()

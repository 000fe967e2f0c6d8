"""What processes for long work look at whatever the broker does: silent holders, silent devices, funds that fall short.

Each has a thread with a session of its own: what one of them waits for keeps nobody from looking at the other, and who is
waited for is ended by it. Several processes may look side by side; what one has done the next finds done.
"""

import atexit
import threading
from collections.abc import Callable

import structlog
from django.db import OperationalError
from django.utils import timezone

from devices.intake import contact
from devices.intake.settler import WATCH, safely
from jackpot.services import funds

log = structlog.get_logger()

HOLDERS_SECONDS = 1.0  # `accounting.services.holders` counts on it
CONTACT_SECONDS = 2.0
FUNDS_SECONDS = 5.0
STOP_SECONDS = 2.0


class Lookout:
    """Looks again and again by its own clock; what goes wrong is tried again at the next turn."""

    def __init__(self, name: str, look: Callable[[], object], *, every: float) -> None:
        self.name = name
        self.look = look
        self.every = every
        self.over = threading.Event()
        self.thread: threading.Thread | None = None

    def start(self) -> None:
        """From now on."""
        assert self.thread is None, "one thread looks"
        self.thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self.thread.start()
        atexit.register(self.stop)

    def stop(self) -> None:
        """After the look at hand, if it is soon over."""
        self.over.set()
        if self.thread is not None:
            self.thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while not self.over.wait(self.every):
            try:
                safely(self.look)
            except OperationalError as error:  # the database is away
                log.warning("not_looked", at=self.name, error=str(error).strip())
            except Exception:
                log.exception("not_looked", at=self.name)


LOOKOUTS = (
    Lookout("holders", WATCH.look, every=HOLDERS_SECONDS),
    Lookout("contact", lambda: contact.watch(at=timezone.now()), every=CONTACT_SECONDS),
    Lookout("funds", lambda: funds.watch(at=timezone.now()), every=FUNDS_SECONDS),
)

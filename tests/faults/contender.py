"""A process that wants to settle one stream and nothing else, as often as it can, until its input ends.

    python -m tests.faults.contender STREAM LIMIT

Says for every line it reads, and at the end, how often it came to the stream and another was at it, how many batches it
settled, and how many rounds.
"""

import json
import os
import select
import sys
from collections import Counter

import django


def main() -> None:
    """Contend."""
    django.setup()
    from django.utils import timezone

    from devices.intake import settling

    stream, limit = int(sys.argv[1]), int(sys.argv[2])
    done: Counter[str] = Counter()
    print("ready", flush=True)
    while True:
        if select.select([sys.stdin], [], [], 0)[0]:
            if not sys.stdin.readline():
                break
            print(json.dumps(done), flush=True)
        taken = settling.settle_next(stream, clock=timezone.now, limit=limit)
        done["busy"] += taken.busy
        done["batches"] += bool(taken.batch.settled)
        done["settled"] += taken.batch.settled
    print(json.dumps(done), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jackpot.config.settings")
    main()

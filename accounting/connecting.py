"""Sessions beside Django's, to the same servers and under the same conditions."""

from typing import Any

from django.db import connection
from psycopg import pq

SAID = frozenset(option.keyword.decode() for option in pq.Conninfo.get_defaults())


def parameters() -> dict[str, Any]:
    """How Django reaches its database, for `psycopg.connect(**parameters())` and its like.

    That is everything an address can say (hosts, TLS, which of several servers), without what only Django's own connections need.
    """
    return {name: value for name, value in connection.get_connection_params().items() if name in SAID}

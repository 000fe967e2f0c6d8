"""One way of connecting: what an address says holds for Django, for whoever listens, and for the broker on PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest

from jackpot.config import address

TWO = {
    "HOST": "h1,h2",
    "PORT": "5432,5433",
    "NAME": "house",
    "USER": "me",
    "PASSWORD": "p@ss word",
}


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:p%40ss%20word@h1:5432,h2:5433/house?target_session_attrs=read-write",
        "postgres://me:p%40ss%20word@/house?host=h1,h2&port=5432,5433&target_session_attrs=read-write",
    ],
)
def test_several_hosts_are_read_in_both_notations(url: str) -> None:
    read = address.for_django(url)
    assert {name: read[name] for name in TWO} == TWO
    assert read["OPTIONS"] == {**address.CUT_OFF, "target_session_attrs": "read-write"}
    broker = address.conninfo(url)
    assert "host=h1,h2" in broker and "port=5432,5433" in broker and "target_session_attrs=read-write" in broker


def test_an_address_says_itself_how_soon_a_server_is_given_up() -> None:
    url = "postgresql://h/house?connect_timeout=30&keepalives_idle=60&sslmode=verify-full"
    options = address.for_django(url)["OPTIONS"]
    assert (options["connect_timeout"], options["keepalives_idle"], options["sslmode"]) == ("30", "60", "verify-full")
    assert options["keepalives_count"] == 3
    assert "connect_timeout=30" in address.conninfo(url, {"connect_timeout": 2})


def test_a_server_that_is_cut_off_is_given_up_within_five_seconds() -> None:
    """Connecting, waiting for an answer, and sending into nothing (docs/running.md counts on four and one)."""
    options = address.for_django("postgresql://h/house")["OPTIONS"]
    silent = options["keepalives_idle"] + options["keepalives_interval"] * options["keepalives_count"]
    assert (options["connect_timeout"], silent, options["tcp_user_timeout"]) == (5, 5, 3_000)


def test_a_socket_is_a_host() -> None:
    read: dict[str, Any] = address.for_django("postgresql://me@%2Fvar%2Frun:5432/house")
    assert (read["HOST"], read["PORT"]) == ("/var/run", "5432")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("nonsense", "cannot be read (it has no ://)"),
        ("mysql://h/house", "names no PostgreSQL"),
        ("postgresql://h:5432", "names no database"),
        ("postgresql://h:port/house", "cannot be read (a port is a number)"),
        ("postgresql://h1:1,h2:2,h3:3/house?port=1,2", "cannot be read (2 ports for 3 hosts)"),
        ("postgresql://h/house?pool=3", 'cannot be read (invalid URI query parameter: "pool")'),
        ("postgresql://[::1/house", 'cannot be read (end of string reached when looking for matching "]"'),
        ("postgresql://me:%zz@h/house", 'cannot be read (invalid percent-encoded token: "%zz")'),
    ],
)
def test_an_address_that_cannot_be_right_says_why(url: str, why: str) -> None:
    with pytest.raises(address.WrongAddress) as wrong:
        address.read(url)
    assert str(wrong.value).startswith(why)

"""Keys of devices: what is done to one leaves the others as they are (devices/enrolment.py)."""

from __future__ import annotations

import pytest

from devices import enrolment
from devices.models import Device
from tests.services.house import ALONE, LINKED, RECEIVED, House


@pytest.mark.parametrize("named", ["IDP-1", "IDP-2", "IDP-3"])
def test_of_several_devices_the_one_that_is_named_is_changed(named: str, house: House) -> None:
    for code in ("IDP-2", "IDP-1", "IDP-3"):
        enrolment.enrol(code, [LINKED], key=f"key of {code}", by="sam", at=RECEIVED)
    others = Device.objects.exclude(code=named)
    before = list(others.values_list("code", "key_digest", "tables__code"))
    was = Device.objects.get(code=named).key_digest

    enrolment.renew(named, [ALONE], key="another key", by="sam", at=RECEIVED)
    renewed = Device.objects.get(code=named)
    assert renewed.key_digest not in (None, was)
    assert list(renewed.tables.values_list("code", flat=True)) == [ALONE]
    assert list(others.values_list("code", "key_digest", "tables__code")) == before

    enrolment.withdraw(named, by="sam", at=RECEIVED)
    assert Device.objects.get(code=named).key_digest is None
    assert list(others.values_list("code", "key_digest", "tables__code")) == before

"""Python's collector of circular garbage, out of the way while many objects are alive that are in no circle."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """A batch makes a hundred thousand objects, none in a circle, and frees them all at its end; looking for circles
    meanwhile cost a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

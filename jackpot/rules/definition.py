"""Definitions: the tables of a floor file or of a paytable's TOML, read key by key.

Whatever is wrong is refused with the dotted path of the key at fault, as CONTRACT §1 asks, so that
the person who typed it finds the place at once.  Whole numbers are never taken from booleans or floats.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from accounting.rules.acts import escaped

# Ten trillion dollars: more than any floor holds, and far inside a database's whole numbers.
MOST_CENTS: Final = 10**15
LONGEST_TEXT: Final = 64
PLAIN_CODE: Final = re.compile(r"[!-.0-~]+", re.ASCII)
"""What a code is made of that is given today: printable ASCII without blanks and slashes, so that none looks like another."""


class DefinitionRefused(ValueError):
    """A definition cannot stand; `path` names the key at fault, `detail` says why, `pointer` is its RFC 6901 pointer.

    `code` is `unknown_field`, `missing_field` or `invalid_value`.
    """

    def __init__(self, path: str, detail: str, code: str = "invalid_value", pointer: str | None = None) -> None:
        super().__init__(f"{path}: {detail}")
        self.path = path
        self.detail = detail
        self.code = code
        self.pointer = pointer_of(path) if pointer is None else pointer


def pointer_of(path: str) -> str:
    """A dotted path of known keys as an RFC 6901 pointer: `levels[0].code` is `/levels/0/code`."""
    return "".join(f"/{step}" for step in path.replace("[", ".").replace("]", "").split(".") if step)


class Required:
    """Stands for "there is no default"."""


REQUIRED: Final = Required()


class Definition:
    """One table of a definition, at its dotted path; unknown keys are refused when it is opened."""

    __slots__ = ("path", "values")

    def __init__(self, value: object, path: str, keys: Collection[str]) -> None:
        if not isinstance(value, Mapping):
            raise DefinitionRefused(path or "definition", "a table of keys is expected", pointer=pointer_of(path))
        self.values: Mapping[str, Any] = value
        self.path = path
        for key in value:
            if key not in keys:
                raise self.refuse(key, "unknown key", "unknown_field")

    def at(self, key: str) -> str:
        """The dotted path of one of this table's keys."""
        return f"{self.path}.{key}" if self.path else key

    def refuse(self, key: str, detail: str, code: str = "invalid_value") -> DefinitionRefused:
        """The refusal of one key, to be raised by the caller."""
        return DefinitionRefused(self.at(key), detail, code, f"{pointer_of(self.path)}/{escaped(key)}")

    def _given(self, key: str, default: object) -> bool:
        if key in self.values:
            return True
        if default is REQUIRED:
            raise self.refuse(key, "missing", "missing_field")
        return False

    def text(self, key: str, default: str | Required = REQUIRED, longest: int = LONGEST_TEXT) -> str:
        """A printable text of at least one character, without blanks around it."""
        if not self._given(key, default):
            return str(default)
        value = self.values[key]
        if not isinstance(value, str) or not value or value.strip() != value or not value.isprintable():
            raise self.refuse(key, "a text is expected")
        if len(value) > longest:
            raise self.refuse(key, f"{longest} characters at most")
        return value

    def choice(self, key: str, allowed: tuple[str, ...], default: str | Required = REQUIRED) -> str:
        """One of the allowed words."""
        if not self._given(key, default):
            return str(default)
        value = self.values[key]
        if not isinstance(value, str) or value not in allowed:
            raise self.refuse(key, f"{' or '.join(allowed)} is expected")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.refuse(key, "true or false is expected")
        return value

    def integer(self, key: str, least: int, most: int = MOST_CENTS) -> int:
        """A whole number from `least` to `most`."""
        self._given(key, REQUIRED)
        value = self.values[key]
        if type(value) is not int:
            raise self.refuse(key, "a whole number is expected")
        if value < least:
            raise self.refuse(key, f"{least} at least ({key} = {value})")
        if value > most:
            raise self.refuse(key, f"{most} at most ({key} = {value})")
        return value

    def optional_integer(self, key: str, least: int, most: int = MOST_CENTS) -> int | None:
        """A whole number, or None where the key is left out."""
        return self.integer(key, least, most) if key in self.values else None

    def items(self, key: str, required: bool = False) -> list[tuple[str, object]]:
        """The items of a list, each with its own dotted path; none where an optional key is left out."""
        if not self._given(key, REQUIRED if required else None):
            return []
        value = self.values[key]
        if not isinstance(value, list | tuple):
            raise self.refuse(key, "a list is expected")
        if required and not value:
            raise self.refuse(key, "one at least")
        return [(f"{self.at(key)}[{index}]", item) for index, item in enumerate(value)]

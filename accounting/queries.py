"""Reading the property, its gaming days and the ledger."""

from accounting.models import Property


class NoProperty(LookupError):
    """No floor was loaded yet: `manage.py load_floor FLOOR.toml` creates the property."""


def the_property() -> Property:
    """The one property this service serves. Raises NoProperty before a floor was loaded."""
    found = Property.objects.first()
    if found is None:
        raise NoProperty("no property yet: run `python3 manage.py load_floor FLOOR.toml`")
    return found

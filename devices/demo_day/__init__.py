"""A gaming day with every kind of event and act, played through the real services on an empty demo house."""

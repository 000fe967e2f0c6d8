"""A floor that plays by itself: cards, players and gateways, seen from outside the service.

Nothing here touches the database or Django. The simulator knows what a gateway knows (the floor file
and its key) and speaks the public interface, so whatever it proves holds for real tables as well.
"""

"""How a payout was reached, from the message's cards to the ledger (CONTRACT §5)."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from devices import queries
from devices.audit import on_the_spot
from tables.queries import payouts


class Explanation(APIView):
    """One payout explained."""

    @extend_schema(responses=OpenApiTypes.OBJECT, operation_id="payout_explanation")
    def get(self, request: Request, payout_id: str) -> Response:
        """Cards, hand, paytable row, meter before and after, ledger entries and the hash of its event."""
        found = queries.explanation_of(payout_id)
        if found is None:
            raise NotFound(f"no payout {payout_id}")
        return Response(found)


class Verification(APIView):
    """One payout's event decided again on the spot."""

    @extend_schema(responses=OpenApiTypes.OBJECT, operation_id="payout_verification")
    def get(self, request: Request, payout_id: str) -> Response:
        """What was compared in words, the meters before and after, and the first difference if there is one."""
        key = payouts.parse_id(payout_id)
        if key is None or payouts.place_of(payout_id) is None:
            raise NotFound(f"no payout {payout_id}")
        return Response(on_the_spot.look(key[0], key[1]).shown())

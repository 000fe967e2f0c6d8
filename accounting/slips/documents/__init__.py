"""Slips as they are filed: what a page says, in words, and the page."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from accounting import typesetting

FOLDER: Final = Path(__file__).parent
CARDS: Final = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}


def slip_document(slip: Mapping[str, Any], *, copy: int, by: str, at: datetime) -> bytes:
    """A slip as one page of PDF; `copy` 0 is the original, every other one says that it is a duplicate, by whom and when."""
    return compiled("slip.typ", slip_data(slip, copy=copy, by=by, at=at))


def slip_data(slip: Mapping[str, Any], *, copy: int, by: str, at: datetime) -> dict[str, Any]:
    """All that the page says, in words: amounts, times on the property's clock, cards with their suits."""
    zone = ZoneInfo(slip["time_zone"])
    payout, issued = slip["facts"]["payout"], slip["facts"]["issued"]

    def when(moment: datetime | str | None) -> str:
        if moment is None:
            return ""
        instant = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        return instant.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S %Z")

    hit = payout["hit"]
    return {
        "property": slip["property"],
        "code": slip["property_code"],
        "number": slip["slip"],
        "copy": copy,
        "printed": f"{by}, {when(at)}",
        "state": slip["state"],
        "void": None
        if slip["void_at"] is None
        else {
            "reason": slip["void_reason"],
            "by": slip["void_by"],
            "agreed": slip["void_agreed_by"],
            "at": when(slip["void_at"]),
            "replaced": slip["replaced_by"] or "",
        },
        "replaces": slip["replaces"] or "",
        "kind": "Progressive jackpot" if slip["kind"] == "hit" else "Envy bonus",
        "issued": when(issued["at"]),
        "gaming_date": issued["gaming_date"],
        "table": payout["table"],
        "game": words(payout["game"]),
        "seat": payout["seat"],
        "round": payout["round"],
        "counts": when(payout["counts_at"]),
        "day": payout["gaming_date"],
        "link": payout["link"],
        "paytable": payout["paytable"],
        "hand": words(payout["hand"]),
        "cards": [card(one) for one in payout["cards"]],
        "community": [card(one) for one in payout["community"]],
        "wager": money(payout["wager_cents"]),
        "level": payout["level"] or "",
        "hit": hit["name"],
        "hit_seat": hit["seat"],
        "share": percent(hit["share_ppm"]),
        "meter_before": money(hit["meter_before_cents"]),
        "meter_after": money(hit["meter_after_cents"]),
        "is_envy": slip["kind"] == "envy",
        "gross": money(slip["cents"]),
        "gross_words": slip["words"],
        "withheld": money(slip["withheld_cents"]),
        "withholding": ", ".join(
            sorted({words(form["withholding"]) for form in slip["forms"] if form["withheld_cents"]})
        ),
        "taxed": bool(slip["forms"]),
        "forms": len(slip["forms"]),
        "forms_open": slip["forms_open"],
        "net": money(slip["net_cents"]),
        "net_words": slip["net_words"],
        "method": "Cage" if slip["method"] == "cage" else f"Table {payout['table']}",
        "form": words(slip["form"]),
        "checks": [{"name": words(check["check"]), "done": check["done"]} for check in payout["checks"]],
        "override": slip["override"],
        "signatures": [{"what": one["what"], "by": one["by"], "at": when(one["at"])} for one in payout["steps"]],
        "prepared": slip["prepared_by"],
        "agreed": issued["approved_by"],
        "paid_by": slip["paid_by"] or "",
        "paid_at": when(slip["paid_at"]),
        "event": f"{payout['event']['stream']} no. {payout['event']['sequence']}, line {payout['event']['line']}",
        "hash": payout["event"]["hash"],
        "payout": payout["id"],
        "digest": slip["digest"],
    }


def compiled(template: str, data: Mapping[str, Any], form: Literal["pdf", "png"] = "pdf") -> bytes:
    """One of these templates with its data as PDF, or its first page as a picture."""
    return typesetting.compiled(FOLDER / template, data, form)


def money(cents: int) -> str:
    """Whole cents in dollars: `$12,345.67`."""
    dollars, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}${dollars:,}.{rest:02d}"


def percent(ppm: int) -> str:
    """A share of a level: `12.5%`."""
    whole, rest = divmod(ppm, 10_000)
    return f"{whole}.{rest:04d}".rstrip("0").rstrip(".") + "%"


def words(code: str | None) -> str:
    """A code as people say it: `royal_flush` is Royal flush."""
    said = (code or "").replace("_", " ").replace("-", " ")
    return said[:1].upper() + said[1:]


def card(code: str) -> dict[str, Any]:
    """A card with its suit as a sign: what it shows, and whether it is red."""
    rank, suit = code[:-1].replace("T", "10"), code[-1]
    return {"rank": rank, "suit": CARDS.get(suit, suit), "red": suit in "dh"}

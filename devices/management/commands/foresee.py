"""`python3 manage.py foresee LINK TERMS`: what proposed terms would come to, and the link's record replayed under them."""

import sys
from argparse import ArgumentParser
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounting.rules.moments import instant, is_moment
from devices.audit.findings import ProcessDied
from devices.audit.side_by_side import processes_for
from devices.foresight import proposed, words
from devices.foresight.proposed import ProposedRefused, Standing
from devices.foresight.replay import NotReplayable, Sides, replay
from devices.foresight.report import of_sides, told
from jackpot.rules.link import LinkTerms
from jackpot.rules.probability import NoProbability
from tables.odds.foreseeing import SEED, Foreseen, foresee


class Command(BaseCommand):
    """Prints a table; exit 0 when it could be foreseen, 2 when the terms cannot stand."""

    help = (
        "Hits, meters, returns, costs, reserve and overflow under proposed terms of a link, today's beside them, and the link's"
        " own rounds replayed. TERMS is a TOML or JSON file: levels that change as link.terms names them, or a whole link."
    )
    example = "foresee bay-dollar terms.toml --from 2026-11-01T06:00:00-05:00"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("link", metavar="LINK", help="the code of the link; a new one's own")
        parser.add_argument("terms", metavar="TERMS", help="the file of the proposed terms; - is standard input")
        parser.add_argument(
            "--wagers", type=int, metavar="N", help="progressive wagers a month; as on record if not said"
        )
        parser.add_argument("--seed", type=int, default=SEED, help=f"of what is simulated; {SEED} if not said")
        parser.add_argument(
            "--from", dest="since", metavar="MOMENT", help="replay from here on; from the opening if not said"
        )
        parser.add_argument("--to", dest="until", metavar="MOMENT", help="replay up to here; up to now if not said")
        parser.add_argument("--no-replay", action="store_true", help="only foresee")

    def handle(self, *args: Any, **options: Any) -> None:
        at = timezone.now()
        code = options["link"]
        since, until = (_moment(options[name], f"--{word}") for name, word in (("since", "from"), ("until", "to")))
        link = proposed.standing(code, at)
        try:
            terms, start = proposed.of_file(proposed.read_file(_text(options["terms"])), code, link)
        except ProposedRefused as refusal:
            raise CommandError(f"refused: {refusal}") from None
        wagers = options["wagers"]
        if wagers is None and link is not None:
            wagers = link.wagers_a_month
        if wagers is None:
            raise CommandError("--wagers: how many progressive wagers a month; the record does not say it yet")
        try:
            found = foresee(terms, start, wagers, options["seed"])
            today = foresee(link.terms, link.meters, wagers, options["seed"]) if link else None
        except (NoProbability, ValueError) as refusal:
            raise CommandError(str(refusal)) from None
        self._foreseen(found, today)
        if link is not None and not options["no_replay"]:
            self._replayed(link, terms, since, until)

    def _foreseen(self, found: Foreseen, today: Foreseen | None) -> None:
        self.stdout.write(f"{found.link.code}: {words.basis(found)}")
        known = {level.terms.code: level for level in today.levels} if today else {}
        for level in found.levels:
            code = level.terms.code
            lines = words.level_lines(level, known.get(code)) + words.return_lines(level, known.get(code))
            self._table(f"level {code}", lines)
        self._table("the link", words.link_lines(found, today))

    def _table(self, title: str, lines: list[words.Line]) -> None:
        rows = []
        for label, before, after in lines:
            cells = ["", ""] if before is None else [before.text, before.band]
            rows.append([label, *cells, after.text, after.band, after.how])
        head = [title, "today", "5 % to 95 %", "proposed", "5 % to 95 %", "how"]
        self.stdout.write("\n".join(["", *words.table(head, rows)]))

    def _replayed(self, link: Standing, terms: LinkTerms, since: datetime | None, until: datetime | None) -> None:
        first, last = proposed.period(link, since, until)
        if first > last:
            self.stdout.write("\nno rounds on record in this period")
            return
        try:
            sides = replay(link, terms, first, last, processes=processes_for(last - first + 1))
        except (NotReplayable, ProcessDied) as refusal:
            raise CommandError(f"not replayed: {refusal}") from None
        self._sides(sides)

    def _sides(self, sides: Sides) -> None:
        self.stdout.write(f"\n{told(sides)}; {sides.acts:,} acts carried over, {sides.wagers:,} progressive wagers")
        for reason, rounds in sides.held.items():
            self.stdout.write(f"{rounds:,} rounds would have been held: {reason.replace('_', ' ')}")
        found = of_sides(sides)
        for level in found["levels"]:
            head = [f"level {level['code']}", "as it was", "as it would have been", "difference"]
            self.stdout.write("\n".join(["", *words.table(head, words.replayed_lines(level))]))


def _moment(text: str | None, name: str) -> datetime | None:
    if text is None:
        return None
    if not is_moment(text):
        raise CommandError(f"{name}: a moment like 2026-11-27T21:14:05-05:00 is expected")
    return instant(text)


def _text(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
    except OSError as trouble:
        raise CommandError(f"{file}: {trouble.strerror}") from None
    except UnicodeDecodeError as problem:
        raise CommandError(f"{file}: not UTF-8: {problem}") from None

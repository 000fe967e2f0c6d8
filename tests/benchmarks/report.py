"""Figures gathered, shown as tables and written as JSON."""

import json
import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg
from rich.console import Console
from rich.table import Table

SERVER_SETTINGS = (
    "server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_sync_method", "wal_compression",
    "shared_buffers", "max_wal_size", "checkpoint_timeout", "autovacuum", "default_toast_compression", "jit",
)  # fmt: skip


@dataclass(slots=True)
class Figures:
    """One table: a title, the columns, the rows, and what must be said beside them."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: Any) -> None:
        """One row, in the order of the columns."""
        assert len(cells) == len(self.columns), (cells, self.columns)
        self.rows.append(cells)

    def note(self, words: str) -> None:
        """A sentence below the table."""
        self.notes.append(words)

    def shown(self) -> Table:
        """The table for a terminal."""
        table = Table(title=self.title, title_justify="left", title_style="bold", caption="\n".join(self.notes),
                      caption_justify="left", caption_style="")  # fmt: skip
        for index, column in enumerate(self.columns):
            table.add_column(column, justify="left" if index == 0 else "right")
        for row in self.rows:
            table.add_row(*(number(cell) for cell in row))
        return table

    def as_json(self) -> dict[str, Any]:
        """The same for a file."""
        return {
            "title": self.title,
            "rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows],
            "notes": self.notes,
        }


def number(value: Any) -> str:
    """A figure with as many digits as mean something."""
    if isinstance(value, float):
        if value != value:
            return "–"
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.1f}" if abs(value) >= 10 else f"{value:,.2f}"
    if isinstance(value, int):
        return f"{value:,}"
    return "–" if value is None else str(value)


def median(values: Iterable[float]) -> float:
    """The middle of several runs."""
    return statistics.median(values)


def spread(values: Sequence[float]) -> str:
    """Lowest and highest of several runs."""
    return f"{number(min(values))}-{number(max(values))}"


def machine() -> dict[str, str]:
    """What the figures were taken on; two machines' figures are not to be compared."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        found = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = found[0] if found else model
    load = os.getloadavg()
    return {
        "cpu": model,
        "cores": str(os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load before": f"{load[0]:.1f} {load[1]:.1f} {load[2]:.1f}",
    }


def server_settings(connection: psycopg.Connection[Any]) -> dict[str, str]:
    """The settings of the server that both product and peer ran on."""
    rows = connection.execute(
        "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY(%s)", [list(SERVER_SETTINGS)]
    )
    return dict(rows.fetchall())


def describe(console: Console, title: str, facts: dict[str, str]) -> None:
    """Facts on a few lines."""
    console.print(f"[bold]{title}[/bold]  " + " · ".join(f"{name} {value}" for name, value in facts.items()))


def write(file: Path, figures: Sequence[Figures], about: dict[str, dict[str, str]]) -> None:
    """Everything into a JSON file."""
    file.write_text(json.dumps({**about, "tables": [each.as_json() for each in figures]}, indent=1))

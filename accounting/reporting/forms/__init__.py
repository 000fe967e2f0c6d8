"""The forms that a report is handed out in: CSV, XLSX, PDF and JSON."""

from typing import Final

CSV: Final = "csv"
XLSX: Final = "xlsx"
PDF: Final = "pdf"
JSON: Final = "json"
FILES: Final = (CSV, XLSX, PDF)
FORMS: Final = (JSON, *FILES)

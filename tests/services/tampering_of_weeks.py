"""Changes of weekly reviews past the guards that `manage.py verify` must find; `test_weeks` tries each."""

TAMPERING_OF_WEEKS = {
    "the sheet of a week": (
        "UPDATE tables_weeksheet SET content = '{}', digest = sha256('{}')",
        "sheet of week 2026-W48: as the audit",
    ),
    "what a reviewer of a week found": (
        "UPDATE tables_weekreview SET note = 'nothing'",
        "signature of ann under week 2026-W48: as the audit",
    ),
    "who signed a week": (
        "UPDATE tables_weekreview SET by = 'bob'",
        "signature of bob under week 2026-W48: as the audit",
    ),
    "a signature under a week that is gone": (
        "DELETE FROM tables_weekreview",
        "weeks: row on the audit trail that is gone",
    ),
    "a signature under a week more": (
        "INSERT INTO tables_weekreview (first, at, by, note) SELECT first, at, 'eve', note FROM tables_weekreview",
        "signature of eve under week 2026-W48: as the audit",
    ),
}  # fmt: skip

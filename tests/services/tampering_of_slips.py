"""Changes of slips past the guards that `manage.py verify` must find; `test_slips` tries each, `docs/verify.md` lists them."""

TAMPERING_OF_SLIPS = {
    "a slip taken out of the register": (
        "DELETE FROM slips_slip WHERE number = 2",
        "slips: numbers that no slip has:",
    ),
    "what a slip says was won": (
        "UPDATE slips_slip SET facts = f, digest = sha256(f) FROM (SELECT number AS n,"
        " replace(convert_from(facts, 'UTF8'), '\"hand\":\"royal_flush\"', '\"hand\":\"straight_flush\"')::bytea AS f"
        " FROM slips_slip) changed WHERE n = number",
        "slip 000001 (MS-101/R-1/1/3): what was won:",
    ),
    "who prepared a slip, in its facts": (
        "UPDATE slips_slip SET facts = f, digest = sha256(f) FROM (SELECT number AS n,"
        " replace(convert_from(facts, 'UTF8'), '\"by\":\"cage.one\",\"form\"', '\"by\":\"x\",\"form\"')::bytea AS f"
        " FROM slips_slip) changed WHERE n = number",
        "slip 000001 (MS-101/R-1/1/3): columns:",
    ),
    "a tax form": (
        "UPDATE slips_taxform SET winnings_cents = winnings_cents + 1",
        "work out tax forms W-2G of 000003, payee 1: as the audit trail has it:",
    ),
    "what was withheld": (
        "UPDATE slips_taxform SET withheld_cents = withheld_cents + 1",
        "slip 000003 (ms-mg01-000001): tax that was booked:",
    ),
    "tax that nobody owed": (
        "UPDATE slips_taxform SET withheld_cents = 0, withholding = 'none'",
        "tax of ms-mg01-000001: tax that was booked:",
    ),
    "who won": (
        "UPDATE slips_particulars SET sealed = 'x'", "take down particulars ms-mg01-000001 payee 1: as the audit trail has it:",
    ),
    "the amount of a slip": (
        "UPDATE slips_slip SET cents = cents + 1 WHERE number = 1", "slip 000001 (MS-101/R-1/1/3): columns:",
    ),
    "why a slip is void": ("UPDATE slips_slipvoid SET reason = 'other'", "void slip 000001 void: as the audit trail has it:"),
    "a slip no longer void": (
        "DELETE FROM slips_slipvoid", "slips: row on the audit trail that is gone: void slip:",
    ),
    "who paid a slip": (
        "UPDATE slips_slippayment SET by = 'x' WHERE slip_id = 2", "pay slip 000002 paid: as the audit trail has it:",
    ),
    "the event that paid a slip": (
        "UPDATE slips_slippayment SET event = 1 WHERE slip_id = 2", "slip 000002 (MS-101/R-1/1/3): event that paid it:",
    ),
    "a print of a slip": (
        "UPDATE slips_slipprint SET content = 'x', digest = sha256('x')",
        "print slip 000001 copy 0: as the audit trail has it:",
    ),
    "a print that is gone": (
        "DELETE FROM slips_slipprint", "slips: row on the audit trail that is gone: print slip:",
    ),
}  # fmt: skip

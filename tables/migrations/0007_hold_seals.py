"""A hold's facts are bound together by a seal, and it is for reasons of the list."""

from django.db import migrations, models

SEAL = r"""
ALTER TABLE tables_hold DISABLE TRIGGER append_only;
UPDATE tables_hold SET seal = sha256(sha256(settlement) || convert_to(
    rules || E'\n' || message_id || E'\n' || (extract(epoch FROM dealt_at) * 1000000)::bigint || E'\n'
    || (extract(epoch FROM held_at) * 1000000)::bigint || E'\n' || error, 'UTF8'));
ALTER TABLE tables_hold ENABLE TRIGGER append_only;
"""
REASONS = [
    "duplicate_card", "wrong_card_count", "wager_not_offered", "wager_not_allowed", "wager_after_fold",
    "wager_out_of_order", "seat_not_at_table", "players_mismatch", "deck_count_wrong", "cover_all_mode_off",
    "too_many_hits", "unreasonable_contribution", "result_impossible", "link_not_open", "table_closed", "lock_mismatch",
    "processing_error",
]  # fmt: skip


class Migration(migrations.Migration):
    dependencies = [("tables", "0006_counts_at")]

    operations = [
        migrations.AddField("hold", "rules", models.SmallIntegerField(default=1), preserve_default=False),
        migrations.AddField("hold", "seal", models.BinaryField(default=b"", max_length=32), preserve_default=False),
        migrations.RunSQL([SEAL], migrations.RunSQL.noop),
        migrations.AddConstraint(
            "hold",
            models.CheckConstraint(condition=models.Q(rules__gte=1), name="a_hold_names_its_rules_edition"),
        ),
        migrations.AddConstraint(
            "hold",
            models.CheckConstraint(
                condition=models.Q(reasons__contained_by=REASONS), name="a_hold_is_for_reasons_of_the_list"
            ),
        ),
    ]

"""Every event keeps its cause and result, and the rules edition that it was decided under (ARCHITECTURE §3a)."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("accounting", "0004_closed_through"),
    ]

    operations = [
        migrations.CreateModel(
            name='Document',
            fields=[
                ('pk', models.CompositePrimaryKey('stream', 'sequence', blank=True, editable=False, primary_key=True, serialize=False)),
                ('sequence', models.BigIntegerField()),
                ('stream', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounting.stream')),
                ('cause', models.BinaryField()),
                ('result', models.BinaryField()),
            ],
        ),
        migrations.AddField(
            model_name='event',
            name='rules',
            field=models.SmallIntegerField(default=1),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name='account',
            name='kind',
            field=models.CharField(max_length=20),
        ),
        migrations.AlterField(
            model_name='event',
            name='kind',
            field=models.CharField(max_length=16),
        ),
        migrations.AlterField(
            model_name='transfer',
            name='reason',
            field=models.CharField(max_length=16),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ('awards_payable', 'unclaimed', 'withholding_payable', 'cage', 'wagers', 'fixed_pays', 'envy', 'contribution_expense', 'seed_expense', 'revenue', 'adjustments', 'inventory', 'liability', 'reserve', 'overflow'))), name='an_account_is_of_the_chart'),
        ),
        migrations.AddConstraint(
            model_name='event',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ('opened', 'round', 'lock', 'table.install', 'link.open', 'link.suspend', 'link.resume', 'link.close', 'link.terms', 'table.join', 'table.leave', 'table.open', 'table.close', 'table.terms', 'level.adjust', 'level.transfer', 'hit.verify', 'hit.approve', 'hit.pay', 'hit.reject', 'payout.pay', 'round.release', 'round.correct', 'round.void', 'lock.void', 'day.close'))), name='an_event_is_of_a_known_kind'),
        ),
        migrations.AddConstraint(
            model_name='event',
            constraint=models.CheckConstraint(condition=models.Q(('rules__gte', 1)), name='an_event_names_its_rules_edition'),
        ),
        migrations.AddConstraint(
            model_name='transfer',
            constraint=models.CheckConstraint(condition=models.Q(('reason__in', ('wager', 'fixed_pay', 'envy', 'contribution', 'award', 'seed', 'top_up', 'overflow', 'rejection', 'void', 'payment', 'transfer', 'correction', 'boost', 'malfunction', 'over_limit', 'reserve_release', 'regulator_order', 'revenue_booked'))), name='a_transfer_has_a_reason_of_the_list'),
        ),
    ]

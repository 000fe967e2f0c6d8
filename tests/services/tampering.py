"""Every change past the guards that `manage.py verify` must find: what is done, and what must be named.

`docs/verify.md` is written from this list, `test_verify` tries each on a house that was played.
"""

# What is done; what must be named: the place, and the words for what differs there.
TAMPERING = {
    "a byte of a settlement": (
        "UPDATE tables_round SET settlement = overlay(settlement placing '\\x39'::bytea from 12 for 1)"
        " WHERE reference = 'R-6'",
        "stream ms-mg01, sequence 5 (MS-102/R-6): settlement:",
    ),
    "a byte of a message": (
        "UPDATE devices_message SET raw = replace(convert_from(raw, 'UTF8'), '\"3s\"', '\"4s\"')::bytea"
        " WHERE id = $first",
        "stream ms-mg01, sequence 1 (MS-101/R-1): digest of the message:",
    ),
    "a message that is none any more": (
        "UPDATE devices_message SET raw = 'x' WHERE id = $first",
        "stream ms-mg01, sequence 1 (MS-101/R-1): message:",
    ),
    "the digest of a message": (
        "UPDATE devices_message SET digest = sha256(raw) WHERE id = $first",
        "stream ms-mg01, sequence 1 (MS-101/R-1): digest of the message:",
    ),
    "a held message": (
        "UPDATE devices_message SET raw = replace(convert_from(raw, 'UTF8'), '\"3s\"', '\"4s\"')::bytea"
        " WHERE reference = 'R-4'",
        "held message $held (R-4): digest of the message:",
    ),
    "a held message that is none any more": (
        "UPDATE devices_message SET raw = 'x' WHERE reference = 'R-4'",
        "held message $held (R-4): message: expected JSON, found",
    ),
    "why a round is held": (
        "UPDATE tables_hold SET reasons = '{wrong_card_count}',"
        " settlement = replace(convert_from(settlement, 'UTF8'), 'duplicate_card', 'wrong_card_count')::bytea",
        "held message $held (R-4): seal of its times, error and settlement:",
    ),
    "why a round is held, sealed anew": (
        "UPDATE tables_hold SET reasons = '{wrong_card_count}', settlement = changed.settlement,"
        " seal = sha256(sha256(changed.settlement) || convert_to(rules || E'\\n' || message_id || E'\\n'"
        " || (extract(epoch FROM dealt_at) * 1000000)::bigint || E'\\n'"
        " || (extract(epoch FROM held_at) * 1000000)::bigint || E'\\n' || stream_id || E'\\n' || before_sequence"
        " || E'\\n' || error, 'UTF8'))"
        " FROM (SELECT replace(convert_from(settlement, 'UTF8'), 'duplicate_card', 'wrong_card_count')::bytea AS settlement"
        " FROM tables_hold) changed",
        "held message $held (R-4): why it is held:",
    ),
    "when a round was held": (
        "UPDATE tables_hold SET held_at = held_at + interval '1 microsecond'",
        "held message $held (R-4): seal of its times, error and settlement:",
    ),
    "what a hold knew": (
        "UPDATE tables_hold SET before_sequence = before_sequence + 1",
        "held message $held (R-4): seal of its times, error and settlement:",
    ),
    "on which stream a round was held": (
        "UPDATE tables_hold SET stream_id = stream_id + 1",
        "held message $held (R-4): seal of its times, error and settlement:",
    ),
    "when a held round was dealt": (
        "UPDATE tables_hold SET dealt_at = dealt_at - interval '1 second'",
        "held message $held (R-4): seal of its times, error and settlement:",
    ),
    "the reasons of a hold": (
        "UPDATE tables_hold SET reasons = '{table_closed}'",
        "held message $held (R-4): round and reasons:",
    ),
    "the table of a hold": (
        "UPDATE tables_hold SET table_id = table_id + 1",
        "held message $held (R-4): table and reference:",
    ),
    "the amount of a transfer": (
        "UPDATE accounting_transfer SET amount_cents = amount_cents + 1"
        " WHERE stream_id = $stream AND sequence = 2 AND line = 2",
        "stream ms-mg01, sequence 2 (MS-101/R-2): ledger transfers:",
    ),
    "the accounts of a transfer": (
        "UPDATE accounting_transfer SET credit_id = debit_id, debit_id = credit_id"
        " WHERE stream_id = $stream AND sequence = 2 AND line = 1",
        "sequence 2 (MS-101/R-2): ledger transfers:",
    ),
    "the reason of a transfer": (
        "UPDATE accounting_transfer SET reason = 'award' WHERE stream_id = $stream AND sequence = 1 AND line = 1",
        "sequence 1 (MS-101/R-1): ledger transfers:",
    ),
    "a transfer taken out": (
        "DELETE FROM accounting_transfer WHERE stream_id = $stream AND sequence = 2 AND line = 3",
        "sequence 2 (MS-101/R-2): ledger transfers:",
    ),
    "a transfer put in": (
        "INSERT INTO accounting_transfer (stream_id, sequence, line, debit_id, credit_id, amount_cents, reason)"
        " SELECT stream_id, sequence, 50, debit_id, credit_id, 1, reason FROM accounting_transfer"
        " WHERE stream_id = $stream AND sequence = 2 AND line = 1",
        "sequence 2 (MS-101/R-2): ledger transfers:",
    ),
    "a transfer of the opening": (
        "UPDATE accounting_transfer SET amount_cents = 1 WHERE stream_id = $stream AND sequence = 0",
        "sequence 0 (ms-mg01): ledger transfers:",
    ),
    "the cents of a payout": (
        "UPDATE tables_payout SET cents = cents + 1 WHERE kind = 'level' AND stream_id = $stream AND sequence = 5",
        "sequence 5 (MS-102/R-6): payouts:",
    ),
    "the level of a payout": (
        "UPDATE tables_payout SET level_id = NULL WHERE kind = 'level' AND stream_id = $stream AND sequence = 5",
        "sequence 5 (MS-102/R-6): payouts:",
    ),
    "a payout taken out": (
        "DELETE FROM tables_payout WHERE kind = 'envy' AND stream_id = $stream AND sequence = 5",
        "sequence 5 (MS-102/R-6): payouts:",
    ),
    "a payout put in": (
        "INSERT INTO tables_payout SELECT (jsonb_populate_record(p, '{\"line\": 77}')).* FROM tables_payout p"
        " WHERE stream_id = $stream AND sequence = 5 AND kind = 'envy'",
        "sequence 5 (MS-102/R-6): payouts:",
    ),
    "a payout of a round that never was": (
        "INSERT INTO tables_payout SELECT (jsonb_populate_record(p, '{\"sequence\": 4711}')).* FROM tables_payout p"
        " WHERE stream_id = $stream AND sequence = 5 AND kind = 'envy'",
        "stream ms-mg01: payouts after the last event:",
    ),
    "a transfer of an event that never was": (
        "INSERT INTO accounting_transfer SELECT (jsonb_populate_record(t, '{\"sequence\": 4711}')).* FROM accounting_transfer t"
        " WHERE stream_id = $stream AND sequence = 5 AND line = 1",
        "stream ms-mg01: transfers after the last event:",
    ),
    "a hit that never was": (
        "INSERT INTO jackpot_hit SELECT (jsonb_populate_record(h, '{\"sequence\": 4711, \"id\": 4711, \"number\": 4711}')).*"
        " FROM jackpot_hit h WHERE link_id = $link AND sequence = 5",
        "stream ms-mg01: hits after the last event:",
    ),
    "a round without an event": (
        "INSERT INTO tables_round SELECT (jsonb_populate_record(r, '{\"sequence\": 4711, \"message_id\": $waiting}')).*"
        " FROM tables_round r WHERE stream_id = $stream AND sequence = 5",
        "stream ms-mg01: rounds after the last event:",
    ),
    "what a hit paid": (
        "UPDATE jackpot_hit SET paid_cents = paid_cents + 1 WHERE link_id = $link AND sequence = 5",
        "sequence 5 (MS-102/R-6): hit ms-mg01-000003:",
    ),
    "the seat of a hit": (
        "UPDATE jackpot_hit SET seat = 1 WHERE link_id = $link AND sequence = 5",
        "sequence 5 (MS-102/R-6): hit ms-mg01-000003:",
    ),
    "a hit taken out": (
        "DELETE FROM jackpot_hit WHERE link_id = $link AND sequence = 5",
        "sequence 5 (MS-102/R-6): number of hits:",
    ),
    "when a hit was detected": (
        "UPDATE jackpot_hit SET detected_at = detected_at + interval '1 second' WHERE link_id = $link AND sequence = 5",
        "sequence 5 (MS-102/R-6): time of hit ms-mg01-000003:",
    ),
    "the detection of a hit": (
        "DELETE FROM jackpot_hitstep WHERE hit_id = (SELECT id FROM jackpot_hit"
        " WHERE link_id = $link AND sequence = 5)",
        "sequence 5 (MS-102/R-6): detection of hit ms-mg01-000003:",
    ),
    "a payout of the opening": (
        "INSERT INTO tables_payout SELECT (jsonb_populate_record(p, '{\"sequence\": 0}')).* FROM tables_payout p"
        " WHERE stream_id = $stream AND sequence = 5 AND kind = 'envy'",
        "sequence 0 (ms-mg01): round, payouts and hits:",
    ),
    "a cent on a meter": (
        "UPDATE jackpot_meter SET value_cents = value_cents + 1 WHERE level_id = $major",
        "stream ms-mg01: meter major ",
    ),
    "a millionth on a meter": (
        "UPDATE jackpot_meter SET residual_millionths = residual_millionths + 1 WHERE level_id = $major",
        "stream ms-mg01: meter major ",
    ),
    "a reserve": (
        "UPDATE jackpot_meter SET reserve_cents = reserve_cents + 1 WHERE level_id = $major",
        "stream ms-mg01: meter major ",
    ),
    "an overflow": (
        "UPDATE jackpot_meter SET overflow_cents = overflow_cents + 1 WHERE level_id = $minor",
        "stream twin: meter minor ",
    ),
    "the wagers a meter counted": (
        "UPDATE jackpot_meter SET wagers = wagers - 1 WHERE level_id = $major",
        "stream ms-mg01: meter major ",
    ),
    "what wagers ever brought to a level": (
        "UPDATE jackpot_meter SET contributed_millionths = contributed_millionths - 1 WHERE level_id = $major",
        "stream ms-mg01: meter major ",
    ),
    "what wagers ever brought to a reserve": (
        "UPDATE jackpot_meter SET reserved_millionths = reserved_millionths + 1 WHERE level_id = $major",
        "stream ms-mg01: meter major ",
    ),
    "what a limit ever kept off a display": (
        "UPDATE jackpot_meter SET overflowed_millionths = 0 WHERE level_id = $minor",
        "stream twin: meter minor ",
    ),
    "the sequence of a meter": (
        "UPDATE jackpot_meter SET sequence = sequence - 1 WHERE level_id = $major",
        "stream ms-mg01: sequence of meter major:",
    ),
    "the next number of a hit": (
        "UPDATE jackpot_link SET next_hit = next_hit + 1 WHERE code = 'ms-mg01'",
        "stream ms-mg01: meter major ",
    ),
    "a total": (
        "UPDATE accounting_total SET debit_cents = debit_cents + 1"
        " WHERE account_id = $wagers AND gaming_date = '2026-11-27'"
        " AND stream_id = $stream",
        "stream ms-mg01: total of account wagers on 2026-11-27",
    ),
    "a total taken out": (
        "DELETE FROM accounting_total"
        " WHERE account_id = $wagers AND gaming_date = '2026-11-27' AND stream_id = $stream",
        "stream ms-mg01: total of account wagers on 2026-11-27",
    ),
    "a total put in": (
        "INSERT INTO accounting_total (account_id, stream_id, gaming_date, debit_cents, credit_cents)"
        " VALUES ($wagers, $stream, '2026-12-24', 0, 5)",
        "stream ms-mg01: total of account wagers on 2026-12-24",
    ),
    "an event taken out of the middle": (
        "DELETE FROM accounting_event WHERE sequence = 3 AND stream_id = $stream",
        "stream ms-mg01: next event: expected 3, found 4",
    ),
    "the last event taken out": (
        "DELETE FROM accounting_event WHERE sequence = 5 AND stream_id = $stream",
        "stream ms-mg01: events: expected sequence 5, found none: a gap in the sequence",
    ),
    "the opening taken out": (
        "DELETE FROM accounting_event WHERE sequence = 0 AND stream_id = $stream",
        "stream ms-mg01: next event: expected 0, found 1",
    ),
    "a round taken out": (
        "DELETE FROM tables_round WHERE reference = 'R-6'",
        "sequence 5 (MS-102/R-6): round of the event:",
    ),
    "a settled message taken out": (
        "DELETE FROM devices_message WHERE reference = 'R-6'",
        "sequence 5 (MS-102/R-6): message of the round:",
    ),
    "a held message taken out": (
        "DELETE FROM devices_message WHERE reference = 'R-4'",
        "message $held (R-4): ",
    ),
    "a waiting message taken out": (
        "DELETE FROM devices_message WHERE reference = 'R-7'",
        "message $waiting (R-7): ",
    ),
    "a held message and its reference taken out": (
        "WITH gone AS (DELETE FROM devices_reference WHERE reference = 'R-4') DELETE FROM devices_message"
        " WHERE reference = 'R-4'",
        "message $held (R-4): ",
    ),
    "a waiting message taken out of the queue": (
        "DELETE FROM devices_queued",
        "message $waiting (R-7): where it is: expected settled, held, locked or queued, once,"
        " found 0 rounds, 0 holds, 0 locks, 0 in the queue",
    ),
    "a hold taken out": (
        "DELETE FROM tables_hold",
        "message $held (R-4): where it is: expected settled, held, locked or queued, once,"
        " found 0 rounds, 0 holds, 0 locks, 0 in the queue",
    ),
    "a settled message queued again": (
        "UPDATE devices_queued SET message_id = $first",
        "message $first (R-1): where it is: expected settled, held, locked or queued, once,"
        " found 1 rounds, 0 holds, 0 locks, 1 in the queue",
    ),
    "a settled message queued twice": (
        "INSERT INTO devices_queued (stream_id, receipt, position, message_id, received_at)"
        " SELECT stream_id, receipt + step, position, $first, received_at"
        " FROM devices_queued, generate_series(1, 2) step",
        "message $first (R-1): where it is: expected settled, held, locked or queued, once,"
        " found 1 rounds, 0 holds, 0 locks, 2 in the queue",
    ),
    "a held message queued twice": (
        "INSERT INTO devices_queued (stream_id, receipt, position, message_id, received_at)"
        " SELECT stream_id, receipt + step, position, $held, received_at"
        " FROM devices_queued, generate_series(1, 2) step",
        "message $held (R-4): where it is: expected settled, held, locked or queued, once,"
        " found 0 rounds, 1 holds, 0 locks, 2 in the queue",
    ),
    "a waiting message queued again": (
        "INSERT INTO devices_queued (stream_id, receipt, position, message_id, received_at)"
        " SELECT stream_id, receipt + 1, position, message_id, received_at FROM devices_queued",
        "message $waiting (R-7): where it is: expected settled, held, locked or queued, once,"
        " found 0 rounds, 0 holds, 0 locks, 2 in the queue",
    ),
    "a reference": (
        "UPDATE devices_reference SET reference = 'R-66' WHERE reference = 'R-6'",
        "reference and message: expected the same, found one without the other",
    ),
    "the table of a reference": (
        "UPDATE devices_reference SET table_id = table_id + 1 WHERE reference = 'R-7'",
        "message $waiting (R-7): reference and message: expected the same, found one without the other",
    ),
    "the kind of a reference": (
        "UPDATE devices_reference SET kind = 'lock' WHERE reference = 'R-7'",
        "message $waiting (R-7): reference and message: expected the same, found one without the other",
    ),
    "the digest of a reference": (
        "UPDATE devices_reference SET digest = sha256(digest) WHERE reference = 'R-7'",
        "message $waiting (R-7): reference and message: expected the same, found one without the other",
    ),
    "when a reference was used up": (
        "UPDATE devices_reference SET received_at = received_at + interval '1 microsecond' WHERE reference = 'R-7'",
        "message $waiting (R-7): reference and message: expected the same, found one without the other",
    ),
    "the device of a reference": (
        "UPDATE devices_reference SET device_id = 4711 WHERE reference = 'R-7'",
        "message $waiting (R-7): reference and message: expected the same, found one without the other",
    ),
    "the message of a reference": (
        "UPDATE devices_reference SET message_id = 4711 WHERE reference = 'R-7'",
        "(R-7): reference and message: expected the same, found one without the other",
    ),
    "a reference taken out": (
        "DELETE FROM devices_reference WHERE reference = 'R-7'",
        "message $waiting (R-7): reference and message: expected the same, found one without the other",
    ),
    "a reference without a message": (
        "INSERT INTO devices_reference SELECT (jsonb_populate_record(r, '{\"reference\": \"R-8\", \"message_id\": 4711}')).*"
        " FROM devices_reference r WHERE reference = 'R-7'",
        "message 4711 (R-8): reference and message: expected the same, found one without the other",
    ),
    "the hash of an event": (
        "UPDATE accounting_event SET hash = sha256('x') WHERE sequence = 2 AND stream_id = $stream",
        "stream ms-mg01, sequence 2 (MS-101/R-2): hash of the event:",
    ),
    "the hash before an event": (
        "UPDATE accounting_event SET previous = sha256('x') WHERE sequence = 2 AND stream_id = $stream",
        "stream ms-mg01, sequence 2 (MS-101/R-2): hash of the previous event:",
    ),
    "the gaming day of an event": (
        "UPDATE accounting_event SET gaming_date = '2026-11-28' WHERE sequence = 2 AND stream_id = $stream",
        "stream ms-mg01, sequence 2 (MS-101/R-2): hash of the event:",
    ),
    "the original day of an event": (
        "UPDATE accounting_event SET original_date = '2026-11-25' WHERE sequence = 4 AND stream_id = $stream",
        "stream ms-mg01, sequence 4 (MS-101/R-5): gaming day:",
    ),
    "when an event was recorded": (
        "UPDATE accounting_event SET recorded_at = recorded_at + interval '1 microsecond' WHERE sequence = 2"
        " AND stream_id = $stream",
        "stream ms-mg01, sequence 2 (MS-101/R-2): hash of the event:",
    ),
    "the head of a stream": (
        "UPDATE accounting_stream SET head = sha256('x') WHERE code = 'ms-mg01'",
        "stream ms-mg01: head of the chain:",
    ),
    "the next number of a stream": (
        "UPDATE accounting_stream SET next_sequence = next_sequence + 1 WHERE code = 'ms-mg01'",
        "stream ms-mg01: events: expected sequence 6, found none",
    ),
    "the terms a round was settled under": (
        "UPDATE tables_round SET terms_id = 4711 WHERE reference = 'R-6'",
        "sequence 5 (MS-102/R-6): terms in force:",
    ),
    "the terms themselves": (
        "UPDATE tables_tableterms SET minimum_cents = 1500 WHERE table_id = $table",
        "stream ms-mg01: table MS-101, terms 1: minimum_cents:",
    ),
    "a term of a table": (
        "UPDATE tables_tableterms SET terms = terms || '{\"limit_scope\": \"all_fixed_odds\"}' WHERE table_id = $table",
        "stream ms-mg01: table MS-101, terms 1, terms: limit_scope:",
    ),
    "when a table was opened": (
        "UPDATE tables_table SET opened_at = opened_at - interval '1 day' WHERE id = $table",
        "stream ms-mg01: table MS-101: opened at:",
    ),
    "a table that is closed without an event": (
        "UPDATE tables_table SET state = 'closed' WHERE id = $table",
        "stream ms-mg01: table MS-101: state:",
    ),
    "a table taken off its link": (
        "UPDATE tables_table SET link_id = NULL, link_paytable_id = NULL WHERE id = $table",
        "stream ms-mg01: table MS-101: link:",
    ),
    "the edition that a wager pays by": (
        "UPDATE tables_tablepaytable SET edition_id = (SELECT id FROM tables_wageredition WHERE code = '3cs-04')"
        " WHERE wager = 'three_card_bonus' AND terms_id IN (SELECT id FROM tables_tableterms WHERE table_id = $table)",
        "stream ms-mg01: table MS-101, terms 1, paytables: three_card_bonus:",
    ),
    "a link that is closed without an event": (
        "UPDATE jackpot_link SET state = 'closed' WHERE code = 'ms-mg01'",
        "stream ms-mg01: link: state:",
    ),
    "the name of a link": (
        "UPDATE jackpot_link SET name = 'Mine' WHERE code = 'ms-mg01'",
        "stream ms-mg01: link: name:",
    ),
    "when a link was opened": (
        "UPDATE jackpot_link SET opened_at = opened_at - interval '1 day' WHERE code = 'ms-mg01'",
        "stream ms-mg01: link: opened at:",
    ),
    "how likely a level is hit": (
        "UPDATE jackpot_levelterms SET hit_numerator = hit_numerator + 1 WHERE level_id = $major",
        "stream ms-mg01: link, levels, major 1: odds:",
    ),
    "a link on the stream of a table that is on none": (
        "INSERT INTO jackpot_link SELECT (jsonb_populate_record(link, jsonb_build_object('id', 4711, 'code', 'mine',"
        " 'stream_id', tabl.stream_id))).* FROM jackpot_link link, tables_table tabl"
        " WHERE link.code = 'ms-mg01' AND tabl.link_id IS NULL LIMIT 1",
        ": link: expected none, found mine",
    ),
    "the rate of a level": (
        "UPDATE jackpot_levelterms SET rate_ppm = rate_ppm + 1 WHERE level_id = $major",
        "stream ms-mg01: link, levels, major 1: rate_ppm:",
    ),
    "a row of a paytable": (
        "UPDATE jackpot_progressiveedition SET definition = jsonb_set(definition, '{rows,1,share_ppm}', '200000')"
        " WHERE code = 'ms-mg-01'",
        "stream ms-mg01: link: pays:",
    ),
    "the digest of a progressive paytable": (
        "UPDATE jackpot_progressiveedition SET digest = sha256('x') WHERE code = 'two-prizes'",
        "paytable edition two-prizes: digest of its definition:",
    ),
    "a paytable that no link opened with": (
        "UPDATE tables_wageredition SET definition = jsonb_set(definition, '{rows,0,odds}', '41') WHERE code = '3cs-02'",
        "paytable edition 3cs-02: digest of its definition:",
    ),
    "the digest of a paytable": (
        "UPDATE tables_wageredition SET digest = sha256('x') WHERE code = '3cs-02'",
        "paytable edition 3cs-02: digest of its definition:",
    ),
    "the game of a paytable": (
        "UPDATE jackpot_progressivegame SET game = 'let-it-ride' WHERE edition_id ="
        " (SELECT id FROM jackpot_progressiveedition WHERE code = 'two-prizes')",
        "paytable edition two-prizes: games:",
    ),
    "the wager of a paytable": (
        "UPDATE jackpot_progressiveedition SET wager_cents = 501 WHERE code = 'two-prizes'",
        "paytable edition two-prizes: wager:",
    ),
    "the owner of an account": (
        "UPDATE accounting_account SET owner = 'MS-109' WHERE code = 'table:MS-101:inventory'",
        "account table:MS-101:inventory: kind and owner:",
    ),
    "the kind of an account": (
        "UPDATE accounting_account SET kind = 'revenue', owner = 'x' WHERE code = 'cage'",
        "account cage: kind and owner:",
    ),
    "an account beside the chart": (
        "INSERT INTO accounting_account (id, code, kind, owner) VALUES (4711, 'mine', 'cage', 'me')",
        "chart of accounts: accounts:",
    ),
    "when the gaming day begins": (
        "UPDATE accounting_property SET gaming_day_starts = '05:59'",
        "property: gaming_day_starts:",
    ),
    "a step of a hit that nobody took": (
        "INSERT INTO jackpot_hitstep (state, at, by, note, hit_id) SELECT 'paid', detected_at, 'me', '', id"
        " FROM jackpot_hit WHERE link_id = $link AND sequence = 5",
        "hit ms-mg01-000003: steps:",
    ),
    "an event beyond the head": (
        "INSERT INTO accounting_event SELECT (jsonb_populate_record(e, '{\"sequence\": 6}')).* FROM accounting_event e"
        " WHERE stream_id = $stream AND sequence = 5",
        "stream ms-mg01: events after the last event:",
    ),
    "a payout under a stream that does not exist": (
        "INSERT INTO tables_payout SELECT (jsonb_populate_record(p, '{\"stream_id\": 4711}')).* FROM tables_payout p"
        " WHERE stream_id = $stream AND sequence = 5 AND kind = 'envy'",
        "payout of stream 4711, sequence 5: its stream:",
    ),
    "a transfer under a stream that does not exist": (
        "INSERT INTO accounting_transfer SELECT (jsonb_populate_record(t, '{\"stream_id\": 4711}')).*"
        " FROM accounting_transfer t WHERE stream_id = $stream AND sequence = 5 AND line = 1",
        "transfer of stream 4711, sequence 5: its stream:",
    ),
    "an event under a stream that does not exist": (
        "INSERT INTO accounting_event SELECT (jsonb_populate_record(e, '{\"stream_id\": 4711}')).* FROM accounting_event e"
        " WHERE stream_id = $stream AND sequence = 5",
        "event of stream 4711, sequence 5: its stream:",
    ),
    "a step of a hit that does not exist": (
        "INSERT INTO jackpot_hitstep (state, at, by, note, hit_id) SELECT 'paid', detected_at, 'me', '', 4711"
        " FROM jackpot_hit WHERE link_id = $link AND sequence = 5",
        "step of hit 4711: its hit:",
    ),
    "a hit of a link that does not exist": (
        "INSERT INTO jackpot_hit SELECT (jsonb_populate_record(h, '{\"link_id\": 4711, \"id\": 4711}')).*"
        " FROM jackpot_hit h WHERE link_id = $link AND sequence = 5",
        "hit of link 4711, sequence 5: its link:",
    ),
    "the cause of an opening": (
        "UPDATE accounting_document SET cause = cause || ' '::bytea WHERE stream_id = $stream AND sequence = 0",
        "stream ms-mg01, sequence 0 (ms-mg01): digest of the cause in the event:",
    ),
    "the result of an opening": (
        "UPDATE accounting_document SET result = result || ' '::bytea WHERE stream_id = $stream AND sequence = 0",
        "stream ms-mg01, sequence 0 (ms-mg01): digest of the result in the event:",
    ),
    "an opening that is no JSON any more": (
        "UPDATE accounting_document SET result = 'x' WHERE stream_id = $stream AND sequence = 0",
        "stream ms-mg01: what is on record: expected something that can be decided again, found ValueError"
        "('the result of event 0 (opened) cannot be read",
    ),
    "a paytable that is none any more": (
        "UPDATE tables_wageredition SET definition = '[]' WHERE code = '3cs-02'",
        "paytable edition 3cs-02: digest of its definition:",
    ),
    "a settlement that is no JSON any more": (
        "UPDATE tables_round SET settlement = 'x' WHERE reference = 'R-6'",
        "stream ms-mg01, sequence 5 (MS-102/R-6): settlement:",
    ),
    "a hold that is no JSON any more": (
        "UPDATE tables_hold SET settlement = 'x', seal = sha256(sha256('x') || convert_to(rules || E'\\n' || message_id"
        " || E'\\n' || (extract(epoch FROM dealt_at) * 1000000)::bigint || E'\\n'"
        " || (extract(epoch FROM held_at) * 1000000)::bigint || E'\\n' || stream_id || E'\\n' || before_sequence"
        " || E'\\n' || error, 'UTF8'))",
        "what is on record: expected something that can be decided again, found DecodeError",
    ),
    "an audit record": (
        "UPDATE accounting_auditrecord SET actor = 'nobody' WHERE id = (SELECT min(id) FROM accounting_auditrecord)",
        "audit trail: records in their chain:",
    ),
    "an audit record taken out": (
        "DELETE FROM accounting_auditrecord WHERE id = (SELECT min(id) + 1 FROM accounting_auditrecord)",
        "audit trail: records in their chain:",
    ),
    "the last audit record taken out": (
        "DELETE FROM accounting_auditrecord WHERE id = (SELECT max(id) FROM accounting_auditrecord)",
        "audit trail: records in their chain:",
    ),
    "the documents of an opening": (
        "DELETE FROM accounting_document WHERE stream_id = $stream AND sequence = 0",
        "stream ms-mg01, sequence 0 (ms-mg01): documents of the event:",
    ),
    "the rules edition of an event": (
        "UPDATE accounting_event SET rules = 1 WHERE stream_id = $stream AND sequence = 2",
        "stream ms-mg01, sequence 2 (MS-101/R-2): hash of the event:",
    ),
    "the device of a message": (
        "UPDATE devices_message SET device_id = 2 WHERE reference = 'R-6'",
        "stream ms-mg01, sequence 5 (MS-102/R-6): hash of the event:",
    ),
    "the device of a held message": (
        "UPDATE devices_message SET device_id = 2 WHERE reference = 'R-4'",
        "message $held (R-4): reference and message:",
    ),
    "when a held message was received": (
        "UPDATE devices_message SET received_at = received_at + interval '1 second' WHERE reference = 'R-4'",
        "message $held (R-4): reference and message:",
    ),
    "when a waiting message was received": (
        "UPDATE devices_message SET received_at = received_at + interval '1 second' WHERE reference = 'R-7'",
        "message $waiting (R-7): reference and message:",
    ),
    "when a round was received": (
        "UPDATE devices_message SET received_at = '2026-11-20T00:00:00Z' WHERE id = $first",
        "stream ms-mg01, sequence 1 (MS-101/R-1): hash of the event:",
    ),
    "when a round was dealt": (
        "UPDATE tables_round SET dealt_at = dealt_at + interval '1 second' WHERE reference = 'R-6'",
        "sequence 5 (MS-102/R-6): time of the deal:",
    ),
    "the outcome of a round": (
        "UPDATE tables_round SET outcome = 'void' WHERE reference = 'R-6'",
        "sequence 5 (MS-102/R-6): outcome:",
    ),
    "the table of a round": (
        "UPDATE tables_round SET table_id = $table WHERE reference = 'R-6'",
        "sequence 5 (MS-102/R-6): table and reference of the message:",
    ),
}  # fmt: skip

# The same in a house where a hit was verified and approved, one envy payout paid, another hit rejected and a settled round
# voided (`test_past_acts`); each of these changes a row that shows what an act made.
TAMPERING_OF_ACTS = {
    "who took a step of a hit": (
        "UPDATE jackpot_hitstep SET by = 'nobody' WHERE state = 'verified'",
        "stream ms-mg01, sequence 4 (ms-mg01-000001): step of hit ms-mg01-000001: verified:",
    ),
    "the note to a step of a hit": (
        "UPDATE jackpot_hitstep SET note = 'nothing' WHERE state = 'approved'",
        "stream ms-mg01, sequence 5 (ms-mg01-000001): step of hit ms-mg01-000001: approved:",
    ),
    "when a hit was verified": (
        "UPDATE jackpot_hitstep SET at = at + interval '1 second' WHERE state = 'verified'",
        "stream ms-mg01, sequence 4 (ms-mg01-000001): step of hit ms-mg01-000001: verified:",
    ),
    "a step of a hit taken out": (
        "DELETE FROM jackpot_hitstep WHERE state = 'rejected'",
        "stream ms-mg01, sequence 7 (ms-mg01-000002): step of hit ms-mg01-000002: rejected:",
    ),
    "an approval that became a payment": (
        "UPDATE jackpot_hitstep SET state = 'paid' WHERE state = 'approved'",
        "stream ms-mg01, sequence 5 (ms-mg01-000001): step of hit ms-mg01-000001: approved:",
    ),
    "a payment of a hit that nobody made": (
        "INSERT INTO jackpot_hitstep (state, at, by, note, hit_id) SELECT 'paid', at, 'me', '', hit_id"
        " FROM jackpot_hitstep WHERE state = 'approved'",
        "hit ms-mg01-000001: steps:",
    ),
    "an envy payout that is cancelled and was paid": (
        "UPDATE tables_envyend SET state = 'cancelled' WHERE state = 'paid'",
        "stream ms-mg01, sequence 6 (MS-101/R-1/4/6): end of envy payout MS-101/R-1/4/6:",
    ),
    "the payment of envy taken out": (
        "DELETE FROM tables_envyend WHERE state = 'paid'",
        "stream ms-mg01, sequence 6 (MS-101/R-1/4/6): end of envy payout MS-101/R-1/4/6:",
    ),
    "a payment of envy that nobody made": (
        "INSERT INTO tables_envyend (stream_id, sequence, line, state, event, at, by, note)"
        " SELECT payout.stream_id, payout.sequence, payout.line, 'paid', 6, payout.counts_at, 'me', '' FROM tables_payout payout"
        " WHERE payout.kind = 'envy' AND NOT EXISTS (SELECT FROM tables_envyend ended"
        " WHERE ended.stream_id = payout.stream_id AND ended.sequence = payout.sequence AND ended.line = payout.line)"
        " LIMIT 1",
        "stream ms-mg01, sequence 6: ends of envy payouts:",
    ),
    "the house's number of an account": (
        "UPDATE accounting_housenumber SET number = '1011'",
        "chart of accounts: numbers of the house:",
    ),
    "a number of an account that nobody gave": (
        "INSERT INTO accounting_housenumber (account_id, number, set_at, set_by)"
        " SELECT id, '9', now(), 'me' FROM accounting_account WHERE code = 'envy'",
        "chart of accounts: numbers of the house:",
    ),
    "that envy is unclaimed taken out": (
        "DELETE FROM tables_envyunclaimed",
        "stream ms-mg01, sequence 10 (MS-101/R-1/2/6): unclaimed envy payout MS-101/R-1/2/6:",
    ),
    "who booked envy as unclaimed": (
        "UPDATE tables_envyunclaimed SET by = 'nobody'",
        "stream ms-mg01, sequence 10 (MS-101/R-1/2/6): unclaimed envy payout MS-101/R-1/2/6:",
    ),
    "envy that is unclaimed and nobody booked so": (
        "INSERT INTO tables_envyunclaimed (stream_id, sequence, line, event, at, by, note)"
        " SELECT payout.stream_id, payout.sequence, payout.line, 10, payout.counts_at, 'me', '' FROM tables_payout payout"
        " WHERE payout.kind = 'envy' AND NOT EXISTS (SELECT FROM tables_envyunclaimed waits"
        " WHERE waits.stream_id = payout.stream_id AND waits.sequence = payout.sequence AND waits.line = payout.line)"
        " LIMIT 1",
        "stream ms-mg01, sequence 10: ends of envy payouts:",
    ),
    "an unclaimed hit that is the state's and nobody booked so": (
        "INSERT INTO jackpot_hitstep (state, at, by, note, hit_id) SELECT 'remitted', at, 'me', '', hit_id"
        " FROM jackpot_hitstep WHERE state = 'unclaimed'",
        "hit ms-mg01-000001: steps:",
    ),
    "the terms by which a hit is unclaimed": (
        "UPDATE accounting_document SET cause = replace(convert_from(cause, 'UTF8'), '\"kept_years\":1',"
        " '\"kept_years\":2')::bytea WHERE sequence = 9",
        "stream ms-mg01, sequence 9 (ms-mg01-000001): digest of the cause in the event:",
    ),
    "the void of a round taken out": (
        "DELETE FROM tables_voidedround",
        "stream ms-mg01, sequence 8 (MS-101/R-2): void of round MS-101/R-2:",
    ),
    "who voided a round": (
        "UPDATE tables_voidedround SET by = 'nobody'",
        "stream ms-mg01, sequence 8 (MS-101/R-2): void of round MS-101/R-2:",
    ),
    "a void of a round that nobody decided": (
        "INSERT INTO tables_voidedround (stream_id, sequence, event, at, by, note)"
        " SELECT stream_id, 3, event, at, by, note FROM tables_voidedround",
        "stream ms-mg01, sequence 8: voids of rounds:",
    ),
    "the cause of an act": (
        "UPDATE accounting_document SET cause = replace(convert_from(cause, 'UTF8'), 'surveillance', 'cards')::bytea"
        " WHERE sequence = 4",
        "stream ms-mg01, sequence 4 (ms-mg01-000001): digest of the cause in the event:",
    ),
    "where the hit of an act was detected": (
        "UPDATE jackpot_hit SET sequence = 2 WHERE number = 1",
        "stream ms-mg01, sequence 1 (MS-101/R-1): number of hits:",
    ),
    "what an act booked": (
        "UPDATE accounting_transfer SET amount_cents = amount_cents + 1 WHERE sequence = 7 AND line = 1",
        "stream ms-mg01, sequence 7 (ms-mg01-000002): ledger transfers:",
    ),
}  # fmt: skip

# The same in a house in which a level was carried over from ms-mg01 to twin, each at its last event: 8 and 3.
BETWEEN_LINKS = {
    "the other side of a transfer taken out, as if it had never been": (
        "WITH event AS (DELETE FROM accounting_event WHERE stream_id = $twin AND sequence = 3 RETURNING previous),"
        " document AS (DELETE FROM accounting_document WHERE stream_id = $twin AND sequence = 3),"
        " stream AS (UPDATE accounting_stream SET next_sequence = 3, head = (SELECT previous FROM event) WHERE id = $twin)"
        " UPDATE jackpot_meter meter SET sequence = 2, value_cents = (side ->> 'value_cents')::bigint,"
        " residual_millionths = (side ->> 'residual_millionths')::int, reserve_cents = (side ->> 'reserve_cents')::bigint,"
        " reserve_residual_millionths = (side ->> 'reserve_residual_millionths')::int,"
        " overflow_cents = (side ->> 'overflow_cents')::bigint,"
        " overflow_residual_millionths = (side ->> 'overflow_residual_millionths')::int"
        " FROM accounting_document, jackpot_level level, LATERAL (SELECT convert_from(cause, 'UTF8')::jsonb"
        " -> 'between' -> 1 -> 'meters' -> level.code AS side) sides"
        " WHERE stream_id = $twin AND accounting_document.sequence = 3 AND level.id = meter.level_id"
        " AND level.code IN ('grand', 'minor')",
        "stream ms-mg01, sequence 8 (ms-mg01/major): its event on stream twin, sequence 3: expected one, found none",
    ),
    "what the other side of a transfer says": (
        "UPDATE accounting_document SET cause = replace(convert_from(cause, 'UTF8'), 'tester', 'nobody')::bytea"
        " WHERE stream_id = $twin AND sequence = 3",
        "stream ms-mg01, sequence 8 (ms-mg01/major): its event on stream twin, sequence 3:",
    ),
    "when the other side of a transfer was recorded": (
        "UPDATE accounting_event SET recorded_at = recorded_at + interval '1 second' WHERE stream_id = $twin AND sequence = 3",
        "stream ms-mg01, sequence 8 (ms-mg01/major): its event on stream twin, sequence 3:",
    ),
    "a movement of a transfer": (
        "UPDATE accounting_transfer SET amount_cents = amount_cents + 1 WHERE stream_id = $stream AND sequence = 8 AND line = 1",
        "stream ms-mg01, sequence 8 (ms-mg01/major): ledger transfers:",
    ),
    "a movement of a transfer booked on the other stream too": (
        "INSERT INTO accounting_transfer (stream_id, sequence, line, debit_id, credit_id, amount_cents, reason)"
        " SELECT $twin, 3, line, debit_id, credit_id, amount_cents, reason FROM accounting_transfer"
        " WHERE stream_id = $stream AND sequence = 8",
        "stream twin, sequence 3 (ms-mg01/major): ledger transfers:",
    ),
    "a millionth of what a transfer brought": (
        "UPDATE jackpot_meter SET overflow_residual_millionths = overflow_residual_millionths + 1 WHERE level_id = $grand",
        "stream twin: meter grand ",
    ),
}

-- Proves what the tables of long work promise: events numbered without gaps, progress that never falls,
-- claims in fair turns that a lease guards, and nothing of it seen by another team.
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
SELECT no_plan();

SELECT has_function('provisor', f, 'function ' || f)
  FROM unnest(ARRAY['claim_operation', 'renew_operations', 'list_lost_operations', 'watch_operations', 'count_operations']) AS f;
INSERT INTO provisor.team (team_id, name) VALUES ('00000000-0000-7000-8000-0000000000d1', 'pgtap many'),
                                                 ('00000000-0000-7000-8000-0000000000d2', 'pgtap few'),
                                                 ('00000000-0000-7000-8000-0000000000d3', 'pgtap more');
CREATE FUNCTION pg_temp.allow_other_plans(allowed text) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(set_config('enable_' || method, allowed, true))
      FROM unnest(ARRAY['hashjoin', 'mergejoin', 'material', 'memoize', 'hashagg', 'sort', 'indexscan', 'bitmapscan']) AS method
$$;
CREATE FUNCTION pg_temp.queue(n integer, team integer) RETURNS void LANGUAGE sql AS $$
    SELECT set_config('provisor.team_id', '00000000-0000-7000-8000-0000000000d' || team, true);
    INSERT INTO provisor.operation (team_id, id, kind, actor, scopes, request_id, trace_id, request, created_at)
        SELECT ('00000000-0000-7000-8000-0000000000d' || team)::uuid, ('00000000-0000-7000-8000-0000000' || team || '000' || i)::uuid,
               'pgtap', 'a', 1, '', '', '{}', now() - interval '1 hour' + i * interval '1 second' + team * interval '1 minute'
          FROM generate_series(1, n) AS i $$;
CREATE FUNCTION pg_temp.claimed(running_max bigint) RETURNS text LANGUAGE sql AS
    $$ SELECT right(id::text, 5) FROM provisor.claim_operation('w', ARRAY['pgtap'], 5000, running_max) $$;
CREATE FUNCTION pg_temp.renew(attempt bigint, done bigint, lease_ms bigint) RETURNS SETOF boolean LANGUAGE sql AS $$
    SELECT cancel FROM provisor.renew_operations(lease_ms, ARRAY['00000000-0000-7000-8000-0000000000d1']::uuid[],
        ARRAY['00000000-0000-7000-8000-000000010001']::uuid[], ARRAY[attempt], ARRAY[done], ARRAY[9]::bigint[], ARRAY['steps']) $$;

SET LOCAL ROLE provisor_service;
SELECT pg_temp.queue(4, 1);
SELECT pg_temp.queue(1, 2);
SELECT is((SELECT count(*) FROM provisor.operation), 1::bigint, 'a team sees its own only');
SELECT is(pg_temp.claimed(2), '10001', 'the one that waited longest is first');
SELECT is(pg_temp.claimed(2), '20001', 'then it is the turn of the team that has none running, though it came later');
SELECT is(pg_temp.claimed(2), '10002', 'then the next of the first');
SELECT is(pg_temp.claimed(2), NULL, 'no team has more running than it may');
SELECT is((SELECT count(*) FROM provisor.claim_operation('w', ARRAY['other'], 5000, 9)), 0::bigint, 'kinds that nobody here does wait');
SELECT is((SELECT count(*) FROM provisor.claim_operation('w', ARRAY['pgtap'], 5000, 9, 0, ARRAY['00000000-0000-7000-8000-0000000000d1']::uuid[])),
          0::bigint, 'nor is one of a barred team taken');
SELECT is((SELECT count(*) FROM provisor.claim_operation('w', ARRAY['pgtap'], 5000, 9, 7200000, '{}')), 0::bigint,
          'nor one that has not waited for as long as is asked');
SELECT is(pg_temp.claimed(3), '10003', 'with more allowed the next is taken');
SELECT is((SELECT count(*) FROM provisor.operation), 1::bigint, 'after which the table is as closed as before');
SELECT results_eq($$ SELECT queued, running FROM provisor.count_operations() $$, $$ VALUES (1::bigint, 4::bigint) $$, 'numbers of all teams');

-- Whatever the plan: one that joins runs a subquery again for each row.
SELECT pg_temp.queue(9, 3);
SELECT is(pg_temp.allow_other_plans('off'), 8::bigint, 'of all plans the one that joins row by row');
SELECT is((SELECT count(*) FROM provisor.claim_operation('w', ARRAY['pgtap'], 5000, 9, 0, '{}')), 1::bigint, 'one claim takes one operation');
SELECT is((SELECT count(*) FROM provisor.claim_operation('w', ARRAY['pgtap'], 5000, 9)), 1::bigint, 'as does that of the version before');
SELECT results_eq($$ SELECT queued FROM provisor.count_operations() $$, $$ VALUES (8::bigint) $$, 'and leaves the others');
SELECT is(pg_temp.allow_other_plans('on'), 8::bigint, 'all plans again');

-- Progress, leases, fences.
SELECT set_config('provisor.team_id', '00000000-0000-7000-8000-0000000000d1', true);
SELECT results_eq($$ SELECT * FROM pg_temp.renew(1, 5, 5000) $$, ARRAY[false], 'who holds it is told to go on');
SELECT is_empty($$ SELECT * FROM pg_temp.renew(2, 9, 5000) $$, 'another attempt is told nothing');
SELECT results_eq($$ SELECT * FROM pg_temp.renew(1, 3, 5000) $$, ARRAY[false], 'less is heard');
SELECT results_eq($$ SELECT done, total, unit FROM provisor.operation WHERE id = '00000000-0000-7000-8000-000000010001' $$,
                  $$ VALUES (5::bigint, 9::bigint, 'steps') $$, 'but progress does not fall');
UPDATE provisor.operation SET done = 1 WHERE id = '00000000-0000-7000-8000-000000010001';
SELECT is((SELECT done FROM provisor.operation WHERE id = '00000000-0000-7000-8000-000000010001'), 5::bigint, 'whoever writes it');
UPDATE provisor.operation SET cancel_asked_at = now() WHERE id = '00000000-0000-7000-8000-000000010001';
SELECT results_eq($$ SELECT * FROM pg_temp.renew(1, 5, -1000) $$, ARRAY[true], 'a cancellation is heard');
SELECT is_empty($$ SELECT * FROM provisor.list_lost_operations(10) $$, 'a lease that is long enough is not written again');
UPDATE provisor.operation SET lease_until = clock_timestamp() - interval '1 second' WHERE id = '00000000-0000-7000-8000-000000010001';
SELECT results_eq($$ SELECT right(id::text, 5), attempt FROM provisor.list_lost_operations(10) $$, $$ VALUES ('10001', 1::bigint) $$,
                  'one whose lease is over is lost');

-- Events.
SELECT results_eq($$ SELECT number, status, is_progress, cancelling FROM provisor.operation_event
                      WHERE operation_id = '00000000-0000-7000-8000-000000010001' ORDER BY number $$,
                  $$ VALUES (1::bigint, 'queued', false, false), (2, 'running', false, false), (3, 'running', false, true) $$,
                  'each turn leaves an event; progress within half a second of another none');
SELECT results_eq($$ SELECT at, events, ended, barred FROM provisor.watch_operations(
                         ARRAY['00000000-0000-7000-8000-0000000000d2', '00000000-0000-7000-8000-0000000000d1']::uuid[],
                         ARRAY['00000000-0000-7000-8000-000000010001', '00000000-0000-7000-8000-000000010001']::uuid[],
                         ARRAY[NULL, NULL]::uuid[]) $$,
                  $$ VALUES (2::bigint, 3::bigint, false, false) $$, 'who watches under another team sees nothing');
SELECT throws_ok($$ UPDATE provisor.operation_event SET number = 9 $$, '42501', NULL, 'events stay as they are');
SELECT throws_ok($$ UPDATE provisor.operation SET status = 'succeeded', lease_until = NULL
                     WHERE id = '00000000-0000-7000-8000-000000010001' $$, '23514', NULL, 'an end has an instant');
DELETE FROM provisor.operation WHERE id = '00000000-0000-7000-8000-000000010001';
SELECT is_empty($$ SELECT FROM provisor.operation_event WHERE operation_id = '00000000-0000-7000-8000-000000010001' $$,
                'events go with their operation');
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;

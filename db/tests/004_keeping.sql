-- Proves what the housekeeping's functions promise: months made ahead behind the same wall, none that
-- would overlap what lies in the default partition, none dropped that is still needed, nobody's rows
-- removed that are too young, and one holder at a time.
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
SELECT no_plan();

CREATE FUNCTION pg_temp.month(ahead integer) RETURNS text LANGUAGE sql AS
    $$ SELECT to_char(date_trunc('month', now() AT TIME ZONE 'UTC') + ahead * interval '1 month', '_YYYY_MM') $$;
CREATE FUNCTION pg_temp.make_all(ahead bigint) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    n integer := 0;
BEGIN
    WHILE provisor.make_partition(ahead) IS NOT NULL LOOP
        n := n + 1;
    END LOOP;
    RETURN n;
END $$;

SELECT has_function('provisor', f, 'function ' || f)
  FROM unnest(ARRAY['make_partition', 'drop_partition', 'claim_housekeeping', 'end_housekeeping', 'list_team_ids',
                    'list_retention', 'list_unthinned', 'expire_audit', 'uuid7_floor']) AS f;
SELECT is(provisor.uuid7_floor('2026-01-05T10:00:00.123Z')::text, '019b8d99-697b-0000-0000-000000000000',
          'an instant begins a range of UUIDv7: its milliseconds come first');

-- From here on as the service, with what it may do.
SET LOCAL ROLE provisor_service;
SELECT lives_ok('SELECT pg_temp.make_all(4)', 'the service makes its partitions by itself');
SELECT is(provisor.make_partition(4), NULL, 'and then there is none to make');
RESET ROLE;
SELECT is((SELECT count(*) FROM provisor.monthly_partition WHERE right(child, 8) = pg_temp.month(4)), 5::bigint,
          'five tables have a partition for the fourth month ahead');
SELECT is_empty($$
    SELECT m.child FROM provisor.monthly_partition m JOIN pg_class c ON c.relname = m.child
     WHERE NOT (c.relrowsecurity AND c.relforcerowsecurity)
        OR NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'own_team'
                       AND p.polqual IS NOT NULL AND p.polwithcheck IS NOT NULL)
$$, 'each stands behind the wall');
SELECT is_empty($$
    SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'provisor'::regnamespace AND c.relispartition
       AND c.relkind = 'r' AND has_table_privilege('provisor_service', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')
$$, 'and is reached through its parent only');

-- A month of which rows lie in the default partition stays there; the others are made.
INSERT INTO provisor.team (team_id, name) VALUES ('00000000-0000-7000-8000-0000000000c1', 'pgtap keeping');
INSERT INTO provisor.audit (team_id, id, actor, action, subject, request_id)
    VALUES ('00000000-0000-7000-8000-0000000000c1',
            provisor.uuid7_floor((date_trunc('month', now() AT TIME ZONE 'UTC') + interval '6 months') AT TIME ZONE 'UTC'),
            'a', 'b', 'c', '');
SELECT is(pg_temp.make_all(6), 9, 'ten would be missing for two more months, one of which overlaps');
SELECT hasnt_table('provisor'::name, ('audit' || pg_temp.month(6))::name, 'that of audit is not made');
SELECT has_table('provisor'::name, ('run' || pg_temp.month(6))::name, 'its neighbours are');

-- What is dropped: by retention, by emptiness, and nothing else.
CREATE FUNCTION pg_temp.old_month(parent text, suffix text, low timestamptz, high timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE provisor.%I PARTITION OF provisor.%I FOR VALUES FROM (%L) TO (%L)', parent || suffix,
                   parent, provisor.uuid7_floor(low), provisor.uuid7_floor(high));
    EXECUTE format('ALTER TABLE provisor.%I OWNER TO provisor_owner', parent || suffix);
END $$;
SELECT pg_temp.old_month(t, '_2023_05', '2023-05-01Z', '2023-06-01Z')
  FROM unnest(ARRAY['run', 'run_label', 'run_stage', 'advice', 'audit']) AS t;
INSERT INTO provisor.application (team_id, id, name)
    VALUES ('00000000-0000-7000-8000-0000000000c1', '00000000-0000-7000-8000-0000000000c2', 'a');
INSERT INTO provisor.run (team_id, application_id, id, started_at, succeeded, label_keys, label_values, has_stages,
                          from_log, ended, property_keys, property_values, warning_codes, warning_counts, warning_details)
    VALUES ('00000000-0000-7000-8000-0000000000c1', '00000000-0000-7000-8000-0000000000c2',
            provisor.uuid7_floor('2023-05-10Z'), '2023-05-10Z', true, '{}', '{}', true, true, true,
            '{}', '{}', '{}', '{}', '{}');
SET LOCAL ROLE provisor_service;
SELECT is(provisor.drop_partition(0, 0), NULL, 'no retention, one run: nothing goes');
SELECT is(provisor.drop_partition(0, 365), 'advice_2023_05', 'advice by its own retention');
SELECT is(provisor.drop_partition(1, 0), 'audit_2023_05', 'audit by its own');
SELECT is(provisor.drop_partition(1, 1), NULL, 'the month with a run stays');

-- What is listed across teams is ids and numbers; the tables stay closed.
SELECT ok('00000000-0000-7000-8000-0000000000c1' IN (SELECT provisor.list_team_ids(NULL, 1000)), 'teams are listed');
SELECT results_eq($$ SELECT keep_days, keep_runs, due FROM provisor.list_retention(NULL, NULL, 1000, 0, 0)
                      WHERE application_id = '00000000-0000-7000-8000-0000000000c2' $$,
                  $$ VALUES (NULL::bigint, NULL::bigint, false) $$, 'nothing is due where nothing is asked');
SELECT results_eq($$ SELECT keep_days, due FROM provisor.list_retention(NULL, NULL, 1000, 30, 0)
                      WHERE application_id = '00000000-0000-7000-8000-0000000000c2' $$,
                  $$ VALUES (30::bigint, true) $$, 'the default makes it due');
SELECT is((SELECT count(*) FROM provisor.list_unthinned(30, 1000)
            WHERE application_id = '00000000-0000-7000-8000-0000000000c2'), 1::bigint, 'an old run is due for thinning');
SELECT is((SELECT count(*) FROM provisor.run), 0::bigint, 'after which the runs are as closed as before');
SELECT throws_ok('SELECT * FROM provisor.housekeeping', '42501', NULL, 'the lease is taken by the function only');
SELECT throws_ok('SELECT * FROM provisor.monthly_partition', '42501', NULL, 'the list of partitions is the owner''s');
RESET ROLE;

SELECT set_config('provisor.team_id', '00000000-0000-7000-8000-0000000000c1', true);
DELETE FROM provisor.run WHERE application_id = '00000000-0000-7000-8000-0000000000c2';
SELECT is(provisor.drop_partition(0, 0), 'run_2023_05', 'empty, it goes');
SELECT hasnt_table('provisor'::name, t::name, 'with ' || t) FROM unnest(ARRAY['run_label_2023_05', 'run_stage_2023_05']) AS t;
SELECT is(provisor.drop_partition(1, 1), NULL, 'this month and those to come stay, empty or not');

-- What belongs to runs goes with them, a few or many, and nothing else does.
SELECT lives_ok($$ INSERT INTO provisor.run (team_id, application_id, id, succeeded, label_keys, label_values, has_stages,
        from_log, ended, property_keys, property_values, warning_codes, warning_counts, warning_details)
    SELECT '00000000-0000-7000-8000-0000000000c1', '00000000-0000-7000-8000-0000000000c2',
           overlay(provisor.uuid7_floor(now())::text PLACING lpad(n::text, 12, '0') FROM 25)::uuid,
           true, '{}', '{}', true, true, true, '{}', '{}', '{}', '{}', '{}' FROM generate_series(1, 2500) AS n $$, '2500 runs');
INSERT INTO provisor.run_log (team_id, application_id, spark_application_id, spark_attempt_id, run_id, ended)
    SELECT team_id, application_id, 'app-' || right(id::text, 12), '', id, true FROM provisor.run
     WHERE application_id = '00000000-0000-7000-8000-0000000000c2';
INSERT INTO provisor.run_label (team_id, application_id, run_id, key, value, instant)
    SELECT team_id, application_id, id, 'k', 'v', now() FROM provisor.run WHERE application_id = '00000000-0000-7000-8000-0000000000c2';
INSERT INTO provisor.run_stage (team_id, application_id, run_id, id, parents, skipped)
    SELECT team_id, application_id, id, 0, '{}', false FROM provisor.run WHERE application_id = '00000000-0000-7000-8000-0000000000c2';
CREATE FUNCTION pg_temp.left_over() RETURNS bigint[] LANGUAGE sql AS $$
    SELECT array_agg(n) FROM (SELECT count(*) AS n FROM provisor.run_log WHERE application_id = '00000000-0000-7000-8000-0000000000c2'
        UNION ALL SELECT count(*) FROM provisor.run_label WHERE application_id = '00000000-0000-7000-8000-0000000000c2'
        UNION ALL SELECT count(*) FROM provisor.run_stage WHERE application_id = '00000000-0000-7000-8000-0000000000c2') AS t $$;
SET LOCAL ROLE provisor_service;
DELETE FROM provisor.run WHERE application_id = '00000000-0000-7000-8000-0000000000c2' AND right(id::text, 4)::int <= 10;
RESET ROLE;
SELECT is(pg_temp.left_over(), ARRAY[2490, 2490, 2490]::bigint[], 'ten runs take ten logs, labels and stages along');
SET LOCAL ROLE provisor_service;
DELETE FROM provisor.run WHERE application_id = '00000000-0000-7000-8000-0000000000c2' AND right(id::text, 4)::int <= 2000;
RESET ROLE;
SELECT is(pg_temp.left_over(), ARRAY[500, 500, 500]::bigint[], 'so do two thousand at once');
SET LOCAL ROLE provisor_service;
DELETE FROM provisor.application WHERE id = '00000000-0000-7000-8000-0000000000c2';
RESET ROLE;
SELECT is(pg_temp.left_over(), ARRAY[0, 0, 0]::bigint[], 'and the runs that go with their application');

-- The audit: only old rows, only so many.
INSERT INTO provisor.audit (team_id, id, actor, action, subject, request_id, at)
    SELECT '00000000-0000-7000-8000-0000000000c1', gen_random_uuid(), 'a', 'pgtap', 'c', '', now() - days * interval '1 day'
      FROM unnest(ARRAY[50, 40, 20, 0]) AS days;
SET LOCAL ROLE provisor_service;
SELECT is(provisor.expire_audit(45, 100), 1::bigint, 'older than 45 days: one');
SELECT is(provisor.expire_audit(1, 100), 1::bigint, 'none younger than 30 days goes, whatever is asked');
RESET ROLE;

-- One holder.
SET LOCAL ROLE provisor_service;
SELECT ok(provisor.claim_housekeeping('00000000-0000-7000-8000-000000000001', 0, 60), 'free: taken');
SELECT ok(NOT provisor.claim_housekeeping('00000000-0000-7000-8000-000000000002', 0, 60), 'held: not taken');
SELECT ok(provisor.claim_housekeeping('00000000-0000-7000-8000-000000000001', 3600, 60), 'renewed by its holder');
SELECT lives_ok($$ SELECT provisor.end_housekeeping('00000000-0000-7000-8000-000000000001') $$, 'given back');
SELECT ok(NOT provisor.claim_housekeeping('00000000-0000-7000-8000-000000000002', 3600, 60), 'too soon after the last');
SELECT ok(provisor.claim_housekeeping('00000000-0000-7000-8000-000000000002', 0, 60), 'unless that is no matter');
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;

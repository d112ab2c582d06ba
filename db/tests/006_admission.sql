-- Proves what expire_admissions promises: over all teams, what is over is expired once, each with its event, a batch at a time.
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
SELECT no_plan();

SELECT has_function('provisor', 'expire_admissions', ARRAY['bigint'], 'function expire_admissions');
SELECT has_index('provisor', 'admission', 'admission_due', 'what is due is found without looking at what is not');
INSERT INTO provisor.team (team_id, name) VALUES ('00000000-0000-7000-8000-0000000000e1', 'pgtap first'),
                                                 ('00000000-0000-7000-8000-0000000000e2', 'pgtap second');
CREATE FUNCTION pg_temp.fill(team uuid) RETURNS void LANGUAGE sql AS $$
    SELECT set_config('provisor.team_id', team::text, true);
    INSERT INTO provisor.application (team_id, id, name) VALUES (team, team, 'known');
    INSERT INTO provisor.cluster (team_id, id, name, label_keys, label_values) VALUES (team, team, 'c', '{}', '{}');
    INSERT INTO provisor.admission (team_id, id, cluster_id, application, cores, granted_cores, starts_at, expires_at)
        SELECT team, ('00000000-0000-7000-8000-00000000000' || i)::uuid, team, CASE i WHEN 1 THEN 'known' ELSE 'unknown' END, 3, 2.5,
               now() - interval '1 hour', now() + (i - 3) * interval '1 minute' FROM generate_series(1, 5) AS i $$;
SET LOCAL ROLE provisor_service;
SELECT pg_temp.fill('00000000-0000-7000-8000-0000000000e1');
SELECT pg_temp.fill('00000000-0000-7000-8000-0000000000e2');
SELECT set_config('provisor.team_id', '', true);
SELECT is((SELECT expired FROM provisor.expire_admissions(2)), 2::bigint, 'a batch');
SELECT is((SELECT expired FROM provisor.expire_admissions(100)), 4::bigint, 'the rest of both teams, the instant of now included');
SELECT is((SELECT expired FROM provisor.expire_admissions(100)), 0::bigint, 'each once');
SELECT is((SELECT count(*) FROM provisor.admission), 0::bigint, 'after which the table is as closed as before');
SELECT set_config('provisor.team_id', '00000000-0000-7000-8000-0000000000e2', true);
SELECT results_eq($$ SELECT right(id::text, 1), ending, ended_at = expires_at FROM provisor.admission ORDER BY id $$,
                  $$ VALUES ('1', 'expired', true), ('2', 'expired', true), ('3', 'expired', true), ('4', NULL, NULL), ('5', NULL, NULL) $$,
                  'what lies ahead is held');
SELECT results_eq($$ SELECT data #>> '{application}', data #>> '{cores}', severity::integer, application_id IS NOT NULL, id::text ~ '^.{14}7' FROM provisor.outbox
                      WHERE type = 'admission.expired' ORDER BY data #>> '{admission_id}' $$,
                  $$ VALUES ('known', '2.5', 1, true, true), ('unknown', '2.5', 1, false, true), ('unknown', '2.5', 1, false, true) $$,
                  'each has an event, which belongs to the application if that is there');
SELECT throws_ok($$ UPDATE provisor.admission SET expires_at = starts_at WHERE right(id::text, 1) = '5' $$, '23514', NULL, 'time passes between start and end');
SELECT throws_ok($$ UPDATE provisor.admission SET ended_at = now() WHERE right(id::text, 1) = '5' $$, '23514', NULL, 'what ended says how');
SELECT is((SELECT count(*) FROM provisor.cluster_reference WHERE kind = 'admission'), 2::bigint, 'what is held refers to its cluster');

RESET ROLE;
SELECT * FROM finish();
ROLLBACK;

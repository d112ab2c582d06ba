-- Proves the second wall: the service's role sees, adds, changes and removes rows of its own team
-- only, in every table there is; a new table without the wall fails here.
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
SELECT no_plan();

-- The catalogue first: no table of a team without row level security, forced, and its policy.
SELECT is_empty($$
    SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'team_id'
     WHERE c.relnamespace = 'provisor'::regnamespace AND c.relkind IN ('r', 'p')
       AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
$$, 'row level security is enabled and forced wherever there is a team_id');
SELECT is_empty($$
    SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'team_id'
     WHERE c.relnamespace = 'provisor'::regnamespace AND c.relkind IN ('r', 'p')
       AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polcmd = '*' AND p.polpermissive
                       AND pg_get_expr(p.polqual, c.oid) ~ 'current_team' AND pg_get_expr(p.polwithcheck, c.oid) ~ 'current_team')
$$, 'each has the policy of its own team, for reading and for writing');
SELECT is_empty($$
    SELECT c.relname FROM pg_class c
     WHERE c.relnamespace = 'provisor'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname NOT IN ('migration', 'service_key', 'housekeeping')
       AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'team_id')
$$, 'no other table is without a team_id');
SELECT is_empty($$
    SELECT p.polname, p.polrelid::regclass FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
     WHERE c.relnamespace = 'provisor'::regnamespace AND p.polname <> 'own_team'
       AND (p.polname <> 'registry' OR p.polroles <> ARRAY[c.relowner])
$$, 'the only other policy is the owner''s registry');

-- Two teams with a row in every table.
CREATE FUNCTION pg_temp.fill(team uuid, n integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    app uuid := gen_random_uuid();
    one uuid := gen_random_uuid();
BEGIN
    INSERT INTO provisor.team (team_id, name) VALUES (team, 'pgtap rls ' || n);
    INSERT INTO provisor.token (team_id, id, name, scopes, hash) VALUES (team, gen_random_uuid(), 't', 1, sha256('t'));
    INSERT INTO provisor.application (team_id, id, name) VALUES (team, app, 'a');
    INSERT INTO provisor.run (team_id, application_id, id, succeeded, label_keys, label_values, has_stages, from_log,
                              ended, property_keys, property_values, warning_codes, warning_counts, warning_details)
        VALUES (team, app, one, true, '{}', '{}', true, true, true, '{}', '{}', '{}', '{}', '{}');
    INSERT INTO provisor.run_log (team_id, application_id, spark_application_id, spark_attempt_id, run_id, ended)
        VALUES (team, app, 'app-1', '', one, true);
    INSERT INTO provisor.run_label (team_id, application_id, run_id, key, value, instant) VALUES (team, app, one, 'k', 'v', now());
    INSERT INTO provisor.run_stage (team_id, application_id, run_id, id, parents, skipped) VALUES (team, app, one, 0, '{}', false);
    INSERT INTO provisor.advice (team_id, id, application_id, feasible, request, document) VALUES (team, one, app, true, '{}', '{}');
    INSERT INTO provisor.name_rules (team_id, customized, names, patterns, applications)
        VALUES (team, true, '{a}', '{b}', '{c}');
    INSERT INTO provisor.application_model (team_id, application_id, history_version, recipe, fitted, selected, document)
        VALUES (team, app, 1, 'r', 1, 'amdahl', '{}');
    INSERT INTO provisor.price_book (team_id, id, name, currency, rows) VALUES (team, one, 'b', 'EUR', 1);
    INSERT INTO provisor.cluster (team_id, id, name, label_keys, label_values, price_book_id) VALUES (team, one, 'c', '{}', '{}', one);
    INSERT INTO provisor.cluster (team_id, id, name, label_keys, label_values) VALUES (team, app, 'd', '{}', '{}');
    INSERT INTO provisor.admission (team_id, id, cluster_id, application, cores, granted_cores, starts_at, expires_at, ended_at, ending)
        VALUES (team, one, one, 'a', 1, 1, now(), now() + interval '1 s', now(), 'released');
    INSERT INTO provisor.cluster_report (team_id, cluster_id, first_us, newest_us, forgotten_at) VALUES (team, one, 0, 1, now());
    INSERT INTO provisor.cluster_processing (team_id, cluster_id, operation, landmark_us, half_life_s, level, bins, weights, masses, samples,
                                             newest_us, forgotten_at) VALUES (team, one, 'o', 0, 1, 0, '{1}', '{1}', '{1}', 1, 0, now());
    INSERT INTO provisor.cluster_transfer (team_id, cluster_id, from_id, landmark_us, half_life_s, level, bins, weights, masses, samples,
                                           newest_us, forgotten_at) VALUES (team, one, app, 0, 1, 0, '{1}', '{1}', '{1}', 1, 0, now());
    INSERT INTO provisor.price (team_id, price_book_id, position, cluster, cluster_id, per_executor_hour) VALUES (team, one, 1, 'c', one, 1);
    INSERT INTO provisor.operation (team_id, id, kind, actor, scopes, request_id, trace_id) VALUES (team, one, 'k', 'x', 1, '', ''); -- and its first event
    INSERT INTO provisor.team_quota (team_id, runs) VALUES (team, 1); -- the rows of team_usage come by themselves
    INSERT INTO provisor.audit (team_id, id, actor, action, subject, request_id) VALUES (team, one, 'x', 'y', 'z', '');
    INSERT INTO provisor.ingestion (team_id, id, actor, road, outcome) VALUES (team, one, 'x', 'import', 'stored');
    INSERT INTO provisor.outbox (team_id, id, type, data) VALUES (team, one, 'x', '{}');
    INSERT INTO provisor.webhook (team_id, id, url, events, format, signature, secret, concurrency, enabled)
        VALUES (team, one, 'https://a', '{x}', 'standard', 'v1', 's', 1, true);
    INSERT INTO provisor.webhook_delivery (team_id, webhook_id, id, event_id, type, severity, data, happened_at, give_up_at)
        VALUES (team, one, one, one, 'x', 0, '{}', now(), now());
    INSERT INTO provisor.quota_loop (team_id, name, strategy, gamma, average_nominal_rate, worker_names, worker_cores, application_names, application_releases_s,
                                     application_deadlines_s, application_alphas, application_nominal_rates, application_ended, gain, integral_time_s, sample_s,
                                     core_quantum, core_min)
        VALUES (team, 'l', 'edf_pure', 1, 1, '{w}', '{1}', '{}', '{}', '{}', '{}', '{}', '{}', 50, 12, 1, 0.05, 0);
    INSERT INTO provisor.workload (team_id, id, format, jobs, tasks, reduce_tasks, runs, reduce_runs, name_bytes, chunks, bytes, sorted, law_jobs, summary)
        VALUES (team, one, 'pigeon', 1, 1, 0, 1, 0, 0, 1, 1, true, 0, '{}');
    INSERT INTO provisor.workload_chunk (team_id, workload_id, position, content) VALUES (team, one, 0, 'x');
    INSERT INTO provisor.idempotency_key (team_id, token_id, method, path_hash, key, body_hash, status, body)
        VALUES (team, one, 'POST', sha256('/'), 'k', sha256('b'), 201, '');
END $$;
SELECT pg_temp.fill('00000000-0000-7000-8000-0000000000f1', 1);
SELECT pg_temp.fill('00000000-0000-7000-8000-0000000000f2', 2);

CREATE TEMP TABLE walled AS
    SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'team_id'
     WHERE c.relnamespace = 'provisor'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition;

-- Everything is granted here, so that what refuses is the wall and not a missing privilege.
GRANT ALL ON ALL TABLES IN SCHEMA provisor TO provisor_service;
GRANT SELECT ON walled TO provisor_service;

-- How many rows a statement reaches; NULL when the wall refuses it.
CREATE FUNCTION pg_temp.reached(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE statement;
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
EXCEPTION WHEN insufficient_privilege THEN
    RETURN NULL;
END $$;

SET LOCAL ROLE provisor_service;

SELECT set_config('provisor.team_id', '', true);
SELECT is(pg_temp.reached(format('SELECT FROM %s', name)), 0::bigint, 'without a team nothing is visible in ' || name) FROM walled;

SELECT set_config('provisor.team_id', '00000000-0000-7000-8000-0000000000f1', true);
SELECT set_config('provisor.registry', 'on', true); -- the owner's word opens nothing for the service
SELECT is(pg_temp.reached(format('SELECT FROM %s', name)), CASE name WHEN 'provisor.cluster' THEN 2 ELSE 1 END::bigint, -- a pair, for transfers
          'team A sees its own of ' || name) FROM walled;
SELECT is(pg_temp.reached(format('SELECT FROM %s WHERE team_id = ''00000000-0000-7000-8000-0000000000f2''', name)),
          0::bigint, 'team A sees nothing of B in ' || name) FROM walled;
SELECT is(pg_temp.reached(format('UPDATE %s SET team_id = team_id WHERE team_id = ''00000000-0000-7000-8000-0000000000f2''', name)),
          0::bigint, 'team A changes nothing of B in ' || name) FROM walled;
SELECT is(pg_temp.reached(format('DELETE FROM %s WHERE team_id = ''00000000-0000-7000-8000-0000000000f2''', name)),
          0::bigint, 'team A removes nothing of B in ' || name) FROM walled;
SELECT is(pg_temp.reached(format('UPDATE %s SET team_id = ''00000000-0000-7000-8000-0000000000f2''', name)),
          NULL, 'team A gives no row of its own to B in ' || name) FROM walled;
-- A copy of an own row under B's name: the wall speaks before any key or constraint does. Generated
-- columns cannot be given a value, so the copy goes through the columns that can.
SELECT is(pg_temp.reached(format('INSERT INTO %s (%s) SELECT %s FROM %s', name, columns,
                                 replace(columns, 'team_id', '''00000000-0000-7000-8000-0000000000f2''::uuid'), name)),
          NULL, 'team A adds no row for B to ' || name)
  FROM walled, LATERAL (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns FROM pg_attribute
                         WHERE attrelid = name::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS c;

-- Nor are the views that say who refers to what.
SELECT is(pg_temp.reached(format('SELECT FROM provisor.%s_reference', t)), 1::bigint, 'team A sees its one reference to a ' || t)
  FROM unnest(ARRAY['cluster', 'price_book']) AS t;

-- The partitions are no side door, even with every privilege.
SELECT is(pg_temp.reached(format('SELECT FROM %s WHERE team_id = ''00000000-0000-7000-8000-0000000000f2''', c.oid::regclass)),
          0::bigint, 'nothing of B through ' || c.relname)
  FROM pg_class c WHERE c.relnamespace = 'provisor'::regnamespace AND c.relispartition AND c.relkind = 'r';

RESET ROLE;
SELECT * FROM finish();
ROLLBACK;

-- Proves what the schema promises: tables, exact types, keys that begin with the team, one operator,
-- a log kept once, partitions by time.
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
SELECT no_plan();

SELECT has_table('provisor', t, 'table ' || t)
  FROM unnest(ARRAY['migration', 'service_key', 'team', 'token', 'application', 'run', 'run_log', 'run_label',
                    'run_stage', 'advice', 'audit', 'outbox', 'idempotency_key', 'application_model', 'housekeeping', 'name_rules', 'operation', 'operation_event',
                    'cluster', 'price_book', 'price', 'cluster_report', 'cluster_processing', 'cluster_transfer', 'webhook', 'webhook_delivery', 'quota_loop', 'admission', 'workload', 'workload_chunk', 'ingestion']) AS t;

SELECT col_type_is('provisor', 'run_stage', 'task_durations_s', 'double precision[]',
                   'durations of tasks are exact doubles, not a row each');
SELECT col_type_is('provisor', 'run_stage', c, 'bigint[]', 'side by side with them: ' || c)
  FROM unnest(ARRAY['task_nodes', 'task_read_bytes']) AS c;
SELECT col_type_is('provisor', 'run', c, t, 'an entry an executor: ' || c)
  FROM (VALUES ('executor_added_s', 'double precision[]'), ('executor_removed_s', 'double precision[]'),
               ('executor_cores', 'bigint[]'), ('executor_resource_ids', 'bigint[]'),
               ('executor_lost', 'boolean[]')) AS wanted (c, t);
SELECT col_not_null('provisor', 'run', c, 'not null: ' || c)
  FROM unnest(ARRAY['executor_added_s', 'executor_removed_s', 'executor_cores', 'executor_resource_ids',
                    'executor_lost', 'submitted_keys', 'submitted_values']) AS c;
SELECT col_type_is('provisor', 'advice', 'document', 'json', 'a document keeps its bytes: json, not jsonb');
SELECT col_type_is('provisor', 'application_model', 'document', 'json', 'fitted models are given back as they were written');
SELECT col_type_is('provisor', 'advice', 'request', 'json', 'a request keeps its bytes');

-- Whatever table comes: the key begins with the team, then the application where the table has one.
SELECT is_empty($$
    SELECT i.indrelid::regclass FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
      JOIN pg_attribute team ON team.attrelid = c.oid AND team.attname = 'team_id'
     WHERE c.relnamespace = 'provisor'::regnamespace AND i.indisprimary AND i.indkey[0] <> team.attnum
$$, 'every primary key of a team''s table begins with team_id');
SELECT is_empty($$
    SELECT t FROM unnest(ARRAY['run', 'run_log', 'run_label', 'run_stage', 'application_model']) AS t
      JOIN pg_index i ON i.indrelid = ('provisor.' || t)::regclass AND i.indisprimary
      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attname = 'application_id'
     WHERE i.indkey[1] <> a.attnum
$$, 'keys of what belongs to an application continue with application_id');
SELECT is_empty($$
    SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'team_id'
     WHERE c.relnamespace = 'provisor'::regnamespace AND c.relkind IN ('r', 'p')
       AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)
$$, 'every table of a team has a primary key');

SELECT is((SELECT partstrat::text FROM pg_partitioned_table WHERE partrelid = ('provisor.' || t)::regclass), 'r',
          t || ' is partitioned by range') FROM unnest(ARRAY['run', 'run_stage', 'run_label', 'advice', 'audit']) AS t;
SELECT lives_ok($$
    CREATE TABLE provisor.run_2099_01 PARTITION OF provisor.run
        FOR VALUES FROM ('03b35f2c-0000-7000-8000-000000000000') TO ('03b3ffff-0000-7000-8000-000000000000')
$$, 'a month of runs can be split off without touching the keys');

SELECT fk_ok('provisor', 'application_model', ARRAY['team_id', 'application_id'],
             'provisor', 'application', ARRAY['team_id', 'id'], 'models go with their application');

-- Whoever refers to a cluster or a price book without going with it is listed where a refusal to
-- delete is explained; the foreign keys say who does.
SELECT is_empty(format($$
    SELECT k.conrelid::regclass FROM pg_constraint k
     WHERE k.contype = 'f' AND k.confrelid = 'provisor.%1$s'::regclass AND k.confdeltype <> 'c'
       AND NOT EXISTS (SELECT FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid AND d.classid = 'pg_rewrite'::regclass
                        WHERE r.ev_class = 'provisor.%1$s_reference'::regclass AND d.refobjid = k.conrelid)
$$, t), 'provisor.' || t || '_reference knows every table that refers to a ' || t) FROM unnest(ARRAY['cluster', 'price_book']) AS t;
SELECT ok(reloptions @> ARRAY['security_invoker=true'], relname || ' looks with the eyes of whoever asks')
  FROM pg_class WHERE relnamespace = 'provisor'::regnamespace AND relkind = 'v' AND relname ~ '_reference$';
SELECT is((SELECT array_agg(k.confdeltype::text ORDER BY k.conname) FROM pg_constraint k
            WHERE k.contype = 'f' AND k.conrelid = ('provisor.cluster_' || t)::regclass), wanted, 'what was measured goes with its clusters: ' || t)
  FROM (VALUES ('report', ARRAY['c']), ('processing', ARRAY['c']), ('transfer', ARRAY['c', 'c'])) AS v (t, wanted);
SELECT throws_ok(format($$ INSERT INTO provisor.cluster_processing (team_id, cluster_id, operation, landmark_us, half_life_s, level, bins, weights, masses,
                                                                    samples, newest_us, forgotten_at)
                           VALUES (gen_random_uuid(), gen_random_uuid(), 'o', 0, 1, 0, %s, 1, 0, now()) $$, bins), '23514', NULL,
                 'bins, weights and masses belong together, 1 to 32 of them: ' || bins)
  FROM unnest(ARRAY['''{}'', ''{}'', ''{}''', '''{1,2}'', ''{1}'', ''{1,1}''', '''{1}'', ''{1}'', ''{1,1}''',
                    'array_fill(1, ARRAY[33]), array_fill(1, ARRAY[33]), array_fill(1, ARRAY[33])']) AS bins;
SELECT throws_ok($$ INSERT INTO provisor.cluster_transfer (team_id, cluster_id, from_id, landmark_us, half_life_s, level, bins, weights, masses, samples,
                                                           newest_us, forgotten_at)
                    SELECT t, t, t, 0, 1, 0, '{1}', '{1}', '{1}', 1, 0, now() FROM gen_random_uuid() AS t $$, '23514', NULL,
                 'nothing is transferred from a cluster to itself');
SELECT fk_ok('provisor', 'cluster', ARRAY['team_id', 'price_book_id'],
             'provisor', 'price_book', ARRAY['team_id', 'id'], 'a cluster names a book that is there');
SELECT fk_ok('provisor', 'price', ARRAY['team_id', 'cluster_id'],
             'provisor', 'cluster', ARRAY['team_id', 'id'], 'a price leads to a cluster that is there');

SELECT col_is_pk('provisor', 'run_log', ARRAY['team_id', 'application_id', 'spark_application_id', 'spark_attempt_id', 'twin'],
                 'runs that have one application id are twins');
SELECT col_default_is('provisor', 'run_log', 'twin', '0', 'a program that knows of no twins writes one row for each application id and attempt');
SELECT col_type_is('provisor', 'audit', 'replaced', 'json', 'the audit keeps figures of a run that was replaced');

SELECT is((SELECT octet_length(key) FROM provisor.service_key), 32, 'the service''s key has 32 bytes');
SELECT throws_ok($$ INSERT INTO provisor.service_key (key) VALUES (sha256('x')) $$, '23505', NULL,
                 'there is one service key');

INSERT INTO provisor.team (team_id, name) VALUES ('00000000-0000-7000-8000-0000000000aa', 'pgtap schema');
INSERT INTO provisor.price_book (team_id, id, name, currency, rows)
    VALUES ('00000000-0000-7000-8000-0000000000aa', '00000000-0000-7000-8000-0000000000ab', 'b', 'EUR', 1);
SELECT throws_ok(format($$ INSERT INTO provisor.price (team_id, price_book_id, position, machine_type, cluster, per_executor_hour)
    VALUES ('00000000-0000-7000-8000-0000000000aa', '00000000-0000-7000-8000-0000000000ab', 1, %s) $$, given), state, NULL, what)
  FROM (VALUES ('''m'', ''c'', 1', '23514', 'a price is of a machine type or a cluster, not of both'),
               ('NULL, NULL, 1', '23514', 'nor of neither'),
               ('''m'', NULL, -1', '23514', 'no price is negative')) AS bad (given, state, what);
SELECT throws_ok(format($$ INSERT INTO provisor.price (team_id, price_book_id, position, machine_type, per_executor_hour, per_machine_hour, %s)
    VALUES ('00000000-0000-7000-8000-0000000000aa', '00000000-0000-7000-8000-0000000000ab', 1, 'm', 1, 1, %s) $$, columns, given), '23514', NULL, what)
  FROM (VALUES ('startup_billed_s', '0', 'a machine with a price has cores or memory'),
               ('machine_cores', '0', 'at least one core'),
               ('machine_memory_bytes, startup_billed_s', '1, -1', 'no time that is billed is negative'),
               ('machine_memory_bytes, billing_increment_s', '1, -1', 'nor is an increment')) AS bad (columns, given, what);
SELECT lives_ok($$ INSERT INTO provisor.price (team_id, price_book_id, position, machine_type, per_executor_hour)
    VALUES ('00000000-0000-7000-8000-0000000000aa', '00000000-0000-7000-8000-0000000000ab', 1, 'm', 1) $$,
                'a program that knows of no machines writes none');
SELECT throws_ok($$ INSERT INTO provisor.price_book (team_id, id, name, currency, rows)
    VALUES ('00000000-0000-7000-8000-0000000000aa', gen_random_uuid(), 'c', 'eur', 1) $$, '23514', NULL, 'a currency is three capital letters');
SELECT throws_ok($$ INSERT INTO provisor.team (team_id, name)
                    VALUES (gen_random_uuid(), 'pgtap schema') $$, '23505', NULL, 'names of teams are unique');
SELECT provisor.ensure_team(gen_random_uuid(), 'pgtap first'); -- the operator's, if nobody is yet
SELECT throws_ok($$ UPDATE provisor.team SET is_operator = true $$, '23505', NULL, 'one team is the operator''s');

-- Webhooks.
INSERT INTO provisor.webhook (team_id, id, url, events, format, signature, secret, concurrency, enabled)
    VALUES ('00000000-0000-7000-8000-0000000000aa', '00000000-0000-7000-8000-0000000000ac', 'https://a', '{x}', 'standard', 'v1', 's', 1, true);
SELECT throws_ok(format($$ UPDATE provisor.webhook SET %s $$, change), '23514', NULL, 'no webhook has ' || change)
  FROM unnest(ARRAY['events = ''{}''', 'min_severity = 3', 'concurrency = 0', 'public_key = ''x''']) AS change;
SELECT throws_ok(format($$ INSERT INTO provisor.webhook_delivery (team_id, webhook_id, id, event_id, type, severity, data, happened_at, give_up_at, status, ended_at)
    VALUES ('00000000-0000-7000-8000-0000000000aa', '00000000-0000-7000-8000-0000000000ac', gen_random_uuid(), gen_random_uuid(), 'x', 0, '{}', now(), now(), %s) $$,
                        given), '23514', NULL, what)
  FROM (VALUES ('''pending'', now()', 'what is pending has not ended'), ('''dead'', NULL', 'what is dead has'),
               ('''lost'', now()', 'there is no other status')) AS bad (given, what);
SELECT is((SELECT confdeltype::text FROM pg_constraint WHERE contype = 'f' AND conrelid = 'provisor.webhook_delivery'::regclass), 'c',
          'deliveries go with their webhook');

-- Quota loops.
INSERT INTO provisor.quota_loop (team_id, name, strategy, gamma, average_nominal_rate, worker_names, worker_cores, application_names, application_releases_s,
                                 application_deadlines_s, application_alphas, application_nominal_rates, application_ended, gain, integral_time_s, sample_s,
                                 core_quantum, core_min)
    VALUES ('00000000-0000-7000-8000-0000000000aa', 'l', 'edf_pure', 1, 1, '{w}', '{1}', '{}', '{}', '{}', '{}', '{}', '{}', 50, 12, 1, 0.05, 0);
SELECT throws_ok(format($$ UPDATE provisor.quota_loop SET %s $$, change), '23514', NULL, 'no quota loop has ' || change)
  FROM unnest(ARRAY['gamma = 1.01', 'core_quantum = 0', 'core_quantum = 1.1', 'gain = 0', 'integral_time_s = 0', 'sample_s = 0', 'core_min = -1', 'period_us = 0',
                    'sequence = 1', 'at_s = 1', 'reply = ''{}''', 'sequence = -1, at_s = 1, reply = ''{}'', sample_hash = sha256(''b'')',
                    'sequence = 1, at_s = 1, reply = ''{}'', sample_hash = ''short''']) AS change;
SELECT lives_ok($$ UPDATE provisor.quota_loop SET sequence = 1, at_s = 1, reply = '{}', sample_hash = sha256('b') $$, 'a sample is kept as a whole');
SELECT throws_ok($$ INSERT INTO provisor.quota_loop SELECT * FROM provisor.quota_loop $$, '23505', NULL, 'names of quota loops are unique');

-- Workloads.
INSERT INTO provisor.workload (team_id, id, format, jobs, tasks, reduce_tasks, runs, reduce_runs, name_bytes, chunks, bytes, sorted, law_jobs, summary)
    VALUES ('00000000-0000-7000-8000-0000000000aa', '00000000-0000-7000-8000-0000000000ad', 'swim', 1, 3, 1, 2, 1, 0, 1, 9, true, 0, '{}');
SELECT throws_ok(format($$ UPDATE provisor.workload SET %s $$, change), '23514', NULL, 'no workload has ' || change)
  FROM unnest(ARRAY['jobs = 0', 'tasks = 0', 'reduce_tasks = -1', 'reduce_tasks = 4', 'runs = 4', 'reduce_runs = 2', 'name_bytes = -1', 'chunks = 0', 'bytes = 0', 'law_jobs = -1']) AS change;
SET CONSTRAINTS ALL IMMEDIATE;
SELECT throws_ok(format($$ INSERT INTO provisor.workload_chunk (team_id, workload_id, position, content)
    VALUES ('00000000-0000-7000-8000-0000000000aa', '00000000-0000-7000-8000-0000000000%s', %s, 'x') $$, workload, position), state, NULL, what)
  FROM (VALUES ('ae', 0, '23503', 'a chunk belongs to a workload'), ('ad', -1, '23514', 'chunks are counted from 0')) AS bad (workload, position, state, what);
SELECT is((SELECT attstorage::text FROM pg_attribute WHERE attrelid = 'provisor.workload_chunk'::regclass AND attname = 'content'), 'e',
          'what is compact already is not compressed');
SELECT is((SELECT confdeltype::text FROM pg_constraint WHERE contype = 'f' AND conrelid = 'provisor.workload_chunk'::regclass), 'c',
          'chunks go with their workload');
SELECT ok((SELECT condeferred FROM pg_constraint WHERE contype = 'f' AND conrelid = 'provisor.workload_chunk'::regclass), 'and may come before it');

SELECT is_empty($$
    SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'provisor'::regnamespace AND p.prosecdef
       AND NOT coalesce(p.proconfig::text, '') ~ 'search_path'
$$, 'every function that runs as its owner has a fixed search path');

SELECT * FROM finish();
ROLLBACK;

-- A long history, made set-wise: :runs runs of a year over 100 applications, the first of which has a
-- tenth of them; three quarters belong to team bench, the others to its neighbour. Two labels a run,
-- stages for a tenth, advice that a few followed. Run as a superuser: row level security and foreign
-- keys stay out of the way; what is written keeps to them all the same.
\set ON_ERROR_STOP on
\timing on
SET session_replication_role = replica;
SET work_mem = '256MB';
SET synchronous_commit = off;
SELECT setseed(0.5);

-- A service that has run for a year has its months.
DO $$
DECLARE
    parent text;
    month timestamptz;
BEGIN
    FOR month IN SELECT generate_series(m - interval '12 months', m - interval '1 month', interval '1 month')
                   FROM date_trunc('month', now()) AS m LOOP
        FOREACH parent IN ARRAY ARRAY['run', 'run_label', 'run_stage', 'advice', 'audit'] LOOP
            EXECUTE format('CREATE TABLE provisor.%I PARTITION OF provisor.%I FOR VALUES FROM (%L) TO (%L)',
                           parent || to_char(month, '"_"YYYY"_"MM'), parent, provisor.uuid7_floor(month),
                           provisor.uuid7_floor(month + interval '1 month'));
            EXECUTE format('ALTER TABLE provisor.%I OWNER TO provisor_owner', parent || to_char(month, '"_"YYYY"_"MM'));
        END LOOP;
    END LOOP;
END $$;

CREATE FUNCTION pg_temp.uuid7(at timestamptz) RETURNS uuid LANGUAGE sql VOLATILE AS
    $$ SELECT (left(provisor.uuid7_floor(at)::text, 13) || '-7' || substr(gen_random_uuid()::text, 16))::uuid $$;

INSERT INTO provisor.team (team_id, name) VALUES (pg_temp.uuid7(now()), 'neighbour');

CREATE TEMP TABLE app AS
    SELECT n, (SELECT team_id FROM provisor.team WHERE name = CASE WHEN n % 4 = 3 THEN 'neighbour' ELSE 'bench' END) AS team_id,
           pg_temp.uuid7(now()) AS id, CASE n WHEN 0 THEN 'long-history' ELSE 'app-' || lpad(n::text, 3, '0') END AS name
      FROM generate_series(0, 99) AS n;
INSERT INTO provisor.application (team_id, id, name, runs, history_version) SELECT team_id, id, name, 0, 1 FROM app;

INSERT INTO provisor.advice (team_id, id, application_id, application_name, objective, feasible, executors,
                             predicted_duration_s, deadline_s, request, document, created_at, problem_size,
                             cores_per_executor, lower_s, upper_s, confidence, model_kind, deadline_probability)
    SELECT a.team_id, pg_temp.uuid7(at), a.id, a.name, 'min_executors', true, 8, 100, 200, '{}', '{}', at, 64, 4, 80, 120, 0.95, 'usba', 0.99
      FROM app a, LATERAL (SELECT now() - random() * interval '360 days' AS at
                             FROM generate_series(1, CASE a.n WHEN 0 THEN 2000 ELSE 50 END)) AS t;

CREATE TEMP TABLE made AS
    SELECT a.team_id, a.id AS application_id, pg_temp.uuid7(s.at) AS id, s.at, s.k,
           (ARRAY[16, 32, 64, 128, 256])[1 + s.k % 5]::bigint AS problem_size, (ARRAY[1, 2, 4, 8, 16])[1 + s.k / 5 % 5]::bigint AS executors,
           CASE WHEN s.k % 4 = 0 THEN 'dev' ELSE 'main' END AS branch, 'host-' || s.k % 50 AS host,
           s.k % 10 = 0 AS has_stages
      FROM (SELECT k, now() - random() * interval '364 days' AS at,
                   CASE WHEN k % 10 = 0 THEN 0 ELSE 1 + k % 99 END AS n FROM generate_series(1, :runs) AS k) AS s
      JOIN app a USING (n)
     ORDER BY a.team_id, a.id, s.at; -- neighbours in the indexes one after another: several times faster

INSERT INTO provisor.run (team_id, application_id, id, advice_id, problem_size, executors, cores_per_executor, duration_s,
                          initialization_s, started_at, recorded_at, succeeded, label_keys, label_values, has_stages,
                          from_log, spark_application_id, spark_version, ended, jobs, stages_completed, stages_failed,
                          tasks_succeeded, tasks_failed, task_time_s, failed_task_time_s, executors_added,
                          property_keys, property_values, warning_codes, warning_counts, warning_details)
    SELECT team_id, application_id, id, NULL, problem_size, executors, 4, 5 + problem_size * 2.0 / executors + random(), 4 + random(),
           at, at, k % 50 <> 1, ARRAY['branch', 'host'], ARRAY[branch, host], has_stages, true, 'app-' || k, '3.5.0', true, 1, 3,
           0, problem_size * 2, 0, problem_size * 8.0, 0, executors, ARRAY['spark.executor.cores', 'spark.executor.memory'],
           ARRAY['4', '8g'], '{}', '{}', '{}'
      FROM made;
INSERT INTO provisor.run_log (team_id, application_id, spark_application_id, spark_attempt_id, run_id, digest, ended)
    SELECT team_id, application_id, 'app-' || k, '', id, sha256(id::text::bytea), true FROM made;
INSERT INTO provisor.run_label (team_id, application_id, run_id, key, value, instant)
    SELECT team_id, application_id, id, l.key, l.value, at
      FROM made, LATERAL (VALUES ('branch', branch), ('host', host)) AS l (key, value);
INSERT INTO provisor.run_stage (team_id, application_id, run_id, id, name, parents, tasks, task_durations_s, task_duration_s,
                                task_time_s, duration_s, started_s, input_records, nominal_rate_per_s, skipped)
    SELECT team_id, application_id, m.id, stage, 'stage ' || stage, CASE stage WHEN 0 THEN '{}' ELSE ARRAY[stage - 1] END::bigint[], problem_size,
           (SELECT array_agg(2 + (task * 37 % 100) / 50.0::float8 + stage) FROM generate_series(1, problem_size) AS task),
           4, 4 * problem_size, 4.0 * problem_size / (4 * executors), 5 + 10 * stage, 1000, 250.0 / problem_size, false
      FROM made m, generate_series(0, 2) AS stage WHERE m.has_stages;
UPDATE provisor.run r SET advice_id = a.id
  FROM (SELECT team_id, application_id, id, created_at, row_number() OVER (PARTITION BY application_id ORDER BY id) AS n FROM provisor.advice) a
  JOIN (SELECT team_id, application_id, id, row_number() OVER (PARTITION BY application_id ORDER BY id) AS n FROM made) m
    USING (team_id, application_id, n)
 WHERE r.team_id = a.team_id AND r.application_id = a.application_id AND r.id = m.id;
UPDATE provisor.application a SET runs = m.n
  FROM (SELECT team_id, application_id, count(*) AS n FROM made GROUP BY 1, 2) m WHERE m.team_id = a.team_id AND m.application_id = a.id;
VACUUM (ANALYZE) provisor.run, provisor.run_label, provisor.run_stage, provisor.run_log, provisor.advice, provisor.application;
CHECKPOINT;
SELECT count(*) AS runs, pg_size_pretty(pg_database_size(current_database())) AS size FROM provisor.run;

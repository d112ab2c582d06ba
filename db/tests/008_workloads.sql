-- Proves that a workload counts among what its team stores, from when it is there until it goes, and in a recount.
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
SELECT no_plan();

INSERT INTO provisor.team (team_id, name) VALUES ('00000000-0000-7000-8000-0000000000b1', 'pgtap workloads');
CREATE FUNCTION pg_temp.stored() RETURNS bigint LANGUAGE sql AS
    $$ SELECT used FROM provisor.read_usage(0, 0, 0, 0, 0, 0, 0) WHERE quota = 'bytes' $$;
SET LOCAL ROLE provisor_service;
SELECT set_config('provisor.team_id', '00000000-0000-7000-8000-0000000000b1', true);

INSERT INTO provisor.workload (team_id, id, format, jobs, tasks, reduce_tasks, runs, reduce_runs, name_bytes, chunks, bytes, sorted, law_jobs, summary)
    SELECT '00000000-0000-7000-8000-0000000000b1', ('00000000-0000-7000-8000-00000000000' || i)::uuid, 'pigeon', 1, 1, 0, 1, 0, 0, 1, 1000 * i, true, 0, '{}'
      FROM generate_series(1, 3) AS i;
INSERT INTO provisor.workload_chunk (team_id, workload_id, position, content)
    SELECT team_id, id, 0, 'x' FROM provisor.workload;
SELECT is(pg_temp.stored(), 6000::bigint, 'its bytes count with the row');
DELETE FROM provisor.workload WHERE right(id::text, 1) = '2';
SELECT is(pg_temp.stored(), 4000::bigint, 'and no longer when it is deleted');
SELECT is((SELECT count(*) FROM provisor.workload_chunk), 2::bigint, 'its chunks go with it');
UPDATE provisor.team_usage SET bytes = bytes + 7;
SELECT ok(provisor.recount_usage(0), 'a recount');
SELECT is(pg_temp.stored(), 4000::bigint, 'finds what is there');

RESET ROLE;
SELECT * FROM finish();
ROLLBACK;

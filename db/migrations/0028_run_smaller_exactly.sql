-- As run_smaller, by the exact size: the runs nearest from below.
-- provisor: no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS run_smaller_exactly ON provisor.run (team_id, application_id, replayable, (coalesce(exact_problem_size, problem_size::double precision)) DESC, instant DESC, id DESC) WHERE succeeded;

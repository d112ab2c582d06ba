-- As run_larger, by the exact size: the runs nearest from above.
-- provisor: no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS run_larger_exactly ON provisor.run (team_id, application_id, replayable, (coalesce(exact_problem_size, problem_size::double precision)), instant DESC, id DESC) WHERE succeeded;

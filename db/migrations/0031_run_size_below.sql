-- Likewise in place of run_smaller_exactly.
-- provisor: no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS run_size_below ON provisor.run (team_id, application_id, replayable, exact_problem_size DESC, problem_size DESC, instant DESC, id DESC) WHERE succeeded;

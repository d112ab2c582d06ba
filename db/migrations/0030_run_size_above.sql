-- In place of run_larger_exactly: row level security keeps an expression with a cast from bounding a
-- walk, so the two columns are in it. First those with an exact size, then those of programs of before.
-- provisor: no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS run_size_above ON provisor.run (team_id, application_id, replayable, exact_problem_size, problem_size, instant DESC, id DESC) WHERE succeeded;

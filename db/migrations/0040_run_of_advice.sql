-- Whether a run has reported back that names some advice.
-- provisor: no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS run_of_advice ON provisor.run (team_id, advice_id) WHERE advice_id IS NOT NULL;

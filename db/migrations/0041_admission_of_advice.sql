-- The admission that follows some advice.
-- provisor: no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS admission_of_advice ON provisor.admission (team_id, advice_id) WHERE advice_id IS NOT NULL;

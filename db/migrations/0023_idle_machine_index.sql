-- A fit reads what the team's most recently fitted applications show of a machine that does no work.
-- provisor: no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS application_model_idle ON provisor.application_model (team_id, idle_counted, fitted_at DESC) WHERE idle_counted IS NOT NULL;

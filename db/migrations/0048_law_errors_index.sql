-- A fit reads the law errors of the team's most recently fitted applications.
-- provisor: no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS application_model_law_error ON provisor.application_model (team_id, fitted_at DESC) WHERE law_error IS NOT NULL;

-- Advice for a cluster whose job is not due yet: what advice beside advised jobs looks at.
-- provisor: no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS advice_due ON provisor.advice (team_id, cluster, due_at) WHERE due_at IS NOT NULL;

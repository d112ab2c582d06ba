-- provisor: no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS run_next ON provisor.run (team_id, application_id, next_note)
    WHERE next_note IS NOT NULL;

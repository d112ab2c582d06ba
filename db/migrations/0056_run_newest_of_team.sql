-- The runs of a team, newest first, whatever their application.
-- provisor: no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS run_newest_of_team ON provisor.run (team_id, instant DESC, id DESC);

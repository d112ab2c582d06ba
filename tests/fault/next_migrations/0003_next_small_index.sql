-- provisor: no transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS token_next ON provisor.token (team_id, id, name);

-- Becomes the primary key of run_log.
-- provisor: no transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS run_log_twins ON provisor.run_log (team_id, application_id, spark_application_id, spark_attempt_id, twin);

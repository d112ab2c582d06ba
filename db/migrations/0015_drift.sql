-- Drift of an application is told of once: up to which run's instant it has been.
ALTER TABLE provisor.application_model ADD COLUMN drift_told_at timestamptz;

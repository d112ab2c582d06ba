ALTER TABLE provisor.application_model RENAME COLUMN drift_told_at TO drift_reported_at;

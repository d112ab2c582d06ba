-- Several runs can have one application id and attempt: clusters that start in one second give their
-- applications the same id.

ALTER TABLE provisor.run_log
    -- service/core/history/log_origin.h; null: written by a program from before this migration.
    ADD COLUMN origin bytea,
    -- Tells the runs of one application id and attempt apart, as part of the key.
    ADD COLUMN twin integer NOT NULL DEFAULT 0;

-- Figures of the run that the action replaced; null: it replaced no run.
ALTER TABLE provisor.audit ADD COLUMN replaced json;

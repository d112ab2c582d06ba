-- Runs that are not plain batch jobs: streaming, sessions of a person, executors that the platform took
-- away, and properties that a job sets itself.

ALTER TABLE provisor.run
    ADD COLUMN executors_lost bigint,
    ADD COLUMN streaming_queries bigint,
    ADD COLUMN idle_s double precision,
    ADD COLUMN away_s double precision,
    -- What was submitted for properties that the job overrode; '' for none.
    ADD COLUMN submitted_keys text[] NOT NULL DEFAULT '{}',
    ADD COLUMN submitted_values text[] NOT NULL DEFAULT '{}',
    -- One entry for each executor, as executor_added_s.
    ADD COLUMN executor_lost boolean[] NOT NULL DEFAULT '{}';

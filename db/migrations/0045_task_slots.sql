-- How many tasks an executor runs at once: what GPUs and other resources allow, and which stages start
-- all of their tasks together.

ALTER TABLE provisor.run
    -- Side by side with resource_ids: the resource that allows the fewest tasks at once; null: none.
    ADD COLUMN resource_names text[] NOT NULL DEFAULT '{}',
    ADD COLUMN resource_amounts bigint[] NOT NULL DEFAULT '{}',
    ADD COLUMN resource_task_amounts double precision[] NOT NULL DEFAULT '{}';

ALTER TABLE provisor.run_stage
    ADD COLUMN barrier boolean NOT NULL DEFAULT false;

-- When the executors of a run came and went.

ALTER TABLE provisor.run
    -- One entry an executor, side by side: seconds after the run's start, the cores and the resource
    -- profile. One that stayed to the end was removed at null.
    ADD COLUMN executor_added_s double precision[] NOT NULL DEFAULT '{}',
    ADD COLUMN executor_removed_s double precision[] NOT NULL DEFAULT '{}',
    ADD COLUMN executor_cores bigint[] NOT NULL DEFAULT '{}',
    ADD COLUMN executor_resource_ids bigint[] NOT NULL DEFAULT '{}';

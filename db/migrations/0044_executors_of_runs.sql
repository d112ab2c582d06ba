-- When the executors of a run came and went.

ALTER TABLE provisor.run
    -- One entry for each executor in every array: seconds after the run's start, cores, resource
    -- profile. executor_removed_s is null if the executor stayed to the end.
    ADD COLUMN executor_added_s double precision[] NOT NULL DEFAULT '{}',
    ADD COLUMN executor_removed_s double precision[] NOT NULL DEFAULT '{}',
    ADD COLUMN executor_cores bigint[] NOT NULL DEFAULT '{}',
    ADD COLUMN executor_resource_ids bigint[] NOT NULL DEFAULT '{}';

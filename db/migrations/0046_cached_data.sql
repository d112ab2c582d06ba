-- How much an executor can cache, and which stage computed the cached data that a stage reads.

ALTER TABLE provisor.run
    ADD COLUMN storage_memory_bytes bigint;

ALTER TABLE provisor.run_stage
    ADD COLUMN cache_source_id bigint;

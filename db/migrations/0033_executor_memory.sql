-- What logs say of the memory of executors and of their start, and what the longest task read. NULL
-- is unknown: rows that were there before, logs that do not say.
ALTER TABLE provisor.run
    ADD COLUMN out_of_memory_errors bigint,
    ADD COLUMN memory_limit_kills bigint,
    ADD COLUMN cached_blocks_dropped bigint,
    ADD COLUMN executor_startup_s float8,
    ADD COLUMN peak_unified_memory_bytes bigint,
    ADD COLUMN peak_storage_memory_bytes bigint,
    ADD COLUMN peak_off_heap_memory_bytes bigint,
    ADD COLUMN peak_jvm_non_heap_bytes bigint,
    ADD COLUMN peak_process_memory_bytes bigint,
    ADD COLUMN peak_python_memory_bytes bigint,
    ADD COLUMN longest_task_bytes bigint;

ALTER TABLE provisor.run_stage
    ADD COLUMN peak_unified_memory_bytes bigint,
    ADD COLUMN peak_storage_memory_bytes bigint,
    ADD COLUMN peak_off_heap_memory_bytes bigint,
    ADD COLUMN peak_jvm_non_heap_bytes bigint,
    ADD COLUMN peak_process_memory_bytes bigint,
    ADD COLUMN peak_python_memory_bytes bigint,
    ADD COLUMN longest_task_bytes bigint;

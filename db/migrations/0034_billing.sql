-- Prices of machines that hold several executors, and how time is billed. NULL is not specified: rows
-- that were there before price executors, billed to the moment. A row that prices a machine holds that
-- price in per_executor_hour as well, which may not be null: a program that knows of no machines takes
-- each executor to fill one, the most that it can cost.
ALTER TABLE provisor.price
    ADD COLUMN per_machine_hour double precision CHECK (per_machine_hour >= 0),
    ADD COLUMN spot_per_machine_hour double precision CHECK (spot_per_machine_hour >= 0),
    ADD COLUMN machine_cores bigint CHECK (machine_cores >= 1),
    ADD COLUMN machine_memory_bytes bigint CHECK (machine_memory_bytes >= 1),
    ADD COLUMN startup_billed_s double precision CHECK (startup_billed_s >= 0),
    ADD COLUMN minimum_billed_s double precision CHECK (minimum_billed_s >= 0),
    ADD COLUMN billing_increment_s double precision CHECK (billing_increment_s >= 0),
    ADD CHECK (per_machine_hour IS NULL OR machine_cores IS NOT NULL OR machine_memory_bytes IS NOT NULL);

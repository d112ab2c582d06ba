-- A program from before twins were writes number 0, so that each of its logs is still kept once.
ALTER TABLE provisor.run_log
    DROP CONSTRAINT run_log_pkey,
    ADD CONSTRAINT run_log_pkey PRIMARY KEY USING INDEX run_log_twins;

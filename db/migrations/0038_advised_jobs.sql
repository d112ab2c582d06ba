-- Advice that may still be followed: the cluster that it is for, and the instant by which its job has to
-- be over. Advice that names no cluster, recommends nothing, or was stored by a program of before has no
-- due_at and is never counted among the jobs that were advised and have not reported back.
ALTER TABLE provisor.advice
    ADD COLUMN cluster text COLLATE "C",
    ADD COLUMN due_at timestamptz;

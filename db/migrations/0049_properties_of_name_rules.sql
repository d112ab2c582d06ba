-- A name rule may be about a Spark property instead of the name. Programs of before write none: what they
-- leave is not as long as the other arrays, and counts as none.
ALTER TABLE provisor.name_rules ADD COLUMN properties text[] NOT NULL DEFAULT '{}';

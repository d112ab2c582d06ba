-- Where the server knows little of a table (it is new, or a long import fills it within one
-- transaction) several indexes look equally good to it for finding one run by its key, and of equal
-- ones it takes the youngest. That was run_newest, which holds the id behind the instant: each look
-- then read every run of the application. So the index that finds a run by its id is made the
-- youngest. Partitions to come get their indexes in the same order.
DROP INDEX provisor.run_by_id;
CREATE INDEX run_by_id ON provisor.run (team_id, id);

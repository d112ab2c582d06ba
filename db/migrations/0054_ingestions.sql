-- Taken by the table of ingestions.
SELECT 1;

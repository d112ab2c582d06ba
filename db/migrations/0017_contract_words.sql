-- The words of the contract changed. Stored advice is given back as it was given, so that its
-- documents take the new words; text is replaced, not JSON rebuilt, to keep what the digits and
-- the order of the members were. A quote within a string is escaped, so that `"name":` is a key.
-- The owner looks across teams for as long as this takes.
ALTER TABLE provisor.advice NO FORCE ROW LEVEL SECURITY;
ALTER TABLE provisor.application_model NO FORCE ROW LEVEL SECURITY;
UPDATE provisor.advice SET
    model_kind = CASE model_kind WHEN 'load' THEN 'load_per_executor' WHEN 'power' THEN 'power_law'
                                 WHEN 'spill' THEN 'memory_spill' WHEN 'cliff' THEN 'memory_cliff'
                                 ELSE model_kind END,
    document = (SELECT text::json FROM (
        SELECT regexp_replace(text, '"contexts":([0-9]+),"runs":([0-9]+),"chosen_by":("[a-z_]+"),"used":(true|false)',
                              '"label_groups":\1,"runs":\2,"selected_by":\3,"labels_applied":\4') AS text FROM (
        SELECT regexp_replace(text, '"context":(\{"labels":|null)', '"label_group":\1') AS text FROM (
        SELECT regexp_replace(text, '"(kind|model)":"load"', '"\1":"load_per_executor"', 'g') AS text FROM (
        SELECT regexp_replace(text, '"(kind|model)":"power"', '"\1":"power_law"', 'g') AS text FROM (
        SELECT regexp_replace(text, '"(kind|model)":"(spill|cliff)"', '"\1":"memory_\2"', 'g') AS text FROM (
        SELECT regexp_replace(text, '"code":"context_of_latest_run"', '"code":"labels_of_latest_run"') AS text FROM (
        SELECT regexp_replace(text, '"code":"context_not_used"', '"code":"label_group_not_used"') AS text FROM (
        SELECT regexp_replace(text, '"runs_there":', '"existing_runs":', 'g') AS text FROM (
        SELECT regexp_replace(document::text, '"reason":(\{"code":"[a-z_]+","message":"[^"]*"\})', '"reasons":[\1]', 'g') AS text
        ) a) b) c) d) e) f) g) h) i);

-- Models are fitted anew by their revision; what the last refit said of them is asked for again.
UPDATE provisor.application_model SET refit = NULL, refit_version = NULL;

ALTER TABLE provisor.advice FORCE ROW LEVEL SECURITY;
ALTER TABLE provisor.application_model FORCE ROW LEVEL SECURITY;

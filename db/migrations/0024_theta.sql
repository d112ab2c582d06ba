-- What a search over the label groups of an application found (coefficients of a Gaussian process),
-- so that predictions need none of their own; of which runs, a digest says.
ALTER TABLE provisor.application_model
    ADD COLUMN theta_cells bigint,
    ADD COLUMN theta double precision[],
    ADD CHECK ((theta IS NULL) = (theta_cells IS NULL));

#ifndef CORE_GEOSIM_MONTAGE_FIGURES_H
#define CORE_GEOSIM_MONTAGE_FIGURES_H

#include "base/arena.h"
#include "base/error.h"
#include "core/geosim/recording.h"

/*
 * What the steps of a Montage mosaic take, measured from recorded executions: how long, of how many
 * bytes, how many come out, and how far single tasks are from that.
 */
enum geosim_montage_step {
    MONTAGE_PROJECT,
    MONTAGE_DIFF_FIT,
    MONTAGE_CONCAT_FIT,
    MONTAGE_BG_MODEL,
    MONTAGE_BACKGROUND,
    MONTAGE_IMGTBL,
    MONTAGE_ADD,
    MONTAGE_VIEWER,
    MONTAGE_STEPS
};

/* Name of the program, as recorded executions have it. */
const char *geosim_montage_step_name(enum geosim_montage_step step);

/* base + per_byte times the bytes read, scattered around that by this share of it. */
struct geosim_law {
    double base;
    double per_byte;
    double rsd;
};

struct geosim_step_figures {
    double raw_bytes; /* read in addition to what parents put out */
    double raw_rsd;
    double share; /* of its parents' output that it reads */
    struct geosim_law work_s;
    struct geosim_law output_bytes;
};

struct geosim_montage_figures {
    struct geosim_step_figures steps[MONTAGE_STEPS];
};

/*
 * The project's own, measured by geosim_montage_measure from executions of Pegasus that WfCommons
 * publishes (docs/sources.md): of the 2MASS survey those of 0.05 and 0.1 degrees (161 tasks), of
 * the DSS survey that of 1.0 degree (472 tasks), whose images are 13 times as large.
 */
extern const struct geosim_montage_figures geosim_montage_2mass;
extern const struct geosim_montage_figures geosim_montage_dss;

/*
 * Measure. Tasks count by their operation's name; others are passed over. Steps that take one task
 * an image or pair of images have a mean (per_byte 0); those that gather a mosaic get a straight
 * line over the bytes they read, by least squares, neither falling nor below 0 at no bytes; where
 * all mosaics are of one size, through 0.
 *
 * PV_E_INVALID: a step has no task, named in the detail. *figures is written only on PV_OK.
 */
enum pv_code geosim_montage_measure(const struct geosim_recording recordings[],
                                    size_t n,
                                    const struct strview operations[],
                                    struct arena *scratch,
                                    struct geosim_montage_figures *figures,
                                    struct pv_error *err) PV_MUSTCHECK;

#endif

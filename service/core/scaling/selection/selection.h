#ifndef CORE_SCALING_SELECTION_SELECTION_H
#define CORE_SCALING_SELECTION_SELECTION_H

#include "core/scaling/model/fit_types.h"

/*
 * Which of the kinds describes a history (docs/design.md, "Selection"): all are fitted,
 * with relative weights where durations were observed, and the one that predicts runs it has not
 * seen best is taken.
 *
 * What is compared is the mean absolute percentage error on what a fit did not see. Where runs have
 * three executor counts or more, whole counts are left out (an error a count): runs of one count
 * resemble each other, and the question is mostly about another. Else, and where one count has more
 * than half of the runs, runs are left out one by one.
 * Only runs that all comparable candidates used count, so that no kind gains by leaving runs out.
 *
 * A candidate comes close when its error exceeds the least by no more than noise: one standard
 * error of the paired differences (L. Breiman and others, "Classification and Regression Trees",
 * 1984, section 3.4.3), but at most a fifth of the least error, so that one wild run does not make
 * everything close. Of the single kinds the least error wins; where a close one exceeds it by no
 * more than a fiftieth, which is a tie, the one with fewer parameters does. A table of what was
 * measured has to be better than every law by half.
 *
 * The combination of laws (core/scaling/laws/combined.c) is taken unless that single kind is
 * clearly better: by a one-sided t-test of the paired differences at 5 %, or with three
 * tenths of the error, or exact. Which of many kinds looks best on few runs is mostly chance, and
 * the mean of laws that part errs less than that one does. A kind that learns from runs of other contexts
 * (core/scaling/laws/pooled.c) is taken where it errs less than what would be taken without it.
 *
 * With one size recorded, a law of durations without the problem size (`amdahl`) is compared and
 * never taken: `load_per_executor` is the same law with the size.
 *
 * Rows of context 0 or 1 are the ones the models are for; rows of others are only learnt from.
 */

/* Why a candidate takes part in the comparison or not. */
enum model_standing {
    MODEL_COMPARED,
    MODEL_NOT_FITTED,         /* code and detail say why */
    MODEL_NO_LEAVE_ONE_OUT,   /* without some run a parameter is not determined */
    MODEL_NO_LEAVE_SCALE_OUT, /* nor without some executor count, by which others are compared */
    MODEL_FEW_RUNS_USED,      /* it can use less than half of the runs */
    MODEL_NOT_POSITIVE        /* it predicts a time <= 0 for a run that was observed */
};

struct model_candidate {
    const struct model_kind *kind;
    enum model_standing standing;
    enum pv_code code; /* of a kind that could not be fitted */
    char detail[256];
    struct model_fit fit;         /* unless MODEL_NOT_FITTED */
    size_t parameters;            /* that were estimated and kept */
    double loo_mape_percent;      /* runs left out one by one, those compared; NAN: not compared */
    double scale_mape_percent;    /* executor counts left out; NAN: not compared by them */
    double compared_mape_percent; /* the one of both that decides; NAN: not compared */
    double difference_percent;    /* to the least of them; NAN: not compared */
    double noise_percent;         /* within which that difference counts as none */
    bool close;                   /* it does: the data hardly separate it from the best */
};

struct model_selection {
    struct model_candidate *candidates; /* in the order of model_kinds */
    size_t n;
    size_t observations;                    /* given */
    size_t compared;                        /* runs over which errors were compared */
    bool by_executors;                      /* executor counts were left out, not runs */
    const struct model_candidate *selected; /* NULL: no kind can be compared */
    const struct model_candidate *single;   /* the best that is no combination; NULL: none */
    /* Why: pooled, combination, least_error, simpler_within_noise, parametric_preferred,
     * only_candidate, no_error_comparable, none_fitted. */
    char code[32];
    char message[400];
};

/* Word for a standing, as it stands on the wire. */
const char *model_standing_name(enum model_standing standing);

/*
 * rows  n of them, of one form, borrowed; their order changes no digit of the answer
 * arena holds the candidates and working memory
 *
 * Kinds that cannot be fitted are an answer, not an error, even when that is all of them. Kinds
 * that do not take the form of the rows are MODEL_NOT_FITTED. PV_E_MEMORY; *selection is written
 * only on PV_OK. No global state.
 */
enum pv_code model_select(const struct observation rows[],
                          size_t n,
                          struct arena *arena,
                          struct model_selection *selection,
                          struct pv_error *err) PV_MUSTCHECK;

/*
 * The fit of that kind, or, where it is NULL, of the one that model_select takes; *selection is
 * then how. As model_fit, and where none is selected: what the kind that can be used and needs
 * least lacks.
 */
enum pv_code model_fit_or_select(const struct model_kind *kind,
                                 const struct observation rows[],
                                 size_t n,
                                 enum model_weights weights,
                                 struct arena *arena,
                                 struct model_selection *selection,
                                 struct model_fit *fit,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif

#ifndef CORE_HISTORY_PROBLEM_SIZE_H
#define CORE_HISTORY_PROBLEM_SIZE_H

#include "base/quantity_text.h"
#include "core/history/run.h"

/* By what an application measures the problem size of runs that are read from logs. */
enum size_measure_kind {
    SIZE_INPUT_BLOCKS,         /* bytes read from storage / PROBLEM_SIZE_BLOCK_BYTES; if fewer than
                                  PROBLEM_SIZE_INPUT_LEAST are known, as SIZE_FIRST_PARALLEL_STAGE */
    SIZE_INPUT_RECORDS,        /* records read from storage */
    SIZE_FIRST_PARALLEL_STAGE, /* tasks of the first stage that has more than one */
    SIZE_FIRST_STAGE,          /* tasks of the stage that was submitted first */
    SIZE_LABEL,                /* the number that a label of the run is */
    SIZE_SPARK_PROPERTY        /* likewise a Spark property, of those that are kept */
};
extern const char *const size_measure_words[]; /* in that order; ends with NULL */

struct size_measure {
    enum size_measure_kind kind;
    struct strview key; /* of the label or property; at == NULL with the other kinds */
};

/* What a problem size may be: far beyond anything real. Ratios of two stay far from overflow, and the
 * greatest is a whole number that the store can hold. */
#define PROBLEM_SIZE_MIN 1e-9
#define PROBLEM_SIZE_MAX 1e12
#define PROBLEM_SIZE_BLOCK_BYTES QUANTITY_BLOCK_BYTES /* 128 MiB, the block of HDFS */
/* A job that reads fewer bytes is measured in tasks. */
#define PROBLEM_SIZE_INPUT_LEAST 1048576.0

/* Sizes that were measured from bytes differ a little from day to day: sizes that differ by at most
 * 1 % count as one. */
bool problem_size_is_same(double a, double b);

bool size_measure_equal(const struct size_measure *a, const struct size_measure *b);

/*
 * The problem size of a run by the measure, from its stages, labels and properties; NAN when they do
 * not show it, or show one outside PROBLEM_SIZE_MIN to PROBLEM_SIZE_MAX. What it is drawn from is stored with the run, so that it can be worked out
 * again after the measure has changed. The task times are not needed. measured: the word of the
 * measure that was used, which is SIZE_FIRST_PARALLEL_STAGE for a run without input; at == NULL if
 * the size is unknown.
 */
double problem_size_of_run(const struct run *run,
                           const struct size_measure *measure,
                           struct strview *measured);

/* Name of a measure in sentences: "bytes of input". */
const char *problem_size_measure_name(const char *measure);

/* The same word as one of size_measure_words; NULL if `measured` is none of them. */
const char *problem_size_measure_word(struct strview measured);

/*
 * Sizes of different measures do not compare. The measure of an application's sizes is that of most
 * of its PROBLEM_SIZE_PREVAILING_RUNS latest runs, failed and streaming ones left out; predictions
 * leave out runs that were measured otherwise. A size of unknown measure, or one that was given,
 * compares with all. NULL: none of the runs has a measure. runs: newest first.
 */
enum { PROBLEM_SIZE_PREVAILING_RUNS = 20 };
const char *problem_size_prevailing(const struct run runs[], size_t n);
bool problem_size_compares(const struct run *run, const char *measure);

/*
 * Work out run->problem_size by the measure where it was measured before, i.e. unless it was given
 * or the run is not from a log. `before`: the measure by which it was stored, NULL for a run that
 * has just been read; a size of neither that measure nor of the first stage (the measure of
 * programs that did not store who gave a size) is taken as given. True: the size, or its measure, is another one now.
 */
bool problem_size_measure(struct run *run,
                          const struct size_measure *before,
                          const struct size_measure *measure);

/* Of so many lost tasks in all a run's stages still tell what the job does. */
#define RUN_LOST_SHARE 0.01

/*
 * Leave out the stages of a run whose log lost more tasks than that, or of one that was compacted:
 * they would be replayed too fast. Its duration counts. Once its problem size is measured.
 */
void run_leave_out_lost(struct run *run);

#endif

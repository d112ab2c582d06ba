#ifndef CLI_COMMANDS_QUESTION_H
#define CLI_COMMANDS_QUESTION_H

#include "cli/commands/invocation.h"

/*
 * The question that advise, gate and submit ask: how many executors does this job need?
 */
extern const struct option_group question_options; /* the job and what is wanted of it */
extern const struct option_group spark_options;    /* how it is configured */

struct question {
    json_t *body; /* of POST /v1/advice; owned */
    bool dry_run; /* nothing is to be stored */
    bool force;   /* a configuration that misses the deadline is to be rendered, too */
    char idempotency_key[260];
};

/* From the words and options of the command line; application: NULL, or in place of the first word.
 * False: recorded. Free with question_clear in any case. */
bool question_read(struct invocation *invocation,
                   const char *application,
                   struct question *question);
void question_clear(struct question *question);

/* What was answered. */
struct answer {
    json_t *advice;          /* owned */
    json_t *body;            /* the request that it answers; owned */
    const char *bytes_asked; /* the size as it was asked, if in bytes: "2GiB"; NULL: it was not */
    /* The executors of the last run stand: they do as well, and the change would be smaller than the
     * tolerance. The advice is then about them. */
    bool stands;
    double kept_duration_change; /* what was forgone, as shares: of the duration, */
    double kept_cost_change;     /* and of the cost */
};

/*
 * Ask. With a tolerance in the settings, a recommendation that changes duration and cost by no more
 * than that gives way to the executors of the last run, where those meet the deadline as well.
 */
bool question_ask(struct invocation *invocation,
                  const struct question *question,
                  struct answer *answer);
void answer_clear(struct answer *answer);

/* The advice as the service renders it ("spark-submit", "markdown"); free it. NULL: recorded, with the
 * status of the verdict if this is `missed` or `unknown`, for which no configuration is rendered. */
char *question_render(struct invocation *invocation,
                      const struct question *question,
                      const struct answer *answer,
                      const char *format);

/* EXIT_DONE, EXIT_GATE_FAILED, EXIT_LOW_CONFIDENCE or EXIT_TOO_LITTLE_HISTORY by the verdict. */
enum exit_status question_status(const json_t *advice);

#endif

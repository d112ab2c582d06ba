#ifndef CLI_COMMANDS_GATE_CHECKS_H
#define CLI_COMMANDS_GATE_CHECKS_H

#include "cli/commands/question.h"

/*
 * What a gate looks at, and what comes of it.
 */
enum check_result {
    CHECK_PASSED,
    CHECK_FAILED,
    CHECK_WARNED, /* it failed, and only warns */
    CHECK_SKIPPED
};

struct gate_check {
    const char *name; /* "deadline" ("history" without one), "cost", "accuracy" */
    enum check_result result;
    enum exit_status status; /* of a check that failed or warned */
    char message[1024];
};

/* Situations other than `met`. docs/pipelines.md has the table of actions, for each integration. */
enum situation {
    SITUATION_MISSED,
    SITUATION_AT_RISK,
    SITUATION_UNKNOWN,
    SITUATION_UNAVAILABLE,
    SITUATION_TOKEN_REFUSED,
    SITUATIONS
};

enum gate_outcome {
    GATE_PASSED,
    GATE_FAILED,
    GATE_WARNED,  /* a check failed, and only warns */
    GATE_SKIPPED, /* the question could not be answered, and the gate lets the job go on */
    GATE_BROKEN   /* the same, and the job is to stop for a reason that is not its own */
};

enum { GATE_CHECKS = 3 };

struct gate {
    struct gate_check checks[GATE_CHECKS];
    size_t n;
    enum gate_outcome outcome;
    enum exit_status status;
    const struct answer *answer; /* NULL: none */
    char headline[1200];
    char next[512];                    /* remedy for a question without an answer; or "" */
    char token_expires[TOKEN_EXPIRES]; /* the end of the token if it is near; "" if not */
};

struct gate_limits {
    double max_cost_rise; /* against the last run, as a share; negative: none */
    double max_error;     /* leave-one-out, as a share; negative: none */
    bool warn_only;       /* no verdict and no limit stops the job */
    bool no_deadline;     /* said to be meant */
    bool stops[SITUATIONS];
};

/* Options by which the limits are set. */
extern const struct option_group gate_options;

/* gated: false if the command only configures a job, which has defaults of its own and no limits. */
bool gate_limits_read(struct invocation *invocation, bool gated, struct gate_limits *limits);

/* Is there something by which a gate can decide: a deadline, a cost or an error? False: recorded. */
bool gate_has_question(struct invocation *invocation,
                       const struct question *question,
                       const struct gate_limits *limits);

/* Does the job stop if there is no answer for this reason? A reason outside the table stops the job. */
bool gate_stops_on(const struct failure *failure, const struct gate_limits *limits);

/* Look at an answer. */
void gate_check_answer(const struct answer *answer,
                       const struct gate_limits *limits,
                       struct gate *gate);

/* The question got no answer for that reason, and the job continues. */
void gate_skip(const struct failure *failure, const struct question *question, struct gate *gate);

/* There is no answer, and the job stops: what is known of the application is too little, or something
 * is broken. Reports are of use then, too. */
void gate_refuse(const struct failure *failure, const struct question *question, struct gate *gate);

/* As reports: a JSON object (new reference), JUnit, assignments for later steps, annotations of GitHub. */
extern const char *const gate_outcome_words[];
void gate_write_token_end(FILE *out, const struct gate *gate); /* a sentence about it */
json_t *gate_json(const struct gate *gate);
void gate_write_junit(FILE *out, const struct gate *gate);
void gate_write_dotenv(FILE *out, const struct gate *gate);
void gate_write_github(FILE *out, const struct gate *gate);

#endif

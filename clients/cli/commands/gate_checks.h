#ifndef CLI_COMMANDS_GATE_CHECKS_H
#define CLI_COMMANDS_GATE_CHECKS_H

#include "cli/commands/question.h"

/*
 * What a gate looks at, and what comes of it.
 */
enum check_result { CHECK_PASSED, CHECK_FAILED, CHECK_SKIPPED };

struct gate_check {
    const char *name; /* "deadline", "cost", "accuracy" */
    enum check_result result;
    enum exit_status status; /* of a check that failed */
    char message[1024];
};

enum gate_outcome {
    GATE_PASSED,
    GATE_FAILED,
    GATE_WARNED,  /* it would have failed, and is only to warn */
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
};

struct gate_limits {
    double max_cost_rise; /* against the last run, as a share; negative: none */
    double max_error;     /* leave-one-out, as a share; negative: none */
    bool warn_only;
    bool allow_at_risk;
    bool allow_unknown;
};

/* Options by which the limits are set. */
extern const struct option_group gate_options;
struct gate_limits gate_limits_read(const struct arguments *arguments);

/* Look at an answer. */
void gate_check_answer(const struct answer *answer,
                       const struct gate_limits *limits,
                       struct gate *gate);

/* There is no answer, for that reason, and the job goes on. */
void gate_skip(const char *why, struct gate *gate);

/* There is no answer, and the job stops: what is known of the application is too little, or something
 * is broken. Reports are of use then, too. */
void gate_refuse(const struct failure *failure, struct gate *gate);

/* As reports: a JSON object (new reference), JUnit, assignments for later steps, annotations of GitHub. */
extern const char *const gate_outcome_words[];
json_t *gate_json(const struct gate *gate);
void gate_write_junit(FILE *out, const struct gate *gate);
void gate_write_dotenv(FILE *out, const struct gate *gate);
void gate_write_github(FILE *out, const struct gate *gate);

#endif

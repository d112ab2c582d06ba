#include "core/joblog/spark/exit_reason.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Codes of Spark's executors (SparkExitCode) and of the shell: 128 + SIGKILL. */
enum { CODE_OUT_OF_MEMORY = 52, CODE_KILLED = 137 };

/* What comes before an exit code, however a cluster manager puts it. */
static const char *const before_code[] = {"exit code ",  "exitcode ",     "exited with code ",
                                          "exit code: ", "exit status: ", "exit status "};

static const char *find_words(const char *text, const char *words)
{
    size_t n = strlen(words);
    for (; *text != '\0'; text++)
        if (strncasecmp(text, words, n) == 0)
            return text;
    return NULL;
}

/* Words of cluster managers for executors that they take away. */
static const char *const words_of_loss[] = {
    "executor decommission", /* Spark 3.1 and later, behind it the reason */
    "worker decommission",
    "spot interruption",
    "preempt",     /* YARN: "was preempted"; Kubernetes: "Preempting", "PreemptionByScheduler" */
    "*lost* node", /* YARN: "Container released on a *lost* node" */
    "lost node",
    "node lost",
    "NodeLost", /* Kubernetes, as the two below */
    "Evicted",
    "node shutdown",
    "deleted by a user or the framework",
    "worker lost", /* standalone, as the one below */
    "worker shutting down",
    "slave lost", /* Mesos, and YARN up to Spark 2 */
    "host lost",
};

/* Codes of YARN: ABORTED, which a lost node is, and PREEMPTED. */
static bool is_code_of_loss(long code)
{
    return code == -100 || code == -102;
}

/* Dynamic allocation that releases an idle executor calls that a decommission, too. */
static bool was_lost(const char *reason, long code)
{
    static const char released[] = "scale down";
    if (find_words(reason, released) != NULL)
        return false;
    bool lost = is_code_of_loss(code);
    for (size_t i = 0; i < sizeof words_of_loss / sizeof *words_of_loss && !lost; i++)
        lost = find_words(reason, words_of_loss[i]) != NULL;
    return lost;
}

/* The exit code in the text; -1. */
static long exit_code_in(const char *text)
{
    for (size_t i = 0; i < sizeof before_code / sizeof *before_code; i++) {
        const char *at = find_words(text, before_code[i]);
        if (at == NULL)
            continue;
        char *end;
        const char *digits = at + strlen(before_code[i]);
        long code = strtol(digits, &end, 10);
        if (end != digits)
            return code;
    }
    return -1;
}

enum exit_reason exit_reason_of(struct json_text text)
{
    char reason[1024];
    bool cut;
    if (text.at == NULL)
        return EXIT_OTHERWISE;
    size_t n = json_text_decode(text, reason, sizeof reason - 1, &cut);
    reason[n] = '\0';
    long code = exit_code_in(reason);
    if (code == CODE_OUT_OF_MEMORY || find_words(reason, "OutOfMemoryError") != NULL)
        return EXIT_OUT_OF_MEMORY;
    if (code == CODE_KILLED || find_words(reason, "OOMKilled") != NULL ||
        find_words(reason, "exceeding memory limits") != NULL ||
        find_words(reason, "exceeding physical memory limits") != NULL)
        return EXIT_MEMORY_LIMIT;
    return was_lost(reason, code) ? EXIT_LOST : EXIT_OTHERWISE;
}

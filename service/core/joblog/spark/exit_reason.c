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
    return EXIT_OTHERWISE;
}

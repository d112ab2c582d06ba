#include "cli/output/form.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nearest.h"

const char *const output_form_names[FORM_COUNT] = {
    [FORM_TABLE] = "table",
    [FORM_JSON] = "json",
    [FORM_YAML] = "yaml",
    [FORM_CSV] = "csv",
    [FORM_MARKDOWN] = "markdown",
    [FORM_SPARK_SUBMIT] = "spark-submit",
    [FORM_SPARK_DEFAULTS] = "spark-defaults",
    [FORM_K8S] = "k8s",
    [FORM_K8S_APACHE] = "k8s-apache",
    [FORM_DATABRICKS] = "databricks",
    [FORM_EMR] = "emr",
    [FORM_EMR_SERVERLESS] = "emr-serverless",
    [FORM_JUNIT] = "junit",
    [FORM_DOTENV] = "dotenv",
    [FORM_GITHUB] = "github",
};

/* --- which --- */

static bool
unknown_form(const char *option, const char *text, unsigned allowed, struct failure *failure)
{
    char names[256] = "";
    size_t at = 0;
    struct nearest nearest = {.word = NULL};
    for (unsigned form = 0; form < FORM_COUNT; form++)
        if ((allowed & 1U << form) != 0 && at < sizeof names) {
            at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", at > 0 ? ", " : "",
                                   output_form_names[form]);
            nearest_try(&nearest, text, output_form_names[form]);
        }
    (void)fail(failure, EXIT_USAGE, "--%s: '%.60s' is not one of %s", option, text, names);
    if (nearest.word != NULL)
        (void)fail_next(failure, "did you mean %s?", nearest.word);
    return false;
}

static bool add_output(const char *option,
                       const char *text,
                       unsigned allowed,
                       struct outputs *outputs,
                       struct failure *failure)
{
    size_t n = strcspn(text, "=");
    const char *file = text[n] == '=' ? text + n + 1 : NULL;
    char name[64];
    (void)snprintf(name, sizeof name, "%.*s", (int)n, text);
    enum output_form form = FORM_COUNT;
    for (unsigned i = 0; i < FORM_COUNT; i++)
        if ((allowed & 1U << i) != 0 && strcmp(name, output_form_names[i]) == 0)
            form = (enum output_form)i;
    if (form == FORM_COUNT)
        return unknown_form(option, name, allowed, failure);
    if (file != NULL && file[0] == '\0')
        return fail(failure, EXIT_USAGE, "--%s %s: the name of the file is missing", option, text);
    for (size_t i = 0; file == NULL && i < outputs->n; i++)
        if (outputs->items[i].file == NULL)
            return fail(failure, EXIT_USAGE,
                        "only one form can be written to standard output: add =FILE to the others");
    if (outputs->n == OUTPUTS_MAX)
        return fail(failure, EXIT_USAGE, "there are more than %d forms of output", OUTPUTS_MAX);
    outputs->items[outputs->n++] = (struct output){form, file};
    return true;
}

bool outputs_read(const struct arguments *arguments,
                  unsigned allowed,
                  struct outputs *outputs,
                  struct failure *failure)
{
    const char *color = argument_text(arguments, "color");
    outputs->n = 0;
    outputs->terminal = terminal_ask(color == NULL ? "auto" : color);
    for (unsigned i = 0; i < 2; i++) {
        const char *option = i == 0 ? "output" : "format";
        size_t at = 0;
        for (const char *text; (text = argument_next(arguments, option, &at)) != NULL;)
            if (!add_output(option, text, allowed, outputs, failure))
                return false;
    }
    bool to_standard = false;
    for (size_t i = 0; i < outputs->n; i++)
        to_standard = to_standard || outputs->items[i].file == NULL;
    return to_standard ||
           add_output("output", "table", allowed | 1U << FORM_TABLE, outputs, failure);
}

/* --- writing --- */

static bool write_whole(FILE *out, const char *text, size_t n)
{
    return fwrite(text, 1, n, out) == n && fflush(out) == 0 && ferror(out) == 0;
}

/* Beside its place, then renamed; what is no regular file (/dev/stderr, a pipe) is written itself. */
static bool write_file(const char *file, const char *text, size_t n, struct failure *failure)
{
    char beside[PATH_MAX + 24];
    struct stat about;
    bool special = stat(file, &about) == 0 && !S_ISREG(about.st_mode);
    (void)snprintf(beside, sizeof beside, special ? "%s" : "%s.new-%ld", file, (long)getpid());
    FILE *out = fopen(beside, "we");
    bool good = out != NULL && write_whole(out, text, n);
    int why = errno;
    if (out != NULL && fclose(out) != 0 && good) {
        good = false;
        why = errno;
    }
    if (good && !special && rename(beside, file) != 0) {
        good = false;
        why = errno;
    }
    if (good)
        return true;
    if (!special)
        (void)unlink(beside);
    return fail(failure, EXIT_FAILED, "%s cannot be written: %s", file, strerror(why));
}

static bool write_standard(const char *text, size_t n, struct failure *failure)
{
    if (write_whole(stdout, text, n))
        return true;
    /* Who reads no more has what they wanted, as of `head`. */
    if (errno == EPIPE)
        return true;
    return fail(failure, EXIT_FAILED, "standard output cannot be written: %s", strerror(errno));
}

static bool write_output(const struct outputs *outputs,
                         const struct output *output,
                         output_write *write,
                         void *context,
                         struct failure *failure)
{
    static const struct terminal none;
    char *text = NULL;
    size_t n = 0;
    FILE *memory = open_memstream(&text, &n);
    if (memory == NULL)
        return fail_memory(failure);
    bool good = write(memory, output->form, output->file == NULL ? &outputs->terminal : &none,
                      context, failure);
    if (fclose(memory) != 0)
        good = good && fail_memory(failure);
    if (good)
        good = output->file == NULL ? write_standard(text, n, failure)
                                    : write_file(output->file, text, n, failure);
    free(text);
    return good;
}

bool outputs_write(const struct outputs *outputs,
                   output_write *write,
                   void *context,
                   struct failure *failure)
{
    bool good = true;
    for (size_t i = 0; i < outputs->n; i++)
        good = write_output(outputs, &outputs->items[i], write, context, failure) && good;
    return good;
}

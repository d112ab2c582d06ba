#include "cli/commands/invocation.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input/document.h"

enum { FILE_BYTES_MAX = 64 << 20 };

atomic_bool invocation_stop;

static void ask_stop(int signal_number)
{
    (void)signal_number;
    atomic_store(&invocation_stop, true);
}

void invocation_catch_signals(void)
{
    struct sigaction action = {.sa_handler = ask_stop, .sa_flags = (int)SA_RESETHAND};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

bool invocation_begin(struct invocation *invocation, unsigned forms)
{
    if (!outputs_read(invocation->arguments, forms, &invocation->outputs, &invocation->failure))
        return false;
    return invocation->remote != NULL || remote_open(&invocation->settings, &invocation_stop,
                                                     &invocation->remote, &invocation->failure);
}

const char *invocation_word(const struct invocation *invocation, size_t index)
{
    const struct arguments *arguments = invocation->arguments;
    return index < arguments->n_positional ? arguments->positional[index] : "";
}

void invocation_say(const struct invocation *invocation, const char *format, ...)
{
    if (invocation->quiet)
        return;
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_safely(stderr, text);
    fputc('\n', stderr);
}

int invocation_failed(const struct invocation *invocation)
{
    return invocation->failure.status == EXIT_DONE ? EXIT_FAILED : (int)invocation->failure.status;
}

static char *read_all(FILE *in, size_t *n)
{
    char *text = NULL;
    size_t capacity = 0;
    size_t got = 1;
    *n = 0;
    while (got > 0 && *n < FILE_BYTES_MAX) {
        if (capacity - *n < 65536) {
            capacity = 2 * capacity + 131072;
            char *more = realloc(text, capacity);
            if (more == NULL) {
                free(text);
                errno = ENOMEM;
                return NULL;
            }
            text = more;
        }
        got = fread(text + *n, 1, capacity - *n - 1, in);
        *n += got;
    }
    if (ferror(in) == 0 && *n < FILE_BYTES_MAX) {
        text[*n] = '\0';
        return text;
    }
    if (ferror(in) == 0)
        errno = EFBIG;
    free(text);
    return NULL;
}

char *invocation_read_file(struct invocation *invocation, const char *file, size_t *n)
{
    bool standard = strcmp(file, "-") == 0;
    FILE *in = standard ? stdin : fopen(file, "re");
    char *text = in == NULL ? NULL : read_all(in, n);
    int why = errno;
    if (in != NULL && !standard)
        (void)fclose(in);
    if (text == NULL)
        (void)fail(&invocation->failure, EXIT_USAGE, "%s cannot be read: %s",
                   standard ? "standard input" : file, strerror(why));
    return text;
}

json_t *invocation_read_document(struct invocation *invocation, const char *file)
{
    struct request_document *document = &invocation->settings.document;
    free(document->text);
    document->text = invocation_read_file(invocation, file, &document->n);
    (void)snprintf(document->file, sizeof document->file, "%s",
                   strcmp(file, "-") == 0 ? "standard input" : file);
    return document->text == NULL
               ? NULL
               : document_read(document->text, document->n, document->file, &invocation->failure);
}

bool invocation_confirmed(struct invocation *invocation, const char *what)
{
    if (argument_given(invocation->arguments, "yes"))
        return true;
    (void)fail(&invocation->failure, EXIT_USAGE, "this deletes %s, for good: nothing was done",
               what);
    return fail_next(&invocation->failure, "add --yes to do it");
}

struct written_table {
    const json_t *value;
    const struct column *columns;
    size_t n_columns;
};

static bool write_list(FILE *out,
                       enum output_form form,
                       const struct terminal *terminal,
                       void *context,
                       struct failure *failure)
{
    const struct written_table *table = context;
    return table_write_list(out, form, terminal, table->value, table->columns, table->n_columns,
                            table->value, failure);
}

static bool write_record(FILE *out,
                         enum output_form form,
                         const struct terminal *terminal,
                         void *context,
                         struct failure *failure)
{
    const struct written_table *table = context;
    return table_write_record(out, form, terminal, table->value, table->columns, table->n_columns,
                              table->value, failure);
}

bool invocation_write_list(struct invocation *invocation,
                           const json_t *items,
                           const struct column columns[],
                           size_t n_columns)
{
    struct written_table table = {items, columns, n_columns};
    return outputs_write(&invocation->outputs, write_list, &table, &invocation->failure);
}

bool invocation_write_record(struct invocation *invocation,
                             const json_t *record,
                             const struct column columns[],
                             size_t n_columns)
{
    struct written_table table = {record, columns, n_columns};
    return outputs_write(&invocation->outputs, write_record, &table, &invocation->failure);
}

struct written_report {
    const struct section *sections;
    size_t n_sections;
    const json_t *all;
};

static bool write_report(FILE *out,
                         enum output_form form,
                         const struct terminal *terminal,
                         void *context,
                         struct failure *failure)
{
    const struct written_report *report = context;
    return report_write(out, form, terminal, report->sections, report->n_sections, report->all,
                        failure);
}

bool invocation_write_report(struct invocation *invocation,
                             const struct section sections[],
                             size_t n_sections,
                             const json_t *all)
{
    struct written_report report = {sections, n_sections, all};
    return outputs_write(&invocation->outputs, write_report, &report, &invocation->failure);
}

bool invocation_for_people(const struct invocation *invocation)
{
    for (size_t i = 0; i < invocation->outputs.n; i++)
        if (invocation->outputs.items[i].file == NULL)
            return invocation->outputs.items[i].form == FORM_TABLE;
    return false;
}

bool invocation_draws_ascii(const struct invocation *invocation)
{
    const char *term = getenv("TERM");
    const char *all = getenv("LC_ALL");
    return argument_given(invocation->arguments, "ascii") ||
           (term != NULL && strcmp(term, "dumb") == 0) ||
           (all != NULL && (strcmp(all, "C") == 0 || strcmp(all, "POSIX") == 0));
}

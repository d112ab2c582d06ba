#include "cli/remote/subject.h"

#include <stdio.h>
#include <string.h>

#include "base/fault_text.h"
#include "cli/input/document.h"
#include "cli/output/json_text.h"

/* Members and parameters whose option has another name; all others differ by '-' for '_' alone. */
static const struct {
    const char *member;
    const char *option;
} renamed[] = {
    {"advice_id", "advice"},
    {"application", "move-to"},
    {"cores_per_executor", "cores"},
    {"deadline_s", "deadline"},
    {"enforced", "enforce"},
    {"event_type", "event"},
    {"expires_at", "expires"},
    {"expires_at", "until"},
    {"expires_s", "expires"},
    {"labels", "label"},
    {"loads", "load"},
    {"memory_bytes", "memory"},
    {"name_contains", "contains"},
    {"name_prefix", "prefix"},
    {"overlap_s", "overlap"},
    {"price_per_executor_hour", "price"},
    {"problem_size", "size"},
    {"problem_sizes", "sizes"},
    {"run_id", "run"},
    {"task_overhead_s", "task-overhead"},
};

static const char *option_named(const struct arguments *arguments, const char *name)
{
    const struct command *command =
        arguments->depth == 0 ? NULL : arguments->path[arguments->depth - 1];
    for (size_t g = 0; command != NULL && command->groups[g] != NULL; g++)
        for (const struct option_spec *o = command->groups[g]->options; o->name != NULL; o++)
            if (strcmp(o->name, name) == 0)
                return o->name;
    return NULL;
}

const char *subject_option(const struct arguments *arguments, const char *member, size_t n)
{
    char name[64];
    if (arguments == NULL || n == 0 || n >= sizeof name)
        return NULL;
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strlen(renamed[i].member) == n && strncmp(renamed[i].member, member, n) == 0 &&
            option_named(arguments, renamed[i].option) != NULL)
            return renamed[i].option;
    for (size_t i = 0; i < n; i++)
        name[i] = (char)(member[i] == '_' ? '-' : member[i]);
    name[n] = '\0';
    return option_named(arguments, name);
}

/* The option of the outermost member of the place that is one: of /constraints/enforced/spark.x it is
 * --enforce. */
static const char *option_of_place(const struct arguments *arguments, const char *at)
{
    while (*at != '\0') {
        at += *at == '/';
        size_t n = strcspn(at, "/");
        const char *option = subject_option(arguments, at, n);
        if (option != NULL)
            return option;
        at += n;
    }
    return NULL;
}

/* "--cores 1000"; without the value if the option is a flag or was given several times. */
static void
name_option(const struct arguments *arguments, const char *option, char subject[SUBJECT_TEXT])
{
    size_t at = 0, n = 0;
    const char *text = NULL;
    for (const char *given; (given = argument_next(arguments, option, &at)) != NULL; n++)
        text = given;
    if (n == 1 && text[0] != '\0')
        (void)snprintf(subject, SUBJECT_TEXT, "--%s %.200s", option, text);
    else
        (void)snprintf(subject, SUBJECT_TEXT, "--%s", option);
}

static void name_place_in_file(const struct settings *settings,
                               const char *at,
                               const char *name,
                               char subject[SUBJECT_TEXT])
{
    const struct request_document *document = &settings->document;
    size_t line = document_line(document->text, document->n, at);
    if (line > 0)
        (void)snprintf(subject, SUBJECT_TEXT, "%.500s:%zu: %s", document->file, line, name);
    else
        (void)snprintf(subject, SUBJECT_TEXT, "%.500s: %s", document->file,
                       at[0] == '\0' ? "the document" : name);
}

void subject_of_fault(const struct settings *settings,
                      const json_t *error,
                      char subject[SUBJECT_TEXT])
{
    const char *pointer = json_text_at(error, "pointer", NULL);
    const char *at = pointer != NULL
                         ? pointer
                         : json_text_at(error, "parameter", json_text_at(error, "header", ""));
    const char *option = option_of_place(settings->arguments, at);
    char name[FAULT_NAME_MAX];
    fault_name_place(pointer != NULL ? PV_PLACE_POINTER : PV_PLACE_PARAMETER, at, name);
    bool in_file = pointer != NULL && settings->document.text != NULL;
    if (option != NULL && (!in_file || argument_given(settings->arguments, option)))
        name_option(settings->arguments, option, subject);
    else if (in_file)
        name_place_in_file(settings, at, name, subject);
    else
        (void)snprintf(subject, SUBJECT_TEXT, "%s", name);
}

void subject_translate(const struct settings *settings, const char *text, char *out, size_t room)
{
    static const char of_members[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t at = 0;
    while (*text != '\0' && at + 1 < room) {
        size_t n = strspn(text, of_members), other = strcspn(text + n, of_members);
        /* A word with an underscore is a member, because English has none. */
        const char *option = memchr(text, '_', n) == NULL || settings->document.text != NULL
                                 ? NULL
                                 : subject_option(settings->arguments, text, n);
        int wrote = option != NULL ? snprintf(out + at, room - at, "--%s", option)
                                   : snprintf(out + at, room - at, "%.*s", (int)(n + other), text);
        text += option != NULL ? n : n + other;
        at += (size_t)wrote;
    }
    out[at < room ? at : room - 1] = '\0';
}

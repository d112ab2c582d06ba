#include "cli/input/document.h"

#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text);
    size_t length = strlen(end);
    return n >= length && strcmp(text + n - length, end) == 0;
}

static json_t *read_json(const char *text, size_t n, const char *file, struct failure *failure)
{
    json_error_t error;
    json_t *value = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
    if (value == NULL)
        (void)fail(failure, EXIT_USAGE, "%s, line %d: no valid JSON: %s", file,
                   error.line > 0 ? error.line : 1, error.text);
    return value;
}

json_t *document_read(const char *text, size_t n, const char *file, struct failure *failure)
{
    size_t at = 0;
    while (at < n && strchr(" \t\r\n", text[at]) != NULL && text[at] != '\0')
        at++;
    if (at == n) {
        (void)fail(failure, EXIT_USAGE, "%s is empty", file);
        return NULL;
    }
    if (text[at] != '{' && text[at] != '[' && !ends_with(file, ".json"))
        return yaml_document_read(text, n, file, failure);
    struct failure of_json = {.status = EXIT_DONE};
    json_t *value = read_json(text, n, file, &of_json);
    if (value != NULL || ends_with(file, ".json")) {
        if (failure != NULL && value == NULL && failure->status == EXIT_DONE)
            *failure = of_json;
        return value;
    }
    /* YAML in braces, {a: 1}; where it is neither, the fault is that of what it names itself. */
    bool yaml = ends_with(file, ".yaml") || ends_with(file, ".yml");
    value = yaml_document_read(text, n, file, yaml ? failure : NULL);
    if (value == NULL && !yaml && failure != NULL && failure->status == EXIT_DONE)
        *failure = of_json;
    return value;
}

#include "cli/commands/findings.h"

#include "cli/output/json_text.h"

enum { INDENT = 2 };

void findings_draw(FILE *out, const struct terminal *terminal, const void *findings)
{
    for (size_t i = 0; i < json_array_size(findings); i++)
        table_write_wrapped(out, terminal, INDENT,
                            json_text_at(json_array_get(findings, i), "message", ""));
}

static struct section
section_of(const char *title, const struct column columns[1], const json_t *findings)
{
    return (struct section){.title = title,
                            .value = findings,
                            .columns = columns,
                            .n_columns = 1,
                            .draw = json_array_size(findings) > 0 ? findings_draw : NULL,
                            .context = findings};
}

struct section findings_reasons(const json_t *reply)
{
    static const struct column columns[] = {{"reason", "message", CELL_TEXT, NULL}};
    return section_of("Why", columns, json_object_get(reply, "reasons"));
}

struct section findings_warnings(const json_t *reply)
{
    static const struct column columns[] = {{"warning", "message", CELL_TEXT, NULL}};
    return section_of("Warnings", columns, json_object_get(reply, "warnings"));
}

#include "cli/commands/findings.h"

#include "cli/output/json_text.h"

enum { INDENT = 2 };

void findings_draw(FILE *out, const struct terminal *terminal, const void *findings)
{
    for (size_t i = 0; i < json_array_size(findings); i++)
        table_write_wrapped(out, terminal, INDENT,
                            json_text_at(json_array_get(findings, i), "message", ""));
}

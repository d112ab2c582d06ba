#ifndef CLI_COMMANDS_FINDINGS_H
#define CLI_COMMANDS_FINDINGS_H

#include <stdio.h>

#include "cli/output/report.h"

/* `draw` of a section: what a reply has to say in sentences, an array of findings, a sentence a
 * paragraph. */
void findings_draw(FILE *out, const struct terminal *terminal, const void *findings);

/* The members `reasons` and `warnings` of a reply, each as a section. */
struct section findings_reasons(const json_t *reply);
struct section findings_warnings(const json_t *reply);

#endif

#ifndef TESTS_GOLDEN_EVIDENCE_H
#define TESTS_GOLDEN_EVIDENCE_H

#include <stdbool.h>

#include "base/error.h"

/*
 * What a program of evidence prints: tables in Markdown, between the same marks as in
 * docs/scheduling-evidence.md or docs/slots-evidence.md, where test_evidence.py looks for them, and
 * lines that say what holds.
 */

/* A table; lines printed between the two are its rows. */
void evidence_begin(const char *table);
void evidence_end(void);

/* A line that says that this holds, or does not. */
void evidence_expect(bool holds, const char *format, ...) PV_PRINTF(2, 3);

/* Memory that must be had: aborts where it is NULL. */
void *evidence_need(void *memory);

/* What main returns: 0, or 1 where something did not hold. */
int evidence_status(void);

#endif

#ifndef CORE_ADVICE_LABEL_GROUP_EXPLAIN_H
#define CORE_ADVICE_LABEL_GROUP_EXPLAIN_H

#include "core/advice/question.h"
#include "core/scaling/history/label_group.h"

/* Warnings: whose labels were taken where none were asked for, and which of those asked for were
 * not used. PV_E_MEMORY. */
enum pv_code label_group_explain(const struct label_group *group,
                                 const struct advice_question *question,
                                 struct arena *arena,
                                 struct advice *advice,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif

#include "core/history/ingestion.h"

#include <stddef.h>

const char *const ingestion_road_words[] = {"application", "log_name", "import", NULL};
const char *const ingestion_outcome_words[] = {"stored", "replaced", "duplicate", "refused", NULL};

static const char name_it[] = "Send the log again with the name of its application: `provisor "
                              "ingest --application NAME`, or POST "
                              "/v1/applications/NAME/eventlogs.";
static const char ask_for_more[] = "Ask an operator to raise the setting that the reason names, "
                                   "and send the log again.";
static const char from_source[] = "Copy the log again from where the engine wrote it, and send "
                                  "the copy.";

/* By the code of the fault, else by the type of the problem. */
static const struct {
    const char *word;
    const char *cure;
} cures[] = {
    {"no_name", name_it},
    {"invalid_name", name_it},
    {"name_suspicious", name_it},
    {"truncated", "Copy the log again from where the engine wrote it, and send the copy. If the "
                  "application still runs, send the log after its end."},
    {"no_application_start", "Send the whole log with its first lines. A file that is not an event "
                             "log needs nothing."},
    {"conflict", "If this log is the right one, delete the stored run (`provisor runs delete`) and "
                 "send the log again. If the stored run is right, nothing is needed."},
    {"storage_quota_exceeded", "Delete runs or applications, give applications a retention, or ask "
                               "an operator for a larger quota; then send the log again."},
    {"body_too_large", ask_for_more},
    {"limit_exceeded", ask_for_more},
    {"unsupported_media_type", "Send the log as the engine wrote it: plain, compressed, or as one "
                               "archive with the parts of one log."},
    {"malformed", from_source},
};

const char *ingestion_cure(const struct ingestion *ingestion)
{
    if (ingestion->outcome != INGESTION_REFUSED)
        return NULL;
    for (size_t i = 0; i < sizeof cures / sizeof *cures; i++)
        if (strview_is(ingestion->code, cures[i].word) ||
            strview_is(ingestion->problem, cures[i].word))
            return cures[i].cure;
    return "Correct what the reason says, and send the log again.";
}

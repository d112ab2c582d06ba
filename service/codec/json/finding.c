#include "codec/json/finding.h"

#include <string.h>

void codec_finding_encode(struct writer *w, const struct finding *finding)
{
    writer_begin_object(w);
    writer_member_string(w, "code", finding->code);
    writer_member_string(w, "message", finding->message);
    if (finding->n_evidence > 0) {
        writer_member_object(w, "evidence");
        for (size_t i = 0; i < finding->n_evidence; i++) {
            const struct finding_evidence *evidence = &finding->evidence[i];
            if (evidence->text != NULL)
                writer_member_string(w, evidence->name, evidence->text);
            else if (strcmp(evidence->name, "count") == 0)
                writer_member_integer(w, "count", (int64_t)evidence->value);
            else
                writer_member_number(w, evidence->name, evidence->value);
        }
        writer_end_object(w);
    }
    writer_end_object(w);
}

void codec_findings_encode(struct writer *w, const char *key, const struct findings *findings)
{
    w->failed = w->failed || findings->failed;
    writer_member_array(w, key);
    for (size_t i = 0; i < findings->n; i++)
        codec_finding_encode(w, &findings->items[i]);
    writer_end_array(w);
}

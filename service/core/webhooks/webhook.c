#include "core/webhooks/webhook.h"

const char *const webhook_event_words[] = {
    "run.ingested",  "advice.created",      "deadline.infeasible", "deadline.missed",
    "model.drifted", "operation.completed", "admission.expired",   NULL};
const char *const event_severity_words[] = {"info", "warning", "critical", NULL};
const char *const webhook_format_words[] = {"standard", "cloudevents", "text", NULL};
const char *const webhook_signature_words[] = {"v1", "v1a", NULL};
const char *const webhook_status_words[] = {"active", "paused", "disabled", NULL};
const char *const webhook_delivery_words[] = {"pending", "delivered", "dead", NULL};
const char *const webhook_redelivery_words[] = {"dead", "delivered", NULL};

enum webhook_status webhook_status(const struct webhook *webhook)
{
    if (!webhook->enabled)
        return WEBHOOK_DISABLED;
    return webhook->pauses > 0 ? WEBHOOK_PAUSED : WEBHOOK_ACTIVE;
}

struct strview webhook_status_reason(const struct webhook *webhook)
{
    switch (webhook_status(webhook)) {
    case WEBHOOK_DISABLED:
        return webhook->disabled_reason.at != NULL ? webhook->disabled_reason
                                                   : strview_of("a request disabled it");
    case WEBHOOK_PAUSED:
        return strview_of("attempts keep failing");
    case WEBHOOK_ACTIVE:
        break;
    }
    return (struct strview){NULL, 0};
}

void webhook_apply(struct webhook *webhook, const struct webhook_change *change)
{
    const struct webhook *to = &change->to;
    if (change->has_url)
        webhook->url = to->url;
    if (change->has_description)
        webhook->description = to->description;
    if (change->has_events)
        webhook->events = to->events;
    if (change->has_applications) {
        webhook->applications = to->applications;
        webhook->n_applications = to->n_applications;
    }
    if (change->has_labels) {
        webhook->labels = to->labels;
        webhook->n_labels = to->n_labels;
    }
    if (change->has_min_severity)
        webhook->min_severity = to->min_severity;
    if (change->has_format)
        webhook->format = to->format;
    if (change->has_concurrency)
        webhook->concurrency = to->concurrency;
    if (change->has_enabled)
        webhook->enabled = to->enabled;
}

#ifndef DISPATCH_EVENT_BODY_H
#define DISPATCH_EVENT_BODY_H

#include <stdint.h>

#include "base/arena.h"
#include "base/strview.h"
#include "core/webhooks/webhook.h"

/* What is sent of an event, in the format that its webhook asks for. */
enum { EVENT_BODY_MAX = 20000, EVENT_ID_TEXT = 41 };

struct event_message {
    const char *id;      /* webhook-id */
    const char *team_id; /* of which CloudEvents are sent */
    struct strview type; /* "advice.created" */
    int64_t severity;    /* enum event_severity */
    int64_t happened_us;
    struct strview data; /* a JSON object */
};

/* "evt_" and the id of the event: the same for every attempt, and for every webhook. */
void event_message_id(const char event_id[37], char out[EVENT_ID_TEXT]);

/* In the arena; at == NULL: no memory. A body that would be longer than EVENT_BODY_MAX has no data but
 * the severity, so that the event itself is not lost. */
struct strview event_body_write(struct arena *arena,
                                enum webhook_format format,
                                const struct event_message *event);

const char *event_content_type(enum webhook_format format);

#endif

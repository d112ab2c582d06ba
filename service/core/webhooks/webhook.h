#ifndef CORE_WEBHOOKS_WEBHOOK_H
#define CORE_WEBHOOKS_WEBHOOK_H

#include "core/history/run.h"

/* Webhooks of a team and the deliveries of events to them. Lists of words end with NULL. */

/* Types of events that a webhook may ask for: bit i of struct webhook's events. */
extern const char *const webhook_event_words[];
/* The one that is sent when somebody asks for a test. */
#define WEBHOOK_PING "webhook.ping"

/* Of an event, as stored. A webhook may ask for those of a severity and above. */
enum event_severity { EVENT_INFO, EVENT_WARNING, EVENT_CRITICAL, EVENT_SEVERITIES };
extern const char *const event_severity_words[];

enum webhook_format { WEBHOOK_STANDARD, WEBHOOK_CLOUDEVENTS, WEBHOOK_TEXT };
extern const char *const webhook_format_words[];

enum webhook_signature { WEBHOOK_V1, WEBHOOK_V1A };
extern const char *const webhook_signature_words[];

enum webhook_status { WEBHOOK_ACTIVE, WEBHOOK_PAUSED, WEBHOOK_DISABLED };
extern const char *const webhook_status_words[];

struct webhook_name {
    struct strview name;
};

struct webhook {
    char id[37];
    struct strview url;
    struct strview description; /* at == NULL: none */
    unsigned events;
    struct webhook_name *applications; /* none: all of them */
    size_t n_applications;
    struct run_label *labels; /* an event must have all of them; sorted by key */
    size_t n_labels;
    unsigned min_severity; /* enum event_severity */
    unsigned format;       /* enum webhook_format */
    unsigned signature;    /* enum webhook_signature */
    bool has_authorization;
    int64_t concurrency;
    bool enabled;
    struct strview disabled_reason; /* where the service disabled it */
    int64_t version;
    int64_t created_us;
    int64_t updated_us;
    struct strview public_key; /* its text; at == NULL: of signature v1 */
    int64_t former_until_us;   /* of the former secret; unknown: there is none */
    /* How it fares. */
    int64_t failures; /* one after the other, up to now */
    int64_t pauses;   /* likewise; 0: it is not paused */
    int64_t held_until_us;
    int64_t last_delivered_us;
    int64_t last_failed_us;
    struct strview last_error;
    int64_t pending;
    /* Its texts, in a request or where they have just been made; nothing reads them back. */
    struct strview secret;
    struct strview authorization;
};

enum webhook_status webhook_status(const struct webhook *webhook);
/* Why it is not active, for people; at == NULL: it is. */
struct strview webhook_status_reason(const struct webhook *webhook);

/* What a change sets. */
struct webhook_change {
    bool has_url;
    bool has_description;
    bool has_events;
    bool has_applications;
    bool has_labels;
    bool has_min_severity;
    bool has_format;
    bool has_authorization; /* to.authorization.at == NULL: removed */
    bool has_concurrency;
    bool has_enabled;
    struct webhook to;
};

/* Apply all of it but the authorization. */
void webhook_apply(struct webhook *webhook, const struct webhook_change *change);

/* A new secret, or key pair, for one that signs as well until the overlap ends. */
struct webhook_rotation {
    struct strview secret; /* at == NULL: to be made */
    int64_t overlap_s;
};

enum webhook_delivery_status { DELIVERY_PENDING, DELIVERY_DELIVERED, DELIVERY_DEAD };
extern const char *const webhook_delivery_words[];

struct webhook_delivery {
    char id[37];
    char webhook_id[37];
    struct strview message_id; /* what the receiver sees: evt_<id of the event> */
    struct strview event_type;
    unsigned severity;
    unsigned status;       /* enum webhook_delivery_status */
    struct strview reason; /* why it is dead */
    int64_t attempts;
    int64_t event_us;
    int64_t created_us;
    int64_t next_us; /* unknown: not pending */
    int64_t give_up_us;
    int64_t ended_us;
    struct strview data; /* JSON; at == NULL: not read */
    struct strview log;  /* a JSON array of the latest attempts; at == NULL: not read */
};

/* Which deliveries are to be sent again. */
struct webhook_redelivery {
    unsigned status; /* place in webhook_redelivery_words */
    int64_t since_us;
    int64_t until_us;
};
extern const char *const webhook_redelivery_words[]; /* "dead", "delivered" */

#endif

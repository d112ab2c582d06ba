#include "codec/history/ingestion.h"

#include "base/instant.h"

enum { NULLABLE = CODEC_NULLABLE, REPLY = SHAPE_READ_ONLY };

#define I struct ingestion
static void encode_open(struct writer *w, const void *object, const void *context)
{
    const I *ingestion = object;
    (void)context;
    writer_key(w, "open");
    writer_boolean(w, ingestion->outcome == INGESTION_REFUSED &&
                          ingestion->closed_us == INSTANT_UNKNOWN);
}

static void encode_cure(struct writer *w, const void *object, const void *context)
{
    const char *cure = ingestion_cure(object);
    (void)context;
    writer_member_string(w, "cure", cure);
}

static const struct shape_member of_ingestion[] = {
    {"id", SHAPE_ID(I, id), .flags = REPLY},
    {"at", SHAPE_INSTANT(I, at_us), .flags = REPLY},
    {"last_at", SHAPE_INSTANT(I, last_us), .flags = REPLY},
    {"attempts", SHAPE_COUNT(I, attempts), .flags = REPLY, .least = 1},
    {"actor", SHAPE_TEXT(I, actor), .flags = REPLY},
    {"token_id", SHAPE_ID(I, token_id), .flags = REPLY | NULLABLE},
    {"request_id", SHAPE_TEXT(I, request_id), .flags = REPLY | NULLABLE},
    {"road", SHAPE_WORD(I, road, ingestion_road_words), .flags = REPLY},
    {"source", SHAPE_TEXT(I, source), .flags = REPLY | NULLABLE},
    {"application", SHAPE_TEXT(I, application), .flags = REPLY | NULLABLE},
    {"spark_application_id", SHAPE_TEXT(I, spark_application_id), .flags = REPLY | NULLABLE},
    {"run_id", SHAPE_ID(I, run_id), .flags = REPLY | NULLABLE},
    {"log_digest", SHAPE_TEXT(I, digest), .flags = REPLY | NULLABLE},
    {"bytes", SHAPE_COUNT(I, bytes), .flags = REPLY | NULLABLE},
    {"outcome", SHAPE_WORD(I, outcome, ingestion_outcome_words), .flags = REPLY},
    {"problem", SHAPE_TEXT(I, problem), .flags = REPLY | NULLABLE},
    {"code", SHAPE_TEXT(I, code), .flags = REPLY | NULLABLE},
    {"reason", SHAPE_TEXT(I, reason), .flags = REPLY | NULLABLE},
    {"cure", SHAPE_CODE, .flags = REPLY | NULLABLE, .encode = encode_cure},
    {"open", SHAPE_CODE, .flags = REPLY, .encode = encode_open},
    {"closed_at", SHAPE_INSTANT(I, closed_us), .flags = REPLY | NULLABLE},
};
const struct shape codec_ingestion_shape = {.reply = "Ingestion", SHAPE_OF(of_ingestion, I)};

void codec_ingestion_encode(struct writer *w, const struct ingestion *ingestion)
{
    shape_encode(w, &codec_ingestion_shape, ingestion, 0, NULL);
}

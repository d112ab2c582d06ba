#include "codec/clusters/admission.h"

#include <math.h>

#include "base/quantity_text.h"
#include "core/cluster/reservations.h"

#define Q struct admission_question
#define L struct codec_admission_limits
enum { NULLABLE = CODEC_NULLABLE, REPLY = SHAPE_READ_ONLY };

static void check_whole(const struct codec_node *node, const char *member, double cores)
{
    if (!isnan(cores) && !reservation_is_whole(cores))
        codec_fault_member(node, member, "out_of_range", "must be a multiple of %s",
                           quantity_digits(RESERVATION_QUANTUM, 6).text);
}

static void need(const struct codec_node *node, const char *member, const char *or_else)
{
    if (!codec_present(node, member))
        codec_fault_member(node, member, "required", "is required without %s", or_else);
}

static void check_question(const struct codec_node *node, const void *limits, void *object)
{
    const struct admission_question *question = object;
    (void)limits;
    check_whole(node, "cores", question->cores);
    check_whole(node, "cores_min", question->cores_min);
    if (question->cores_min > question->cores)
        codec_fault_member(node, "cores_min", "out_of_range", "must not be more than cores");
    if (codec_present(node, "advice_id"))
        return;
    need(node, "cluster", "advice_id");
    need(node, "application", "advice_id");
    need(node, "cores", "advice_id");
    if (!codec_present(node, "expires_s"))
        need(node, "deadline_s", "expires_s or advice_id");
}

static const struct shape_member of_question[] = {
    {"advice_id", SHAPE_ID(Q, advice_id), .flags = NULLABLE},
    {"cluster", SHAPE_NAME(Q, cluster), .flags = NULLABLE},
    {"application", SHAPE_NAME(Q, application), .flags = NULLABLE},
    {"cores", SHAPE_NUMBER(Q, cores), .flags = NULLABLE, .low = RESERVATION_QUANTUM,
     SHAPE_LIMIT(L, cores)},
    {"cores_min", SHAPE_NUMBER(Q, cores_min), .flags = NULLABLE, .low = RESERVATION_QUANTUM,
     SHAPE_LIMIT(L, cores)},
    {"memory_bytes", SHAPE_COUNT(Q, memory_bytes), .flags = NULLABLE, .least = 1,
     .most = CODEC_BYTES_MAX},
    {"starts_at", SHAPE_INSTANT(Q, starts_us), .flags = NULLABLE},
    {"deadline_s", SHAPE_NUMBER(Q, deadline_s), .flags = NULLABLE | CODEC_ABOVE,
     SHAPE_LIMIT(L, length_s)},
    {"expires_s", SHAPE_NUMBER(Q, expires_s), .flags = NULLABLE | CODEC_ABOVE,
     SHAPE_LIMIT(L, length_s)},
};
const struct shape codec_admission_question_shape = {
    .request = "AdmissionCreate", SHAPE_OF(of_question, Q), .check = check_question};

#define A struct admission
static const struct shape_member of_admission[] = {
    {"id", SHAPE_ID(A, id), .flags = REPLY},
    {"cluster", SHAPE_NAME(A, cluster), .flags = REPLY},
    {"application", SHAPE_NAME(A, application), .flags = REPLY},
    {"advice_id", SHAPE_ID(A, advice_id), .flags = REPLY | NULLABLE},
    {"status", SHAPE_WORD(A, status, admission_status_words), .flags = REPLY},
    {"cores", SHAPE_NUMBER(A, cores), .flags = REPLY},
    {"granted_cores", SHAPE_NUMBER(A, granted_cores), .flags = REPLY},
    {"memory_bytes", SHAPE_COUNT(A, memory_bytes), .flags = REPLY | NULLABLE, .least = 1},
    {"starts_at", SHAPE_INSTANT(A, starts_us), .flags = REPLY},
    {"deadline_at", SHAPE_INSTANT(A, deadline_us), .flags = REPLY | NULLABLE},
    {"expires_at", SHAPE_INSTANT(A, expires_us), .flags = REPLY},
    {"ended_at", SHAPE_INSTANT(A, ended_us), .flags = REPLY | NULLABLE},
    {"run_id", SHAPE_ID(A, run_id), .flags = REPLY | NULLABLE},
    {"created_at", SHAPE_INSTANT(A, created_us), .flags = REPLY},
};
const struct shape codec_admission_shape = {.reply = "Admission", SHAPE_OF(of_admission, A)};

#define E struct codec_admission_extension
static const struct shape_member of_extension[] = {
    {"expires_at", SHAPE_INSTANT(E, expires_us), .flags = CODEC_REQUIRED},
};
const struct shape codec_admission_extension_shape = {.request = "AdmissionPatch",
                                                      SHAPE_OF(of_extension, E)};

void codec_admission_decode(const struct codec_node *node,
                            const struct codec_admission_limits *limits,
                            struct admission_question *question)
{
    *question = (struct admission_question){.advice_id = ""};
    shape_decode(node, &codec_admission_question_shape, limits, question);
}

void codec_admission_decode_extension(const struct codec_node *node,
                                      struct codec_admission_extension *extension)
{
    shape_decode(node, &codec_admission_extension_shape, NULL, extension);
}

void codec_admission_encode(struct writer *w, const struct admission *admission)
{
    shape_encode(w, &codec_admission_shape, admission, 0, NULL);
}

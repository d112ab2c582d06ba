#ifndef CODEC_KUBERNETES_ADMISSION_REVIEW_H
#define CODEC_KUBERNETES_ADMISSION_REVIEW_H

#include "base/json_writer.h"
#include "codec/json/reader.h"
#include "codec/kubernetes/spark_object.h"
#include "core/spark/proposal.h"

/*
 * admission.k8s.io/v1: what the API server of Kubernetes asks before it stores an object, and what it
 * is answered. Members that are not named here are passed over, of the review as of the object:
 * newer versions of Kubernetes and of the operator add some.
 */

/* What there is to do about a review. */
enum review_concern {
    REVIEW_NONE, /* nothing: another kind, operation or subresource, no annotations, or switched off */
    REVIEW_HALF,   /* annotations that do not make a question; `why` says what is missing */
    REVIEW_FAULTY, /* an annotation cannot be read; `why` says which */
    REVIEW_ASKS
};

enum { REVIEW_KEYS_MAX = 100, REVIEW_WHY_MAX = 200, REVIEW_UNKNOWN_MAX = 3 };

/* The annotations. Texts are in the arena. */
struct review_question {
    struct strview application; /* or the name of the object; at == NULL: it has none */
    double problem_size;        /* blocks; NAN: not given */
    double deadline_s;          /* NAN: not given */
    double confidence;          /* NAN: not given */
    struct strview cluster;     /* at == NULL: not given */
    struct strview *preserve;   /* keys of properties */
    size_t n_preserve;
    int64_t max_executors; /* that may be advised; RUN_UNKNOWN: not given */
    unsigned apply;        /* kinds of changes to make, of enum spark_proposal */
    bool only_warns;       /* provisor/action: warn */
};

struct admission_review {
    struct strview uid;
    bool dry_run;
    enum review_concern concern;
    char why[REVIEW_WHY_MAX]; /* for who runs kubectl, as warnings are */
    const char
        *unknown[REVIEW_UNKNOWN_MAX]; /* warnings of annotations that provisor does not know */
    size_t n_unknown;
    struct review_question question; /* of REVIEW_ASKS, as is the next one */
    struct spark_object object;
};

/*
 * Faults: a body that is not an AdmissionReview of admission.k8s.io/v1 with a request that has a uid.
 * A mistake in the object is not a fault of the request: `concern` reports it.
 */
void codec_admission_review_decode(const struct codec_node *node, struct admission_review *review);

/*
 * What makes a review the one that it is, beside its uid: kind, operation, object and what it replaces.
 * Who asks, and in which order members come, makes no difference. Text in the arena; at == NULL: there
 * is no memory.
 */
struct strview codec_admission_review_identity(const struct codec_node *node, struct arena *arena);

/* The answer. Texts are borrowed. */
enum { REVIEW_WARNINGS_MAX = 8, REVIEW_WARNING_BYTES_MAX = 256 };

struct admission_answer {
    bool allowed;
    unsigned code;                             /* of `status`, as HTTP has them; 0: no status */
    const char *message;                       /* of `status` */
    const char *warnings[REVIEW_WARNINGS_MAX]; /* cut to REVIEW_WARNING_BYTES_MAX */
    size_t n_warnings;
    const char *patch;   /* base64; NULL: the object stays as it is */
    const char *verdict; /* for the API server's audit log; NULL: there is none */
    const char *advice;  /* id, likewise */
};

void codec_admission_answer_encode(struct writer *w,
                                   struct strview uid,
                                   const struct admission_answer *answer);

#endif

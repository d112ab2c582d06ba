#ifndef CODEC_ADVICE_OPERATOR_FIELDS_H
#define CODEC_ADVICE_OPERATOR_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strview.h"

/*
 * Spark properties for which a SparkApplication of the Kubernetes operator (sparkoperator.k8s.io,
 * v1beta2) has fields of its own, below `spec`. All others are entries of spec.sparkConf, where an
 * entry of a property with a field counts for nothing once the field is set.
 */
struct operator_field {
    const char *key;
    const char *section; /* of the specification */
    const char *field;
    bool is_text; /* a string of the field's schema, also where it reads like a number */
};

enum { OPERATOR_FIELDS = 11 };
extern const struct operator_field operator_fields[OPERATOR_FIELDS];

/* The place of the property's field; OPERATOR_FIELDS: it has none. */
size_t operator_field_find(struct strview key);

/* Whether the field holds the value as a number or a truth value rather than as a string. What a
 * caller enforced or preserved may be any text. */
bool operator_field_is_scalar(const struct operator_field *field, const char *value);

#endif

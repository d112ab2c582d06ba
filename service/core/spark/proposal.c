#include "core/spark/proposal.h"

#include <stddef.h>

const char *const spark_proposal_words[] = {"memory", "speculation", "partitions", NULL};

unsigned spark_proposal_of(struct strview word)
{
    for (size_t i = 0; spark_proposal_words[i] != NULL; i++)
        if (strview_is(word, spark_proposal_words[i]))
            return 1U << i;
    return 0;
}

const char *spark_proposal_word(enum spark_proposal kind)
{
    for (size_t i = 0; spark_proposal_words[i] != NULL; i++)
        if ((unsigned)kind == 1U << i)
            return spark_proposal_words[i];
    return NULL;
}

#include <stddef.h>
#include <string.h>

#include "cli/commands/contract_calls.h"

/*
 * Which command makes which call of the contract. A call that people rarely need is left to
 * `provisor call`. A test compares this table with the contract, so that each new call gets a row.
 */
#define BY_CALL "call"

static const struct {
    const char *operation;
    const char *command;
} rows[] = {
    {"cancelOperation", "operations cancel"},
    {"changeWebhook", "webhooks update"},
    {"checkFeasibility", "feasible"},
    {"createAdmission", "admit"},
    {"createAdvice", "advise"},
    {"createAdviceBatch", "batch"},
    {"createApplication", BY_CALL}, /* the first log makes it */
    {"createRun", BY_CALL},         /* `ingest` and `runs import` send many */
    {"createTeam", BY_CALL},
    {"createToken", "tokens create"},
    {"createWebhook", "webhooks create"},
    {"createWorkload", "workloads add"},
    {"decideSlot", "slot-decisions"},
    {"decideSpeculation", "speculation"},
    {"deleteApplication", "apps delete"},
    {"deleteCluster", "clusters delete"},
    {"deletePriceBook", "price-books delete"},
    {"deleteQuotaLoop", "quota-loops delete"},
    {"deleteRun", "runs delete"},
    {"deleteWebhook", "webhooks delete"},
    {"deleteWorkload", "workloads delete"},
    {"exportRuns", "runs export"},
    {"extendAdmission", "admissions extend"},
    {"fitModel", "models fit"},
    {"getAdmission", "admissions show"},
    {"getAdvice", BY_CALL},
    {"getApplication", "apps show"},
    {"getApplicationDiagnosis", "diagnose"},
    {"getApplicationModels", "models"},
    {"getApplicationSpeedup", "speedup"},
    {"getApplicationStragglers", "stragglers"},
    {"getCluster", "clusters show"},
    {"getContract", BY_CALL},
    {"getContractAsJson", BY_CALL},
    {"getDocumentation", BY_CALL},
    {"getDocumentationRoot", BY_CALL},
    {"getHealth", BY_CALL},
    {"getMetrics", BY_CALL},
    {"getNameRules", "name-rules"},
    {"getNextExperiments", "next-experiments"},
    {"getOperation", "operations show"},
    {"getPerformance", "clusters performance"},
    {"getPriceBook", "price-books show"},
    {"getProblemType", BY_CALL},
    {"getProfile", "profile"},
    {"getQuotaLoop", "quota-loops show"},
    {"getReadiness", BY_CALL},
    {"getRoot", BY_CALL},
    {"getRun", "runs show"},
    {"getRunOfApplication", "runs show"},
    {"getTeamUsage", BY_CALL},
    {"getUsage", "usage"},
    {"getWebhook", "webhooks show"},
    {"getWebhookDelivery", "webhooks attempts"},
    {"getWorkload", "workloads show"},
    {"importRuns", "runs import"},
    {"ingestEventLog", "ingest"},
    {"ingestNamedEventLog", "ingest"},
    {"listAccuracy", "accuracy"},
    {"listAdmissions", "admissions"},
    {"listAdvice", BY_CALL},
    {"listApplications", "apps"},
    {"listAudit", "audit"},
    {"listClusters", "clusters"},
    {"listIngestions", "ingestions"},
    {"listOperations", "operations"},
    {"listPriceBooks", "price-books"},
    {"listQuotaLoops", "quota-loops"},
    {"listRuns", "runs"},
    {"listTeamAccuracy", "accuracy"},
    {"listTeamRuns", "runs"},
    {"listTeams", BY_CALL},
    {"listTokens", "tokens"},
    {"listWebhookDeliveries", "webhooks deliveries"},
    {"listWebhooks", "webhooks"},
    {"listWorkloads", "workloads"},
    {"pingWebhook", "webhooks ping"},
    {"planCopies", "copies"},
    {"planMemory", "memory"},
    {"planPigeon", "pigeon-plan"},
    {"planSlots", "slots"},
    {"planStages", "stage-plan"},
    {"predictFromModel", "models predict"},
    {"previewNameRules", "name-rules preview"},
    {"putCluster", "clusters put"},
    {"putPriceBook", "price-books put"},
    {"putQuotaLoop", "quota-loops put"},
    {"putTeamQuotas", BY_CALL},
    {"redeliverWebhook", "webhooks redeliver"},
    {"redeliverWebhookDelivery", "webhooks redeliver"},
    {"refitApplication", "models refit"},
    {"releaseAdmission", "admissions release"},
    {"reportSamples", "clusters report"},
    {"resetNameRules", "name-rules reset"},
    {"reviewKubernetesAdmission", BY_CALL}, /* the API server of Kubernetes makes it */
    {"revokeToken", "tokens revoke"},
    {"rotateWebhookSecret", "webhooks rotate"},
    {"sampleQuotaLoop", "quota-loops sample"},
    {"setNameRules", "name-rules set"},
    {"shareCores", "contention"},
    {"simulate", "simulate"},
    {"simulateControl", "control"},
    {"streamOperationEvents", BY_CALL}, /* `operations watch` asks instead */
    {"summarizeSlowdowns", "slowdowns"},
    {"updateApplication", BY_CALL},
    {"updateRun", "runs correct"},
};

const char *command_of_call(const char *operation)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].operation, operation) == 0)
            return rows[i].command;
    return NULL;
}

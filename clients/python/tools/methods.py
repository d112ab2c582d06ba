"""Which method of provisor.Client makes which call of the contract. The contract has the parameters and the members.

A row: operationId, method, what comes of it, and options:
    one      the object of the reply; where the contract has no schema of its own for it, a dict
    none     nothing
    pages    an iterator over the items of all pages
    text     the reply as text
    written  written by hand in src/provisor, since its body or reply is a stream or no JSON
`first` lists members of the body and parameters that may be given without their names.
`query` lists the query parameters that the method has, where it does not have all of them.
`fixed` are query parameters that the method sets by itself.
"""
from __future__ import annotations

from typing import Any, NamedTuple


class Method(NamedTuple):
    operation: str
    name: str
    kind: str
    first: tuple[str, ...] = ()
    query: tuple[str, ...] | None = None
    fixed: dict[str, str] = {}
    choice: tuple[str, ...] = ()  # of `format`, which is then required


TEXT_FORMS = ("spark-submit", "spark-defaults", "k8s", "k8s-apache", "databricks", "emr", "emr-serverless", "markdown")


def row(operation: str, name: str, kind: str, *first: str, **more: Any) -> Method:
    return Method(operation, name, kind, first, **more)


METHODS = [
    # access
    row("createToken", "create_token", "one", "name", "scopes"),
    row("listTokens", "tokens", "pages"),
    row("revokeToken", "revoke_token", "none"),
    row("createTeam", "create_team", "one", "name"),
    row("listTeams", "teams", "pages"),
    row("getUsage", "usage", "one"),
    row("getTeamUsage", "team_usage", "one"),
    row("putTeamQuotas", "put_team_quotas", "one"),
    row("listAudit", "audit", "pages"),
    # advice
    row("createAdvice", "advise", "one", "application", query=("fields", "dry_run")),
    row("createAdvice", "advise_as", "text", "format", "application", query=("format", "dry_run", "force"), choice=TEXT_FORMS),
    row("createAdviceBatch", "advise_batch", "one", "items"),
    row("listAdvice", "past_advice", "pages"),
    row("getAdvice", "advice", "one", query=("fields",)),
    row("getAdvice", "advice_as", "text", "format", query=("format", "force"), choice=TEXT_FORMS),
    # admissions
    row("createAdmission", "admit", "one"),
    row("listAdmissions", "admissions", "pages"),
    row("getAdmission", "admission", "one"),
    row("extendAdmission", "extend_admission", "one", "expires_at"),
    row("releaseAdmission", "release_admission", "none"),
    # clusters and prices
    row("listClusters", "clusters", "pages"),
    row("getCluster", "cluster", "one"),
    row("putCluster", "put_cluster", "one"),
    row("deleteCluster", "delete_cluster", "none"),
    row("reportSamples", "report_samples", "none"),
    row("getPerformance", "performance", "one"),
    row("listPriceBooks", "price_books", "pages"),
    row("getPriceBook", "price_book", "one", query=("fields",)),
    row("getPriceBook", "price_book_csv", "text", query=(), fixed={"format": "csv"}),
    row("putPriceBook", "put_price_book", "one", query=()),
    row("putPriceBook", "put_price_book_csv", "written"),
    row("deletePriceBook", "delete_price_book", "none"),
    # deadlines
    row("checkFeasibility", "feasibility", "one"),
    row("planStages", "stage_plan", "one"),
    row("shareCores", "contention", "one"),
    row("simulateControl", "simulate_control", "one"),
    row("planMemory", "memory_plan", "one"),
    row("listQuotaLoops", "quota_loops", "pages"),
    row("getQuotaLoop", "quota_loop", "one"),
    row("putQuotaLoop", "put_quota_loop", "one"),
    row("deleteQuotaLoop", "delete_quota_loop", "none"),
    row("sampleQuotaLoop", "sample_quota_loop", "one"),
    # scheduling
    row("planPigeon", "pigeon_plan", "one"),
    row("decideSlot", "slot_decision", "one", query=()),
    row("decideSlot", "replay_slot_decisions", "written"),
    row("planSlots", "slot_plan", "one"),
    row("summarizeSlowdowns", "slowdowns", "one", "jobs"),
    row("decideSpeculation", "speculation_decision", "one", query=()),
    row("decideSpeculation", "replay_speculation_decisions", "written"),
    row("simulate", "simulate", "one"),
    row("createWorkload", "create_workload", "written"),
    row("createWorkload", "workload_from_runs", "written"),
    row("listWorkloads", "workloads", "pages"),
    row("getWorkload", "workload", "one"),
    row("deleteWorkload", "delete_workload", "none"),
    # copies
    row("planCopies", "copy_plan", "one"),
    # history
    row("createApplication", "create_app", "one", "name"),
    row("listApplications", "apps", "pages"),
    row("getApplication", "app", "one"),
    row("updateApplication", "update_app", "one"),
    row("deleteApplication", "delete_app", "none"),
    row("getNameRules", "name_rules", "one"),
    row("setNameRules", "set_name_rules", "one", "rules"),
    row("resetNameRules", "reset_name_rules", "one"),
    row("previewNameRules", "preview_name_rules", "one", "names"),
    row("createRun", "record_run", "one"),
    row("listRuns", "runs", "pages"),
    row("listTeamRuns", "team_runs", "pages"),
    row("exportRuns", "export_runs", "written"),
    row("importRuns", "import_runs", "written"),
    row("getRunOfApplication", "app_run", "one"),
    row("updateRun", "update_run", "one"),
    row("deleteRun", "delete_run", "none"),
    row("getRun", "run", "one"),
    row("ingestNamedEventLog", "ingest_named", "written"),
    row("ingestEventLog", "ingest", "written"),
    row("listIngestions", "ingestions", "pages"),
    row("getProfile", "profile", "one"),
    row("listAccuracy", "accuracy", "one"),
    row("listAccuracy", "accuracy_items", "pages"),
    row("listTeamAccuracy", "team_accuracy", "one"),
    row("listTeamAccuracy", "team_accuracy_items", "pages"),
    # Kubernetes
    row("reviewKubernetesAdmission", "review_admission", "one"),
    # models
    row("getApplicationModels", "models", "one"),
    row("refitApplication", "refit", "one"),
    row("getApplicationDiagnosis", "diagnose", "one"),
    row("getApplicationStragglers", "stragglers", "one"),
    row("getApplicationSpeedup", "speedup", "one"),
    row("getNextExperiments", "next_experiments", "one"),
    row("fitModel", "fit_model", "one", "model", "observations"),
    row("predictFromModel", "predict", "one"),
    # operations
    row("listOperations", "operations", "pages"),
    row("getOperation", "operation", "one"),
    row("cancelOperation", "cancel_operation", "one"),
    row("streamOperationEvents", "operation_events", "written"),
    # health and documents
    row("getHealth", "health", "one"),
    row("getReadiness", "readiness", "one"),
    row("getMetrics", "metrics", "text"),
    row("getRoot", "root", "one"),
    row("getContract", "contract_yaml", "text"),
    row("getContractAsJson", "contract", "one"),
    row("getDocumentationRoot", "documentation_root", "written"),
    row("getDocumentation", "documentation", "written"),
    row("getProblemType", "problem_type", "written"),
    # webhooks
    row("createWebhook", "create_webhook", "one", "url", "events"),
    row("listWebhooks", "webhooks", "pages"),
    row("getWebhook", "webhook", "one"),
    row("changeWebhook", "update_webhook", "one"),
    row("deleteWebhook", "delete_webhook", "none"),
    row("rotateWebhookSecret", "rotate_webhook_secret", "one"),
    row("pingWebhook", "ping_webhook", "one"),
    row("redeliverWebhook", "redeliver", "one"),
    row("listWebhookDeliveries", "webhook_deliveries", "pages"),
    row("getWebhookDelivery", "webhook_delivery", "one"),
    row("redeliverWebhookDelivery", "redeliver_delivery", "one"),
]

# What changes nothing, or knows a repetition by itself, so that repeating it does no harm although it is a POST.
COMPUTES_ONLY = {"checkFeasibility", "planStages", "shareCores", "planMemory", "decideSlot", "planSlots", "decideSpeculation", "planCopies",
                 "previewNameRules", "fitModel", "predictFromModel", "sampleQuotaLoop"}

# Path parameters whose name in the contract says too little where it stands for itself.
PATH_NAMES = {"ApplicationName": "application", "ClusterName": "cluster", "PriceBookName": "price_book", "QuotaLoopName": "quota_loop",
              "TeamName": "team"}

# Header fields as parameters.
HEADER_NAMES = {"Idempotency-Key": "idempotency_key", "If-Match": "if_match", "If-None-Match": "if_none_match", "Prefer": "wait_s",
                "Last-Event-ID": "last_event_id"}

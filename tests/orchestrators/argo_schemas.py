"""JSON schemas of the resources in clients/argo, written from the documented CRDs of Argo Workflows 3.4, Argo Events 1.8 and the
Spark operator's v1beta2, and from Kubernetes' own, with the fields that are used and closed to others."""


def closed(required, **properties):
    return {"type": "object", "additionalProperties": False, "required": required.split(), "properties": properties}


TEXT, WHOLE = {"type": "string"}, {"type": "integer", "minimum": 1}
NAME = {"type": "string", "pattern": r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", "maxLength": 63}
KEY_REF = closed("name key", name=NAME, key=TEXT)
METADATA = {"oneOf": [closed("name", name=NAME), closed("generateName", generateName={"type": "string", "pattern": "^[a-z][a-z0-9-]*-$"})]}


def resource(kind, api="argoproj.io/v1alpha1", **properties):
    return closed("apiVersion kind metadata " + " ".join(properties), apiVersion={"const": api}, kind={"const": kind}, metadata=METADATA, **properties)


PARAMETER = closed("name", name={"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"}, value=TEXT,
                   valueFrom={"oneOf": [closed("configMapKeyRef", configMapKeyRef=KEY_REF), closed("event", event=TEXT)]})
PARAMETERS = closed("parameters", parameters={"type": "array", "items": PARAMETER, "minItems": 1})
TEMPLATE_REF = closed("name template", name=NAME, template=TEXT)
TASK = closed("name", name=NAME, template=TEXT, templateRef=TEMPLATE_REF, depends=TEXT, when=TEXT, arguments=PARAMETERS)
STEP = closed("name", name=NAME, template=TEXT, templateRef=TEMPLATE_REF, when=TEXT, arguments=PARAMETERS)
HEADER = {"oneOf": [closed("name value", name=TEXT, value=TEXT),
                    closed("name valueFrom", name=TEXT, valueFrom=closed("secretKeyRef", secretKeyRef=KEY_REF))]}
HTTP = closed("url", url=TEXT, method={"enum": ["GET", "POST", "PUT", "DELETE"]}, timeoutSeconds=WHOLE, headers={"type": "array", "items": HEADER}, body=TEXT,
              successCondition=TEXT)
CREATE = closed("action manifest", action={"enum": ["get", "create", "apply", "delete", "replace", "patch"]}, manifest=TEXT, setOwnerReference={"type": "boolean"},
                successCondition=TEXT, failureCondition=TEXT)
CONTAINER = closed("image", image=TEXT, command={"type": "array", "items": TEXT}, args={"type": "array", "items": TEXT})
TEMPLATE = {**closed("name", name=NAME, inputs=PARAMETERS, http=HTTP, resource=CREATE, container=CONTAINER,
                     dag=closed("tasks", tasks={"type": "array", "items": TASK}), steps={"type": "array", "items": {"type": "array", "items": STEP}}),
            "oneOf": [{"required": [kind]} for kind in ("http", "resource", "container", "dag", "steps")]}
WORKFLOW_SPEC = closed("", entrypoint=TEXT, serviceAccountName=NAME, arguments=PARAMETERS, templates={"type": "array", "items": TEMPLATE, "minItems": 1},
                       workflowTemplateRef=closed("name", name=NAME))
FILTER = closed("path type value", path=TEXT, type={"enum": ["string", "bool", "number"]}, comparator=TEXT, value={"type": "array", "items": TEXT, "minItems": 1})
DEPENDENCY = closed("name eventSourceName eventName", name=NAME, eventSourceName=NAME, eventName=TEXT,
                    filters=closed("data", data={"type": "array", "items": FILTER}, dataLogicalOperator={"enum": ["and", "or"]}))
TRIGGER_PARAMETER = closed("src dest", src=closed("dependencyName", dependencyName=NAME, dataKey=TEXT, dataTemplate=TEXT), dest=TEXT)
ARGO_WORKFLOW = closed("operation source", operation={"enum": ["submit", "submit-from", "resubmit", "resume", "retry", "suspend", "terminate", "stop"]},
                       source=closed("resource", resource=resource("Workflow", spec=WORKFLOW_SPEC)), parameters={"type": "array", "items": TRIGGER_PARAMETER})
PORTS = {"type": "array", "items": closed("port targetPort", port=WHOLE, targetPort=WHOLE)}
# Names of secrets may have dots. Kubernetes writes the token of the account that the annotation names into it.
TOKEN_SECRET = closed("apiVersion kind metadata type", apiVersion={"const": "v1"}, kind={"const": "Secret"}, type={"const": "kubernetes.io/service-account-token"},
                      metadata=closed("name annotations", name={"type": "string", "pattern": r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},
                                      annotations=closed("kubernetes.io/service-account.name", **{"kubernetes.io/service-account.name": NAME})))
BACKEND = closed("service", service=closed("name port", name=NAME, port=closed("number", number=WHOLE)))
INGRESS_RULE = closed("host http", host=TEXT, http=closed("paths", paths={"type": "array", "minItems": 1, "items": closed(
    "path pathType backend", path={"type": "string", "pattern": "^/"}, pathType={"enum": ["Exact", "Prefix"]}, backend=BACKEND)}))
HOOK = closed("port endpoint method", port={"type": "string", "pattern": "^[0-9]+$"}, endpoint={"type": "string", "pattern": "^/"}, method={"const": "POST"}, authSecret=KEY_REF)
RULE = closed("apiGroups resources verbs", **{name: {"type": "array", "items": TEXT, "minItems": 1} for name in ("apiGroups", "resources", "verbs", "resourceNames")})
RBAC = "rbac.authorization.k8s.io/v1"

SCHEMAS = {
    "Workflow": resource("Workflow", spec=WORKFLOW_SPEC),
    "WorkflowTemplate": resource("WorkflowTemplate", spec=WORKFLOW_SPEC),
    "WorkflowEventBinding": resource("WorkflowEventBinding", spec=closed("event submit", event=closed("selector", selector=TEXT),
                                     submit=closed("workflowTemplateRef", workflowTemplateRef=closed("name", name=NAME), arguments=PARAMETERS))),
    "EventSource": resource("EventSource", spec=closed("webhook", webhook={"type": "object", "additionalProperties": HOOK})),
    "Sensor": resource("Sensor", spec=closed("dependencies triggers", template=closed("serviceAccountName", serviceAccountName=NAME),
                       dependencies={"type": "array", "items": DEPENDENCY},
                       triggers={"type": "array", "items": closed("template", template=closed("name argoWorkflow", name=NAME, argoWorkflow=ARGO_WORKFLOW))})),
    "EventBus": resource("EventBus", spec=closed("jetstream", jetstream=closed("version", version=TEXT))),
    "Service": resource("Service", "v1", spec=closed("selector ports", selector={"type": "object", "additionalProperties": TEXT, "minProperties": 1}, ports=PORTS)),
    "Ingress": resource("Ingress", "networking.k8s.io/v1", spec=closed(
        "tls rules", ingressClassName=NAME, tls={"type": "array", "items": closed("hosts secretName", hosts={"type": "array", "items": TEXT}, secretName=NAME)},
        rules={"type": "array", "items": INGRESS_RULE})),
    "Secret": TOKEN_SECRET,
    "ServiceAccount": resource("ServiceAccount", "v1"),
    "Role": resource("Role", RBAC, rules={"type": "array", "items": RULE}),
    "RoleBinding": resource("RoleBinding", RBAC, roleRef=closed("apiGroup kind name", apiGroup={"const": "rbac.authorization.k8s.io"}, kind={"const": "Role"}, name=NAME),
                            subjects={"type": "array", "items": closed("kind name", kind={"const": "ServiceAccount"}, name=NAME)}),
    "SparkApplication": resource("SparkApplication", "sparkoperator.k8s.io/v1beta2", spec=closed(
        "type sparkVersion", type={"enum": ["Java", "Python", "Scala", "R"]}, mode={"enum": ["cluster", "client"]}, sparkVersion=TEXT, image=TEXT, mainClass=TEXT,
        mainApplicationFile=TEXT, sparkConf={"type": "object", "additionalProperties": TEXT}, driver=closed("", cores=WHOLE, memory=TEXT, serviceAccount=TEXT),
        executor=closed("", instances=WHOLE, cores=WHOLE, memory=TEXT))),
}

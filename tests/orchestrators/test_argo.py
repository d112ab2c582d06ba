"""clients/argo: the manifests against schemas of their CRDs, what they refer to, and the requests of their `http` templates
sent to the real service as Argo's agent would send them."""
import json
import re
import uuid

import jsonschema
import pytest
import requests
import yaml

import airflow_world
from argo_expressions import Refused, evaluate, substitute, tags
from argo_schemas import SCHEMAS
from contract_members import member, resolved
from ports import free_port
from stub import JSON, problem, stub

ARGO = airflow_world.PACKAGE.parent / "argo"
DOCUMENTS = [(path.name, document) for path in sorted(ARGO.glob("*.yaml")) for document in yaml.safe_load_all(path.read_text())]
CASES = {"met": ("64", "90", {}), "at_risk": ("64", "60", {"max_executors": 10}), "missed": ("64", "20", {}), "unknown": ("6400", "90", {})}


def one(kind, name=None):
    (found,) = [d for _, d in DOCUMENTS if d["kind"] == kind and name in (None, d["metadata"].get("name"))]
    return found


def templates(document):
    return {template["name"]: template for template in document["spec"]["templates"]}


@pytest.fixture(scope="module")
def cluster(service, history):
    """What manifests refer to in a cluster."""
    return {"configMaps": {"provisor": {"url": service.base_url}}, "secrets": {"provisor": {"authorization": "Bearer " + service.alpha_token}}}


# --- Argo, as far as it is needed -----------------------------------------------------------------------------


class Node:
    def __init__(self, phase, result=None):
        self.phase, self.result = phase, result


class Agent:
    """Runs templates: `http` by sending the request, `resource` by noting what would be created."""

    def __init__(self, cluster, workflow):
        self.cluster, self.workflow, self.created, self.sent = cluster, workflow, [], []
        self.globals = {"workflow.uid": str(uuid.uuid4()), "workflow.name": "nightly-etl-x"}
        for parameter in workflow["spec"].get("arguments", {}).get("parameters", []):
            self.globals["workflow.parameters." + parameter["name"]] = parameter["value"]

    def find(self, of):
        if "templateRef" in of:
            return templates(one("WorkflowTemplate", of["templateRef"]["name"]))[of["templateRef"]["template"]]
        return templates(self.workflow)[of["template"]]

    def inputs(self, template, arguments):
        env = {}
        for parameter in template.get("inputs", {}).get("parameters", []):
            name = parameter["name"]
            if name in arguments:
                env["inputs.parameters." + name] = arguments[name]
            elif "valueFrom" in parameter:
                reference = parameter["valueFrom"]["configMapKeyRef"]
                env["inputs.parameters." + name] = self.cluster["configMaps"][reference["name"]][reference["key"]]
            elif "value" in parameter:
                env["inputs.parameters." + name] = parameter["value"]
            else:
                raise Refused("%s: input %s was not supplied" % (template["name"], name))
        unknown = set(arguments) - {p["name"] for p in template.get("inputs", {}).get("parameters", [])}
        assert not unknown, "%s has no input %s" % (template["name"], unknown)
        return env

    def run(self, template, arguments=None, path="nightly-etl-x"):
        env = {**self.globals, "node.name": path, **self.inputs(template, arguments or {})}
        for kind in ("http", "resource", "container", "dag", "steps"):
            if kind in template:
                return getattr(self, kind)(template[kind], env, path)

    def http(self, template, env, path):
        made = substitute(template, env)
        headers = {h["name"]: h["value"] if "value" in h else self.cluster["secrets"][h["valueFrom"]["secretKeyRef"]["name"]][h["valueFrom"]["secretKeyRef"]["key"]]
                   for h in made.get("headers", [])}
        body = made.get("body")
        self.sent.append((made.get("method", "GET"), made["url"], headers, body))
        try:
            reply = requests.request(made.get("method", "GET"), made["url"], headers=headers, data=body.encode() if body else None, timeout=made["timeoutSeconds"], allow_redirects=False)
        except requests.ConnectionError:
            return Node("Error")
        scope = {"response.statusCode": reply.status_code, "response.body": reply.text}
        return Node("Succeeded" if evaluate(made["successCondition"], scope) else "Failed", reply.text)

    def resource(self, template, env, path):
        self.created.append(yaml.safe_load(substitute(template["manifest"], env)))
        return Node("Succeeded")

    def container(self, template, env, path):
        self.created.append(substitute(template, env))
        return Node("Succeeded")

    def call(self, of, env, path):
        arguments = {p["name"]: substitute(p["value"], env) for p in of.get("arguments", {}).get("parameters", [])}
        return self.run(self.find(of), arguments, "%s.%s" % (path, of["name"]))

    def steps(self, groups, env, path):
        for group in groups:
            for step in group:
                node = self.call(step, env, path)
                if node.phase != "Succeeded":
                    return node
                env = {**env, "steps.%s.outputs.result" % step["name"]: node.result}
        return Node("Succeeded")

    def dag(self, dag, env, path):
        """In the order in which they stand, each after those that it depends on. The DAG's phase is that of its leaves, where one
        that was omitted counts as what it depends on."""
        self.tasks, words = {}, {}
        for task in dag["tasks"]:
            if not evaluate(task.get("depends", "1 == 1").replace("-", "_"), words):
                node = Node("Omitted")
            else:
                # Arguments are substituted before `when` decides.
                arguments = {p["name"]: substitute(p["value"], env) for p in task.get("arguments", {}).get("parameters", [])}
                if "when" in task and not {"true": True, "false": False}[substitute(task["when"], env)]:
                    node = Node("Skipped")
                else:
                    node = self.run(self.find(task), arguments, "%s.%s" % (path, task["name"]))
            self.tasks[task["name"]] = node
            env = {**env, "tasks.%s.status" % task["name"]: node.phase}
            if node.result is not None:
                env = {**env, "tasks.%s.outputs.result" % task["name"]: node.result}
            for phase, name in (("Succeeded",) * 2, ("Failed",) * 2, ("Error", "Errored"), ("Skipped",) * 2, ("Omitted",) * 2):
                words["%s.%s" % (task["name"].replace("-", "_"), name)] = node.phase == phase
        parents = {task["name"]: re.findall(r"([\w-]+)\.\w+", task.get("depends", "")) for task in dag["tasks"]}

        def failed(name):
            phase = self.tasks[name].phase
            return any(failed(parent) for parent in parents[name]) if phase == "Omitted" else phase in ("Failed", "Error")
        leaves = set(parents) - {parent for of in parents.values() for parent in of}
        return Node("Failed" if any(failed(name) for name in leaves) else "Succeeded")


# --- the manifests ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file, document", DOCUMENTS, ids=["%s-%s-%s" % (f, d["kind"], d["metadata"].get("name")) for f, d in DOCUMENTS])
def test_manifests_are_what_their_crds_describe(file, document):
    jsonschema.validate(document, SCHEMAS[document["kind"]])


def test_the_schemas_can_refuse():
    document = one("WorkflowTemplate", "provisor")
    broken = json.loads(json.dumps(document).replace('"timeoutSeconds"', '"timeoutSecond"'))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, SCHEMAS["WorkflowTemplate"])


@pytest.mark.parametrize("document", [d for _, d in DOCUMENTS if d["kind"] in ("Workflow", "WorkflowTemplate")], ids=lambda d: str(d["metadata"]))
def test_everything_that_is_referred_to_exists(document):
    workflow_parameters = {"workflow.parameters." + p["name"] for p in document["spec"].get("arguments", {}).get("parameters", [])}
    mine = templates(document)
    assert document["spec"].get("entrypoint", next(iter(mine))) in mine
    accounts = {d["metadata"]["name"] for _, d in DOCUMENTS if d["kind"] == "ServiceAccount"}
    assert document["spec"].get("serviceAccountName", "provisor-workflow") in accounts
    for template in mine.values():
        inputs = {"inputs.parameters." + p["name"] for p in template.get("inputs", {}).get("parameters", [])}
        calls = template.get("dag", {}).get("tasks", []) + [step for group in template.get("steps", []) for step in group]
        names = {call["name"] for call in calls}
        results = {"%s.%s.%s" % ("tasks" if "dag" in template else "steps", name, what) for name in names for what in ("outputs.result", "status")}
        assert tags(template) <= inputs | workflow_parameters | results | {"workflow.uid", "node.name"}, template["name"]
        for call in calls:
            called = templates(one("WorkflowTemplate", call["templateRef"]["name"]))[call["templateRef"]["template"]] if "templateRef" in call else mine[call["template"]]
            given = {p["name"] for p in call.get("arguments", {}).get("parameters", [])}
            wanted = {p["name"]: p for p in called.get("inputs", {}).get("parameters", [])}
            assert given <= set(wanted) and all(name in given or "value" in p or "valueFrom" in p for name, p in wanted.items()), call["name"]
            assert set(re.findall(r"([\w-]+)\.\w+", call.get("depends", ""))) <= names


def test_workflows_may_do_what_the_templates_need():
    rules = [d for _, d in DOCUMENTS if d["kind"] == "Role" and d["metadata"]["name"] == "provisor-workflow"][0]["rules"]
    secrets = {h["valueFrom"]["secretKeyRef"]["name"] for t in templates(one("WorkflowTemplate", "provisor")).values() for h in t["http"]["headers"] if "valueFrom" in h}
    (readable,) = [set(rule["resourceNames"]) for rule in rules if rule["resources"] == ["secrets"]]
    assert secrets == readable == {"provisor"}
    assert [rule for rule in rules if rule["apiGroups"] == ["sparkoperator.k8s.io"] and "create" in rule["verbs"]]
    for _, document in DOCUMENTS:
        if document["kind"] == "RoleBinding":
            assert document["roleRef"]["name"] == document["subjects"][0]["name"] == document["metadata"]["name"]


def test_accounts_have_the_secrets_that_argo_looks_for():
    """Of Kubernetes 1.24 and later, which create none: the agent mounts it by its name, and provisor shows Argo Server its token."""
    accounts = {d["metadata"]["name"] for _, d in DOCUMENTS if d["kind"] == "ServiceAccount"}
    secrets = {file: d["metadata"] for file, d in DOCUMENTS if d["kind"] == "Secret"}
    assert set(secrets) == {"rbac.yaml", "argo-server-binding.yaml"}
    for metadata in secrets.values():
        account = metadata["annotations"]["kubernetes.io/service-account.name"]
        assert account in accounts and metadata["name"] == account + ".service-account-token"
    running = {d["spec"]["serviceAccountName"] for _, d in DOCUMENTS if d["kind"] in ("Workflow", "WorkflowTemplate") and "serviceAccountName" in d["spec"]}
    assert running == {"provisor-workflow"} == {secrets["rbac.yaml"]["annotations"]["kubernetes.io/service-account.name"]}


def test_the_sensor_may_submit_and_list_what_it_submitted():
    """`argo submit` reads the template; the sensor then lists workflows by its label, and one that may not counts as failed."""
    (role,) = [d for _, d in DOCUMENTS if d["kind"] == "Role" and d["metadata"]["name"] == one("Sensor")["spec"]["template"]["serviceAccountName"]]
    verbs = {name: set(rule["verbs"]) for rule in role["rules"] for name in rule["resources"]}
    assert verbs["workflows"] >= {"create", "list"} and verbs["workflowtemplates"] >= {"get"} and verbs["workfloweventbindings"] == {"list"}
    assert not {"delete", "patch", "update", "*"} & set.union(*verbs.values())


def test_everything_is_in_one_namespace():
    """A sensor submits into its own, and finds the bus of its own: no manifest names one, and the commands of the README name the same."""
    assert not [file for file, d in DOCUMENTS if "namespace" in json.dumps(d)]
    commands = re.findall(r"^```sh\n(.*?)^```$", (ARGO / "README.md").read_text(), re.M | re.S)
    lines = [line for block in commands for line in block.splitlines() if re.search(r"\b(?:kubectl|argo) ", line)]
    assert len(lines) > 8
    for line in lines:
        assert re.search(r'\b(?:kubectl|argo) -n "\$NAMESPACE" ', line) or line.startswith("kubectl create namespace"), line


# --- the requests -----------------------------------------------------------------------------------------------


def test_proposals_are_applied_by_request(cluster, history):
    def properties(**more):
        agent = Agent(cluster, one("WorkflowTemplate", "provisor"))  # a workflow of its own: the same one would get the recorded answer
        node = agent.run(templates(agent.workflow)["ask"], {"application": "nightly-etl", "problem_size": "64", "deadline_s": "90", **more})
        return json.loads(node.result)["spark"]["properties"]
    assert "spark.speculation" not in properties() and properties(apply='["speculation"]')["spark.speculation"] == "true"


@pytest.mark.parametrize("verdict", sorted(CASES))
def test_ask_and_gate(cluster, history, verdict):
    size, deadline, constraints = CASES[verdict]
    agent = Agent(cluster, one("WorkflowTemplate", "provisor"))
    ask, gate = (templates(agent.workflow)[name] for name in ("ask", "gate"))
    node = agent.run(ask, {"application": "nightly-etl", "problem_size": size, "deadline_s": deadline, "constraints": json.dumps(constraints)})
    assert node.phase == "Succeeded"
    advice = json.loads(node.result)
    assert advice["verdict"] == verdict and set(advice) <= {"id", "verdict", "recommendation", "spark", "reasons"}
    assert len(node.result) < 4000, "it becomes part of the workflow"
    stored = history.get("/v1/advice/" + advice["id"]).json()
    assert (stored["problem_size"], stored["deadline_s"], stored["verdict"]) == (float(size), float(deadline), verdict)
    for allow in ("met", "met|at_risk", "met|at_risk|unknown", "missed"):
        assert agent.run(gate, {"advice_id": advice["id"], "allow": allow}).phase == ("Succeeded" if verdict in allow.split("|") else "Failed"), allow
    for situation in ("missed", "at_risk", "unknown"):
        for action in ("fail", "warn", "ignore"):
            passes = verdict == "met" or (verdict == situation and action == "warn")
            assert agent.run(gate, {"advice_id": advice["id"], "on_" + situation: action}).phase == ("Succeeded" if passes else "Failed"), (situation, action)


def test_a_gate_without_a_deadline_fails_unless_none_is_meant(cluster):
    agent = Agent(cluster, one("WorkflowTemplate", "provisor"))
    ask, gate = (templates(agent.workflow)[name] for name in ("ask", "gate"))
    id = json.loads(agent.run(ask, {"application": "nightly-etl", "deadline_s": "null"}).result)["id"]
    assert agent.run(gate, {"advice_id": id}).phase == "Failed"
    assert agent.run(gate, {"advice_id": id, "allow": "met|at_risk|unknown|missed"}).phase == "Failed"
    assert agent.run(gate, {"advice_id": id, "no_deadline": "true"}).phase == "Succeeded"


def test_a_deadline_is_said_and_not_empty(cluster):
    """Argo refuses a workflow that leaves it out; what a variable left empty is refused by the service."""
    agent = Agent(cluster, one("WorkflowTemplate", "provisor"))
    ask = templates(agent.workflow)["ask"]
    with pytest.raises(Refused, match="deadline_s was not supplied"):
        agent.run(ask, {"application": "nightly-etl"})
    node = agent.run(ask, {"application": "nightly-etl", "deadline_s": ""})
    assert node.phase == "Failed" and json.loads(node.result)["status"] == 400


@pytest.mark.parametrize("status, wanted", [
    (200, {("warn", "fail"): "Succeeded", ("fail", "fail"): "Succeeded", ("warn", "warn"): "Succeeded"}),
    (401, {("warn", "fail"): "Succeeded", ("fail", "fail"): "Succeeded", ("warn", "warn"): "Failed"}),
    (503, {("warn", "fail"): "Failed", ("fail", "fail"): "Succeeded", ("warn", "warn"): "Failed"}),
    (429, {("warn", "fail"): "Failed", ("fail", "fail"): "Succeeded"}), (502, {("warn", "fail"): "Failed"}), (504, {("warn", "fail"): "Failed"}),
    (500, {("warn", "warn"): "Succeeded"}), (403, {("warn", "warn"): "Succeeded"})])
def test_what_is_reached(cluster, status, wanted):
    """What succeeds is followed by `ask`, which fails for anything but 201."""
    for (unavailable, refused), phase in wanted.items():
        with stub((status, JSON, "{}")) as server:
            agent = Agent({**cluster, "configMaps": {"provisor": {"url": server.url}}}, one("WorkflowTemplate", "provisor"))
            assert agent.run(templates(agent.workflow)["reach"], {"on_unavailable": unavailable, "on_token_refused": refused}).phase == phase, (unavailable, refused)


def test_a_name_is_a_text_and_no_json(cluster, history):
    agent = Agent(cluster, one("WorkflowTemplate", "provisor"))
    name = 'quote " and } {{=workflow.uid'
    node = agent.run(templates(agent.workflow)["ask"], {"application": name, "deadline_s": "90"})
    assert node.phase == "Failed" and json.loads(node.result)["errors"][0]["code"] == "unknown_application"
    assert json.loads(agent.sent[0][3])["application"] == name


def test_a_node_that_is_sent_again_gets_the_same_advice(cluster):
    agent = Agent(cluster, one("WorkflowTemplate", "provisor"))
    ask = templates(agent.workflow)["ask"]
    question = {"application": "nightly-etl", "deadline_s": "90"}
    first, again, other = (json.loads(agent.run(ask, question, path).result)["id"] for path in ("wf.a", "wf.a", "wf.b(0)"))
    assert first == again != other
    assert all(re.fullmatch(r'"[\x20-\x7e]{1,250}"', headers["Idempotency-Key"]) for _, _, headers, _ in agent.sent)


def test_what_goes_wrong_fails_the_node(cluster):
    agent = Agent({**cluster, "secrets": {"provisor": {"authorization": "Bearer prv_x"}}}, one("WorkflowTemplate", "provisor"))
    ask, gate = (templates(agent.workflow)[name] for name in ("ask", "gate"))
    assert agent.run(ask, {"application": "nightly-etl", "deadline_s": "90"}).phase == "Failed"
    assert agent.run(gate, {"advice_id": "019aa3c1-75b2-7c5e-a2b1-6f6f0b0d2fff"}).phase == "Failed"
    with stub(problem(503, 'busy "verdict": "met", "deadline_s": 9'), (200, JSON, '{"verdict": "met", "deadline_s": 9}'),
              (200, JSON, '{"verdict": "metal", "deadline_s": 9}')) as server:
        agent = Agent({**cluster, "configMaps": {"provisor": {"url": server.url}}}, one("WorkflowTemplate", "provisor"))
        assert [agent.run(gate, {"advice_id": "x"}).phase for _ in range(3)] == ["Failed", "Succeeded", "Failed"]


# --- the example ------------------------------------------------------------------------------------------------


def run_example(cluster, **parameters):
    workflow = json.loads(json.dumps(one("Workflow")))
    for parameter in workflow["spec"]["arguments"]["parameters"]:
        parameter["value"] = parameters.get(parameter["name"], parameter["value"])
    agent = Agent(cluster, workflow)
    agent.outcome = agent.run(templates(workflow)[workflow["spec"]["entrypoint"]]).phase
    for created in agent.created:
        jsonschema.validate(created, SCHEMAS["SparkApplication"])
    return agent


def phases(agent):
    return {name: node.phase for name, node in agent.tasks.items()}


def test_the_example_submits_the_job_as_advised(cluster, history):
    agent = run_example(cluster)
    assert agent.outcome == "Succeeded" and phases(agent) == {"reach": "Succeeded", "ask": "Succeeded", "gate": "Succeeded", "as-advised": "Succeeded",
                                                               "as-before": "Omitted"}
    (job,) = agent.created
    stored = history.get("/v1/advice/" + job["spec"]["sparkConf"]["spark.provisor.adviceId"]).json()
    executor = job["spec"]["executor"]
    assert (executor["instances"], executor["cores"]) == (stored["recommendation"]["executors"], stored["recommendation"]["cores_per_executor"])
    assert stored["spark"]["properties"].items() <= job["spec"]["sparkConf"].items() and executor["memory"] == "8g"
    assert "spark.executor.memory" not in job["spec"]["sparkConf"]


@pytest.mark.parametrize("question", [{"deadline_s": "20"}, {"problem_size": "6400"}])
def test_the_example_stops_where_the_gate_fails(cluster, question):
    agent = run_example(cluster, **question)
    assert agent.outcome == "Failed" and agent.created == []
    assert phases(agent) == {"reach": "Succeeded", "ask": "Succeeded", "gate": "Failed", "as-advised": "Omitted", "as-before": "Omitted"}


@pytest.mark.parametrize("question", [{"deadline_s": "20", "on_missed": "warn"}, {"problem_size": "6400", "on_unknown": "warn"}])
def test_the_example_runs_as_before_where_the_gate_only_warns(cluster, question):
    agent = run_example(cluster, **question)
    assert agent.outcome == "Succeeded" and phases(agent)["as-advised"] == "Skipped" and phases(agent)["as-before"] == "Succeeded"
    (job,) = agent.created
    assert job["spec"]["executor"]["instances"] == 8 and job["spec"]["sparkConf"] == {}


def test_the_example_runs_as_before_while_the_service_is_away(cluster):
    with stub(problem(503, "busy")) as server:
        for url, reach in ((server.url, "Failed"), ("http://127.0.0.1:%d" % free_port(), "Error")):
            away = {**cluster, "configMaps": {"provisor": {"url": url}}}
            agent = run_example(away)
            assert agent.outcome == "Succeeded" and phases(agent) == {"reach": reach, "ask": "Skipped", "gate": "Omitted", "as-advised": "Omitted", "as-before": "Succeeded"}
            agent = run_example(away, on_unavailable="fail")
            assert agent.outcome == "Failed" and agent.created == [] and phases(agent)["ask"] in ("Failed", "Error")


def test_the_example_stops_where_the_token_is_refused(cluster):
    wrong = {**cluster, "secrets": {"provisor": {"authorization": "Bearer prv_x"}}}
    agent = run_example(wrong)
    assert agent.outcome == "Failed" and agent.created == [] and phases(agent)["ask"] == "Failed"
    agent = run_example(wrong, on_token_refused="warn")
    assert agent.outcome == "Succeeded" and phases(agent)["as-before"] == "Succeeded"


def test_the_example_stops_where_the_request_is_invalid(cluster):
    """Neither is a service that fails by itself one that is away."""
    assert run_example(cluster, deadline_s="").outcome == "Failed"
    assert run_example(cluster, application="never-ran").outcome == "Failed"
    with stub((200, JSON, "{}"), problem(500, "failed")) as server:
        assert run_example({**cluster, "configMaps": {"provisor": {"url": server.url}}}).outcome == "Failed"


# --- events -----------------------------------------------------------------------------------------------------


def event(kind, severity="critical", **data):
    """As a webhook of format `standard` delivers it, and as the event source passes it on: names of headers as Go writes them."""
    body = {"type": kind, "timestamp": "2026-11-25T08:00:00.123456Z", "data": {"severity": severity, "id": "x", "application": "nightly-etl", **data}}
    return {"header": {"Webhook-Id": ["evt_01a1fe22-0f10-77d6-90cd-a8090c9280f2"], "Content-Type": ["application/json"]}, "body": body}


def at(value, path):
    for name in path.split("."):
        value = value[name]
    return value


ALARMS = {"deadline.infeasible": "critical", "deadline.missed": "critical", "model.drifted": "warning"}
OTHERS = {"advice.created": "info", "run.ingested": "info", "operation.completed": "warning", "webhook.ping": "info", "deadlineXmissed": "critical", "x.deadline.missed": "critical"}


def test_the_sensor_listens_to_the_event_source():
    source, sensor = one("EventSource"), one("Sensor")
    (dependency,) = sensor["spec"]["dependencies"]
    assert dependency["eventSourceName"] == source["metadata"]["name"] and set(source["spec"]["webhook"]) == {dependency["eventName"]}
    hook = source["spec"]["webhook"][dependency["eventName"]]
    assert hook["authSecret"] == {"name": "provisor-webhook", "key": "token"}
    assert one("EventBus")["metadata"]["name"] == "default", "the bus of those that name none"
    assert sensor["spec"]["template"]["serviceAccountName"] == "provisor-events"


def test_the_webhook_reaches_the_event_source():
    """The URL that the README registers, through the ingress and the service, to the port of the pod."""
    readme = (ARGO / "README.md").read_text()
    (registered,) = re.findall(r'"url": "https://([^/"]+)(/[^"]*)"', readme)
    ingress, service, source = one("Ingress")["spec"], one("Service"), one("EventSource")
    (rule,), hook = ingress["rules"], source["spec"]["webhook"]["events"]
    (path,) = rule["http"]["paths"]
    assert registered == (rule["host"], path["path"]) and path["path"] == hook["endpoint"] and ingress["tls"][0]["hosts"] == [rule["host"]]
    (port,) = service["spec"]["ports"]
    assert path["backend"]["service"] == {"name": service["metadata"]["name"], "port": {"number": port["port"]}}
    assert port["targetPort"] == int(hook["port"]) and service["spec"]["selector"] == {"eventsource-name": source["metadata"]["name"]}


# --- the contract -----------------------------------------------------------------------------------------------


def paths_into_the_body():
    """What the manifests read of a body: filters, parameters and expressions."""
    sensor, binding = one("Sensor")["spec"], one("WorkflowEventBinding")["spec"]
    found = {f["path"] for dependency in sensor["dependencies"] for f in dependency["filters"]["data"]}
    found |= {p["src"]["dataKey"] for t in sensor["triggers"] for p in t["template"]["argoWorkflow"]["parameters"] if "dataKey" in p["src"]}
    found |= {p["valueFrom"]["event"] for p in binding["submit"]["arguments"]["parameters"]}
    found |= set(re.findall(r"payload[\w.]*", binding["event"]["selector"]))
    return {tuple(path.split(".")[1:]) for path in found}


@pytest.mark.parametrize("kind", ["deadline.infeasible", "deadline.missed", "model.drifted"])
def test_the_contract_has_what_the_manifests_read(contract_schemas, kind):
    (schema,) = [s for name, s in contract_schemas.items() if name.endswith("Event") and s.get("properties", {}).get("type", {}).get("const") == kind]
    paths = paths_into_the_body()
    assert {("type",), ("data", "severity"), ("data", "application")} == paths
    for path in paths:
        assert member(schema, path, contract_schemas) is not None, "%s has no %s" % (kind, ".".join(path))
    severities = member(schema, ("data", "severity"), contract_schemas)["enum"]
    (wanted,) = [f["value"] for f in one("Sensor")["spec"]["dependencies"][0]["filters"]["data"] if f["path"] == "body.data.severity"]
    assert {value.strip("^$") for value in wanted} <= set(severities)
    assert member(schema, ("data", "verdikt"), contract_schemas) is None, "this can fail"


def test_the_verdicts_are_those_of_the_contract(contract_schemas):
    """In the gate and in the example."""
    verdicts = set(resolved(contract_schemas["Advice"]["properties"]["verdict"], contract_schemas)["enum"])
    assert verdicts == set(CASES)
    allowed = [p["value"] for p in templates(one("WorkflowTemplate", "provisor"))["gate"]["inputs"]["parameters"] if p["name"] == "allow"]
    allowed += [p["value"] for t in templates(one("Workflow"))["main"]["dag"]["tasks"] for p in t["arguments"]["parameters"] if p["name"] == "allow"]
    assert {word for value in allowed for word in value.split("|")} <= verdicts
    for name in ("id", "verdict", "recommendation", "spark", "reasons"):
        assert name in contract_schemas["Advice"]["properties"]


@pytest.mark.parametrize("kind, severity", sorted({**ALARMS, **OTHERS}.items()))
def test_which_events_the_sensor_takes(kind, severity):
    filters = one("Sensor")["spec"]["dependencies"][0]["filters"]["data"]
    taken = all(any(re.search(value, at(event(kind, severity), f["path"])) for value in f["value"]) for f in filters)
    assert taken == (kind in ALARMS)


def test_the_workflow_that_the_sensor_makes():
    trigger = one("Sensor")["spec"]["triggers"][0]["template"]["argoWorkflow"]
    workflow, data = json.loads(json.dumps(trigger["source"]["resource"])), event("deadline.missed")
    for parameter in trigger["parameters"]:
        source, *path = parameter["src"], *parameter["dest"].split(".")
        if "dataTemplate" in source:
            # {{ index (index .Input.header "NAME") N | replace "A" "B" }}
            prefix, name, number, old, new = re.fullmatch(r'([a-z-]*)\{\{ index \(index \.Input\.header "([\w-]+)"\) (\d+) \| replace "(.)" "(.)" \}\}', source["dataTemplate"]).groups()
            value = prefix + data["header"][name][int(number)].replace(old, new)
        else:
            value = at(data, source["dataKey"])
        place = workflow
        for word in path[:-1]:
            place = place[int(word) if word.isdigit() else word]
        assert path[-1] in place, "it replaces what is there"
        place[path[-1]] = value
    jsonschema.validate(workflow, SCHEMAS["Workflow"])
    assert workflow["metadata"]["name"] == "provisor-evt-01a1fe22-0f10-77d6-90cd-a8090c9280f2"
    parameters = {p["name"]: p["value"] for p in workflow["spec"]["arguments"]["parameters"]}
    assert parameters == {"type": "deadline.missed", "application": "nightly-etl"}
    reaction = one("WorkflowTemplate", workflow["spec"]["workflowTemplateRef"]["name"])
    assert set(parameters) == {p["name"] for p in reaction["spec"]["arguments"]["parameters"]}


@pytest.mark.parametrize("kind", sorted({**ALARMS, **OTHERS}))
@pytest.mark.parametrize("discriminator", ["provisor", "github"])
def test_which_events_argo_server_takes(kind, discriminator):
    binding = one("WorkflowEventBinding")
    scope = {"discriminator": discriminator, "payload.type": kind}
    assert evaluate(binding["spec"]["event"]["selector"], scope) == (kind in ALARMS and discriminator == "provisor")
    values = {p["name"]: at({"payload": event(kind)["body"]}, p["valueFrom"]["event"]) for p in binding["spec"]["submit"]["arguments"]["parameters"]}
    assert values == {"type": kind, "application": "nightly-etl"}


def test_the_reaction_asks_anew(cluster):
    workflow = json.loads(json.dumps(one("WorkflowTemplate", "provisor-reaction")))
    for parameter, value in zip(workflow["spec"]["arguments"]["parameters"], ("model.drifted", "nightly-etl")):
        parameter["value"] = value
    agent = Agent(cluster, workflow)
    assert agent.run(templates(workflow)["main"]).phase == "Succeeded"
    kind, application, advice = agent.created[0]["args"]
    assert (kind, application) == ("model.drifted", "nightly-etl") and json.loads(advice)["id"]


def test_the_event_types_are_those_of_the_contract(contract_schemas):
    """In every manifest and in the page."""
    known = set(contract_schemas["WebhookEvents"]["items"]["enum"]) | {"webhook.ping"}
    for path in [*ARGO.iterdir(), ARGO.parents[1] / "docs" / "orchestrators.md"]:
        text = path.read_text().replace("\\", "")
        assert set(re.findall(r"\b(?:run|advice|deadline|model|operation|admission|webhook)\.(?:ingested|created|infeasible|missed|drifted|completed|expired|ping)\b", text)) <= known


def test_the_readme_names_every_file():
    readme = (ARGO / "README.md").read_text()
    assert [path.name for path in ARGO.iterdir() if path.suffix == ".yaml" and "`%s`" % path.name not in readme] == []


# --- the interpreter ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text, value", [("1 == 1 && 'a' != 'b'", True), ("'1' == 1", False), ("x in ['a', 'b'] || !y", True), ("x matches '^a$'", True), ("toJson(x)", '"a"'),
                                         ("jsonpath(j, '$.a.b')", 2), ("toJson(sprig.set(jsonpath(j, '$.a'), 'c', 'd'))", '{"b":2,"c":"d"}')])
def test_expressions(text, value):
    assert evaluate(text, {"x": "a", "y": True, "j": '{"a": {"b": 2}}'}) == value


@pytest.mark.parametrize("text", ["nobody", "x ? 1 : 2", "x + 1", "exec('x')", "sprig.env('x')", "x ==", "(x", "jsonpath(j, '$.a.c')", "jsonpath(j, '$.a.b.c')", "x y"])
def test_expressions_that_are_not_known_are_refused(text):
    with pytest.raises(Refused):
        evaluate(text, {"x": "a", "j": '{"a": {"b": null}}'})

"""The manifests of clients/kubernetes: what the chart makes of its values, the plain ones, and kustomize's overlays."""
import ipaddress
import itertools
import json
import pathlib
import re
import shutil
import subprocess

import jsonschema
import pytest
import yaml

import chart

KUBERNETES = chart.CHART.parent
SCHEMAS = yaml.safe_load((pathlib.Path(__file__).parent / "schemas.yaml").read_text())
KUBECTL = shutil.which("kubectl")


def fault_of(manifest):
    """What its schema says against it, or None."""
    schema = SCHEMAS["kinds"].get(manifest["kind"])
    if schema is None:
        return "there is no schema of %s" % manifest["kind"]
    validator = jsonschema.Draft202012Validator({**schema, "$defs": SCHEMAS["$defs"]})
    error = jsonschema.exceptions.best_match(validator.iter_errors(manifest))
    return None if error is None else "%s/%s: %s" % (manifest["kind"], "/".join(map(str, error.absolute_path)), error.message)


def check(objects):
    """Every object by its schema, and what several of them must agree about."""
    for manifest in objects.values():
        assert fault_of(manifest) is None, fault_of(manifest)
    deployment = next(o for (kind, _), o in objects.items() if kind == "Deployment")
    template = deployment["spec"]["template"]
    labels, pod = template["metadata"]["labels"], template["spec"]
    containers = pod["containers"] + pod.get("initContainers", [])
    ports = {p["name"]: p["containerPort"] for c in containers for p in c.get("ports", [])}
    volumes = {v["name"] for v in pod["volumes"]}
    assert volumes == {m["name"] for c in containers for m in c["volumeMounts"]}, "each volume is there and used"
    for container in containers:
        for probe in (container[p] for p in ("startupProbe", "livenessProbe", "readinessProbe") if p in container):
            assert probe["httpGet"]["port"] in {p["name"] for p in container["ports"]}
        assert not [e for e in container.get("env", []) if re.search("TOKEN$|PASSWORD|SECRET", e["name"])], "secrets come as files"
    names = {}
    for (kind, name), manifest in objects.items():
        names.setdefault(kind, set()).add(name)
        spec = manifest.get("spec", {})
        if kind in ("Deployment", "PodDisruptionBudget"):
            assert spec["selector"]["matchLabels"].items() <= labels.items()
        if kind == "NetworkPolicy":
            assert spec["podSelector"]["matchLabels"].items() <= labels.items()
            assert {p["port"] for rule in spec["ingress"] for p in rule["ports"]} <= set(ports.values())
        if kind == "Service":
            assert spec["selector"].items() <= labels.items()
            assert {p["targetPort"] for p in spec["ports"]} <= ports.keys()
        if kind == "HorizontalPodAutoscaler":
            assert "replicas" not in deployment["spec"] and spec["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
            assert spec["minReplicas"] <= spec["maxReplicas"]
        for webhook in manifest.get("webhooks", []):
            at = webhook["clientConfig"]["service"]
            service = objects[("Service", at["name"])]
            assert service["metadata"]["namespace"] == at["namespace"]
            assert at["port"] in {p["port"] for p in service["spec"]["ports"]}
            excluded = webhook["namespaceSelector"]["matchExpressions"][0]["values"]
            assert {"kube-system", at["namespace"]} <= set(excluded), "its own pods must not wait for it"
            closed = any(e["value"] == "on_failure=closed" for c in containers for e in c.get("env", []))
            assert webhook["failurePolicy"] == ("Fail" if closed else "Ignore"), "provisor and the API server agree"
    assert pod["serviceAccountName"] in names["ServiceAccount"]
    assert {v["configMap"]["name"] for v in pod["volumes"] if "configMap" in v} <= names["ConfigMap"]


def read(path):
    objects = {}
    for file in sorted(path.glob("*.yaml")):
        for document in yaml.safe_load_all(file.read_text()):
            if document["kind"] != "Kustomization":
                objects[(document["kind"], document["metadata"]["name"])] = document
    return objects


def test_the_plain_manifests_are_what_the_chart_makes():
    assert read(KUBERNETES / "base") == chart.render()


def test_the_plain_manifests_are_sound():
    check(read(KUBERNETES / "base"))


def test_kustomize_lists_each_file():
    listed = yaml.safe_load((KUBERNETES / "base" / "kustomization.yaml").read_text())["resources"]
    assert sorted(listed) == sorted(p.name for p in (KUBERNETES / "base").glob("*.yaml") if p.name != "kustomization.yaml")


def test_versions_are_those_of_the_program():
    version = re.search(r"version: '([^']+)'", (chart.CHART.parents[2] / "meson.build").read_text())[1]
    about = yaml.safe_load((chart.CHART / "Chart.yaml").read_text())
    assert about["version"] == about["appVersion"] == version


def test_the_examples_are_sound():
    token = yaml.safe_load((KUBERNETES / "token" / "token.yaml").read_text())
    pod = token["spec"]
    assert pod.pop("restartPolicy") == "Never"
    deployment = chart.render()[("Deployment", "provisor")]
    deployment["spec"]["template"]["spec"] = pod
    assert fault_of(deployment) is None, "its pod would do for a Deployment"
    application = yaml.safe_load((KUBERNETES / "examples" / "sparkapplication.yaml").read_text())
    schema = json.loads((chart.CHART.parents[2] / "tests" / "api" / "reviews" / "sparkapplication.schema.json").read_text())
    jsonschema.validate(application, schema, cls=jsonschema.Draft202012Validator)


# --- values ---

CASES = {
    "defaults": {},
    "closed": {"admission": {"onFailure": "closed", "onAtRisk": "deny", "onUnknown": "deny", "timeoutSeconds": 5}},
    "autoscaling": {"autoscaling": {"enabled": True, "maxReplicas": 12}},
    "cert-manager": {"certManager": {"enabled": True}},
    "issuer": {"certManager": {"enabled": True, "issuerRef": {"kind": "ClusterIssuer", "name": "internal"}}},
    "no admission": {"admission": {"enabled": False}},
    "only validation": {"admission": {"mutate": False, "caBundle": "LS0tLS1CRUdJTg=="}},
    "all namespaces": {"admission": {"namespaceLabels": {"provisor/admission": None}, "excludedNamespaces": ["kube-system"], "objectSelector": {"matchLabels": {"team": "etl"}}}},
    "migrated elsewhere": {"migration": {"enabled": False}},
    "network": {"networkPolicy": {"clients": [{"ipBlock": {"cidr": "10.0.0.0/28"}}], "monitoring": [], "databasePort": 6432}},
    "no webhook deliveries": {"networkPolicy": {"webhookDeliveries": {"enabled": False}}},
    "private receivers": {"networkPolicy": {"webhookDeliveries": {"port": 8443, "receivers": [{"ipBlock": {"cidr": "10.2.0.0/16"}}]}}},
    "no policy": {"networkPolicy": {"enabled": False}, "podDisruptionBudget": {"enabled": False}},
    "placed": {"nodeSelector": {"pool": "services"}, "tolerations": [{"key": "services", "operator": "Exists"}], "imagePullSecrets": [{"name": "registry"}],
               "podLabels": {"team": "platform"}, "podAnnotations": {"note": "a: b #c"}, "settings": {"io_workers": "32", "log_level": "debug"},
               "image": {"repository": "registry.example/provisor", "digest": "sha256:" + "0" * 64}, "replicas": 3},
}


def case(name):
    return json.loads(json.dumps(CASES[name]))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("release,namespace", [("provisor", "provisor"), ("advice", "data-platform")])
def test_the_chart_is_sound_with(name, release, namespace):
    objects = chart.render(case(name), release, namespace)
    check(objects)
    assert {o["metadata"]["namespace"] for o in objects.values() if "namespace" in o["metadata"]} == {namespace}
    assert all(o["metadata"]["name"].startswith(release) for o in objects.values())


def test_values_reach_what_they_are_for():
    objects = chart.render(case("placed"))
    pod = objects[("Deployment", "provisor")]["spec"]["template"]
    env = {e["name"]: e["value"] for e in pod["spec"]["containers"][0]["env"]}
    assert env["PROVISOR_IO_WORKERS"] == "32" and env["PROVISOR_LOG_LEVEL"] == "debug"
    assert pod["spec"]["containers"][0]["image"] == pod["spec"]["initContainers"][0]["image"] == "registry.example/provisor@sha256:" + "0" * 64
    assert pod["metadata"]["annotations"] == {"note": "a: b #c"} and pod["metadata"]["labels"]["team"] == "platform"
    closed = chart.render(case("closed"))
    proxy = {e["name"]: e["value"] for e in closed[("Deployment", "provisor")]["spec"]["template"]["spec"]["containers"][1]["env"]}
    assert proxy == {"ADMISSION_QUERY": "on_failure=closed", "VALIDATION_QUERY": "on_missed=deny&on_at_risk=deny&on_unknown=deny"}
    kinds = {kind for kind, _ in chart.render(case("no admission"))}
    assert not {k for k in kinds if k.endswith("WebhookConfiguration")}
    assert "MutatingWebhookConfiguration" not in {kind for kind, _ in chart.render(case("only validation"))}
    assert ("Issuer", "provisor") in chart.render(case("cert-manager")) and ("Issuer", "provisor") not in chart.render(case("issuer"))
    assert len(chart.render(case("network"))[("NetworkPolicy", "provisor")]["spec"]["ingress"]) == 1
    everywhere = chart.render(case("all namespaces"))[("MutatingWebhookConfiguration", "provisor")]["webhooks"][0]
    assert "matchLabels" not in everywhere["namespaceSelector"]


def egress(objects):
    """[(the peers, or None for any, and the ports)] that pods may reach."""
    return [(rule.get("to"), [p["port"] for p in rule["ports"]]) for rule in objects[("NetworkPolicy", "provisor")]["spec"]["egress"]]


def test_pods_reach_names_the_database_and_receivers_of_webhooks():
    names, database, receivers = egress(chart.render())
    assert names == (None, [53, 53]) and database == (None, [5432]) and receivers[1] == [443]
    assert egress(chart.render(case("network")))[1] == (None, [6432])
    assert egress(chart.render(case("no webhook deliveries"))) == [names, database]
    assert egress(chart.render(case("private receivers")))[2] == ([{"ipBlock": {"cidr": "10.2.0.0/16"}}], [8443])
    blocks = [p["ipBlock"] for p in receivers[0]]
    public, private = ["93.184.216.34", "2606:4700::1111"], ["10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "127.0.0.1", "fd00::1", "fe80::1"]

    def reached(address):
        at = ipaddress.ip_address(address)
        return any(at in ipaddress.ip_network(b["cidr"]) and not any(at in ipaddress.ip_network(e) for e in b.get("except", [])) for b in blocks)

    assert [a for a in public + private if reached(a)] == public


@pytest.mark.parametrize("wrong", [
    {"replica": 3}, {"replicas": 0}, {"replicas": "2"}, {"admission": {"onFailure": "ignore"}}, {"admission": {"timeoutSeconds": 31}}, {"image": {"digest": "latest"}},
    {"settings": {"io_workers": 32}}, {"settings": {"database_url": "postgres://..."}}, {"settings": {"IO_WORKERS": "32"}}, {"resources": {"limits": {"memory": "2 GB"}}},
    {"service": {"port": 70000}}, {"admission": {"caBundle": "-----BEGIN"}}, {"networkPolicy": {"clients": [{}]}}, {"networkPolicy": {"webhookDeliveries": {"receivers": []}}},
    {"networkPolicy": {"webhookDeliveries": {"port": "443"}}}, {"networkPolicy": {"databasePort": 0}}, {"database": {"secretName": "A_B"}}])
def test_values_that_make_no_sense_are_refused(wrong):
    with pytest.raises(jsonschema.ValidationError):
        chart.render(wrong)


# --- that the schemas can refuse ---


@pytest.mark.parametrize("kind,change", [
    ("Deployment", lambda o: o["spec"].update(replica=2)), ("Deployment", lambda o: o["spec"]["template"]["spec"]["containers"][0].pop("securityContext")),
    ("Deployment", lambda o: o["spec"]["template"]["spec"]["containers"][0]["resources"].update(limit={})),
    ("Deployment", lambda o: o["spec"]["template"]["spec"]["containers"][0].update(image="provisor")),
    ("Deployment", lambda o: o["spec"]["template"]["spec"]["containers"][0]["env"][0].update(value=8080)),
    ("MutatingWebhookConfiguration", lambda o: o["webhooks"][0]["clientConfig"]["service"].update(path="/v1/kubernetes/admission?action=mutate")),
    ("MutatingWebhookConfiguration", lambda o: o["webhooks"][0].update(name="mutate.provisor")),
    ("ValidatingWebhookConfiguration", lambda o: o["webhooks"][0].update(reinvocationPolicy="Never")),
    ("ValidatingWebhookConfiguration", lambda o: o["webhooks"][0].update(timeoutSeconds=31)),
    ("Service", lambda o: o["spec"]["ports"][0].pop("port")), ("NetworkPolicy", lambda o: o["spec"]["ingress"][1].update({"from": [{}]})),
    ("PodDisruptionBudget", lambda o: o.update(apiVersion="policy/v1beta1"))])
def test_a_manifest_that_kubernetes_would_refuse_is_refused(kind, change):
    manifest = chart.render()[(kind, "provisor")]
    assert fault_of(manifest) is None
    change(manifest)
    assert fault_of(manifest) is not None


# --- kustomize ---

COMPONENTS = {"fail-closed": {"admission": {"onFailure": "closed"}}, "autoscaling": {"autoscaling": {"enabled": True}}, "cert-manager": {"certManager": {"enabled": True}},
              "no-webhook-deliveries": {"networkPolicy": {"webhookDeliveries": {"enabled": False}}}}
OVERLAYS = {name: COMPONENTS[name] for name in ("fail-closed", "autoscaling", "cert-manager")}


def test_every_component_and_overlay_is_tested():
    assert {p.name for p in (KUBERNETES / "components").iterdir()} == COMPONENTS.keys()
    assert {p.name for p in (KUBERNETES / "overlays").iterdir()} == OVERLAYS.keys()
    for name in COMPONENTS:
        assert yaml.safe_load((KUBERNETES / "components" / name / "kustomization.yaml").read_text())["kind"] == "Component"


def kustomize(path):
    out = subprocess.run([KUBECTL, "kustomize", str(KUBERNETES / path)], text=True, capture_output=True, timeout=60)
    if out.returncode != 0 and "invalid Kustomization" in out.stderr:
        pytest.skip("this kubectl has a kustomize from before `patches`: " + out.stderr[:100])
    assert out.returncode == 0, out.stderr
    return {(o["kind"], o["metadata"]["name"]): o for o in yaml.safe_load_all(out.stdout)}


@pytest.mark.skipif(KUBECTL is None, reason="no kubectl")
class TestKustomize:
    def test_the_base_is_as_it_is_written(self):
        assert kustomize("base") == read(KUBERNETES / "base")

    @pytest.mark.parametrize("overlay,values", OVERLAYS.items())
    def test_an_overlay_is_the_chart_with_a_value(self, overlay, values):
        objects = kustomize("overlays/" + overlay)
        check(objects)
        assert objects == chart.render(values)

    @pytest.mark.parametrize("components", [c for n in (1, 2, 3, 4) for c in itertools.combinations(COMPONENTS, n)], ids="+".join)
    def test_components_combine(self, components, tmp_path):
        values = {}
        for component in components:
            values = chart.merge(values, COMPONENTS[component])
        shutil.copytree(KUBERNETES, tmp_path / "kubernetes")
        (tmp_path / "mine").mkdir()
        for order in (components, components[::-1]):
            (tmp_path / "mine" / "kustomization.yaml").write_text(yaml.safe_dump({
                "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": ["../kubernetes/base"],
                "components": ["../kubernetes/components/" + c for c in order]}))
            objects = kustomize(tmp_path / "mine")
            check(objects)
            assert objects == chart.render(values)

    def test_the_installation_of_the_examples_combines_all_and_pins_both_images(self):
        images = {i["name"]: i for i in yaml.safe_load((KUBERNETES / "examples/installation/images/kustomization.yaml").read_text())["images"]}
        name, digest = images["provisor"]["newName"], images["provisor"]["digest"]
        objects = kustomize("examples/installation/service")
        check(objects)
        assert objects == chart.render({"certManager": {"enabled": True}, "admission": {"onFailure": "closed"}, "autoscaling": {"enabled": True},
                                        "networkPolicy": {"databasePort": 6432}, "image": {"repository": name, "digest": digest},
                                        "proxy": {"image": "%(newName)s@%(digest)s" % images["haproxy"]}})
        container = kustomize("examples/installation/token")[("Pod", "provisor-token")]["spec"]["containers"][0]
        assert container["image"] == "%s@%s" % (name, digest) and container["args"][2:4] == ["--team", "etl"]

    def test_the_token_is_made_by_the_image_of_the_service(self):
        plain = yaml.safe_load((KUBERNETES / "token" / "token.yaml").read_text())
        assert kustomize("token") == {("Pod", "provisor-token"): plain}
        assert plain["spec"]["containers"][0]["image"] == chart.render()[("Deployment", "provisor")]["spec"]["template"]["spec"]["containers"][0]["image"]

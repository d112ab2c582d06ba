{{/* What the objects are called: as the release is. */}}
{{- define "provisor.name" -}}
{{ .Values.nameOverride | default .Release.Name }}
{{- end -}}

{{- define "provisor.labels" -}}
app.kubernetes.io/name: provisor
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "provisor.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end -}}

{{- define "provisor.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Rules, policies and selectors that both webhooks share. */}}
{{- define "provisor.rules" -}}
rules:
- apiGroups: [sparkoperator.k8s.io, spark.apache.org]
  apiVersions: ["*"]
  operations: [CREATE, UPDATE]
  resources: [sparkapplications, scheduledsparkapplications]
  scope: Namespaced
failurePolicy: {{ if eq .Values.admission.onFailure "closed" }}Fail{{ else }}Ignore{{ end }}
timeoutSeconds: {{ .Values.admission.timeoutSeconds }}
matchPolicy: Equivalent
namespaceSelector:
  {{- with .Values.admission.namespaceLabels }}
  matchLabels:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  matchExpressions:
  - key: kubernetes.io/metadata.name
    operator: NotIn
    values:
    {{- range .Values.admission.excludedNamespaces }}
    - {{ . | quote }}
    {{- end }}
    - {{ .Release.Namespace | quote }}
objectSelector:
  {{- toYaml .Values.admission.objectSelector | nindent 2 }}
{{- end -}}

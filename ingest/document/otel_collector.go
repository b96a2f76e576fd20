package document

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"pulltrail/ingest/evidence"
)

// CollectorConfig is the configuration of an OpenTelemetry Collector.
// https://opentelemetry.io/docs/collector/configuration/
var CollectorConfig = evidence.Format{
	Name:   "otel-collector-config",
	Shape:  evidence.DocumentShape,
	Title:  "OpenTelemetry Collector configuration",
	Proves: "where the pipelines of traces and logs send what they get: exporter and host",
	Cannot: "that a collector ran with it; hosts that stand in variables; on which host it lies: say it with --subject",
	Doc:    "https://opentelemetry.io/docs/collector/configuration/",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		ext := path.Ext(h.Name)
		return (ext == ".yml" || ext == ".yaml") && topKey(h.Bytes, "receivers") && topKey(h.Bytes, "exporters") && topKey(h.Bytes, "service")
	},
	Read: readCollectorConfig,
}

// localExporters keep what they get, or are asked for it.
var localExporters = []string{"debug", "logging", "file", "nop", "prometheus"}

// readCollectorConfig reads the exporters that pipelines of traces or logs name:
//
//	exporters:
//	  otlphttp/langfuse: {endpoint: "https://cloud.langfuse.com/api/public/otel", headers: {Authorization: …}}
//	  datadog: {api: {site: datadoghq.eu, key: "${env:DD_API_KEY}"}}
//	service: {pipelines: {traces: {receivers: [otlp], exporters: [otlphttp/langfuse]}}}
func readCollectorConfig(d *evidence.Doc, o *evidence.Out) error {
	docs, err := yamlDocuments(d)
	if len(docs) > 0 {
		o.Seen("")
	}
	for _, root := range docs {
		var used []string
		eachField(child(root, "service", "pipelines"), func(key, pipeline *yaml.Node) {
			if kind, _, _ := strings.Cut(key.Value, "/"); kind == "traces" || kind == "logs" {
				for _, e := range items(child(pipeline, "exporters")) {
					used = append(used, scalarText(e))
				}
			}
		})
		eachField(child(root, "exporters"), func(key, exporter *yaml.Node) {
			kind, name, named := strings.Cut(key.Value, "/")
			if !slices.Contains(used, key.Value) || slices.Contains(localExporters, kind) {
				return
			}
			setting := "exporters/" + kind
			if named {
				setting = "exporters." + kind + "/" + name
			}
			onNode(d, o, key, key.Value)
			o.TraceDestination(setting, exporterAddress(exporter))
		})
	}
	return err
}

// exporterAddress is where an exporter sends, "" where it does not say.
func exporterAddress(exporter *yaml.Node) string {
	for _, at := range [][]string{{"traces_endpoint"}, {"endpoint"}, {"logs_endpoint"}, {"api", "site"}, {"traces", "endpoint"}, {"dsn"}} {
		if text := scalarText(child(exporter, at...)); text != "" {
			return text
		}
	}
	return ""
}

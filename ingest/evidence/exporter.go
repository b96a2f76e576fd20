package evidence

import (
	"net/netip"
	"regexp"
	"strings"

	"pulltrail/timeline"
)

// exporterEndpoints are variables that say where traces of what an AI feature
// does are sent, as SDKs and exporters read them.
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/
// https://langfuse.com/docs/observability/sdk/advanced-features
// https://docs.langchain.com/langsmith/env-var
// https://docs.datadoghq.com/llm_observability/instrumentation/sdk/
var exporterEndpoints = regexp.MustCompile(`^(?:OTEL_EXPORTER_(?:OTLP|JAEGER|ZIPKIN)(?:_TRACES|_LOGS)?_ENDPOINT|OTEL_ENDPOINT|LANGFUSE_(?:HOST|BASE_?URL|OTEL_HOST)` +
	`|(?:LANGSMITH|LANGCHAIN)_(?:ENDPOINT|BASE_URL)|PHOENIX_(?:COLLECTOR_(?:HTTP_)?)?ENDPOINT|ARIZE_(?:HTTP_)?ENDPOINT|HELICONE_(?:API_BASE|BASE_URL|ENDPOINT)` +
	`|DD_(?:SITE|URL|DD_URL|TRACE_AGENT_URL|AGENT_HOST|LLMOBS_[A-Z_]*URL)|TRACELOOP_BASE_URL|BRAINTRUST_(?:API|APP)_URL|WANDB_BASE_URL|LANGTRACE_API_HOST` +
	`|OPIK_URL_OVERRIDE|PORTKEY_BASE_URL|AGENTOPS_(?:API|EXPORTER)_ENDPOINT|LOGFIRE_BASE_URL|LUNARY_API_URL|GALILEO_CONSOLE_URL|POSTHOG_(?:API_URL|HOST)` +
	`|MLFLOW_TRACKING_URI|NEW_RELIC_HOST|HONEYCOMB_API_ENDPOINT|SENTRY_DSN)$`)

// exporterSwitches are variables that turn the sending on, or say under which
// name it is kept there.
var exporterSwitches = regexp.MustCompile(`^(?:LANGSMITH_(?:TRACING(?:_V2)?|PROJECT)|LANGCHAIN_(?:TRACING(?:_V2)?|PROJECT)|LANGFUSE_TRACING_ENABLED|DD_LLMOBS_(?:ENABLED|AGENTLESS_ENABLED|ML_APP)` +
	`|PHOENIX_PROJECT_NAME|BRAINTRUST_PROJECT|WEAVE_PROJECT|LOGFIRE_SEND_TO_LOGFIRE)$`)

// SendsTraces reports whether a variable of that name has traces sent.
func SendsTraces(name string) bool {
	return exporterEndpoints.MatchString(name) || exporterSwitches.MatchString(name)
}

// TraceExporter records that a variable of the environment of the current
// line's subject has traces sent somewhere: its name, and the host of the value.
// started is since when, zero for the time of the line. What the value holds
// else (a path, a key) goes no further; a value that is not there, or comes from
// elsewhere, leaves the host open.
//
//	OTEL_EXPORTER_OTLP_ENDPOINT=https://otel.acme.example:4318/v1/traces
//	LANGSMITH_TRACING=true
func (o *Out) TraceExporter(name, value string, started timeline.Span) {
	switch {
	case exporterEndpoints.MatchString(name):
		if v := strings.Trim(strings.TrimSpace(value), `"'`); v == "false" || v == "none" {
			return
		}
		o.exporter(name, exporterHost(value), started)
	case exporterSwitches.MatchString(name):
		switch strings.ToLower(strings.Trim(strings.TrimSpace(value), `"'`)) {
		case "false", "0", "no", "off", "":
		default:
			o.exporter(name, "", started)
		}
	}
}

// TraceCallback records that a gateway is told to send traces: the setting, and
// the word for where to.
//
//	success_callback: ["langfuse"]
func (o *Out) TraceCallback(setting, word string) {
	if callbackWord.MatchString(word) {
		o.exporter(setting+"/"+word, "", timeline.Span{})
	}
}

// TraceDestination records that traces are sent to an address by a setting that
// is no variable; of the address the host is kept.
//
//	exporters: {otlphttp/langfuse: {endpoint: "https://cloud.langfuse.com/api/public/otel"}}
func (o *Out) TraceDestination(setting, address string) {
	if destination.MatchString(setting) {
		o.exporter(setting, exporterHost(address), timeline.Span{})
	}
}

// destination is a setting and a name in it.
var destination = regexp.MustCompile(`^[a-z0-9_.]{1,60}/[A-Za-z0-9_.-]{1,60}$`)

// callbackWord is a name, not the path of a module of one's own.
var callbackWord = regexp.MustCompile(`^[a-z][a-z0-9_]{1,40}$`)

func (o *Out) exporter(setting, host string, started timeline.Span) {
	m := o.Mark()
	value := timeline.TraceExport{Setting: setting, Host: host}.String()
	if started != (timeline.Span{}) && started.Clock != timeline.Unset {
		m.span = o.Times.bound(started, m.ahead)
	}
	o.SettingAt(m, timeline.TraceExporter, value)
}

// hostName is a name with a dot, or one of an own network.
var hostName = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_-]{1,63})*\.?$`)

// exporterHost is the host of an address, "" where none is shown. A single word
// is one only where a scheme or a port says so: else it may be anything.
func exporterHost(value string) string {
	text := strings.Trim(strings.TrimSpace(value), `"'`)
	if strings.HasPrefix(text, "os.environ/") { // LiteLLM: it stands in a variable
		return ""
	}
	_, rest, scheme := strings.Cut(text, "://")
	if !scheme {
		rest = text
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	rest = strings.ToLower(rest[strings.LastIndexByte(rest, '@')+1:])
	if at, err := netip.ParseAddrPort(rest); err == nil {
		return at.Addr().String()
	}
	if at, err := netip.ParseAddr(strings.Trim(rest, "[]")); err == nil {
		return at.String()
	}
	host, port, named := strings.Cut(rest, ":")
	if len(host) > 253 || !hostName.MatchString(host) || named && !digitsOnly(port) || !named && !scheme && !strings.Contains(host, ".") || Redact(host) != host {
		return ""
	}
	return strings.TrimSuffix(host, ".")
}

package evidence

import (
	"testing"

	"pulltrail/timeline"
)

// TestExporterHost takes hosts from what variables hold, and nothing else: not a
// path, not a key, not a word that may be one.
func TestExporterHost(t *testing.T) {
	for value, want := range map[string]string{
		"https://otel.acme.example:4318/v1/traces":                       "otel.acme.example",
		"http://otel-collector:4318":                                     "otel-collector",
		"otel-collector:4317":                                            "otel-collector",
		`"https://EU.langfuse.com"`:                                      "eu.langfuse.com",
		"https://user:hunter2@langfuse.acme.example/x?k=hunter2":         "langfuse.acme.example",
		"https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/2": "o1.ingest.sentry.io",
		"datadoghq.eu":                     "datadoghq.eu",
		"10.0.4.7:4317":                    "10.0.4.7",
		"http://[fd00::7]:4318":            "fd00::7",
		"unix:///var/run/otel.sock":        "",
		"${OTLP_ENDPOINT}":                 "",
		"os.environ/LANGFUSE_HOST":         "",
		"***":                              "",
		"":                                 "",
		"d41d8cd98f00b204e9800998ecf8427e": "",
		"sk-lf-0123456789abcdef":           "",
		"host with blanks.example":         "",
		"hunter2:hunter2":                  "",
	} {
		if got := exporterHost(value); got != want {
			t.Errorf("exporterHost(%q) = %q, want %q", value, got, want)
		}
	}
}

// TestTraceExporter keeps names that send traces, and leaves out what is turned
// off.
func TestTraceExporter(t *testing.T) {
	var got []string
	m := NewMachine(nil)
	r := m.NewReading("x.env", timeline.Subject{Kind: timeline.Host, ID: "a"}, timeline.Subject{}, Times{}, func(b *timeline.Batch) error {
		for _, s := range b.Settings {
			got = append(got, s.Value+"|"+s.Text)
		}
		return nil
	})
	r.SetLine(1, 0, []byte("hunter2"))
	for _, v := range [][2]string{
		{"LANGFUSE_HOST", "https://langfuse.acme.example/hunter2"},
		{"LANGSMITH_TRACING", "true"},
		{"LANGCHAIN_TRACING_V2", "false"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", ""},
		{"OTEL_EXPORTER_OTLP_HEADERS", "hunter2"},
		{"DD_LLMOBS_ENABLED", "0"},
		{"PATH", "/bin"},
	} {
		r.TraceExporter(v[0], v[1], timeline.Span{})
	}
	r.TraceCallback("success_callback", "langfuse")
	r.TraceCallback("callbacks", "custom_handler.proxy_handler_instance")
	if _, err := r.Finish(timeline.Span{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"LANGFUSE_HOST=langfuse.acme.example", "LANGSMITH_TRACING", "OTEL_EXPORTER_OTLP_ENDPOINT", "success_callback/langfuse"}
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i]+"|trace-exporter="+want[i] {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}

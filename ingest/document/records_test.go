package document

import (
	"bytes"
	"strings"
	"testing"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// recordTools are the tools of this package.
var recordTools = []evidence.Format{DockerEvents, PodmanEvents, DistributionNotification, ACREventGrid, KubernetesEvents, CloudTrail, Harbor, GCPAudit, Quay, Osquery, Falco, KubernetesAudit, Suricata, Route53, Zeek, SpendLogs, SGLangInfo, LiteLLMHealth, SGLangRequests, OTLPSpans, OpenAIUsage}

// TestRecordClaims reads the samples of every tool of records against all
// other formats: what starts with a record is claimed by its own tool alone.
func TestRecordClaims(t *testing.T) {
	for _, f := range recordTools {
		claimed := 0
		for path, data := range samplesOf(t, f) {
			h := newHead(path, data)
			if text := strings.TrimSpace(data); text[0] != '{' && text[0] != '[' || strings.Contains(data, `"__REALTIME_TIMESTAMP"`) {
				continue
			}
			for _, other := range recordTools {
				if got, want := other.ClaimsRecords(&h), other.Name == f.Name; got != want {
					t.Errorf("%s claims %s: %v, want %v", other.Name, path, got, want)
				}
			}
			for _, other := range all {
				if other.Claim(&h) {
					t.Errorf("%s claims %s", other.Name, path)
				}
			}
			claimed++
		}
		if len(f.Fields) > 0 && claimed == 0 {
			t.Errorf("%s has no sample that starts with a record", f.Name)
		}
	}
	for _, f := range all {
		for path, data := range samplesOf(t, f) {
			h := newHead(path, data)
			for _, tool := range recordTools {
				if tool.ClaimsRecords(&h) {
					t.Errorf("%s claims %s", tool.Name, path)
				}
			}
		}
	}
}

// hostileRecords have the fields of records, and nothing that fits in them.
var hostileRecords = []string{"0", `""`, `"x"`, "null", "[]", "{}", "-1e99", `[{"a":[]}]`, `"sha256:"`, `{"a":{"b":"c"}}`, `"` + strings.Repeat("9", 400) + `"`}

// TestHostileRecords gives every tool records of the right names and the wrong
// values: none may make an event or panic.
func TestHostileRecords(t *testing.T) {
	for _, f := range recordTools {
		m := evidence.NewMachine([]evidence.Format{f})
		for _, set := range f.Fields {
			for _, bad := range hostileRecords {
				var b strings.Builder
				for i, name := range set {
					b.WriteString(strings.Repeat(",", min(i, 1)) + `"` + name + `":` + bad)
				}
				record := "{" + b.String() + "}"
				r := m.NewReading("x", timeline.Subject{}, timeline.Subject{}, evidence.Times{}, func(b *timeline.Batch) error {
					for _, e := range b.Events {
						t.Errorf("%s: %v of %s", f.Name, timeline.Notation(e), record)
					}
					return nil
				})
				r.Record(&evidence.Line{Text: []byte(record), No: 1})
				if _, err := r.Finish(timeline.Span{}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// fuzzRecords gives a tool any bytes, as one record and line by line.
func fuzzRecords(f *testing.F, format evidence.Format) {
	for _, data := range samplesOf(f, format) {
		f.Add([]byte(data))
		for line := range strings.Lines(data) {
			f.Add([]byte(line))
		}
	}
	m := evidence.NewMachine([]evidence.Format{format})
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := bytes.Split(data, []byte("\n"))
		r := m.NewReading("x", timeline.Subject{}, timeline.Subject{}, evidence.Times{}, func(b *timeline.Batch) error {
			for _, e := range b.Events {
				if e.Line < 1 || e.Line > int64(len(lines)) || e.Subject.IsZero() || e.Subject.ID == "" {
					t.Errorf("event on line %d of %d, subject %q", e.Line, len(lines), e.Subject)
				}
				for _, it := range e.Items {
					if p := timeline.Split(it.Artifact); p.Name == "" && len(it.Digests) == 0 && it.Ref == "" {
						t.Errorf("artifact %q names nothing", it.Artifact)
					}
				}
			}
			return nil
		})
		r.Record(&evidence.Line{Text: data, No: 1})
		for i, line := range lines {
			r.Line(&evidence.Line{Text: line, No: int64(i) + 1})
		}
		if _, err := r.Finish(timeline.Span{}); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzDockerEvents(f *testing.F)             { fuzzRecords(f, DockerEvents) }
func FuzzPodmanEvents(f *testing.F)             { fuzzRecords(f, PodmanEvents) }
func FuzzDistributionNotification(f *testing.F) { fuzzRecords(f, DistributionNotification) }
func FuzzACREventGrid(f *testing.F)             { fuzzRecords(f, ACREventGrid) }
func FuzzACRTable(f *testing.F)                 { fuzzRecords(f, ACRTable) }
func FuzzKubernetesEvents(f *testing.F)         { fuzzRecords(f, KubernetesEvents) }
func FuzzDockerListed(f *testing.F)             { fuzzRecords(f, DockerListed) }
func FuzzCloudTrail(f *testing.F)               { fuzzRecords(f, CloudTrail) }
func FuzzHarbor(f *testing.F)                   { fuzzRecords(f, Harbor) }
func FuzzGCPAudit(f *testing.F)                 { fuzzRecords(f, GCPAudit) }
func FuzzDockerHubAudit(f *testing.F)           { fuzzRecords(f, DockerHubAudit) }
func FuzzNexusComponents(f *testing.F)          { fuzzRecords(f, NexusComponents) }
func FuzzQuay(f *testing.F)                     { fuzzRecords(f, Quay) }
func FuzzOsquery(f *testing.F)                  { fuzzRecords(f, Osquery) }
func FuzzFalco(f *testing.F)                    { fuzzRecords(f, Falco) }
func FuzzWazuh(f *testing.F)                    { fuzzRecords(f, Wazuh) }
func FuzzECSTasks(f *testing.F)                 { fuzzRecords(f, ECSTasks) }
func FuzzOsqueryShell(f *testing.F)             { fuzzRecords(f, OsqueryShell) }
func FuzzK8sTemplate(f *testing.F)              { fuzzRecords(f, K8sTemplate) }
func FuzzKubernetesAudit(f *testing.F)          { fuzzRecords(f, KubernetesAudit) }
func FuzzSuricata(f *testing.F)                 { fuzzRecords(f, Suricata) }
func FuzzRoute53(f *testing.F)                  { fuzzRecords(f, Route53) }
func FuzzZeek(f *testing.F)                     { fuzzRecords(f, Zeek) }
func FuzzSpendLogs(f *testing.F)                { fuzzRecords(f, SpendLogs) }
func FuzzOTLPSpans(f *testing.F)                { fuzzRecords(f, OTLPSpans) }
func FuzzOpenAIUsage(f *testing.F)              { fuzzRecords(f, OpenAIUsage) }

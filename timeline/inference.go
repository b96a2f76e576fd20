package timeline

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// SettingName names a fact of an inference engine, or of what sends traces.
type SettingName string

// The settings of an inference engine that incidents ask for. Counts are in
// tokens.
const (
	EngineKind      SettingName = "engine"           // sglang, vllm
	EngineVersion   SettingName = "version"          // as the engine prints it
	Topology        SettingName = "topology"         // prefill, decode or single
	TransferBackend SettingName = "transfer-backend" // what moves the cache from prefill to decode: mooncake, nixl, …
	ContextTokens   SettingName = "context-tokens"   // longest prompt and reply together that the server takes
	PoolTokens      SettingName = "pool-tokens"      // what its key-value cache holds
	InputTokens     SettingName = "input-tokens"     // longest prompt that the server takes
	KVChecksum      SettingName = "kv-checksum"      // on or off: transferred cache is checked
	ServedModel     SettingName = "model"            // name under which requests ask for it
	PrefillRate     SettingName = "prefill-rate"     // input tokens a second, the highest that lasted
	RemoteCode      SettingName = "remote-code"      // true: the model's repository may run its own code
	ModelRevision   SettingName = "model-revision"   // commit or tag of the model's repository
)

// TraceExporter is a setting that has traces sent somewhere: see TraceExport.
const TraceExporter SettingName = "trace-exporter"

// TraceExport is the value of such a setting.
type TraceExport struct {
	Setting string // the variable, or a setting and the word in it: LANGFUSE_HOST, success_callback/langfuse
	Host    string // that traces are sent to; "" when the evidence does not show it
}

// String is LANGFUSE_HOST=host, or LANGFUSE_HOST alone.
func (e TraceExport) String() string {
	if e.Host == "" {
		return e.Setting
	}
	return e.Setting + "=" + e.Host
}

// ParseTraceExport reads what String writes.
func ParseTraceExport(value string) TraceExport {
	setting, host, _ := strings.Cut(value, "=")
	return TraceExport{setting, host}
}

// Setting is one thing that an inference engine on a subject is or was set to,
// as it said itself or as the command that started it says; or what has its
// traces sent somewhere.
type Setting struct {
	Subject Subject
	Name    SettingName
	Value   string
	Span    Span
	Origin
}

// Request is one request that an inference engine or a gateway answered. Of its
// texts nothing is kept.
type Request struct {
	Node    Subject // the engine that answered, the gateway when the log does not say which
	Gateway bool    // a gateway wrote it: Node is not the engine
	Tenant  string  // alias of the key, team or customer; "" when the log names none
	Model   string
	ID      string

	Prompt, Cached, Output int64 // tokens; -1 when the log does not say

	// Start is when the request came, First when the first token left, End when
	// the last did: nanoseconds since 1970 UTC, of one clock. Unknown ones are 0.
	Start, First, End int64
	Span              Span // of the whole, as sure as the log's clock

	Failed   bool // refused, or ended with an error
	Streamed bool // the first token's time was taken when it left
	Stored   bool // a whole stored reply was given: no model ran
	Decode   bool // a decode node wrote it: its first token waited for another node's prefill
	Canary   bool // pulltrail sent it itself
	Origin
}

// flags of a stored request.
const (
	flagGateway = 1 << iota
	flagFailed
	flagStreamed
	flagStored
	flagDecode
	flagCanary
)

func (r *Request) flags() int64 {
	n := int64(0)
	for i, set := range []bool{r.Gateway, r.Failed, r.Streamed, r.Stored, r.Decode, r.Canary} {
		if set {
			n |= 1 << i
		}
	}
	return n
}

func (r *Request) setFlags(n int64) {
	r.Gateway, r.Failed, r.Streamed = n&flagGateway != 0, n&flagFailed != 0, n&flagStreamed != 0
	r.Stored, r.Decode, r.Canary = n&flagStored != 0, n&flagDecode != 0, n&flagCanary != 0
}

// setting stores a setting.
func (s *SourceWriter) setting(x *Setting) error {
	subject, err := s.name(x.Subject)
	if err != nil {
		return err
	}
	path, err := s.w.path(x.Path)
	if err != nil {
		return err
	}
	return s.w.put(s.w.settings, s.id, subject, string(x.Name), x.Value, end(x.Span.From), end(x.Span.To),
		string(x.Span.Clock), x.Span.Written, path, x.Line, x.Offset, x.Text)
}

// request stores a request.
func (s *SourceWriter) request(r *Request) error {
	name := s.name
	if r.Canary || r.Gateway && r.Node.Kind == Client {
		name = s.w.subject // where it was sent: not who spoke
	}
	node, err := name(r.Node)
	if err != nil {
		return err
	}
	var ids [3]int64
	for i, text := range [...]string{r.Tenant, r.Model, r.Path} {
		if ids[i], err = s.w.path(text); err != nil {
			return err
		}
	}
	return s.w.put(s.w.requests, s.id, node, ids[0], ids[1], r.ID, r.Prompt, r.Cached, r.Output, r.Start, r.First, r.End,
		end(r.Span.From), end(r.Span.To), string(r.Span.Clock), r.flags(), ids[2], r.Line, r.Offset)
}

// SettingRow is a setting with the hash of its source.
type SettingRow struct {
	SHA256 string
	Setting
}

// Settings returns what the complete sources say of inference engines, in the
// order they were read.
func (db *DB) Settings() ([]SettingRow, error) {
	return list(context.Background(), db.sql, "settings", func(row scanner) (x SettingRow, err error) {
		var t0, t1 sql.NullInt64
		var clock string
		err = row.Scan(&x.SHA256, &x.Subject.Kind, &x.Subject.ID, &x.Name, &x.Value, &t0, &t1, &clock, &x.Span.Written,
			&x.Path, &x.Line, &x.Offset, &x.Text)
		setSpan(&x.Span, t0, t1, clock)
		return x, err
	}, `SELECT s.sha256,u.kind,u.name,x.name,x.value,x.t0,x.t1,x.clock,x.written,p.text,x.line,x.off,x.excerpt
		FROM setting x JOIN source s ON s.id=x.source AND s.complete=1 JOIN subject u ON u.id=x.subject JOIN path p ON p.id=x.path
		ORDER BY x.rowid`)
}

// Tenants counts those that the requests of the complete sources name, and says
// when the newest of these was over; Beginning when none has a time.
func (db *DB) Tenants() (count int, newest int64, err error) {
	var last sql.NullInt64
	err = db.sql.QueryRow(`SELECT count(DISTINCT r.tenant), max(r.t1) FROM request r JOIN source s ON s.id=r.source AND s.complete=1
		JOIN path t ON t.id=r.tenant WHERE t.text<>''`).Scan(&count, &last)
	if err != nil {
		return 0, Beginning, fmt.Errorf("count tenants: %w", err)
	}
	if !last.Valid {
		return count, Beginning, nil
	}
	return count, last.Int64, nil
}

// RequestRow is a request with the hash of its source.
type RequestRow struct {
	SHA256 string
	Request
}

// Requests calls yield for each request of the complete sources whose prompt has
// at least so many tokens, in the order they were read, until it fails.
func (db *DB) Requests(prompt int64, yield func(*RequestRow) error) error {
	rows, err := db.sql.QueryContext(context.Background(), `SELECT s.sha256,u.kind,u.name,t.text,m.text,r.name,r.prompt,r.cached,r.output,
		r.start,r.first,r.finish,r.t0,r.t1,r.clock,r.flags,p.text,r.line,r.off
		FROM request r JOIN source s ON s.id=r.source AND s.complete=1 JOIN subject u ON u.id=r.node
		JOIN path t ON t.id=r.tenant JOIN path m ON m.id=r.model JOIN path p ON p.id=r.path
		WHERE r.prompt>=? ORDER BY r.rowid`, prompt)
	if err != nil {
		return fmt.Errorf("read requests: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var r RequestRow
		var t0, t1 sql.NullInt64
		var clock string
		var flags int64
		if err := rows.Scan(&r.SHA256, &r.Node.Kind, &r.Node.ID, &r.Tenant, &r.Model, &r.ID, &r.Prompt, &r.Cached, &r.Output,
			&r.Start, &r.First, &r.End, &t0, &t1, &clock, &flags, &r.Path, &r.Line, &r.Offset); err != nil {
			return fmt.Errorf("read requests: %w", err)
		}
		r.setFlags(flags)
		setSpan(&r.Span, t0, t1, clock)
		if err := yield(&r); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read requests: %w", err)
	}
	return nil
}

// dumpInference writes settings and requests as canonical text.
func (db *DB) dumpInference(add func(...string)) error {
	settings, err := db.Settings()
	if err != nil {
		return err
	}
	for _, x := range settings {
		add("setting", x.Span.String(), escape(x.Subject.String()), string(x.Name), escape(x.Value), fmt.Sprintf("%s:%d", escape(x.Path), x.Line), "clock="+string(x.Span.Clock))
	}
	return db.Requests(-1, func(r *RequestRow) error {
		since := func(ns int64) string {
			if ns == 0 || r.Start == 0 {
				return "-"
			}
			return fmt.Sprintf("%.3fs", float64(ns-r.Start)/1e9)
		}
		add("request", r.Span.String(), escape(r.Node.String()), "tenant="+escape(r.Tenant), "model="+escape(r.Model), "id="+escape(r.ID),
			fmt.Sprintf("prompt=%d cached=%d output=%d", r.Prompt, r.Cached, r.Output), "first="+since(r.First), "end="+since(r.End),
			fmt.Sprintf("gateway=%t failed=%t streamed=%t stored=%t decode=%t", r.Gateway, r.Failed, r.Streamed, r.Stored, r.Decode),
			fmt.Sprintf("%s:%d", escape(r.Path), r.Line), "clock="+string(r.Span.Clock))
		return nil
	})
}

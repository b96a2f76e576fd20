package frame

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// LogAnswer is what a store of logs answers through its API or saves as JSON:
// lines with their times, some levels deep.
// https://grafana.com/docs/loki/latest/reference/loki-http-api/
// https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-search
// https://docs.aws.amazon.com/cli/latest/reference/logs/filter-log-events.html
// https://cloud.google.com/sdk/gcloud/reference/logging/read
// https://docs.datadoghq.com/api/latest/logs/
// https://docs.splunk.com/Documentation/Splunk/latest/RESTREF/RESTsearch
var LogAnswer = evidence.Format{
	Name:    "log-answer",
	Shape:   evidence.FrameShape,
	Title:   "Answers of log stores (Loki, Elasticsearch, CloudWatch, Cloud Logging, Datadog, Splunk)",
	Proves:  "the time of each line, as the store has it",
	Cannot:  "who wrote it: its labels are anybody's; that the answer is whole: stores cut it at a limit",
	Doc:     "https://grafana.com/docs/loki/latest/reference/loki-http-api/",
	Sample:  "written by hand after the documentation",
	Fields:  [][]string{{"stream", "values"}, {"_source", "_index"}, {"ingestionTime", "message", "timestamp"}, {"textPayload", "timestamp"}, {"attributes", "id"}, {"result", "preview"}, {"took", "hits"}, {"status", "data"}},
	Lists:   []string{"result", "hits", "events", "data", "entries"},
	Largest: 32 << 20,
	Claim:   claimLogAnswer,
	New:     func() evidence.Peeler { return &logAnswer{} },
}

// claimLogAnswer wants two kinds of lines that no other program than a tool here
// prints among the strings of the answer.
func claimLogAnswer(h *evidence.Head) bool {
	if !mentionsTool(h.Bytes) {
		return false
	}
	kinds := map[string]bool{}
	var buf []byte
	for rest := h.Bytes; len(kinds) < 2; {
		i := bytes.IndexByte(rest, '"')
		if i < 0 {
			return false
		}
		end := i + 1
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(rest) {
			return false
		}
		text, b, ok := evidence.UnquoteJSON(rest[i:end+1], buf)
		buf, rest = b, rest[end+1:]
		if !ok || !mentionsTool(text) {
			continue
		}
		for line := range bytes.SplitSeq(text, []byte{'\n'}) {
			if toolLines().Match(line) {
				kinds[string(kindOf(line))] = true
			}
		}
	}
	return true
}

type logAnswer struct{}

// answered is one line of an answer.
type answered struct {
	text  []byte
	stamp evidence.Stamp
	at    int64
}

// Peel takes a record apart:
//
//	{"stream":{"job":"ci"},"values":[["1792585800000000000","Collecting litellm"],["1792585801000000000","Successfully installed litellm-1.107.0"]]}
//	{"_index":"logs","_source":{"@timestamp":"2026-10-21T12:30:00.000Z","message":"Collecting litellm"}}
//	{"ingestionTime":1792585800123,"message":"Collecting litellm","timestamp":1792585800123}
//	{"insertId":"a","textPayload":"Collecting litellm","timestamp":"2026-10-21T12:30:00Z"}
//	{"id":"A","attributes":{"timestamp":"2026-10-21T12:30:00.000Z","message":"Collecting litellm"}}
//	{"preview":false,"result":{"_raw":"Collecting litellm","_time":"2026-10-21T12:30:00.000+00:00"}}
func (*logAnswer) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	child := s.Child(o, nil)
	lines := answerLines(l.Text, nil, o, 0)
	if n := len(lines); n > 1 && lines[0].at > lines[n-1].at {
		slices.Reverse(lines) // stores answer the newest first
	}
	slices.SortStableFunc(lines, func(a, b answered) int { return cmp.Compare(a.at, b.at) })
	for _, a := range lines {
		for text := range bytes.SplitSeq(bytes.TrimRight(a.text, "\r\n"), []byte{'\n'}) {
			o.Feed(&evidence.Line{Text: evidence.StripEscapes(bytes.TrimRight(text, "\r")), No: l.No, Off: l.Off, Stamp: a.stamp}, child)
		}
	}
	if len(lines) > 0 {
		o.Seen("")
	}
	if lack := answerLacks(l.Text); lack != "" {
		o.Cut(lack)
	}
	return s
}

// answerLacks says what of the lines that were asked for an answer does not hold,
// where it says so itself. Lines that were found best come first, not those that
// came first: there may be some before and after those that lack.
//
//	{"took":3,"timed_out":false,"_shards":{"total":5,"successful":5,"skipped":0,"failed":0},"hits":{"total":{"value":10000,"relation":"gte"},"hits":[{"_index":…}]}}
//	{"preview":true,"offset":0,"result":{"_raw":"Collecting litellm"}}
func answerLacks(answer []byte) string {
	for f := evidence.JSONFields(answer); f.Next(); {
		switch string(f.Key) {
		case "timed_out":
			if string(f.Value) == "true" {
				return "the search timed out: its answer lacks lines"
			}
		case "preview":
			if string(f.Value) == "true" {
				return "a preview of results: save those of the search when it is done"
			}
		case "_shards":
			if n := jsonNumber(f.Value, "failed"); n > 0 {
				return fmt.Sprintf("%d shards did not answer the search", n)
			}
		case "hits":
			if lack := hitsLack(f.Value); lack != "" {
				return lack
			}
		}
	}
	return ""
}

// hitsLack compares how many lines were found with how many are there. Before
// release 7 the total is a number.
func hitsLack(hits []byte) string {
	var found, there int64
	for f := evidence.JSONFields(hits); f.Next(); {
		switch string(f.Key) {
		case "total":
			found, _ = strconv.ParseInt(string(f.Value), 10, 64)
			found = max(found, jsonNumber(f.Value, "value"))
		case "hits":
			for e := evidence.JSONElements(f.Value); e.Next(); {
				there++
			}
		}
	}
	if found > there {
		return fmt.Sprintf("%d of %d lines that were found: ask for all (size, search_after)", there, found)
	}
	return ""
}

// jsonNumber is a whole number among the fields of an object, 0 when it is none.
func jsonNumber(object []byte, name string) int64 {
	for f := evidence.JSONFields(object); f.Next(); {
		if string(f.Key) == name {
			n, _ := strconv.ParseInt(string(f.Value), 10, 64)
			return n
		}
	}
	return 0
}

// maxAnswer bounds the nesting of an answer.
const maxAnswer = 6

// answerLines finds the lines in a value: objects with a text and a time, and
// Loki's pairs of both.
func answerLines(value []byte, lines []answered, o *evidence.Out, depth int) []answered {
	if depth > maxAnswer || len(value) == 0 {
		return lines
	}
	switch value[0] {
	case '[':
		if a, ok := lokiPair(value); ok {
			return append(lines, a)
		}
		for e := evidence.JSONElements(value); e.Next(); {
			lines = answerLines(e.Value, lines, o, depth+1)
		}
	case '{':
		if text, stamp := jsonLine(value); text != nil && stamp != nil {
			if plain, _, ok := evidence.UnquoteJSON(text, nil); ok {
				return append(lines, newAnswered(plain, stamp, o))
			}
		}
		for f := evidence.JSONFields(value); f.Next(); {
			if len(f.Value) > 0 && (f.Value[0] == '{' || f.Value[0] == '[') {
				lines = answerLines(f.Value, lines, o, depth+1)
			}
		}
	}
	return lines
}

func newAnswered(text, stamp []byte, o *evidence.Out) answered {
	read := evidence.ISOStamp
	if epochLen(stamp) == len(stamp) {
		read = sinceEpoch
	}
	a := answered{text: text, stamp: evidence.Stamp{Text: bytes.Clone(stamp), Read: read}}
	a.at = read(a.stamp.Text, &o.Times).From
	return a
}

// lokiPair reads ["1792585800000000000","Collecting litellm"], behind which newer
// releases put labels.
func lokiPair(value []byte) (answered, bool) {
	e := evidence.JSONElements(value)
	if !e.Next() {
		return answered{}, false
	}
	stamp := bytes.Trim(e.Value, `"`)
	if len(stamp) != 19 || !number(stamp) || !e.Next() || len(e.Value) < 2 || e.Value[0] != '"' {
		return answered{}, false
	}
	text, _, ok := evidence.UnquoteJSON(e.Value, nil)
	a := answered{text: text, stamp: evidence.Stamp{Text: bytes.Clone(stamp), Read: nanoseconds}}
	a.at = nanoseconds(a.stamp.Text, nil).From
	return a, ok
}

func nanoseconds(text []byte, _ *evidence.Times) timeline.Span {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		n = -1
	}
	return evidence.Epoch(n, time.Nanosecond, string(text))
}

package canary

import (
	"strings"
	"testing"
	"time"

	"pulltrail/timeline"
)

// read follows a stream whose pieces come a second apart.
func read(text string) *answer {
	at := time.Duration(0)
	a := &answer{row: &Row{Prompt: -1, Cached: -1, Output: -1}, timeout: time.Hour, watch: func() time.Duration { at += time.Second; return at }}
	a.stream(strings.NewReader(text))
	return a
}

const (
	sayHello = `data: {"choices":[{"delta":{"content":"hello"},"finish_reason":null}]}` + "\n\n"
	sayEnd   = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	sayUsage = `data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"input_tokens":0,"prompt_tokens_details":null}}` + "\n\n"
	sayDone  = "data: [DONE]\n\n"
)

// TestStream reads streams as servers send them, and those that lack something.
func TestStream(t *testing.T) {
	for _, test := range []struct {
		text    string
		outcome timeline.Ending
		prompt  int64
	}{
		{sayHello + sayEnd + sayUsage + sayDone, timeline.ToItsEnd, 7},
		{": ping\n\nevent: x\n" + strings.ReplaceAll(sayHello+sayEnd+sayUsage+sayDone, "\n", "\r\n"), timeline.ToItsEnd, 7},
		{sayHello + sayEnd + sayUsage, timeline.ToItsEnd, 7}, // no end mark, but nothing can come any more
		{sayHello + sayEnd + sayDone, timeline.ToItsEnd, -1},
		{strings.ReplaceAll(sayHello+sayEnd+sayDone, "data: ", "data:"), timeline.ToItsEnd, -1},
		{sayHello + sayEnd, timeline.CutOff, -1},
		{sayHello + sayDone, timeline.CutOff, -1}, // nobody said that the reply ended
		{sayHello + sayUsage + sayDone, timeline.CutOff, 7},
		{sayHello, timeline.CutOff, -1},
		{"", timeline.CutOff, -1},
		{sayHello + "data: {\"choices\":[{\n\n", timeline.Broken, -1},
		{sayHello + `data: {"error":{"message":"out of memory"}}` + "\n\n" + sayDone, timeline.CutOff, -1},
		{`data: {"error":{"message":"The input (9 tokens) is longer than the model's context length (8 tokens)."}}` + "\n\n", timeline.TooLong, -1},
		{"data: " + strings.Repeat("x", maxFrame+1), timeline.CutOff, -1},
	} {
		if a := read(test.text); a.row.Outcome != test.outcome || a.row.Prompt != test.prompt {
			t.Errorf("%.80q: %s, %d tokens; want %s, %d", test.text, a.row.Outcome, a.row.Prompt, test.outcome, test.prompt)
		}
	}
}

// TestLengthWords tells refusals for the length from others.
func TestLengthWords(t *testing.T) {
	for _, text := range []string{
		`{"error":{"message":"This model's maximum context length is 32768 tokens. However, you requested 33000 tokens","code":400}}`,
		`{"error":{"code":"context_length_exceeded"}}`,
		"The input (85050 tokens) is longer than the model's context length (32768 tokens).",
		"[Error]Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).",
		"Input validation error: `inputs` must have less than 1024 tokens. Given: 1137",
		"litellm.ContextWindowExceededError: prompt is too long: 210000 tokens > 200000 maximum",
		"the request exceeds the available context size",
	} {
		if !onLength.MatchString(text) {
			t.Errorf("not told: %s", text)
		}
	}
	for _, text := range []string{
		"model 'chat' not found", "temperature is not supported", `{"error":{"message":"max_tokens is too large: 300"}}`, "stream_options is not allowed", "Invalid API key",
	} {
		if onLength.MatchString(text) {
			t.Errorf("not of the length: %s", text)
		}
	}
}

// TestCodes finds codes however a reply spells them, and takes none that a model
// got wrong for one of another request.
func TestCodes(t *testing.T) {
	a, b := write(tag("canary-a"), 3), write(tag("canary-b"), 3)
	if a.tag == b.tag || strings.Contains(a.text, b.tag) || int64(len(a.text)) > mostOf(3) || strings.Count(a.text, "\n") != 5 {
		t.Fatalf("two prompts: %q, %q", a.text, b.text)
	}
	other := write(a.tag, 3)
	wrong := []byte(a.first)
	wrong[0] = letters[(strings.IndexByte(letters, wrong[0])+1)%32]
	for _, test := range []struct {
		reply        string
		first, stale bool
	}{
		{a.tag + "-" + a.first, true, false},
		{"The code is " + strings.ToUpper(a.tag+" - "+a.first) + ".", true, false},
		{strings.Join(strings.Split(a.tag+a.first, ""), "\u200b"), true, false},
		{a.tag + "-" + a.first[:6], false, false},
		{a.tag + "-" + string(wrong), false, false},
		{a.tag + "-" + other.last + ", " + a.tag + "-" + a.first, true, true},
		{b.tag + "-" + b.first, false, false},
	} {
		f := &finder{}
		for _, r := range test.reply {
			f.add(string(r))
		}
		if f.has(a.tag+a.first) != test.first || f.stale(&a) != test.stale {
			t.Errorf("%q: first %t, of another request %t", test.reply, f.has(a.tag+a.first), f.stale(&a))
		}
	}
}

// TestSize reckons lengths from two short prompts, and from counts that cannot be
// right nothing.
func TestSize(t *testing.T) {
	s := sizeOf(Row{Prompt: 500}, Row{Prompt: 2500}) // 20 tokens a line
	if !s.known() || s.fixed != 340 || s.lines(10_340) != 500 || s.ofLines(500) != 10_000 {
		t.Errorf("%+v: %d lines, %d tokens", s, s.lines(10_340), s.ofLines(500))
	}
	for _, counts := range [][2]int64{{-1, -1}, {500, -1}, {500, 500}, {2500, 500}, {1, 1 << 40}} {
		if s := sizeOf(Row{Prompt: counts[0]}, Row{Prompt: counts[1]}); s.known() || s.ofLines(5) != -1 || mostOf(s.lines(10_000)) > 10_000 {
			t.Errorf("%v: %+v", counts, s)
		}
	}
}

// FuzzStream gives any bytes as a stream: none breaks it, and none is whole that
// does not say that it ended.
func FuzzStream(f *testing.F) {
	f.Add(sayHello + sayEnd + sayUsage + sayDone)
	f.Add(`data: {"error":{}}`)
	f.Add("data: {\"choices\":[{\"delta\":{\"content\":[1]}}]}\n\ndata: null\n")
	f.Fuzz(func(t *testing.T, text string) {
		a := read(text)
		if a.row.Outcome == timeline.ToItsEnd && !strings.Contains(strings.ToLower(text), "finish_reason") || a.row.Cached > max(a.row.Prompt, 0) {
			t.Errorf("%+v", a.row)
		}
	})
}

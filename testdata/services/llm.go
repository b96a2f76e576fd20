package services

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

// LLM is a stand-in for an inference endpoint that speaks the chat API of
// OpenAI, and can misbehave. It is a server, whose replies come at once, and a
// transport of a client in the same process, whose replies take the time of a
// stop-watch that nobody waits for.
type LLM struct {
	Keys    map[string]string // tenant by key
	Mode    string            // how it misbehaves, "" well; see reply
	Context int               // most tokens of a prompt
	Rate    float64           // tokens a second that it reads at most
	Elsewhere,
	Secret string // where it redirects to; what it says in errors and replies beside the rest

	mu    sync.Mutex
	codes map[string][]string // by tenant, of its last prompt and of the one before
	seen  []Seen
}

// segment is a piece of an answer, and how long it takes to come.
type segment struct {
	after time.Duration
	text  string
}

type llmAnswer struct {
	status int
	header http.Header
	body   []segment
	broken bool // the connection breaks off behind the last segment
}

// Requests returns what the endpoint saw since the last time, without the texts.
func (g *LLM) Requests() []Seen {
	g.mu.Lock()
	defer g.mu.Unlock()
	seen := g.seen
	g.seen = nil
	return seen
}

// llmCode is how codes of the canary look.
var llmCode = regexp.MustCompile(`\b[a-z2-9]{10}-[a-z2-9]{10}\b`)

// overhead is what the endpoint adds to a prompt, in tokens.
const overhead = 21

// tokensOf counts the tokens of a text: to this endpoint each character is one
// but blanks, so that prompts of many tokens are short.
func tokensOf(text string) int {
	return len(text) - strings.Count(text, " ") - strings.Count(text, "\n")
}

func plain(status int, kind, text string) llmAnswer {
	return llmAnswer{status: status, header: http.Header{"Content-Type": {kind}}, body: []segment{{0, text}}}
}

// reply answers a request. The modes: cross-talk (codes of another tenant),
// stale (those of the request before), too-fast, cached
// (too, and it says that all was in its cache), truncates (what is too long, and
// says so in its count), halves (every long prompt), takes-any (what is too long
// is read), slow (longer than an hour), cut and breaks (in the middle), busy
// (429), html, json (not streamed), no-usage, redirect, one-piece, mute (no
// codes), late (the last code alone), denies, rejects (400), fails (500),
// refuses-in-stream, errs-in-stream, gives-up; as a
// server alone: hangs (before any token).
func (g *LLM) reply(r *http.Request) llmAnswer {
	var asked struct {
		Messages []struct{ Content string }
		Stream   bool
		Options  struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	tenant := g.Keys[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if json.NewDecoder(r.Body).Decode(&asked) != nil || len(asked.Messages) != 1 || !asked.Stream {
		return plain(http.StatusBadRequest, "application/json", `{"error":{"message":"no messages"}}`)
	}
	text := asked.Messages[0].Content
	g.mu.Lock()
	g.seen = append(g.seen, Seen{"llm", r.Method, r.URL.String(), r.Header.Clone()})
	g.mu.Unlock()
	if tenant == "" || g.Mode == "denies" {
		return plain(http.StatusUnauthorized, "application/json", `{"error":{"message":"no such key `+g.Secret+`"}}`)
	}
	tokens := tokensOf(text) + overhead
	if a, ok := g.refuses(tokens, text); ok {
		return a
	}
	count := tokens
	switch {
	case g.Mode == "truncates":
		count = min(count, g.Context)
	case g.Mode == "halves" && tokens > 9000:
		count /= 2
	}
	wait := time.Duration(float64(count) / g.Rate * (1 + rand.Float64()) * float64(time.Second))
	switch {
	case g.Mode == "slow":
		wait = 2 * time.Hour
	case (g.Mode == "too-fast" || g.Mode == "cached") && tokens > 9000:
		wait = 3 * time.Millisecond
	}
	return g.stream(g.words(tenant, text), wait, count, asked.Options.Usage)
}

// refuses answers what gets no reply.
func (g *LLM) refuses(tokens int, text string) (llmAnswer, bool) {
	leak := g.Secret + " " + text[:min(len(text), 200)]
	switch g.Mode {
	case "busy":
		a := plain(http.StatusTooManyRequests, "application/json", `{"error":{"message":"Rate limit reached"}}`)
		a.header.Set("Retry-After", "30")
		return a, true
	case "html":
		return plain(http.StatusOK, "text/html; charset=utf-8", "<p>Sign in "+leak), true
	case "json":
		return plain(http.StatusOK, "application/json", `{"choices":[{"message":{"content":"`+g.Secret+`"}}],"usage":{"prompt_tokens":12}}`), true
	case "redirect":
		a := plain(http.StatusTemporaryRedirect, "text/plain", "")
		a.header.Set("Location", g.Elsewhere+"/v1/chat/completions?key="+g.Secret)
		return a, true
	case "rejects":
		return plain(http.StatusBadRequest, "application/json", `{"error":{"message":"temperature is not supported `+g.Secret+`"}}`), true
	case "fails":
		return plain(http.StatusInternalServerError, "text/plain", "assertion failed: "+leak), true
	case "errs-in-stream":
		return plain(http.StatusOK, "text/event-stream", `data: {"error":{"message":"CUDA error `+g.Secret+`"}}`+"\n\n"), true
	}
	if tokens <= g.Context || g.Mode == "takes-any" || g.Mode == "truncates" {
		return llmAnswer{}, false
	}
	message := fmt.Sprintf(`{"error":{"message":"The input (%d tokens) is longer than the model's context length (%d tokens). %s","code":400}}`, tokens, g.Context, g.Secret)
	if g.Mode == "refuses-in-stream" {
		return plain(http.StatusOK, "text/event-stream", "data: "+message+"\n\ndata: [DONE]\n\n"), true
	}
	return plain(http.StatusBadRequest, "application/json", message), true
}

// words are what the model says: the codes that it was asked for, as a rule.
func (g *LLM) words(tenant, text string) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.codes == nil {
		g.codes = map[string][]string{}
	}
	ends := text[:min(len(text), 400)] + " " + text[max(0, len(text)-400):]
	codes := llmCode.FindAllString(ends, -1)
	before := g.codes[tenant]
	g.codes[tenant] = codes
	switch g.Mode {
	case "cross-talk":
		for other, held := range g.codes {
			if other != tenant {
				codes = append(codes, held...)
			}
		}
	case "stale":
		if before != nil {
			codes = before
		}
	case "mute":
		codes = []string{"I", "cannot", "help", "with", "that."}
	case "late":
		codes = codes[len(codes)-1:]
	}
	return append(strings.SplitAfter(strings.Join(codes, ", "), "-"), " "+g.Secret)
}

// stream is a whole reply, each of its words in two pieces.
func (g *LLM) stream(words []string, wait time.Duration, count int, usage bool) llmAnswer {
	a := llmAnswer{status: http.StatusOK, header: http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}}}
	frame := func(after time.Duration, format string, args ...any) {
		a.body = append(a.body, segment{after, "data: " + fmt.Sprintf(format, args...) + "\n\n"})
	}
	frame(0, `{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`)
	var pieces []string
	for _, w := range words {
		pieces = append(pieces, w[:len(w)/2], w[len(w)/2:])
	}
	if g.Mode == "one-piece" {
		pieces = []string{strings.Join(words, "")}
	}
	for i, p := range pieces {
		said, _ := json.Marshal(p) // a text can be
		frame(wait, `{"choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]}`, said)
		wait = 20 * time.Millisecond
		if i == len(pieces)/2 && (g.Mode == "cut" || g.Mode == "breaks") {
			a.broken = g.Mode == "breaks"
			return a
		}
	}
	finish := "stop"
	if g.Mode == "gives-up" {
		finish = "abort"
	}
	frame(0, `{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, finish)
	if usage && g.Mode != "no-usage" {
		cached := 0
		if g.Mode == "cached" {
			cached = count - 1
		}
		frame(0, `{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"input_tokens":0,"prompt_tokens_details":{"cached_tokens":%d}}}`, count, len(pieces), cached)
	}
	frame(0, `[DONE]`)
	return a
}

// ServeHTTP answers at once.
func (g *LLM) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := g.reply(r)
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	for _, s := range a.body {
		fmt.Fprint(w, s.text)
		w.(http.Flusher).Flush()
		if g.Mode == "hangs" {
			<-r.Context().Done()
			return
		}
	}
	if a.broken {
		panic(http.ErrAbortHandler)
	}
}

type stopwatchKey struct{}

// Stopwatch starts a time for one request that only its reply moves on.
func Stopwatch(ctx context.Context) (context.Context, func() time.Duration) {
	at := new(time.Duration)
	return context.WithValue(ctx, stopwatchKey{}, at), func() time.Duration { return *at }
}

// RoundTrip answers in the same process, in the time of the request's stop-watch.
func (g *LLM) RoundTrip(r *http.Request) (*http.Response, error) {
	a := g.reply(r)
	at, _ := r.Context().Value(stopwatchKey{}).(*time.Duration)
	return &http.Response{
		StatusCode: a.status, Header: a.header, Request: r, ContentLength: -1, Body: io.NopCloser(&playback{a, at}),
	}, nil
}

// playback is a body that moves a stop-watch on while it is read.
type playback struct {
	llmAnswer
	at *time.Duration
}

// Read returns a part of one segment.
func (p *playback) Read(b []byte) (int, error) {
	if len(p.body) == 0 {
		if p.broken {
			return 0, io.ErrUnexpectedEOF
		}
		return 0, io.EOF
	}
	s := &p.body[0]
	*p.at += s.after
	s.after = 0
	n := copy(b, s.text)
	if s.text = s.text[n:]; s.text == "" {
		p.body = p.body[1:]
	}
	return n, nil
}

package canary

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"pulltrail/timeline"
)

// maxFrame bounds one line of a stream.
const maxFrame = 1 << 20

// frame is what counts of one frame of a stream.
type frame struct {
	Choices []struct {
		Delta  map[string]json.RawMessage `json:"delta"`
		Finish *string                    `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// usage is what a server counted. cached_tokens is not in all of them.
type usage struct {
	Prompt  *int64 `json:"prompt_tokens"`
	Output  *int64 `json:"completion_tokens"`
	Details *struct {
		Cached *int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// spoken are the fields of a delta that hold text of the model.
var spoken = []string{"content", "reasoning_content", "reasoning", "refusal"}

// stream reads the frames of a reply:
//
//	data: {"choices":[{"index":0,"delta":{"content":"kq7m"},"finish_reason":null}]}
//	data: {"choices":[],"usage":{"prompt_tokens":32011,"completion_tokens":31,"prompt_tokens_details":{"cached_tokens":0}}}
//	data: [DONE]
func (a *answer) stream(body io.Reader) {
	r := bufio.NewReaderSize(io.LimitReader(body, maxAnswer), 16<<10)
	a.row.Outcome, a.row.Why = timeline.CutOff, "the stream ended without its end mark"
	for {
		line, err := readLine(r)
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && !a.frame(bytes.TrimSpace(data)) {
			return
		}
		if a.watch() > a.timeout || errors.Is(err, errFrame) {
			return
		}
		if err != nil {
			break
		}
	}
	if a.done || a.ended && a.usage {
		a.row.Outcome, a.row.Why = timeline.ToItsEnd, ""
	}
}

var errFrame = errors.New("a line is too long")

// readLine reads a line without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxFrame {
			return nil, errFrame
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}

// frame takes one frame; false ends the reply.
func (a *answer) frame(data []byte) bool {
	if string(data) == "[DONE]" {
		a.done = a.ended
		return true
	}
	a.raw.add(string(data))
	var f frame
	if err := json.Unmarshal(data, &f); err != nil {
		a.row.Outcome, a.row.Why = timeline.Broken, "a frame of the stream is no JSON"
		return false
	}
	if len(f.Error) > 0 && string(f.Error) != "null" {
		a.failed(f.Error)
		return false
	}
	for _, c := range f.Choices {
		a.delta(c.Delta)
		if c.Finish == nil || *c.Finish == "" {
			continue
		}
		if a.ended = true; *c.Finish == "abort" || *c.Finish == "error" {
			a.row.Outcome, a.row.Why = timeline.Broken, "the server gave the reply up"
			return false
		}
	}
	if f.Usage != nil {
		a.count(f.Usage)
	}
	return true
}

// failed says what a frame with an error means: some servers refuse a prompt in
// the stream, when HTTP 200 is sent already.
func (a *answer) failed(said []byte) {
	switch {
	case a.pieces > 0:
		a.row.Outcome, a.row.Why = timeline.CutOff, "an error came in the middle of the reply"
	case onLength.Match(said):
		a.row.Outcome, a.row.Why = timeline.TooLong, "in the stream, before any token"
	default:
		a.row.Outcome, a.row.Why = timeline.Broken, "an error in the stream, before any token"
	}
}

// delta takes a piece of the reply and the time at which it came.
func (a *answer) delta(fields map[string]json.RawMessage) {
	for _, name := range spoken {
		var text string
		if json.Unmarshal(fields[name], &text) != nil || text == "" {
			continue
		}
		a.said.add(text)
		a.last = a.watch()
		if a.pieces++; a.pieces == 1 {
			a.first = a.last
		}
	}
}

// count takes the server's counts; the last frame that has them holds.
func (a *answer) count(u *usage) {
	if u.Prompt == nil || *u.Prompt <= 0 {
		return
	}
	a.usage = true
	a.row.Prompt = *u.Prompt
	if u.Output != nil && *u.Output >= 0 {
		a.row.Output = *u.Output
	}
	if u.Details != nil && u.Details.Cached != nil && *u.Details.Cached >= 0 {
		a.row.Cached = min(*u.Details.Cached, a.row.Prompt)
	}
}

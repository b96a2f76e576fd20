package tool

import (
	"bytes"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// AptCacherNG is the transfer log of apt-cacher-ng.
// https://www.unix-ag.uni-kl.de/~bloch/acng/html/
var AptCacherNG = evidence.Format{
	Name:   "apt-cacher-ng",
	Shape:  evidence.ToolShape,
	Title:  "apt-cacher-ng transfer log",
	Proves: "which client was sent which package file, and when; what the cache fetched itself",
	Cannot: "who stands behind an address (inventory); that a file was sent whole",
	Doc:    "https://www.unix-ag.uni-kl.de/~bloch/acng/html/",
	Sample: "written by hand after the documentation",
	Starts: []string{"10", "11", "12", "13", "14", "15", "16", "17", "18", "19"},
	Looks:  func(text []byte) bool { return len(text) > 14 && text[10] == '|' && text[12] == '|' },
	Tool:   func() evidence.Parser { return &aptCacherNG{} },
}

type aptCacherNG struct{}

// Line reads one transfer: when, In or Out (or an Error), bytes, client, path.
//
//	1792584603|O|315600|10.0.4.7|debrep/pool/main/c/curl/curl_7.88.1-10+deb12u5_amd64.deb
//	1792584603|I|315600|10.0.4.7|debrep/pool/main/c/curl/curl_7.88.1-10+deb12u5_amd64.deb
func (*aptCacherNG) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	w := bytes.SplitN(bytes.TrimSpace(l.Text), []byte("|"), 6)
	if len(w) < 4 || len(w) > 5 || !allDigits(w[0]) || len(w[0]) != 10 || len(w[1]) != 1 || length(w[2]) < 0 {
		return evidence.Miss
	}
	o.Seen("")
	item, kind := packagePath("/" + string(w[len(w)-1]))
	if kind != wholeFile || length(w[2]) == 0 {
		return evidence.Done
	}
	e := timeline.Event{Action: timeline.Download, Span: evidence.Epoch(length(w[0]), time.Second, string(w[0])), Items: []timeline.Item{item}}
	switch {
	case string(w[1]) == "O" && len(w) == 5:
		e.Subject = timeline.Subject{Kind: timeline.Client, ID: string(w[3])}
	case string(w[1]) != "I" && string(w[1]) != "O":
		return evidence.Done
	}
	o.Event(e)
	return evidence.Done
}

// End has nothing to do: each line stands alone.
func (*aptCacherNG) End(timeline.OpState, *evidence.Out) {}

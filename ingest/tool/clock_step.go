package tool

import (
	"bytes"
	"strconv"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ClockStep is what time services say when they set the clock of a host at
// once, and the line with which a kernel begins.
// https://chrony-project.org/doc/4.6/chrony.conf.html#makestep
// https://www.ntp.org/documentation/4.2.8-series/ntpd/
var ClockStep = evidence.Format{
	Name:   "clock-step",
	Shape:  evidence.ToolShape,
	Title:  "clocks that were set (chronyd, ntpd, ntpdate)",
	Proves: "that times before it, since the host was started, may be wrong by as much",
	Cannot: "since when the clock was wrong; steps that no service reports",
	Doc:    "https://chrony-project.org/doc/4.6/chrony.conf.html",
	Sample: "written by hand after logs of public hosts",
	Starts: []string{"System clock was stepped by ", "time reset ", "step time server ", "Linux version "},
	Tool:   func() evidence.Parser { return clockStep{} },
}

// clockPrograms are the services that set clocks.
var clockPrograms = map[string]bool{"chronyd": true, "ntpd": true, "ntpdate": true, "sntp": true}

type clockStep struct{}

// Line reads one line:
//
//	System clock was stepped by -32400.283303 seconds
//	time reset +3.215402 s
//	step time server 192.0.2.7 offset -3600.123456 sec
//	Linux version 6.8.0-45-generic (buildd@lcy02-amd64-115) …
func (clockStep) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	program, text := o.Stream().Program, bytes.TrimSpace(l.Text)
	if bytes.HasPrefix(text, []byte("Linux version ")) {
		if program != "kernel" {
			return evidence.Miss
		}
		o.Booted()
		return evidence.Done
	}
	if !clockPrograms[program] {
		return evidence.Miss
	}
	by, ok := stepOf(text)
	if !ok {
		return evidence.Miss
	}
	o.Seen("")
	o.Stepped(by)
	return evidence.Done
}

// stepOf reads by how many seconds a clock was put forward, or back.
func stepOf(text []byte) (time.Duration, bool) {
	for _, around := range [...][2]string{
		{"System clock was stepped by ", " seconds"}, {"time reset ", " s"}, {" offset ", " sec"},
	} {
		_, rest, ok := bytes.Cut(text, []byte(around[0]))
		if !ok {
			continue
		}
		number, _, ok := bytes.Cut(rest, []byte(around[1]))
		seconds, err := strconv.ParseFloat(string(number), 64)
		if !ok || err != nil || seconds > 1e9 || seconds < -1e9 {
			return 0, false
		}
		return time.Duration(seconds * float64(time.Second)), true
	}
	return 0, false
}

// End has nothing to do: each line stands alone.
func (clockStep) End(_ timeline.OpState, _ *evidence.Out) {}

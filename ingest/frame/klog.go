package frame

import (
	"bytes"
	"strconv"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Klog is the head that programs of Kubernetes put in front of their lines.
// https://kubernetes.io/docs/concepts/cluster-administration/system-logs/
var Klog = evidence.Format{
	Name:   "klog",
	Shape:  evidence.FrameShape,
	Title:  "Lines of klog and glog (Kubernetes)",
	Proves: "month, day and time of each line",
	Cannot: "year and zone: --covers and --zone supply them; the program and host",
	Doc:    "https://kubernetes.io/docs/concepts/cluster-administration/system-logs/",
	Sample: "written by hand after the documentation",
	First:  "IWEF",
	Looks:  func(text []byte) bool { return len(text) > 21 && text[5] == ' ' && text[8] == ':' },
	Common: true,
	Cuts:   true,
	New:    func() evidence.Peeler { return klog{} },
}

type klog struct{}

// klogHead returns the length of the head, that of its time, 0 when there is
// none:
//
//	I1021 12:04:51.123456    1843 kubelet.go:2341] text
func klogHead(text []byte) (clock, head int) {
	if len(text) < 24 || text[5] != ' ' || text[8] != ':' || text[11] != ':' || text[14] != '.' || !number(text[1:5]) || !number(text[15:21]) || text[21] != ' ' {
		return 0, 0
	}
	end := bytes.Index(text[:min(len(text), 300)], []byte("] "))
	if end < 0 {
		return 0, 0
	}
	words := bytes.Fields(text[21:end])
	if len(words) != 2 || !number(words[0]) || bytes.LastIndexByte(words[1], ':') < 1 {
		return 0, 0
	}
	return 21, end + 2
}

// Peel takes the head off. Events that klog writes are read with it.
func (klog) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	clock, head := klogHead(l.Text)
	if head == 0 || bytes.Contains(l.Text[head:], []byte("Event(v1.ObjectReference")) || bytes.HasPrefix(l.Text[head:], []byte(`"Event occurred"`)) {
		return nil
	}
	child := s.Child(o, nil)
	if l.Stamp.Read == nil { // a frame around it knows the year
		child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], l.Text[1:clock]...), Read: klogStamp}
		l.Stamp = child.Last
	}
	l.Text = l.Text[head:]
	return child
}

// klogStamp reads "1021 12:04:51.123456".
func klogStamp(text []byte, t *evidence.Times) timeline.Span {
	n := [6]int{}
	for i, at := range [6][2]int{{0, 2}, {2, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 20}} {
		v, err := strconv.Atoi(string(text[at[0]:at[1]]))
		if err != nil {
			return timeline.Always()
		}
		n[i] = v
	}
	if n[0] < 1 || n[0] > 12 || n[1] < 1 || n[1] > 31 {
		return timeline.Always()
	}
	m := evidence.Moment{Month: n[0], Day: n[1], Hour: n[2], Minute: n[3], Sec: n[4], Nano: n[5] * 1000, Resolution: time.Microsecond}
	return m.Span(string(text), t)
}

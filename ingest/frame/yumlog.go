package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// YumLog is yum.log, in which yum 3 writes what it changed, and the same log of
// early releases of dnf. Newer ones have times with a zone.
// https://man7.org/linux/man-pages/man8/yum.8.html
var YumLog = evidence.Format{
	Name:   "yum-log",
	Shape:  evidence.FrameShape,
	Title:  "/var/log/yum.log",
	Proves: "month, day and local time of each line",
	Cannot: "the year and the zone: --covers and --zone supply them; the host",
	Doc:    "https://man7.org/linux/man-pages/man8/yum.8.html",
	Sample: "written by hand after public logs",
	Claim:  func(h *evidence.Head) bool { return yumStamp(h.Bytes) },
	New:    func() evidence.Peeler { return yumLog{} },
}

// yumWords stand where syslog has a host.
var yumWords = [][]byte{
	[]byte(" Installed: "), []byte(" Updated: "), []byte(" Erased: "), []byte(" Dep-Installed: "), []byte(" INFO "), []byte(" SUBDEBUG "),
}

// yumStamp reports whether a line is one of such a log:
//
//	Oct 21 12:04:51 Installed: xz-libs-5.2.2-1.el7.x86_64
func yumStamp(text []byte) bool {
	if len(text) < 28 || evidence.Month(text[:3]) == 0 || text[3] != ' ' || text[9] != ':' || text[12] != ':' {
		return false
	}
	for _, w := range yumWords {
		if bytes.HasPrefix(text[15:], w) {
			return true
		}
	}
	return false
}

type yumLog struct{}

// Peel takes the time off.
func (yumLog) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) || !yumStamp(l.Text) {
		return nil
	}
	child := s.Child(o, nil)
	child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], l.Text[:15]...), Read: yearlessStamp}
	l.Stamp = child.Last
	l.Text = l.Text[16:]
	return child
}

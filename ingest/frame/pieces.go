package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// pieces makes lines of output that was recorded in pieces, as it came: a line
// may begin in one and end in a later one.
type pieces struct {
	open map[*evidence.Stream]*piece
}

// piece is a line without an end.
type piece struct {
	text    []byte
	no, off int64
	stamp   evidence.Stamp
}

// take returns the lines that end in a piece, several with line ends between
// them; what follows the last line end is held. nil: no line ends.
func (p *pieces) take(s *evidence.Stream, l *evidence.Line, text []byte) []byte {
	at := p.open[s]
	end := bytes.LastIndexByte(text, '\n')
	if at == nil {
		if end == len(text)-1 {
			return text
		}
		if p.open == nil {
			p.open = map[*evidence.Stream]*piece{}
		}
		at = &piece{}
		p.open[s] = at
	}
	whole := append(at.text, text...)
	if len(whole) > maxPart {
		whole = whole[:maxPart]
	}
	end = bytes.LastIndexByte(whole, '\n')
	lines := bytes.Clone(whole[:end+1])
	at.text = append(at.text[:0], whole[end+1:]...)
	at.no, at.off = l.No, l.Off
	at.stamp = evidence.Stamp{Text: append(at.stamp.Text[:0], l.Stamp.Text...), Read: l.Stamp.Read}
	if len(lines) == 0 {
		return nil
	}
	return lines
}

// flush reads the line that stands open in a stream: nothing follows it.
func (p *pieces) flush(s *evidence.Stream, o *evidence.Out) {
	at := p.open[s]
	if at == nil || len(at.text) == 0 {
		return
	}
	delete(p.open, s)
	o.Feed(&evidence.Line{Text: evidence.StripEscapes(at.text), No: at.no, Off: at.off, Stamp: at.stamp}, s)
}

// End reads what stands open everywhere.
func (p *pieces) end(o *evidence.Out) {
	for s := range p.open {
		p.flush(s, o)
	}
}

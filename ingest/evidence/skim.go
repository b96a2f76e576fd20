package evidence

import "bytes"

// skim passes over a line that no frame and no tool wants; it reports whether
// the line is done. Nine lines in ten end here.
func (r *Reading) skim(l *Line) bool {
	s := r.root
	if !l.Flat || s.next != 0 {
		return false
	}
	depth := 0
	if r.skimmer != nil {
		if s = r.skimmer.Skim(l, s); s == nil {
			return false
		}
		r.marks++
		depth = 1
	} else if r.claimed > 0 {
		return false
	}
	if s.next|s.more != 0 || s.listen != (toolSet{}) || r.stands != nil || r.machine.wanted(l.Text, s) {
		r.dispatch(l, s, depth)
	}
	return true
}

// Pass passes over the lines at the beginning of a block that no frame and no
// tool wants, and returns how many they are and how long, with their ends. The
// block holds no escape sequence and no carriage return; a line that begins with
// a byte order mark is left to be read.
func (r *Reading) Pass(block []byte) (lines, size int64) {
	s := r.root
	if s.next != 0 || r.stands != nil || r.skimmer == nil && r.claimed > 0 {
		return 0, 0
	}
	if r.skimmer != nil {
		if s = r.skimmer.Skims(s); s == nil {
			return 0, 0
		}
	}
	if s.next|s.more != 0 {
		return 0, 0
	}
	var hearers [maxHearers]Hearer
	heard := hearers[:0]
	for i, none := s.listen, (toolSet{}); i != none; {
		h, ok := s.parsers[i.first(&none)].(Hearer)
		if !ok || len(heard) == maxHearers {
			return 0, 0
		}
		heard = append(heard, h)
	}
	var last []byte
	rest := block
	for {
		n := bytes.IndexByte(rest, '\n')
		if n < 0 {
			break
		}
		text := rest[:n]
		if r.skimmer != nil {
			var ok bool
			if text, ok = r.skimmer.Rest(text); !ok {
				break
			}
		} else if n > 0 && text[0] == 0xef {
			break
		}
		if r.machine.wanted(text, s) || hears(heard, text) {
			break
		}
		last, rest = rest[:n], rest[n+1:]
		lines++
	}
	if r.skimmer != nil && lines > 0 {
		r.passed.Text = last
		r.skimmer.Skim(&r.passed, r.root)
		r.marks += lines
	}
	return lines, int64(len(block) - len(rest))
}

// maxHearers is how many tools can listen while lines are passed over.
const maxHearers = 4

// hears reports whether one of those that listen may want a line.
func hears(heard []Hearer, text []byte) bool {
	for _, h := range heard {
		if h.Hears(text) {
			return true
		}
	}
	return false
}

// wanted reports whether a frame or tool may know a line of s by its beginning,
// or an object by the names of its fields.
func (m *Machine) wanted(text []byte, s *Stream) bool {
	if len(text) == 0 {
		return false
	}
	probes := m.first[text[0]]
	for i := range probes {
		if probes[i].fits(text, s) {
			return true
		}
	}
	text = TrimIndent(text)
	if len(text) < 2 {
		return false
	}
	words := m.known(text)
	for i := range words {
		if words[i].fits(text, s) {
			return true
		}
	}
	return text[0] == '{' && m.records.may(text)
}

// known returns the words of tools that start with the first two bytes of a
// text.
func (m *Machine) known(text []byte) []start {
	return m.starts[m.words[int(text[0])<<8|int(text[1])]]
}

// TrimIndent drops the blanks and tabs that a line begins with.
func TrimIndent(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	return text
}

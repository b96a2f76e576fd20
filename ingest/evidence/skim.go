package evidence

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

// wanted reports whether a frame or tool may know a line of s by its beginning.
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
	if text[0] == '{' {
		return true
	}
	words := m.known(text)
	for i := range words {
		if words[i].fits(text, s) {
			return true
		}
	}
	return false
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

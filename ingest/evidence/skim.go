package evidence

// skim passes over a line that no frame and no tool wants; it reports whether
// the line is done. Nine lines in ten end here.
func (r *Reading) skim(l *Line) bool {
	text, s := l.Text, r.root
	if !l.Flat || s.next != 0 || r.stands != nil {
		return false
	}
	switch {
	case r.skimmer != nil:
		if text, s = r.skimmer.Skim(text, s); s == nil || s.next != 0 {
			return false
		}
	case r.claimed > 0:
		return false
	}
	if s.more != 0 || s.listen != 0 || s.watch != 0 || r.machine.wanted(text, s) {
		return false
	}
	if r.skimmer != nil && !r.machine.frames[r.claimed-1].Common {
		r.marks++ // the frame knew it
	}
	return true
}

// wanted reports whether a frame or tool may know a line of s by its beginning.
func (m *Machine) wanted(text []byte, s *Stream) bool {
	if len(text) == 0 {
		return false
	}
	for _, i := range m.first[text[0]] {
		if m.frames[i].fits(text) {
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
	words := m.starts[int(text[0])<<8|int(text[1])]
	for i := range words {
		if words[i].fits(text, s) {
			return true
		}
	}
	return false
}

// TrimIndent drops the blanks and tabs that a line begins with.
func TrimIndent(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	return text
}

package evidence

// StripEscapes removes ANSI sequences in place and returns what is left: CSI (colours, cursor), OSC
// (titles, links) with either terminator, and two-byte escapes.
// https://ecma-international.org/publications-and-standards/standards/ecma-48/
func StripEscapes(b []byte) []byte {
	out := b[:0]
	for i := 0; i < len(b); {
		if b[i] != 0x1b {
			out = append(out, b[i])
			i++
			continue
		}
		n := escapeLen(b[i:])
		if n > 2 && b[i+1] == '_' {
			out = append(out, b[i:i+n]...) // an application's own mark: a frame may read it
		}
		i += n
	}
	return out
}

// escapeLen returns the length of the escape sequence that b starts with.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 1
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
			if b[i] < 0x20 {
				return i
			}
		}
		return len(b)
	case ']', 'P', '_', '^', 'X':
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 {
				return i + 1
			}
			if b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\' {
				return i + 2
			}
		}
		return 2
	case '(', ')', '#', '%':
		return min(3, len(b))
	}
	return 2
}

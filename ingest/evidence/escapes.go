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

// StripClosed is StripEscapes for a line that may be a piece of one: a sequence
// that the end of the piece cuts is left, for its rest begins the next piece.
func StripClosed(b []byte) []byte {
	open := len(b)
	for i := len(b) - 1; i >= 0 && len(b)-i <= maxOpen; i-- {
		if b[i] == 0x1b {
			open = i
			break
		}
	}
	tail := b[open:]
	if len(tail) == 0 || len(tail) > 1 && (tail[1] != '[' || escapeEnds(tail[2:])) {
		return StripEscapes(b)
	}
	return append(StripEscapes(b[:open]), tail...)
}

// maxOpen is longer than the parameters of a colour.
const maxOpen = 32

func escapeEnds(parameters []byte) bool {
	for _, c := range parameters {
		if c < 0x20 || c > 0x3f {
			return true
		}
	}
	return false
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

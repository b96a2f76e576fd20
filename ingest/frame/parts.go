package frame

// maxPart bounds a line that is joined of pieces.
const maxPart = 1 << 20

// parts joins the pieces that a runtime cut long lines into, one buffer for
// each writer.
type parts map[string][]byte

// add keeps a piece that goes on; what is beyond the bound is dropped.
func (p *parts) add(key, piece []byte) {
	if *p == nil {
		*p = parts{}
	}
	have := (*p)[string(key)]
	room := max(maxPart-len(have), 0)
	(*p)[string(key)] = append(have, piece[:min(len(piece), room)]...)
}

// take returns the line that ends with the piece.
func (p *parts) take(key, piece []byte) []byte {
	have := (*p)[string(key)]
	if len(have) == 0 {
		return piece
	}
	whole := append(have, piece[:min(len(piece), max(maxPart-len(have), 0))]...)
	(*p)[string(key)] = whole[:0]
	return whole
}

// open reports whether some line lacks its end.
func (p *parts) open() bool {
	for _, have := range *p {
		if len(have) > 0 {
			return true
		}
	}
	return false
}

package reports

import (
	"fmt"
	"io"
	"runtime"

	"pulltrail/matchers"
)

// WriteAnswer writes the document of an answer, the bytes that WriteJSON makes
// of NewDocument. Findings are converted as they are written, on every core: of
// a hundred thousand only a few exist at a time.
func WriteAnswer(w io.Writer, r *matchers.Result) error {
	return writeAnswer(w, newDocument(r), r)
}

// writeAnswer writes a document with the findings of an answer in place of its
// own.
func writeAnswer(w io.Writer, d *Document, r *matchers.Result) error {
	written := 0
	doc := struct {
		Schema   string         `json:"schema"`
		AsOf     string         `json:"as_of,omitempty"`
		Incident Incident       `json:"incident"`
		Findings pieces         `json:"findings"`
		Coverage Coverage       `json:"coverage"`
		Counts   map[string]int `json:"counts"`
	}{d.Schema, d.AsOf, d.Incident, func(e *encoder, depth int) (err error) {
		written, err = e.findings(r, depth)
		return err
	}, d.Coverage, d.Counts}
	if err := WriteJSON(w, doc); err != nil {
		return err
	}
	if written != len(r.Findings) {
		return fmt.Errorf("report lost findings: %d in the answer, %d in the document", len(r.Findings), written)
	}
	return nil
}

// pieces is a value that writes itself.
type pieces func(e *encoder, depth int) error

// pieceSize is how many findings are converted at once.
const pieceSize = 256

// piece is some findings, converted and encoded.
type piece struct {
	b   []byte
	n   int
	err error
}

// findings writes the list of findings; n is how many it wrote.
func (e *encoder) findings(r *matchers.Result, depth int) (n int, err error) {
	workers := runtime.GOMAXPROCS(0)
	done := make(chan struct{})
	defer close(done)
	out, free := make([]chan piece, workers), make([]chan []byte, workers)
	for i := range workers { // each converts every so many-th piece
		out[i], free[i] = make(chan piece, 1), make(chan []byte, 2)
		go encodePieces(r, depth, i, workers, out[i], free[i], done)
	}
	for from := 0; from < len(r.Findings); from += pieceSize {
		i := from / pieceSize % workers
		p := <-out[i]
		if p.err != nil {
			return n, p.err
		}
		e.b = append(e.b, p.b...)
		select {
		case free[i] <- p.b[:0]:
		default: // the worker is through
		}
		n += p.n
		if err := e.flush(); err != nil {
			return n, err
		}
	}
	e.end(n == 0, '[', ']', depth)
	return n, nil
}

// encodePieces converts the pieces of one worker, until there is none left or
// nobody wants more.
func encodePieces(r *matchers.Result, depth, worker, workers int, out chan<- piece, free <-chan []byte, done <-chan struct{}) {
	convert := newConverter(r)
	for from := worker * pieceSize; from < len(r.Findings); from += workers * pieceSize {
		var e encoder
		select {
		case e.b = <-free:
		default:
		}
		var p piece
		for i := from; i < min(from+pieceSize, len(r.Findings)) && p.err == nil; i++ {
			f := convert(&r.Findings[i])
			e.line(i == 0, '[', depth)
			p.err = e.encode(&f, depth+1)
			p.n++
		}
		p.b = e.b
		select {
		case out <- p:
		case <-done:
			return
		}
	}
}

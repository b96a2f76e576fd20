package collect

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// errCase is wrapped by errors of the case, which no other attempt mends.
var errCase = errors.New("keep evidence")

// intake is an answer as it comes in.
type intake struct {
	r    io.Reader
	text *bytes.Buffer // not nil: it is JSON, or XML, and whole only if it is that
	xml  bool
	end  *zipEnd   // not nil: it is an archive
	ends *bothEnds // not nil: its ends are looked at
}

// copy copies the answer and tells whether all of it came: the length that the
// service announced (the HTTP client knows it), the end of the JSON text, the
// end of the archive.
func (in *intake) copy(to io.Writer) (sum string, n int64, err error) {
	h := sha256.New()
	buf := make([]byte, 32<<10)
	for {
		k, err := in.r.Read(buf)
		n += int64(k)
		h.Write(buf[:k])
		if in.text != nil {
			in.text.Write(buf[:k])
		}
		if in.end != nil {
			in.end.add(buf[:k])
		}
		if in.ends != nil {
			in.ends.add(buf[:k])
		}
		if _, err := to.Write(buf[:k]); err != nil {
			return "", n, fmt.Errorf("%w: %w", errCase, err)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", n, err
		}
	}
	switch {
	case in.text != nil && in.xml && !wholeXML(in.text.Bytes()):
		return "", n, errors.New("it is no whole XML")
	case in.text != nil && !in.xml && n > 0 && !json.Valid(in.text.Bytes()):
		return "", n, errors.New("it is no whole JSON")
	}
	if in.end != nil && !in.end.whole() {
		return "", n, errors.New("it does not end as an archive does")
	}
	return hex.EncodeToString(h.Sum(nil)), n, nil
}

// wholeXML reports whether a document ends where its first element does.
func wholeXML(text []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(text))
	for elements := 0; ; {
		t, err := d.Token()
		if err != nil {
			return errors.Is(err, io.EOF) && elements > 0
		}
		if _, ok := t.(xml.StartElement); ok {
			elements++
		}
	}
}

// bothEnds looks at the first and the last bytes of an answer.
type bothEnds struct {
	begins, ends string // what should stand there
	head, tail   []byte
}

// tailSize is how much of the end of an answer is held.
const tailSize = 4 << 10

func (b *bothEnds) add(p []byte) {
	if n := len(b.begins) - len(b.head); n > 0 {
		b.head = append(b.head, p[:min(n, len(p))]...)
	}
	b.tail = append(b.tail, p...)
	if n := len(b.tail) - tailSize; n > 0 {
		b.tail = append(b.tail[:0], b.tail[n:]...)
	}
}

// lacks says which end is not as it should be, "" for none.
func (b *bothEnds) lacks() string {
	switch {
	case string(b.head) != b.begins:
		return fmt.Sprintf("it does not begin with %q", b.begins)
	case !strings.Contains(string(b.tail), b.ends):
		return fmt.Sprintf("%q is not near its end", b.ends)
	}
	return ""
}

// zipEnd looks at the end of a zip file.
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT 4.3.16
type zipEnd struct {
	tail []byte
	n    int64
}

// endSize is the size of the end record without its comment.
const endSize = 22

func (z *zipEnd) add(p []byte) {
	z.n += int64(len(p))
	z.tail = append(z.tail, p...)
	if most := endSize + 1<<16; len(z.tail) > 2*most {
		z.tail = append(z.tail[:0], z.tail[len(z.tail)-most:]...)
	}
}

// whole reports whether the file ends with an end record, and the directory
// that it names stands right before.
func (z *zipEnd) whole() bool {
	i := bytes.LastIndex(z.tail, []byte("PK\x05\x06"))
	if i < 0 || len(z.tail)-i < endSize {
		return false
	}
	end := z.tail[i:]
	if len(end) != endSize+int(binary.LittleEndian.Uint16(end[20:])) {
		return false
	}
	size, at := binary.LittleEndian.Uint32(end[12:]), binary.LittleEndian.Uint32(end[16:])
	if size == 0xffffffff || at == 0xffffffff {
		return true // the real numbers stand in a record of 64 bits
	}
	return int64(size)+int64(at) == z.n-int64(len(end))
}

// members lists the files at the top of the archive; nil where its directory is
// too long for the tail that is held.
func (z *zipEnd) members() (names []string) {
	r, err := zip.NewReader(z, z.n)
	if err != nil {
		return nil
	}
	for _, f := range r.File {
		if !strings.Contains(f.Name, "/") {
			names = append(names, f.Name)
		}
	}
	return names
}

// ReadAt reads from the tail.
func (z *zipEnd) ReadAt(p []byte, off int64) (int, error) {
	at := off - (z.n - int64(len(z.tail)))
	if at < 0 || at > int64(len(z.tail)) {
		return 0, errors.New("it is not held any more")
	}
	n := copy(p, z.tail[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// watch calls a request off when it brings nothing for a while.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

var errIdle = fmt.Errorf("nothing came for %s", idle)

func newWatch(ctx context.Context) *watch {
	w := &watch{}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(idle, func() { w.cancel(errIdle) })
	return w
}

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// why is an error in words; addresses do not stand in it.
func (w *watch) why(err error) string {
	if errors.Is(context.Cause(w.ctx), errIdle) {
		return errIdle.Error()
	}
	return printable(err.Error())
}

// reader starts the time anew with everything that comes.
func (w *watch) reader(r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		if n > 0 {
			w.timer.Reset(idle)
		}
		return n, err
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

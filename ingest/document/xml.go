package document

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"pulltrail/ingest/evidence"
)

// xmlElement is an element of an XML document, when its end was read.
type xmlElement struct {
	name   string
	attrs  []xml.Attr
	parent *xmlElement // nil for the root
	within map[string]string
	text   []byte // between its tags; of what is long the beginning
	off    int    // where it starts
}

// maxXMLText bounds the text of an element that is kept: a version is short.
const maxXMLText = 256

// attr returns an attribute, else the text of a child of the same name; case
// does not count, as in MSBuild.
func (e *xmlElement) attr(name string) string {
	for _, a := range e.attrs {
		if strings.EqualFold(a.Name.Local, name) {
			return strings.TrimSpace(a.Value)
		}
	}
	return e.within[strings.ToLower(name)]
}

// is reports whether the element has a name, without regard to case.
func (e *xmlElement) is(name string) bool { return e != nil && strings.EqualFold(e.name, name) }

// eachXML gives every element of a document to f, those inside another before
// it. No tree is built, and entities are never expanded.
func eachXML(d *evidence.Doc, f func(e *xmlElement)) error {
	dec := xml.NewDecoder(bytes.NewReader(d.Data))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
	var open *xmlElement
	for {
		off := int(dec.InputOffset())
		t, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("broken XML after line %d", d.LineAt(int64(off))) // what the decoder says quotes the document
		}
		switch t := t.(type) {
		case xml.StartElement:
			open = &xmlElement{name: t.Name.Local, attrs: t.Copy().Attr, parent: open, off: off}
		case xml.CharData:
			if open != nil {
				open.text = append(open.text, t[:min(len(t), maxXMLText-len(open.text))]...)
			}
		case xml.EndElement:
			e := open // the decoder has seen to it that there is one
			open = e.parent
			if text := strings.TrimSpace(string(e.text)); open != nil && text != "" {
				if open.within == nil {
					open.within = map[string]string{}
				}
				open.within[strings.ToLower(e.name)] = text
			}
			f(e)
		}
	}
}

// xmlRoot is the name of the first element of a document, "" when its head is
// no XML.
func xmlRoot(h *evidence.Head) string {
	if start := bytes.TrimLeft(bytes.TrimPrefix(h.Bytes[:min(len(h.Bytes), 64)], []byte("\xef\xbb\xbf")), " \t\r\n"); len(start) == 0 || start[0] != '<' {
		return ""
	}
	dec := xml.NewDecoder(bytes.NewReader(h.Bytes))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for range maxXMLProlog {
		t, err := dec.Token()
		if err != nil {
			return ""
		}
		if s, ok := t.(xml.StartElement); ok {
			return s.Name.Local
		}
	}
	return ""
}

// maxXMLProlog bounds what may stand before the first element: declarations and
// comments.
const maxXMLProlog = 16

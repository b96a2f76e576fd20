package tool

import (
	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// maxFiles and maxParts bound what is remembered of one log; beyond them
// everything is settled with what is known.
const (
	maxFiles = 4096
	maxParts = 16384
)

// files joins the requests for package files. How large a file is becomes
// known only from a whole transfer, which may come later than a part of it.
type files struct {
	byPath map[string]*file
	order  []*file
	parts  int
}

// file is one path.
type file struct {
	item   timeline.Item
	size   int64 // of the largest answer with status 200
	parts  map[string]*part
	client []string // keys of parts in order
}

// transfer is a line that waits for its meaning.
type transfer struct {
	mark    evidence.Mark
	subject timeline.Subject
	span    timeline.Span
}

// part is what one client got of a file in pieces.
type part struct {
	sum, largest int64
	last         transfer
}

// request reads the request for a path of a package index.
func (f *files) request(r *request, path string, o *evidence.Out) {
	item, kind := packagePath(path)
	if ok := kind != noPath; !ok && r.asksNPM() {
		if item, ok = npmClient(path); ok {
			kind = indexPage
		}
	}
	if kind == noPath {
		return
	}
	who := r.subject(o)
	event := timeline.Event{Subject: who, Span: r.span, Items: []timeline.Item{item}}
	get, head := string(r.method) == "GET", string(r.method) == "HEAD"
	switch {
	case head && (r.status == 200 || r.status == 304), get && r.status == 304, get && r.status == 200 && r.size == 0:
		event.Action = timeline.Check
	case get && r.status == 200 && kind != wholeFile, get && r.status == 206:
		event.Action = timeline.Resolve
	case get && kind == wholeFile && (r.redirects() || r.status == 499 || r.status == 460):
		// The store that it is sent to has its own log; of a client that broke
		// off (499 of nginx, 460 of AWS) nothing says what it had by then.
		event.Action = timeline.Resolve
	case get && r.status == 200:
		// A connection that broke leaves the same line with fewer bytes, and so
		// does a file that was replaced: what came is taken for the file.
		event.Action = timeline.Download
		if r.size > 0 {
			x := f.file(path, item, o)
			x.size = max(x.size, r.size)
		}
	default:
		return
	}
	o.Event(event)
	if via := r.forwarded; via != nil && string(via) != who.ID {
		// Who asked, as the proxy before this one says: a header that anybody can write.
		asked := event
		if asked.Subject.ID = string(via); event.Action == timeline.Download {
			asked.Action = timeline.Resolve
		}
		asked.Subject.Kind = timeline.Client
		o.Event(asked)
	}
	if event.Action == timeline.Resolve && kind == wholeFile && r.size > 0 {
		f.part(f.file(path, item, o), r.size, transfer{o.Mark(), who, r.span})
	}
}

func (f *files) file(path string, item timeline.Item, o *evidence.Out) *file {
	x := f.byPath[path]
	if x != nil {
		return x
	}
	if len(f.order) >= maxFiles || f.parts >= maxParts {
		f.settle(o)
	}
	if f.byPath == nil { // at first, and once more after everything was settled
		f.byPath = map[string]*file{}
	}
	x = &file{item: item}
	f.byPath[path] = x
	f.order = append(f.order, x)
	return x
}

func (f *files) part(x *file, size int64, t transfer) {
	p := x.parts[t.subject.ID]
	if p == nil {
		if x.parts == nil {
			x.parts = map[string]*part{}
		}
		p = &part{}
		x.parts[t.subject.ID] = p
		x.client = append(x.client, t.subject.ID)
		f.parts++
	}
	p.sum += size
	p.largest = max(p.largest, size)
	if p.last.subject.IsZero() || t.span.From >= p.last.span.From {
		p.last = t
	}
}

// settle makes events of what waited: parts that add up to the file are a
// download that was resumed or split.
func (f *files) settle(o *evidence.Out) {
	for _, x := range f.order {
		for _, c := range x.client {
			if p := x.parts[c]; x.size > 0 && (p.sum == x.size || p.largest == x.size) {
				p.last.emit(timeline.Download, x.item, o)
			}
		}
	}
	f.byPath, f.order, f.parts = nil, nil, 0
}

func (t *transfer) emit(a timeline.Action, item timeline.Item, o *evidence.Out) {
	o.At(t.mark, timeline.Event{Action: a, Subject: t.subject, Span: t.span, Items: []timeline.Item{item}})
}

package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"pulltrail/matchers"
	"pulltrail/timeline"
)

// The fleet of a company for a month, straight into a case: what months of
// evidence come to, without the hours of reading it. Of its subjects one in five
// is a host, three are CI jobs, the rest images and clients of a package mirror.
// Most of it is of no interest to the question, some of it nearly is (other
// versions of the listed packages, quiet installs, moving tags), and a few dozen
// exposures are planted.

// month is when the fleet's evidence begins; it lasts for days.
var month = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)

const (
	days     = 31
	projects = 600
)

// fleet writes the timeline.
type fleet struct {
	*rand.Rand
	db      *timeline.DB
	out     *timeline.SourceWriter
	batch   timeline.Batch
	path    string
	line    int64
	total   int64 // events of the source
	sources int
	number  int64 // operations of the source

	pypi, npm []string
	sets      [][]timeline.Item // what a project installs
	singles   []timeline.Item   // the same, one by one
	listed    []timeline.Item   // good versions of packages that the worm's incident lists
	worm      []timeline.Item   // and bad ones

	truth map[string]map[string]string // incident → subject → verdict at least
}

// share of subjects and of events that each kind has, in hundredths.
var shares = []struct {
	subjects, events, group int // group: subjects of one source
	write                   func(f *fleet, from, to, events int) error
}{
	{20, 30, 100, (*fleet).hosts},
	{60, 32, 60, (*fleet).jobs},
	{10, 2, 20, (*fleet).images},
	{10, 36, 0, (*fleet).clients},
}

// Names of the incidents that are asked.
const (
	release = "litellm-1.107.0"
	worm    = "shai-hulud-2-2025-11"
)

// writeFleet writes a case with so many subjects and events, and returns what
// a match must find: by incident the verdicts of the subjects that are exposed.
func writeFleet(dir string, subjects, events int) (map[string]map[string]string, error) {
	db, err := timeline.Create(dir)
	if err != nil {
		return nil, err
	}
	f := &fleet{Rand: rand.New(rand.NewPCG(7, 7)), db: db, truth: map[string]map[string]string{release: {}, worm: {}}}
	if err := f.names(); err != nil {
		return nil, err
	}
	if err := f.inventory(subjects * shares[0].subjects / 100); err != nil {
		return nil, err
	}
	for _, s := range shares {
		n, e := subjects*s.subjects/100, events*s.events/100
		group := s.group
		if group == 0 { // every file names many
			group = n
		}
		for from := 0; from < n; from += group {
			to := min(from+group, n)
			if err := s.write(f, from, to, e/n); err != nil {
				return nil, err
			}
		}
	}
	return f.truth, db.Close()
}

// names makes what can be installed.
func (f *fleet) names() error {
	inc, err := matchers.Find(worm)
	if err != nil {
		return err
	}
	for i := range 2500 {
		f.pypi = append(f.pypi, fmt.Sprintf("pkg:pypi/package-%d", i))
	}
	for i := range 5000 {
		f.npm = append(f.npm, fmt.Sprintf("pkg:npm/%%40scope-%d/module-%d", i%90, i))
	}
	for i := range inc.Packages {
		p := &inc.Packages[i]
		f.listed = append(f.listed, timeline.Item{Artifact: p.PURL + "@0.0.1"})
		for _, v := range p.Versions {
			f.worm = append(f.worm, timeline.Item{Artifact: p.PURL + "@" + v})
		}
	}
	for p := range projects {
		for range 4 {
			names := f.pypi
			if p%3 == 0 {
				names = f.npm
			}
			var set []timeline.Item
			for range 20 + f.IntN(100) {
				n := f.IntN(len(names))
				set = append(set, timeline.Item{Artifact: fmt.Sprintf("%s@%d.%d.%d", names[n], 1+n%7, n%31, f.IntN(6))})
			}
			switch {
			case p%25 == 1: // a project in 25 uses it
				set = append(set, timeline.Item{Artifact: "pkg:pypi/litellm@1.106.2"})
			case p%9 == 0: // and one in nine something that the worm has been in
				set = append(set, f.listed[f.IntN(len(f.listed))])
			}
			f.sets = append(f.sets, set)
			f.singles = append(f.singles, set...)
		}
	}
	return nil
}

// inventory maps some addresses of the mirror's log to hosts.
func (f *fleet) inventory(hosts int) error {
	var rows []timeline.InventoryRow
	for i := 0; i < hosts; i += 10 {
		rows = append(rows, timeline.InventoryRow{
			Address: address(i), Host: hostName(i), Span: timeline.Always(), Service: "gateway",
			Owner: "platform", Egress: "yes", File: "hosts.csv", Line: int64(i/10 + 2),
		})
	}
	return f.db.SetInventory(rows, []timeline.Mirror{{Prefix: "mirror.acme.example/hub", Upstream: "docker.io", File: "hosts.csv", Line: 1}},
		timeline.SourceInfo{SHA256: fmt.Sprintf("%064x", 1), Path: "hosts.csv", Parser: "bench"})
}

func hostName(i int) string { return fmt.Sprintf("node-%06d", i) }
func address(i int) string  { return fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255) }
func jobName(i int) string {
	return fmt.Sprintf("github:acme/service-%d/runs/%d/attempts/1/jobs/build", i%projects, 700_000+i)
}
func imageDigest(i int) string { return fmt.Sprintf("sha256:%064x", 0xd00d_0000+i) }
func layerDigest(i int) string { return fmt.Sprintf("sha256:%064x", 0x1a1e_0000+i) }

// during is an instant of the month, the part-th of so many.
func during(part, of int) time.Time {
	return month.Add(time.Duration(part) * (days * 24 * time.Hour / time.Duration(of)))
}

// source begins a source; done ends it.
func (f *fleet) source(path string) (err error) {
	f.path, f.line, f.total, f.number = path, 0, 0, 0
	f.sources++
	f.out, err = f.db.Begin()
	return err
}

func (f *fleet) flush() error {
	err := f.out.Write(&f.batch)
	b := &f.batch
	*b = timeline.Batch{Events: b.Events[:0], Links: b.Links[:0], Coverage: b.Coverage[:0], Expected: b.Expected[:0], Ops: b.Ops[:0]}
	return err
}

func (f *fleet) done(format string) error {
	if err := f.flush(); err != nil {
		return err
	}
	_, err := f.out.Finish(timeline.SourceInfo{
		SHA256: fmt.Sprintf("%064x", 0xbe9c_0000+f.sources), Path: f.path, Format: format, State: timeline.Read, Bytes: f.line * 110,
		Events: f.total, First: month.UnixNano(), Last: month.AddDate(0, 0, days).UnixNano(), Parser: "bench", ReadAt: month.UnixNano(),
	})
	return err
}

// event adds an event; when the batch is full it is written.
func (f *fleet) event(who timeline.Subject, a timeline.Action, at time.Time, op int64, text string, items ...timeline.Item) error {
	f.line += 1 + int64(f.IntN(9))
	f.total++
	f.batch.Events = append(f.batch.Events, timeline.Event{
		Action: a, Subject: who, Items: items, Op: op, Span: timeline.At(at, at.Format("2006-01-02T15:04:05.000Z")),
		Origin: timeline.Origin{Path: f.path, Line: f.line, Offset: f.line * 110, Text: text},
	})
	if len(f.batch.Events) < 4000 {
		return nil
	}
	return f.flush()
}

func (f *fleet) covers(who timeline.Subject, topic timeline.Topic, from, to time.Time, whole bool, why string) {
	f.batch.Coverage = append(f.batch.Coverage, timeline.Coverage{
		Subject: who, Topic: topic, Span: timeline.Span{From: from.UnixNano(), To: to.UnixNano(), Clock: timeline.Exact}, Whole: whole, Why: why,
	})
}

func (f *fleet) link(r timeline.Relation, from, to string, at time.Time) {
	f.batch.Links = append(f.batch.Links, timeline.Link{
		Relation: r, From: from, To: to, Span: timeline.At(at, ""), Origin: timeline.Origin{Path: f.path, Line: f.line},
	})
}

// expose plants an exposure.
func (f *fleet) expose(incident string, who timeline.Subject, verdict string) {
	f.truth[incident][who.String()] = verdict
}

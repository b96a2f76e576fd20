package main

import (
	"fmt"
	"strings"
	"time"

	"pulltrail/timeline"
)

// window is inside the incident's.
var window = time.Date(2026, 10, 21, 12, 0, 0, 0, time.UTC)

// hosts writes the journals of some hosts: image pulls, packages, what they
// spoke to, and now and then an install that says nothing.
func (f *fleet) hosts(from, to, events int) error {
	if err := f.source(fmt.Sprintf("hosts/journal-%03d.log", from/100)); err != nil {
		return err
	}
	for h := from; h < to; h++ {
		who := timeline.Subject{Kind: timeline.Host, ID: hostName(h)}
		for i := range events {
			if err := f.hostEvent(who, h, i, during(i, events)); err != nil {
				return err
			}
		}
		end := month.AddDate(0, 0, days)
		if h%12 == 5 {
			end = window // a log that stops in the middle
		}
		f.covers(who, timeline.Images, month, end, false, "the journal of the container runtime")
		f.covers(who, timeline.PyPI, month, end, false, "the log of the package manager")
		if h%2 == 0 {
			f.covers(who, timeline.NPM, month, month.AddDate(0, 0, days), false, "the log of the package manager")
		}
	}
	return f.done("journal")
}

func (f *fleet) hostEvent(who timeline.Subject, h, i int, at time.Time) error {
	n := f.IntN(100)
	switch {
	case h%2000 == 7 && i == 1: // planted: the image of the release
		f.expose(release, who, "pulled")
		return f.event(who, timeline.Pull, window, 0, "image pulled", image("ghcr.io/berriai/litellm:v1.107.0", 900_000+h))
	case h%2000 == 9 && i == 1: // planted: a derived image that a job built
		f.expose(release, who, "exposed")
		return f.event(who, timeline.Run, window.Add(50*time.Hour), 0, "started container", image("registry.acme.example/service-1", 700_000))
	case n < 35:
		k := f.IntN(1 << 9)
		return f.event(who, timeline.Pull, at, 0, `level=info msg="image pulled" name="registry.acme.example/team/app"`,
			image(fmt.Sprintf("registry.acme.example/team-%d/app:%d", k%20, k), k))
	case n < 55:
		k := f.IntN(1 << 9)
		return f.event(who, timeline.Run, at, 0, "Started container app", image(fmt.Sprintf("registry.acme.example/team-%d/app:%d", k%20, k), k))
	case n < 75:
		k := f.IntN(400)
		return f.event(who, timeline.Contact, at, 0, "", timeline.Item{Artifact: fmt.Sprintf("domain:api-%d.acme.example", k)},
			timeline.Item{Artifact: fmt.Sprintf("ip:192.0.2.%d", k%250)})
	case n < 93:
		it := f.singles[f.IntN(len(f.singles))]
		return f.event(who, timeline.Install, at, 0, "Successfully installed "+base(it), it)
	case n < 96:
		return f.event(who, timeline.Hold, at, 0, "", timeline.Item{Artifact: fmt.Sprintf("secret:SERVICE_TOKEN_%d", h%40)})
	case n < 98:
		return f.event(who, timeline.Opaque, at, 0, "pip install -q -r requirements.txt", timeline.Item{Artifact: "pkg:pypi/"})
	}
	return f.event(who, timeline.Opaque, at, 0, "npm ci --silent", timeline.Item{Artifact: "pkg:npm/"})
}

// base is a package as its tools print it.
func base(it timeline.Item) string {
	return it.Artifact[strings.LastIndexByte(it.Artifact, '/')+1:]
}

func image(name string, digest int) timeline.Item {
	return timeline.Item{Artifact: name + "@" + imageDigest(digest), Digests: []timeline.Digest{{Value: imageDigest(digest), Role: timeline.Manifest}}}
}

// jobs writes the logs of some jobs, each whole, with the record of the API.
func (f *fleet) jobs(from, to, events int) error {
	if err := f.source(fmt.Sprintf("ci/export-%04d.log", from/60)); err != nil {
		return err
	}
	for j := from; j < to; j++ {
		who := timeline.Subject{Kind: timeline.Job, ID: jobName(j)}
		start := during(j*7919%60_000, 60_000)
		if j%2500 == 11 {
			start = window
		}
		if err := f.job(who, j, events, start); err != nil {
			return err
		}
		end := start.Add(time.Duration(events) * time.Second)
		life := timeline.Span{From: start.UnixNano(), To: end.UnixNano(), Clock: timeline.Exact}
		f.covers(who, timeline.Everything, start, end, j%40 != 3, "the whole log was read, from start to end mark")
		f.batch.Expected = append(f.batch.Expected, timeline.Expected{
			Subject: who, Span: life, Detail: fmt.Sprintf("job %d", 10_000_000+j), Origin: timeline.Origin{Path: f.path, Line: f.line},
		})
	}
	return f.done("github-job")
}

func (f *fleet) job(who timeline.Subject, j, events int, at time.Time) error {
	set := f.sets[(j%projects)*4+f.IntN(4)]
	tool := int64(2*(j%60) + 1)
	step := func() time.Time { at = at.Add(time.Second); return at }
	f.batch.Ops = append(f.batch.Ops, timeline.Op{Number: tool, Tool: "pip", Command: "pip install -r requirements.txt", State: timeline.OpDone})
	err := f.event(who, timeline.Run, step(), 0, "Download action repository 'actions/checkout@v4'",
		timeline.Item{Artifact: "pkg:github/actions/checkout@34e114876b0b11c390a56381ad16ebd13914f8d5", Ref: "v4"})
	for i := 0; i < events-5 && err == nil; i++ {
		it := set[i%len(set)]
		a := timeline.Action(2 + 3*(i/len(set)%2)) // resolve, then download
		err = f.event(who, a, step(), tool, "  Downloading "+base(it)+"-py3-none-any.whl (48.1 kB)", it)
	}
	if err == nil {
		err = f.event(who, timeline.Install, step(), tool, "Successfully installed 60 packages", set...)
	}
	if j%3 == 0 && err == nil {
		f.batch.Ops = append(f.batch.Ops, timeline.Op{Number: tool + 1, Tool: "npm", Command: "npm ci", State: timeline.OpDone})
		err = f.event(who, timeline.Opaque, step(), tool+1, "npm ci", timeline.Item{Artifact: "pkg:npm/"})
	}
	if j%10 == 0 {
		f.link(timeline.On, who.String(), timeline.Subject{Kind: timeline.Host, ID: hostName(j % 997)}.String(), at)
	}
	if err == nil && j%8 == 1 {
		err = f.event(who, timeline.Push, step(), 0, "pushed", image(fmt.Sprintf("registry.acme.example/service-%d", j%projects), 1_000_000+j))
	}
	if err == nil && j%2500 == 11 {
		err = f.plant(who, j, at)
	}
	return err
}

// plant exposes a job, of each three one to the worm.
func (f *fleet) plant(who timeline.Subject, j int, at time.Time) error {
	if j/2500%3 == 1 {
		it := f.worm[j%len(f.worm)]
		f.expose(worm, who, "exposed")
		return f.event(who, timeline.Install, at, 0, "added 1 package", it)
	}
	f.expose(release, who, "exposed")
	if err := f.event(who, timeline.Install, at, 0, "Successfully installed litellm-1.107.0", timeline.Item{Artifact: "pkg:pypi/litellm@1.107.0"}); err != nil || j != 11 {
		return err
	}
	f.expose(release, timeline.Subject{Kind: timeline.Image, ID: imageDigest(700_000)}, "exposed")
	return f.event(who, timeline.Push, at.Add(time.Minute), 0, "pushed", image("registry.acme.example/service-1", 700_000))
}

// images writes what images hold.
func (f *fleet) images(from, to, events int) error {
	if err := f.source(fmt.Sprintf("sbom/images-%03d.json", from/20)); err != nil {
		return err
	}
	for i := from; i < to; i++ {
		who := timeline.Subject{Kind: timeline.Image, ID: imageDigest(i)}
		base := i % 300
		for k := range max(1, events) {
			it := f.sets[(base*8+k/4)%len(f.sets)]
			if err := f.event(who, timeline.Present, during(i, 20_000), 0, "", it...); err != nil {
				return err
			}
		}
		if i%3000 == 2999 {
			f.expose(release, who, "exposed")
			if err := f.event(who, timeline.Present, during(i, 20_000), 0, "litellm-1.107.0.dist-info", timeline.Item{Artifact: "pkg:pypi/litellm@1.107.0"}); err != nil {
				return err
			}
		}
		for l := range 6 {
			f.link(timeline.Holds, imageDigest(i), layerDigest(base*8+l), month)
		}
		f.link(timeline.Holds, imageDigest(i), layerDigest(1_000_000+i), month)
		f.covers(who, timeline.PyPI, month, month, true, "the list of packages is whole")
		f.covers(who, timeline.NPM, month, month, true, "the list of packages is whole")
	}
	return f.done("sbom")
}

// clients writes the access logs of a mirror, a file a day and node.
func (f *fleet) clients(from, to, events int) error {
	const files = days * 2
	for d := range files {
		if err := f.source(fmt.Sprintf("mirror/access-%02d.log", d)); err != nil {
			return err
		}
		n := events * (to - from) / files
		for i := range n {
			c := f.IntN(to - from)
			at := during(d*n+i, files*n)
			it := f.singles[f.IntN(len(f.singles))]
			who := timeline.Subject{Kind: timeline.Client, ID: address(c)}
			if i%20 == 0 { // one in five of the addresses has a host
				who.ID = address(c / 10 * 10)
			}
			if d == 30 && i%5000 == 77 { // planted
				it.Artifact = "pkg:pypi/litellm@1.107.0"
				if c%10 == 0 {
					f.expose(release, timeline.Subject{Kind: timeline.Host, ID: hostName(c)}, "pulled")
				} else {
					f.expose(release, who, "pulled")
				}
			}
			if err := f.event(who, timeline.Download, at, 0, who.ID+` "GET /packages/5c/0a/`+base(it)+`.whl HTTP/1.1" 200`, it); err != nil {
				return err
			}
		}
		if err := f.done("access-log"); err != nil {
			return err
		}
	}
	return nil
}

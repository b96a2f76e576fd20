package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Apt is the output of apt and apt-get, and of dpkg below them.
// https://manpages.debian.org/bookworm/apt/apt-get.8.en.html
var Apt = evidence.Format{
	Name:   "apt",
	Shape:  evidence.ToolShape,
	Title:  "apt, apt-get and dpkg output",
	Proves: "packages fetched, unpacked, set up, removed and already there, with versions",
	Cannot: "what apt-get -qq >/dev/null did; the repository of a package that came from apt's cache",
	Doc:    "https://manpages.debian.org/bookworm/apt/apt-get.8.en.html",
	Sample: "apt 2.6 run for this project",
	Starts: aptStarts(
		"Get:", "Unpacking ", "Setting up ", "Removing ", "Selecting previously ", "Preparing to unpack ", "Reading package lists", "Building dependency tree",
		"Reading state information", "The following ", "E: ", "Inst ", "dpkg: ",
	),
	Tool: func() evidence.Parser { return &apt{} },
}

type apt struct {
	op       *evidence.Op
	distro   string // that the repositories name
	unpacked map[string]evidence.Mark
	order    []string
	setUp    bool
	failed   bool
	listens  bool
}

// Line reads one line.
func (a *apt) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	text, foreign := aptEnglish(string(bytes.TrimSpace(l.Text)))
	if foreign && !a.listens {
		o.Listen()
		a.listens = true
	}
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case strings.HasPrefix(word, "Get:"):
		return a.get(rest, o)
	case word == "Unpacking":
		return a.unpacking(rest, o)
	case word == "Setting":
		return a.settingUp(strings.TrimPrefix(rest, "up "), o)
	case word == "Inst":
		return a.simulated(rest, o)
	case word == "Removing":
		return a.removing(rest, o)
	case word == "Selecting", word == "Preparing":
		if a.op == nil {
			return evidence.Miss
		}
		return evidence.Done
	case word == "Reading", word == "Building":
		// What is there already is said next, its name first.
		o.Listen()
		a.listens = true
		return evidence.Done
	case word == "The":
		if rest == "following NEW packages will be installed:" || rest == "following packages will be upgraded:" || rest == "following additional packages will be installed:" {
			a.begin(o)
			return evidence.Done
		}
		return evidence.Miss
	case word == "dpkg:":
		return a.broke(rest, o)
	case word == "E:":
		a.failed = a.op != nil
		return evidence.Miss
	}
	return a.noted(text, o)
}

func (a *apt) begin(o *evidence.Out) *evidence.Op {
	if a.op != nil && o.Overtaken(a.op) {
		a.finish(timeline.OpOpen, o)
	}
	if a.op == nil {
		a.op = o.Invocation("apt")
	}
	o.Seen("deb")
	return a.op
}

// get reads a file that came over; lists of packages have no version:
//
//	Get:5 http://deb.debian.tld/debian buster/main amd64 libbinutils amd64 2.31.1-16 [506 kB]
//	Get:1 http://archive.ubuntu.tld/ubuntu/ trusty-updates/main curl amd64 7.35.0-1ubuntu2.20 [123 kB]
//	Get:2 http://deb.debian.tld/debian buster-updates InRelease [49.3 kB]
func (a *apt) get(rest string, o *evidence.Out) evidence.Result {
	rest, size, ok := strings.Cut(rest, " [")
	w := strings.Fields(rest)
	if !ok || len(w) < 3 || !strings.HasSuffix(size, "B]") {
		return evidence.Miss
	}
	distro := distribution(w[0])
	if len(w) < 5 || len(w) > 6 {
		if a.op == nil {
			a.distro = distro
		}
		return evidence.Done
	}
	name, arch, version := w[len(w)-3], w[len(w)-2], w[len(w)-1]
	if !evidence.IsDebVersion(version) || !evidence.IsDebName(name) {
		return evidence.Miss
	}
	op := a.begin(o)
	if distro != "" {
		a.distro = distro
	}
	o.Emit(timeline.Download, op, debItem(distro, name, arch, version))
	return evidence.Done
}

// distribution reads the path of a repository: /debian, /debian-security,
// /ubuntu.
func distribution(address string) string {
	for part := range strings.SplitSeq(address, "/") {
		switch part {
		case "debian", "debian-security":
			return "debian"
		case "ubuntu":
			return "ubuntu"
		}
	}
	return ""
}

func debItem(distro, name, arch, version string) timeline.Item {
	return evidence.SystemItem("deb", distro, name, arch, version)
}

// debRow splits "libbinutils:amd64 (2.31.1-16) ..." and "curl (2.0) over (1.0) ...".
func debRow(rest string) (name, arch, version, old string, ok bool) {
	word, rest, _ := strings.Cut(rest, " (")
	version, rest, closed := strings.Cut(rest, ")")
	name, arch, _ = strings.Cut(word, ":")
	if over, is := strings.CutPrefix(rest, " over ("); is {
		old, rest, closed = strings.Cut(over, ")")
	}
	ok = closed && evidence.IsDebName(name) && evidence.IsDebVersion(version) && strings.TrimSpace(rest) == "..."
	return name, arch, version, old, ok
}

// unpacking reads what is put in place: the files are there, its scripts run
// when it is set up.
//
//	Unpacking libbinutils:amd64 (2.31.1-16) ...
//	Unpacking curl (7.88.1-10+deb12u5) over (7.88.1-10+deb12u4) ...
func (a *apt) unpacking(rest string, o *evidence.Out) evidence.Result {
	name, arch, version, old, ok := debRow(rest)
	if !ok {
		return evidence.Miss
	}
	op := a.begin(o)
	if old != "" && old != version {
		o.Emit(timeline.Remove, op, debItem(a.distro, name, arch, old))
	}
	key := debItem(a.distro, name, arch, version).Artifact
	if _, is := a.unpacked[key]; !is && len(a.order) < maxNPMNames {
		if a.unpacked == nil {
			a.unpacked = map[string]evidence.Mark{}
		}
		a.unpacked[key] = o.Mark()
		a.order = append(a.order, key)
	}
	return evidence.Done
}

// broke reads that what was being unpacked could not be, in any language. It had
// come over, and nothing says that it is in place.
//
//	dpkg: error processing archive /var/cache/apt/archives/curl_7.88.1-10_amd64.deb (--unpack):
func (a *apt) broke(rest string, o *evidence.Out) evidence.Result {
	file, _, ok := strings.Cut(rest, ".deb")
	if !ok || a.op == nil || !strings.Contains(rest, "(--unpack)") || len(a.order) == 0 {
		return evidence.Miss
	}
	name, _, _ := strings.Cut(file[strings.LastIndexByte(file, '/')+1:], "_")
	last := a.order[len(a.order)-1]
	mark, open := a.unpacked[last]
	if it, _, _ := strings.Cut(last, "@"); !open || it[strings.LastIndexByte(it, '/')+1:] != name {
		return evidence.Miss
	}
	delete(a.unpacked, last)
	o.At(mark, timeline.Event{Action: timeline.Resolve, Op: a.op.Number, Items: []timeline.Item{{Artifact: last}}})
	return evidence.Done
}

// settingUp reads "Setting up libbinutils:amd64 (2.31.1-16) ...".
func (a *apt) settingUp(rest string, o *evidence.Out) evidence.Result {
	name, arch, version, _, ok := debRow(rest)
	if !ok {
		return evidence.Miss
	}
	op := a.begin(o)
	it := debItem(a.distro, name, arch, version)
	delete(a.unpacked, it.Artifact)
	a.setUp = true
	o.Emit(timeline.Install, op, it)
	return evidence.Done
}

// removing reads "Removing curl (7.88.1-10) ...".
func (a *apt) removing(rest string, o *evidence.Out) evidence.Result {
	name, arch, version, _, ok := debRow(rest)
	if !ok {
		return evidence.Miss
	}
	o.Emit(timeline.Remove, a.begin(o), debItem(a.distro, name, arch, version))
	return evidence.Done
}

// simulated reads a row of apt-get --simulate, which also unattended-upgrade
// prints:
//
//	Inst openssl [3.0.11-1] (3.0.13-1 Debian:12.5/stable [amd64])
//	Inst libjq1 (1.6-2.1 Debian:12.5/stable [amd64])
func (a *apt) simulated(rest string, o *evidence.Out) evidence.Result {
	name, what, _ := strings.Cut(rest, " (")
	name, _, _ = strings.Cut(name, " [")
	version, from, ok := strings.Cut(what, " ")
	_, arch, _ := strings.Cut(from, "[")
	arch, _, closed := strings.Cut(arch, "]")
	if name, _, _ = strings.Cut(name, ":"); !ok || !closed || !evidence.IsDebName(name) || !evidence.IsDebVersion(version) {
		return evidence.Miss
	}
	distro := strings.ToLower(strings.SplitN(from, ":", 2)[0])
	if distro != "debian" && distro != "ubuntu" {
		distro = a.distro
	}
	o.Seen("deb")
	o.Emit(timeline.Resolve, nil, debItem(distro, name, arch, version))
	return evidence.Done
}

// noted reads what apt says before it does anything:
//
//	curl is already the newest version (7.88.1-10+deb12u5).
//	0 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.
func (a *apt) noted(text string, o *evidence.Out) evidence.Result {
	if name, rest, ok := strings.Cut(text, " is already the newest version ("); ok {
		version, _, closed := strings.Cut(rest, ")")
		name, arch, _ := strings.Cut(name, ":")
		if !closed || !evidence.IsDebName(name) || !evidence.IsDebVersion(version) {
			return evidence.Miss
		}
		op := a.begin(o)
		it := debItem(a.distro, name, arch, version)
		o.Emit(timeline.Check, op, it)
		o.Emit(timeline.Present, op, it)
		return evidence.Done
	}
	if strings.Contains(text, " upgraded, ") && strings.Contains(text, " newly installed, ") && strings.Contains(text, " to remove") {
		a.begin(o)
		a.deafen(o)
		if strings.HasPrefix(text, "0 upgraded, 0 newly installed, 0 to remove") {
			a.op.Answer()
			a.finish(timeline.OpDone, o)
		}
		return evidence.Done
	}
	return evidence.Miss
}

func (a *apt) deafen(o *evidence.Out) {
	if a.listens {
		o.Deafen()
		a.listens = false
	}
}

// finish ends the invocation. What was unpacked and never set up is in place
// all the same.
func (a *apt) finish(how timeline.OpState, o *evidence.Out) {
	if a.op == nil {
		return
	}
	for _, artifact := range a.order {
		if mark, ok := a.unpacked[artifact]; ok {
			o.At(mark, timeline.Event{Action: timeline.Install, Op: a.op.Number, Items: []timeline.Item{{Artifact: artifact}}})
		}
	}
	if a.setUp || len(a.order) > 0 {
		a.op.Answer()
		if how == timeline.OpOpen {
			how = timeline.OpDone
		}
	}
	if a.failed && how != timeline.OpCached {
		how = timeline.OpFailed
	}
	o.Close(a.op, how)
	*a = apt{distro: a.distro, listens: a.listens}
}

// End ends the invocation.
func (a *apt) End(how timeline.OpState, o *evidence.Out) {
	a.deafen(o)
	a.finish(how, o)
}

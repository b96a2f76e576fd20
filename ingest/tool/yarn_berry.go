package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// berry reads the lines of yarn 2 and newer, each with the code of its message
// (https://yarnpkg.com/advanced/error-codes):
//
//	➤ YN0000: · Yarn 4.18.1
//	➤ YN0000: ┌ Resolution step
//	➤ YN0085: │ + core-js@npm:3.0.0, is-odd@npm:3.0.1, and 20 more.
//	➤ YN0013: │ axios@npm:1.14.1 can't be found in the cache and will be fetched from the remote registry
//	➤ YN0013: │ 3 packages were added to the project (+ 816.28 KiB).
//	➤ YN0007: │ core-js@npm:3.0.0 must be built because it never has been before or the last one failed
//	➤ YN0000: · Done in 1s 287ms
func (y *yarn) berry(text string, o *evidence.Out) evidence.Result {
	code, rest, ok := strings.Cut(text, ": ")
	if !ok || len(code) != 4 || strings.Trim(code, "0123456789") != "" {
		return evidence.Miss
	}
	rest = strings.TrimLeft(rest, "│┌└· ")
	if code == "0000" && strings.HasPrefix(rest, "Yarn ") || y.op == nil || o.Overtaken(y.op) {
		y.finish(timeline.OpOpen, o)
		y.op = o.Invocation("yarn")
	}
	o.Seen(timeline.NPM)
	switch code {
	case "0000":
		y.stepped(rest, o)
	case "0085":
		y.resolved(rest, o)
	case "0013":
		y.fetched(rest, o)
	case "0007", "0008":
		id, _, _ := strings.Cut(rest, " ")
		if name, version, ok := npmPackage(berryLocator(id)); ok {
			y.install(name, version, timeline.Install, o)
		}
	}
	return evidence.Done
}

// stepped reads where yarn is, and its end.
func (y *yarn) stepped(rest string, o *evidence.Out) {
	switch {
	case strings.HasSuffix(rest, " step"):
		if rest == "Fetch step" && y.counted == nil {
			mark := o.Mark()
			y.counted = &mark
		}
	case strings.HasPrefix(rest, "Done"):
		y.finish(timeline.OpDone, o)
	case strings.HasPrefix(rest, "Failed"):
		y.failed = true
		y.finish(timeline.OpFailed, o)
	}
}

// berryLocator makes "core-js@npm:3.0.0" an npm id; what is patched, linked or
// comes from elsewhere has none.
func berryLocator(text string) string {
	name, version, ok := strings.Cut(text, "@npm:")
	if !ok {
		return ""
	}
	version, _, _ = strings.Cut(version, "::") // an archive's own address
	return name + "@" + version
}

// resolved reads what the lock file gained and lost.
func (y *yarn) resolved(rest string, o *evidence.Out) {
	sign, list, _ := strings.Cut(rest, " ")
	if sign != "+" {
		return
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(list, "."), ", ") {
		if name, version, ok := evidence.SplitNPM(berryLocator(part)); ok {
			y.install(name, version, timeline.Resolve, o)
		}
	}
}

// fetched reads what comes over, which yarn 4 only counts.
func (y *yarn) fetched(rest string, o *evidence.Out) {
	id, after, _ := strings.Cut(rest, " ")
	name, version, ok := evidence.SplitNPM(berryLocator(id))
	if ok && strings.HasPrefix(after, "can't be found in the cache") {
		y.install(name, version, timeline.Download, o)
	}
}

package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// failures are the errors that end an invocation with nothing installed.
var failures = []string{
	"ResolutionImpossible", "Could not find a version ", "No matching distribution ", "Cannot install ",
	"Could not install packages ", "Could not open requirements file", "Could not build wheels ", "Operation cancelled",
	"Exception:", "Failed to build installable wheels", "Invalid requirement:", "Cannot uninstall ",
	"Could not find any downloads ", "No distributions at all found ", "THESE PACKAGES DO NOT MATCH THE HASHES ",
}

// failed reads pip's errors. Old versions print some without "ERROR: ".
//
//	ERROR: No matching distribution found for litellm==1.107.0
//	ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.
func (p *pip) failed(rest []byte, o *evidence.Out) evidence.Result {
	for _, f := range failures {
		if bytes.HasPrefix(rest, []byte(f)) {
			o.Seen(timeline.PyPI)
			if p.op == nil && o.Awaited("pip") {
				p.begin(resolving, 0, o)
			}
			p.finish(timeline.OpFailed, o)
			return evidence.Done
		}
	}
	if bytes.HasPrefix(rest, []byte("pip's dependency resolver ")) {
		o.Seen(timeline.PyPI)
		o.Listen()
		return evidence.Done
	}
	return p.conflict(rest, o)
}

// conflict reads the complaints of install and check, which name what is in the
// environment:
//
//	crewai 0.100.1 requires litellm==1.59.8, but you have litellm 1.59.12 which is incompatible.
//	embedchain 0.1.126 has requirement tiktoken<0.8.0,>=0.7.0, but you have tiktoken 0.8.0.
//	acme-legacy 1.0.0 has requirement litellm<1.106, but you'll have litellm 1.107.0 which is incompatible.
func (p *pip) conflict(text []byte, o *evidence.Out) evidence.Result {
	if !bytes.HasSuffix(text, []byte(".")) {
		return evidence.Miss
	}
	action := timeline.Present
	_, have, ok := bytes.Cut(text, []byte(", but you have "))
	if !ok {
		action = timeline.Resolve // what will be there when the installation is done
		if _, have, ok = bytes.Cut(text, []byte(", but you'll have ")); !ok {
			return evidence.Miss
		}
	}
	words := strings.Fields(strings.TrimSuffix(string(have), "."))
	if len(words) < 2 || !evidence.IsDistName(words[0]) || !evidence.IsVersion(words[1]) {
		return evidence.Miss
	}
	o.Seen(timeline.PyPI)
	o.Emit(action, p.op, timeline.Item{Artifact: timeline.PURL("pypi", "", words[0], words[1])})
	return evidence.Done
}

package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// InstallScript is what the scripts print that godownloader wrote for programs
// of GitHub releases: Trivy, golangci-lint, gosec and many more have one.
// https://github.com/goreleaser/godownloader
var InstallScript = evidence.Format{
	Name:   "install-script",
	Shape:  evidence.ToolShape,
	Title:  "Scripts that install a program of a GitHub release (godownloader)",
	Proves: "which release was chosen, and that it was installed",
	Cannot: "what else the script did; a program whose script prints the version alone",
	Doc:    "https://github.com/goreleaser/godownloader",
	Sample: "written by hand after logs of public runs",
	Starts: installStarts(),
	Looks: func(text []byte) bool {
		i := bytes.IndexByte(text[:min(len(text), maxRepository)], ' ')
		return i > 0 && bytes.HasPrefix(text[i:], []byte(" info ")) && bytes.IndexByte(text[:i], '/') > 0
	},
	Tool: func() evidence.Parser { return &installScript{} },
}

// maxRepository bounds the name of an owner and a repository.
const maxRepository = 140

// installStarts lists what the name of an owner can start with.
func installStarts() (starts []string) {
	const chars = "abcdefghijklmnopqrstuvwxyz0123456789"
	for _, a := range chars {
		for _, b := range chars + "-/" {
			starts = append(starts, string(a)+string(b))
		}
	}
	return starts
}

// installScript is the release that the script chose.
type installScript struct{ item timeline.Item }

// Line reads one line:
//
//	aquasecurity/trivy info checking GitHub for tag 'v0.69.3'
//	aquasecurity/trivy info found version: 0.69.3 for v0.69.3/Linux/64bit
//	aquasecurity/trivy info installed /usr/local/bin/trivy
func (s *installScript) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	repository, message, ok := strings.Cut(string(bytes.TrimSpace(l.Text)), " info ")
	owner, name, slash := strings.Cut(repository, "/")
	if !ok || !slash || l.Echo || strings.ContainsAny(repository, " \t:") || name == "" || strings.Contains(name, "/") {
		return evidence.Miss
	}
	version, what, found := strings.Cut(strings.TrimPrefix(message, "found version: "), " for ")
	switch {
	case strings.HasPrefix(message, "checking GitHub for "):
		s.item = timeline.Item{}
		o.Seen("")
	case found && strings.HasPrefix(message, "found version: ") && strings.Count(what, "/") == 2 && !strings.ContainsAny(version, " /"):
		s.item = timeline.Item{Artifact: timeline.PURL("github", owner, name, version)}
		o.Emit(timeline.Resolve, nil, s.item)
	case strings.HasPrefix(message, "installed ") && s.item.Artifact != "":
		o.Emit(timeline.Install, nil, s.item)
	default:
		return evidence.Miss
	}
	return evidence.Done
}

// End forgets a release that was not installed.
func (s *installScript) End(timeline.OpState, *evidence.Out) { s.item = timeline.Item{} }

package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Helm is what helm prints when it fetches a chart from a registry, or puts one
// there. A chart is no image, though it may have the name of one: it is an
// artifact of type helm, and its digest is that of the chart's manifest.
//
// https://helm.sh/docs/topics/registries/
var Helm = evidence.Format{
	Name:   "helm",
	Shape:  evidence.ToolShape,
	Title:  "helm pull, install and push with a registry",
	Proves: "charts that were fetched or pushed, with version and digest",
	Cannot: "the images that a chart names; charts of classic repositories; digests of manifests, where helm is older than 3.7",
	Doc:    "https://helm.sh/docs/topics/registries/",
	Sample: "written by hand after the documentation",
	Starts: []string{"Pulled: ", "Pushed: ", helmPulled, helmCurrent},
	Tool:   func() evidence.Parser { return &helm{} },
}

// What helm before 3.7 says of a chart, last of some lines.
const (
	helmPulled  = "Status: Downloaded newer chart for "
	helmCurrent = "Status: Chart is up to date for "
)

type helm struct {
	action timeline.Action
	chart  string
	ref    string // as printed
	mark   evidence.Mark
}

// Line reads the two lines of a chart.
//
//	Pulled: registry.acme.example/charts/billing:24.2.6
//	Digest: sha256:5e76…
func (h *helm) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	if h.chart != "" {
		rest, ok := bytes.CutPrefix(text, []byte("Digest: "))
		if sha := timeline.SHA256(string(rest)); ok && sha != "" {
			h.emit(sha, o)
			return evidence.Done
		}
		h.chart = ""
	}
	if bytes.HasPrefix(text, []byte("Status: ")) {
		return h.status(string(text), o)
	}
	rest, ok := bytes.CutPrefix(text, []byte("Pulled: "))
	h.action = timeline.Download
	if !ok {
		if rest, ok = bytes.CutPrefix(text, []byte("Pushed: ")); !ok {
			return evidence.Miss
		}
		h.action = timeline.Push
	}
	if h.chart = chart(string(rest)); h.chart == "" {
		return evidence.Miss
	}
	h.ref, h.mark = string(rest), o.Mark()
	return evidence.More
}

// status reads the last line that helm before 3.7 prints of a chart. The digest
// above it is that of the file.
//
//	Status: Downloaded newer chart for registry.acme.example/charts/billing:24.2.6
func (h *helm) status(text string, o *evidence.Out) evidence.Result {
	ref, pulled := strings.CutPrefix(text, helmPulled)
	if !pulled {
		ref = strings.TrimPrefix(text, helmCurrent)
	}
	item := timeline.Item{Artifact: chart(ref), Ref: ref}
	if item.Artifact == "" {
		return evidence.Miss
	}
	if pulled {
		o.Emit(timeline.Download, nil, item)
		return evidence.Done
	}
	o.Emit(timeline.Check, nil, item)
	o.Emit(timeline.Present, nil, item)
	return evidence.Done
}

// chart returns the purl of "host/path/name:version". A plus in the version is
// an underscore in the registry.
func chart(ref string) string {
	slash, colon := strings.LastIndexByte(ref, '/'), strings.LastIndexByte(ref, ':')
	if slash <= 0 || colon < slash+2 || colon+1 == len(ref) || strings.ContainsAny(ref, " @\t") {
		return ""
	}
	host, path, _ := strings.Cut(ref[:colon], "/")
	if !strings.ContainsAny(host, ".:") && host != "localhost" || path == "" {
		return ""
	}
	return timeline.PURL("helm", "", ref[slash+1:colon], ref[colon+1:])
}

func (h *helm) emit(sha string, o *evidence.Out) {
	o.At(h.mark, timeline.Event{Action: h.action, Items: []timeline.Item{{Artifact: h.chart, Ref: h.ref, Digests: []timeline.Digest{{Value: sha}}}}})
	h.chart = ""
}

// End forgets a chart without digest.
func (h *helm) End(timeline.OpState, *evidence.Out) { *h = helm{} }

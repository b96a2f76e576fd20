package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// PodPrefix is what kubectl logs --prefix and tkn logs put in front of the
// lines of several containers.
// https://kubernetes.io/docs/reference/kubectl/generated/kubectl_logs/
// https://tekton.dev/docs/cli/
var PodPrefix = evidence.Format{
	Name:   "pod-prefix",
	Shape:  evidence.FrameShape,
	Title:  "kubectl logs --prefix, tkn logs",
	Proves: "which container of which pod, or which step of which task, wrote a line; its time with --timestamps",
	Cannot: "the namespace, which is written '-' in the container's name; the node; which pod a task ran in",
	Doc:    "https://kubernetes.io/docs/reference/kubectl/generated/kubectl_logs/",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		line, _, _ := bytes.Cut(h.Bytes, []byte("\n"))
		_, _, n := podPrefix(line)
		return n > 0
	},
	First: "[",
	Looks: func(text []byte) bool {
		head := text[:min(len(text), 600)]
		return len(text) > 4 && text[1] >= '-' && bytes.IndexByte(head, ']') > 4 && (string(text[1:5]) == "pod/" || bytes.Contains(head, []byte(" : ")))
	},
	Cuts: true,
	New:  func() evidence.Peeler { return podPrefixed{} },
}

type podPrefixed struct{}

// podPrefix returns what stands between the brackets, whether it is a pod, and
// the length of the prefix:
//
//	[pod/api-7d9c/api] 2026-10-21T12:04:51.123456789Z Collecting litellm
//	[build : install-deps] Collecting litellm
func podPrefix(line []byte) (name []byte, pod bool, n int) {
	end := bytes.IndexByte(line[:min(len(line), 600)], ']')
	if end < 4 || line[0] != '[' || end+1 < len(line) && line[end+1] != ' ' {
		return nil, false, 0
	}
	name = line[1:end]
	words, between := bytes.Split(name, []byte("/")), len(name)
	if pod = len(words) == 3 && string(words[0]) == "pod"; pod {
		words = words[1:]
	} else if words = bytes.Split(name, []byte(" : ")); len(words) != 2 {
		return nil, false, 0
	}
	for _, w := range words {
		if !dnsLabel(w) {
			return nil, false, 0
		}
	}
	return name, pod, min(between+3, len(line))
}

// dnsLabel reports whether a word can be the name of a pod, container or task.
func dnsLabel(w []byte) bool {
	for _, c := range w {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return false
		}
	}
	return len(w) > 0
}

// Peel takes the prefix off.
func (podPrefixed) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	name, pod, n := podPrefix(l.Text)
	if n == 0 {
		return nil
	}
	child := s.Child(o, name)
	if pod && child.Subject.IsZero() {
		_, of, _ := bytes.Cut(name, []byte("/"))
		child.Subject = timeline.Subject{Kind: timeline.Container, ID: "k8s/-/" + string(of)}
	}
	l.Text = l.Text[n:]
	return child
}

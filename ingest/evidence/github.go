package evidence

import (
	"bytes"
	"strings"

	"pulltrail/timeline"
)

// CIAction is a GitHub action as a workflow asks for it: owner/name[/path]@ref.
type CIAction struct {
	Owner, Name string
	Ref         string // branch, tag or commit
}

// ParseCIAction reads "owner/name[/path]@ref". Local actions ("./build") and
// images ("docker://alpine") are none.
func ParseCIAction(text []byte) (a CIAction, ok bool) {
	at := bytes.IndexByte(text, '@')
	if at < 3 || at > 300 || len(text) > 600 || at == len(text)-1 || !actionChars(text[:at], "/") || !actionChars(text[at+1:], "/+@:") {
		return a, false
	}
	owner, rest, ok := bytes.Cut(text[:at], []byte("/"))
	name, _, _ := bytes.Cut(rest, []byte("/"))
	if !ok || len(owner) == 0 || len(name) == 0 || owner[0] == '.' {
		return a, false
	}
	return CIAction{string(owner), string(name), string(text[at+1:])}, true
}

// actionChars reports whether text holds nothing but the characters of names
// and refs, and those of more.
func actionChars(text []byte, more string) bool {
	for _, c := range text {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.':
		case strings.IndexByte(more, c) >= 0:
		default:
			return false
		}
	}
	return true
}

// Item is the action at a commit; "" when the evidence does not name one, and
// then a ref that is a commit counts.
func (a CIAction) Item(commit string) timeline.Item {
	if commit = strings.ToLower(commit); commit == "" {
		commit = strings.ToLower(a.Ref)
	}
	if !timeline.IsCommit(commit) {
		return timeline.Item{Artifact: timeline.PURL("github", a.Owner, a.Name, ""), Ref: a.Ref}
	}
	return timeline.Item{
		Artifact: timeline.PURL("github", a.Owner, a.Name, commit), Ref: a.Ref,
		Digests: []timeline.Digest{{Value: commit, Role: timeline.Commit}},
	}
}

// Key names the action's repository and ref, whatever the spelling.
func (a CIAction) Key() string { return strings.ToLower(a.Owner+"/"+a.Name) + "@" + a.Ref }

// CutActionDownload reads the runner's line for an action that came over:
//
//	Download action repository 'actions/checkout@v4' (SHA:34e114876b0b11c390a56381ad16ebd13914f8d5)
//
// Old runners print no commit.
func CutActionDownload(text []byte) (a CIAction, commit string, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte("Download action repository '"))
	if !ok {
		return a, "", false
	}
	quoted, rest, ok := bytes.Cut(rest, []byte("'"))
	if !ok {
		return a, "", false
	}
	if sha, found := bytes.CutPrefix(rest, []byte(" (SHA:")); found && len(sha) >= 40 && timeline.IsCommit(string(sha[:40])) {
		commit = string(sha[:40])
	}
	a, ok = ParseCIAction(quoted)
	return a, commit, ok
}

// CutActionPackage reads the head of the runner's group for an action that
// came over as an immutable package; version, digest of the package and commit
// stand on the lines after it.
//
//	Download immutable action package 'actions/checkout@v3'
func CutActionPackage(text []byte) (a CIAction, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte("Download immutable action package '"))
	if !ok {
		return a, false
	}
	quoted, _, _ := bytes.Cut(rest, []byte("'"))
	return ParseCIAction(quoted)
}

// GitHubRun reports whether s is a run or an attempt of one, without a job:
// job:github:acme/svc/runs/1/attempts/2.
func GitHubRun(s timeline.Subject) bool {
	return s.Kind == timeline.Job && strings.HasPrefix(s.ID, "github:") && strings.Contains(s.ID, "/runs/") && !strings.Contains(s.ID, "/jobs/")
}

// GitHubJob is the job of that name in a run; zero when run is none or the
// name is not known.
func GitHubJob(run timeline.Subject, name string) timeline.Subject {
	if !GitHubRun(run) || name == "" {
		return timeline.Subject{}
	}
	return timeline.Subject{Kind: timeline.Job, ID: strings.TrimSuffix(run.ID, "/") + "/jobs/" + name}
}

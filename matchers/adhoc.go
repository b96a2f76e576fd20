package matchers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"pulltrail/timeline"
)

// adHocPackage is the incident of the question "who has this version?".
func adHocPackage(purl string) (*Incident, error) {
	parts := timeline.Split(purl)
	name := purlOf(parts, "")
	if !purlForm.MatchString(name) || parts.Version == "" {
		return nil, fmt.Errorf("%w %q: a package URL needs a type, a name and a version, such as pkg:pypi/litellm@1.107.0",
			ErrUnknownIncident, purl)
	}
	if parts.Type == "github" && timeline.IsCommit(parts.Version) {
		inc := adHoc(name+"@"+parts.Version, string(timeline.GitHubActions))
		inc.Actions = []CIAction{{Repository: parts.Name, Channel: string(timeline.GitHubActions), Commits: []string{parts.Version}}}
		return inc, nil
	}
	inc := adHoc(name+"@"+parts.Version, parts.Type)
	inc.Packages = []Package{{PURL: name, Channel: parts.Type, Versions: []string{parts.Version}, Role: "payload", Trigger: "unknown"}}
	return inc, nil
}

// purlOf spells a version of a package, "" for the package itself.
func purlOf(p timeline.Parts, version string) string {
	namespace, name := "", p.Name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		namespace, name = name[:i], name[i+1:]
	}
	return timeline.PURL(p.Type, namespace, name, version)
}

// adHocImage is the incident of the question "who has this image?". ok is
// false for what names no tag or digest itself: a word alone is no question.
func adHocImage(text string) (*Incident, bool) {
	ref, ok := timeline.ParseImage(text)
	if !ok || ref.Digest == "" && !strings.HasSuffix(text, ":"+ref.Tag) {
		return nil, false
	}
	channel := channelOfHost(ref.Name)
	inc := adHoc(ref.String(), channel)
	image := Image{Repository: ref.Name, Channel: channel}
	if ref.Digest != "" {
		image.Digests = []ImageDigest{{Digest: ref.Digest}}
	} else {
		image.Tags = []string{ref.Tag}
	}
	inc.Images = []Image{image}
	return inc, true
}

// channelOfHost is the channel that serves an image.
func channelOfHost(name string) string {
	host, _, _ := strings.Cut(name, "/")
	switch host {
	case "docker.io":
		return "dockerhub"
	case "ghcr.io":
		return "ghcr"
	case "quay.io":
		return "quay"
	case "public.ecr.aws":
		return "ecr-public"
	}
	return host
}

// adHoc is an incident that nobody published: one release, bad at any time.
func adHoc(question, channel string) *Incident {
	sum := sha256.Sum256([]byte(question))
	return &Incident{
		Schema: schemaName, ID: question, Title: "Who has " + question + "?", Kind: MaliciousRelease,
		Summary: "An ad-hoc question.", References: []string{"asked on the command line"},
		Channels: []Channel{{Name: channel, Windows: []Window{{
			From: timeline.Beginning, To: timeline.Forever,
			Precision: "second", Basis: "stated",
		}}}},
		Complete: Completeness{Versions: true, Tags: true, Digests: true, Commits: true},
		Revision: hex.EncodeToString(sum[:]),
	}
}

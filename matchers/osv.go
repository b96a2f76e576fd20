package matchers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pulltrail/timeline"
)

// maxRecord bounds a record of the OSV schema.
const maxRecord = 8 << 20

// ErrWithdrawn is returned for a record that its publisher took back.
var ErrWithdrawn = errors.New("withdrawn")

// osvRecord is what is read of a record of the OSV schema
// (https://ossf.github.io/osv-schema/). Other fields are the publisher's own.
type osvRecord struct {
	SchemaVersion string        `json:"schema_version"`
	ID            string        `json:"id"`
	Modified      string        `json:"modified"`
	Published     string        `json:"published"`
	Withdrawn     string        `json:"withdrawn"`
	Aliases       []string      `json:"aliases"`
	Summary       string        `json:"summary"`
	Details       string        `json:"details"`
	Affected      []osvAffected `json:"affected"`
	References    []struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	} `json:"references"`
}

type osvAffected struct {
	Package struct {
		Ecosystem string `json:"ecosystem"` // "PyPI", "Debian:12"
		Name      string `json:"name"`
		PURL      string `json:"purl"`
	} `json:"package"`
	Versions []string   `json:"versions"`
	Ranges   []osvRange `json:"ranges"`
}

type osvRange struct {
	Type   string              `json:"type"` // SEMVER, ECOSYSTEM, GIT
	Repo   string              `json:"repo"`
	Events []map[string]string `json:"events"` // introduced, fixed, last_affected or limit
}

// ecosystems maps the ecosystems of OSV to the purl type, its namespace, and
// the word for the channel.
// https://ossf.github.io/osv-schema/#defined-ecosystems
var ecosystems = map[string]struct{ kind, namespace, channel string }{
	"PyPI": {"pypi", "", "pypi"}, "npm": {"npm", "", "npm"}, "RubyGems": {"gem", "", "gem"}, "crates.io": {"cargo", "", "cargo"},
	"Packagist": {"composer", "", "packagist"}, "Maven": {"maven", "", "maven"}, "NuGet": {"nuget", "", "nuget"}, "Go": {"golang", "", "go"},
	"Hex": {"hex", "", "hex"}, "Pub": {"pub", "", "pub"}, "ConanCenter": {"conan", "", "conan"}, "CRAN": {"cran", "", "cran"},
	"SwiftURL": {"swift", "", "swift"}, "VSCode": {"vscode-extension", "", "vscode-marketplace"}, "OpenVSX": {"vscode-extension", "", "openvsx"},
	"Debian": {"deb", "debian", "deb"}, "Ubuntu": {"deb", "ubuntu", "deb"}, "Alpine": {"apk", "alpine", "apk"}, "Wolfi": {"apk", "wolfi", "apk"},
	"Chainguard": {"apk", "chainguard", "apk"}, "Red Hat": {"rpm", "redhat", "rpm"}, "Rocky Linux": {"rpm", "rocky-linux", "rpm"},
	"AlmaLinux": {"rpm", "almalinux", "rpm"}, "openSUSE": {"rpm", "opensuse", "rpm"}, "SUSE": {"rpm", "suse", "rpm"},
	"GitHub Actions": {"github", "", string(timeline.GitHubActions)},
}

// Draft is an incident made of one record: a file to be read and completed by
// a person. It can be matched as it is: its windows are open, so everything
// that asked for a listed package at any time is possible.
type Draft struct {
	Incident *Incident
	YAML     []byte // passes Load under the name Incident.ID + ".yaml"
}

// DraftOSV makes a draft of one record of the OSV schema, such as those of
// https://github.com/ossf/malicious-packages. What the record says and the
// incident format cannot hold stands under unknown, and the list that lacks it
// is not called complete. ErrWithdrawn tells a record that was taken back; other
// errors that it is none, or names nothing that can be looked for.
func DraftOSV(data []byte) (*Draft, error) {
	r, err := parseOSV(data)
	if err != nil {
		return nil, err
	}
	if r.Withdrawn != "" {
		return nil, fmt.Errorf("%w on %s by its publisher: no incident is made of it", ErrWithdrawn, visible(r.Withdrawn, 40))
	}
	d, err := newDraft(r)
	if err != nil {
		return nil, err
	}
	for i := range r.Affected {
		d.affected(&r.Affected[i])
	}
	if len(d.Packages) == 0 && len(d.Actions) == 0 {
		return nil, fmt.Errorf("it names no package that can be looked for: %s", strings.Join(append(d.lost, "affected is empty"), "; "))
	}
	return d.finish()
}

func parseOSV(data []byte) (*osvRecord, error) {
	if len(data) > maxRecord {
		return nil, fmt.Errorf("larger than %d MiB", maxRecord>>20)
	}
	if !utf8.Valid(data) {
		return nil, errors.New("not UTF-8")
	}
	var r osvRecord
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("no record of the OSV schema: %s", visible(err.Error(), 200))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("no record of the OSV schema: something stands behind it")
	}
	switch major, _, _ := strings.Cut(r.SchemaVersion, "."); {
	case r.ID == "" || r.Modified == "":
		return nil, errors.New("no record of the OSV schema: id or modified is missing (https://ossf.github.io/osv-schema/)")
	case major != "" && major != "1":
		return nil, fmt.Errorf("version %s of the OSV schema: 1 is understood", visible(r.SchemaVersion, 20))
	}
	if r.Published == "" {
		r.Published = r.Modified
	}
	if _, err := time.Parse(time.RFC3339Nano, r.Published); err != nil {
		return nil, fmt.Errorf("published %q is no RFC 3339 time", visible(r.Published, 40))
	}
	return &r, nil
}

// slugOfID is the id of a record as that of an incident: MAL-2025-1234 is
// mal-2025-1234, RHSA-2024:1 is rhsa-2024-1.
func slugOfID(id string) (string, error) {
	slug := strings.Map(func(r rune) rune {
		if strings.ContainsRune(":_/", r) {
			return '-'
		}
		return unicode.ToLower(r)
	}, id)
	if len(slug) > 100 || !slugForm.MatchString(slug) || strings.Contains(slug, "..") {
		return "", fmt.Errorf("id %q: want letters, digits, . and -", visible(id, 60))
	}
	return slug, nil
}

// packageName is what a registry takes as the name of a package.
var packageName = regexp.MustCompile(`^[@A-Za-z0-9][\w.@/:~+!-]{0,213}$`)

// visible is text of a record as one printable line of at most n bytes.
func visible(s string, n int) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r) || unicode.In(r, unicode.Cf, unicode.Co):
			return -1
		}
		return r
	}, s)), " ")
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// sentences is the beginning of a text that an incident may have as summary.
func sentences(s string) string {
	s = visible(s, 400)
	if ends := sentenceEnd.FindAllStringIndex(s, -1); len(ends) > 2 {
		s = strings.TrimSpace(s[:ends[1][1]])
	}
	return s
}

// bounds turns the events of a range into ranges of the incident format: the
// record lists them in order, each introduction with what ends it. ok is false
// when a bound cannot be compared, or the events are no such list.
func (r *osvRange) bounds(kind string) (out []string, ok bool) {
	scheme, open := schemeOf(kind), ""
	_, plain := scheme.(plainVersions)
	compared := func(v string) bool { return rangeForm.MatchString("<"+v) && (plain || scheme.parse(v) != nil) }
	for _, e := range r.Events {
		for _, what := range slices.Sorted(maps.Keys(e)) {
			v := e[what]
			switch what {
			case "introduced":
				if open != "" {
					out = append(out, open)
				}
				if open = lowest(kind, v); !compared(strings.TrimPrefix(open, ">=")) {
					return nil, false
				}
			case "fixed", "last_affected", "limit":
				if v == "*" && what == "limit" {
					continue
				}
				if open == "" || !compared(v) {
					return nil, false
				}
				bound := "<" + v
				if what == "last_affected" {
					bound = "<=" + v
				}
				out, open = append(out, open+","+bound), ""
			default:
				return nil, false
			}
		}
	}
	if open != "" {
		out = append(out, open)
	}
	return out, len(out) > 0
}

// lowest is the start of a range. OSV writes 0 for a version below all.
func lowest(kind, v string) string {
	if v == "0" {
		switch kind {
		case "pypi":
			v = "0.dev0"
		case "npm":
			v = "0.0.0-0"
		}
	}
	return ">=" + v
}

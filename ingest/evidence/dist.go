package evidence

import (
	"net/url"
	"regexp"
	"strings"
)

// Dist is what the file name of a Python distribution says.
type Dist struct {
	Name    string // as written, not normalised
	Version string
	Wheel   bool // else an sdist or an egg
	// Metadata says that the file is only the metadata beside a distribution
	// (PEP 658): a resolver read it, the distribution itself did not come.
	Metadata bool
}

// sdistSuffixes are the archive endings of source distributions, old ones too.
var sdistSuffixes = []string{".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz", ".tar.Z", ".tar"}

// ParseDist takes the file name of a wheel, sdist or egg apart; directories, a
// query and a fragment around it are ignored. ok is false for every other
// file, signatures and checksums among them.
//
//	litellm-1.107.0-py3-none-any.whl, torch-2.2.1%2Bcpu-cp310-cp310-linux_x86_64.whl,
//	python-dateutil-2.9.0.post0.tar.gz, litellm-1.107.0-py3-none-any.whl.metadata
//
// https://packaging.python.org/en/latest/specifications/binary-distribution-format/#file-name-convention
// https://packaging.python.org/en/latest/specifications/source-distribution-format/#source-distribution-file-name
func ParseDist(file string) (d Dist, ok bool) {
	if i := strings.IndexAny(file, "?#"); i >= 0 {
		file = file[:i]
	}
	if i := strings.LastIndexAny(file, `/\`); i >= 0 {
		file = file[i+1:]
	}
	file, d.Metadata = strings.CutSuffix(file, ".metadata")
	if strings.IndexByte(file, '%') >= 0 {
		plain, err := url.PathUnescape(file)
		if err != nil || strings.ContainsAny(plain, `/\`) {
			return Dist{}, false
		}
		file = plain
	}
	if stem, is := strings.CutSuffix(file, ".whl"); is {
		return d.wheel(stem)
	}
	if stem, is := strings.CutSuffix(file, ".egg"); is {
		return d.egg(stem)
	}
	for _, s := range sdistSuffixes {
		if stem, is := strings.CutSuffix(file, s); is {
			d.Name, d.Version, ok = SplitDist(stem)
			return d, ok
		}
	}
	return Dist{}, false
}

// wheel splits name-version[-build]-python-abi-platform.
func (d Dist) wheel(stem string) (Dist, bool) {
	parts := strings.Split(stem, "-")
	if len(parts) != 5 && len(parts) != 6 || !IsDistName(parts[0]) || !IsVersion(parts[1]) {
		return Dist{}, false
	}
	d.Name, d.Version, d.Wheel = parts[0], parts[1], true
	return d, true
}

// egg splits name-version-pyX.Y[-platform].
func (d Dist) egg(stem string) (Dist, bool) {
	parts := strings.Split(stem, "-")
	if len(parts) < 3 || !strings.HasPrefix(parts[2], "py") || !IsDistName(parts[0]) || !IsVersion(parts[1]) {
		return Dist{}, false
	}
	d.Name, d.Version = parts[0], parts[1]
	return d, true
}

// SplitDist splits name-version at the last hyphen before a digit:
// nvidia-cusolver-cu12-11.4.5.107, h2-4.3.0, torch-2.2.1+cpu. In x-1.0-1 the
// version is the old spelling of a post release.
func SplitDist(text string) (name, version string, ok bool) {
	for i := len(text) - 2; i > 0; i-- {
		if text[i] != '-' || !isDigit(text[i+1]) {
			continue
		}
		name, version = text[:i], text[i+1:]
		if j := strings.LastIndexByte(name, '-'); j > 0 && allDigits(version) && dotted(name[j+1:]) {
			name, version = text[:j], text[j+1:]
		}
		return name, version, IsDistName(name) && IsVersion(version)
	}
	return "", "", false
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// dotted reports whether s is a release of two numbers or more, such as 1.0.
func dotted(s string) bool {
	dots, digits := 0, 0 // digits behind the first dot
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '.':
			dots++
		case !isDigit(s[i]):
			return false
		case dots > 0:
			digits++
		}
	}
	return dots > 0 && digits > 0 && s[0] != '.'
}

// IsDistName reports whether s can be the name of a Python project (PEP 508).
func IsDistName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		word := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c)
		if !word && (c != '-' && c != '_' && c != '.' || i == 0 || i == len(s)-1) {
			return false
		}
	}
	return s != ""
}

// looseVersion is PEP 440 with what file names turn hyphens into.
var looseVersion = regexp.MustCompile(`(?i)^v?(?:\d+!)?\d+(?:\.\d+)*(?:[-_.]?(?:alpha|beta|preview|pre|rc|a|b|c)[-_.]?\d*)?` +
	`(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?(?:[-_.]?dev[-_.]?\d*)?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?$`)

// IsVersion reports whether s is a version of a Python package (PEP 440), in
// any of the spellings that PEP allows.
func IsVersion(s string) bool {
	if dotted(s) || allDigits(s) {
		return true
	}
	return len(s) > 0 && len(s) <= 128 && looseVersion.MatchString(s)
}

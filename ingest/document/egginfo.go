package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// EggInfo is any file of the folder, or the one file, that setuptools and
// distutils leave for a Python distribution that did not come as a wheel.
// https://setuptools.pypa.io/en/latest/deprecated/python_eggs.html
var EggInfo = evidence.Format{
	Name:   "python-egg-info",
	Shape:  evidence.DocumentShape,
	Title:  "Python *.egg-info and EGG-INFO",
	Proves: "a distribution is in place (PKG-INFO)",
	Cannot: "when it was installed; that it was ever imported",
	Doc:    "https://setuptools.pypa.io/en/latest/deprecated/python_eggs.html",
	Sample: "setuptools 66 run for this project",
	Claim:  func(h *evidence.Head) bool { _, ok := eggInfoFile(h.Path); return ok },
	Read:   readEggInfo,
	Place: func(path string) bool {
		file, ok := eggInfoFile(path)
		return ok && (file == "" || file == "PKG-INFO")
	},
	Topic: timeline.PyPI,
}

// eggInfoFile returns the file inside the folder, "" for the one file of
// distutils.
//
//	site-packages/PyYAML-6.0.egg-info, site-packages/acme_legacy-1.2.egg-info/PKG-INFO,
//	site-packages/acme-1.0-py3.11.egg/EGG-INFO/PKG-INFO
func eggInfoFile(path string) (file string, ok bool) {
	path = strings.ReplaceAll(path, `\`, "/")
	if strings.HasSuffix(path, ".egg-info") {
		return "", true
	}
	for _, folder := range []string{".egg-info/", ".egg/EGG-INFO/"} {
		if i := strings.LastIndex(path, folder); i >= 0 {
			return path[i+len(folder):], true
		}
	}
	return "", false
}

func readEggInfo(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("") // SOURCES.txt and the like hold no event
	if file, _ := eggInfoFile(d.Path); file != "" && file != "PKG-INFO" {
		return nil
	}
	readMetadata(d, o, "")
	return nil
}

package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ComposerLock is composer.lock.
// https://getcomposer.org/doc/01-basic-usage.md#commit-your-composer-lock-file-to-version-control
var ComposerLock = evidence.Format{
	Name:   "composer-lock",
	Shape:  evidence.DocumentShape,
	Title:  "composer.lock",
	Proves: "the exact versions and commits of packages of PHP that a project asks for",
	Cannot: "that they were installed, or when",
	Doc:    "https://getcomposer.org/doc/01-basic-usage.md",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v := value{h.Bytes, 0, len(h.Bytes)}
		return v.kind() == '{' && (h.Name == "composer.lock" || v.has("content-hash") && v.has("packages"))
	},
	Read: func(d *evidence.Doc, o *evidence.Out) error { return readComposer(d, o, timeline.Require) },
}

// ComposerInstalled is what composer notes of what it installed.
// https://github.com/composer/composer/blob/main/src/Composer/Repository/InstalledFilesystemRepository.php
var ComposerInstalled = evidence.Format{
	Name:   "composer-installed",
	Shape:  evidence.DocumentShape,
	Title:  "vendor/composer/installed.json",
	Proves: "packages of PHP in place, with versions and commits",
	Cannot: "when they were installed; that their code ran",
	Doc:    "https://github.com/composer/composer/blob/main/src/Composer/Repository/FilesystemRepository.php",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v := value{h.Bytes, 0, len(h.Bytes)}
		return placeComposerInstalled(h.Path) && (v.kind() == '{' || v.kind() == '[')
	},
	Read:  func(d *evidence.Doc, o *evidence.Out) error { return readComposer(d, o, timeline.Present) },
	Place: placeComposerInstalled,
	Topic: "composer",
}

func placeComposerInstalled(path string) bool {
	return path == "composer/installed.json" || strings.HasSuffix(path, "/composer/installed.json")
}

// readComposer reads the packages of both. Composer 1 notes a list alone.
//
//	{"packages": [{"name": "laravel-lang/lang", "version": "15.29.5",
//	  "source": {"type": "git", "url": "…", "reference": "0c4b…"},
//	  "dist": {"type": "zip", "url": "…", "reference": "0c4b…", "shasum": ""}}], "packages-dev": []}
func readComposer(d *evidence.Doc, o *evidence.Out, action timeline.Action) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		lists := []value{v.get("packages"), v.get("packages-dev")}
		if v.kind() == '[' {
			lists = []value{v}
		}
		for _, list := range lists {
			for p := range list.elements() {
				version := p.get("version")
				it, ok := evidence.Composer(p.get("name").text(), version.text())
				if at(d, o, p); !ok || version.text() == "" {
					o.Skip("a package without vendor, name or version")
					continue
				}
				at(d, o, version)
				for _, from := range []string{"dist", "source"} {
					if c := p.get(from, "reference").text(); timeline.IsCommit(c) && len(it.Digests) == 0 {
						it.Digests = []timeline.Digest{{Value: c, Role: timeline.Commit}}
					}
				}
				o.Emit(action, nil, it)
			}
		}
	}
	return err
}

// ComposerJSON is composer.json.
// https://getcomposer.org/doc/04-schema.md
var ComposerJSON = evidence.Format{
	Name:   "composer-json",
	Shape:  evidence.DocumentShape,
	Title:  "composer.json",
	Proves: "what a project of PHP asks for: names and ranges",
	Cannot: "which versions were installed, or when",
	Doc:    "https://getcomposer.org/doc/04-schema.md",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v := value{h.Bytes, 0, len(h.Bytes)}
		return h.Name == "composer.json" && v.kind() == '{'
	},
	Read: readComposerJSON,
}

// readComposerJSON records each requirement. What has no vendor is PHP itself
// or a part of it.
//
//	"require": {"php": "^8.2", "ext-json": "*", "laravel-lang/lang": "^15.0"}
func readComposerJSON(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		for _, key := range []string{"require", "require-dev"} {
			for name, spec := range v.get(key).fields() {
				if it, ok := evidence.Composer(name, ""); ok {
					it.Ref = spec.text()
					at(d, o, spec)
					o.Emit(timeline.Require, nil, it)
				}
			}
		}
	}
	return err
}

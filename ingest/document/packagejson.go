package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// PackageJSON is the package.json of a project.
// https://docs.npmjs.com/cli/configuring-npm/package-json
var PackageJSON = evidence.Format{
	Name:   "package-json",
	Shape:  evidence.DocumentShape,
	Title:  "package.json of a project",
	Proves: "what a project asks for: names, ranges, aliases, overrides",
	Cannot: "which versions were installed, or when",
	Doc:    "https://github.com/npm/cli/blob/latest/docs/lib/content/configuring-npm/package-json.md",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v := value{h.Bytes, 0, len(h.Bytes)}
		return h.Name == "package.json" && v.kind() == '{' && !placeNodePackage(h.Path) && !isExtensionManifest(h)
	},
	Read: readPackageJSON,
}

// dependencyKeys are the objects of a package.json that name packages.
var dependencyKeys = map[string]bool{
	"dependencies": true, "devDependencies": true, "optionalDependencies": true, "peerDependencies": true,
	"overrides": true, "resolutions": true,
}

// readPackageJSON records each dependency on its own line.
//
//	"dependencies": {
//	  "axios": "^1.14.0",
//	  "cache": "npm:keyv@^6.0.0"
//	}
func readPackageJSON(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		pins := replacements(v)
		for key, field := range v.fields() {
			switch {
			case key == "overrides" || key == "resolutions":
				dependencies(d, o, field, "", nil, 0)
			case dependencyKeys[key]:
				dependencies(d, o, field, "", pins, 0)
			}
		}
		dependencies(d, o, v.get("pnpm", "overrides"), "", nil, 0)
	}
	return err
}

// replacements are the packages that overrides replace wherever they are asked
// for, with what is asked for instead:
//
//	"overrides": {"axios": "1.14.0"}
//	"resolutions": {"**/axios": "1.14.0"}
func replacements(v value) map[string]string {
	pins := map[string]string{}
	for _, o := range []value{v.get("overrides"), v.get("resolutions"), v.get("pnpm", "overrides")} {
		for key, field := range o.fields() {
			name := overridden(key)
			if spec := field.text(); field.kind() == '"' && !strings.HasPrefix(spec, "$") && (key == name || key == "**/"+name) {
				pins[name] = spec
			}
		}
	}
	return pins
}

// dependencies reads names with their ranges. Overrides nest: a dot stands for
// the package that the object is about; yarn and pnpm write the path in the
// name.
//
//	"overrides": {"axios": {".": "1.14.0", "follow-redirects": "1.15.6"}}
//	"resolutions": {"webpack/**/axios": "1.14.0"}
//
// pins are what stands for a range of the project itself.
func dependencies(d *evidence.Doc, o *evidence.Out, v value, about string, pins map[string]string, depth int) {
	if depth > maxLockDepth {
		return
	}
	for key, field := range v.fields() {
		name := overridden(key)
		if key == "." {
			name = about
		}
		if field.kind() == '{' {
			dependencies(d, o, field, name, pins, depth+1)
			continue
		}
		spec := field.text()
		if strings.HasPrefix(spec, "$") { // as the project itself asks for it
			continue
		}
		if pin, ok := pins[name]; ok {
			spec = pin
		}
		if it, ok := evidence.NPMRequirement(name, spec); ok && field.kind() == '"' {
			at(d, o, field)
			o.Emit(timeline.Require, nil, it)
		}
	}
}

// overridden is the package at the end of a path, without the version that it
// is overridden for: "webpack/**/axios", "qar@1>zoo", "axios@^1.0.0".
func overridden(key string) string {
	key = key[strings.LastIndexByte(key, '>')+1:]
	parts := strings.Split(key, "/")
	name := parts[len(parts)-1]
	if n := len(parts); n > 1 && strings.HasPrefix(parts[n-2], "@") {
		name = parts[n-2] + "/" + name
	}
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	return name
}

package document

import (
	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// DotnetList is what dotnet list package --format json prints.
// https://learn.microsoft.com/en-us/dotnet/core/tools/dotnet-package-list
var DotnetList = evidence.Format{
	Name:   "dotnet-list",
	Shape:  evidence.DocumentShape,
	Title:  "dotnet list package (JSON)",
	Proves: "the versions of packages of .NET that projects were restored with",
	Cannot: "that the packages were in place, and when",
	Doc:    "https://learn.microsoft.com/en-us/dotnet/core/tools/dotnet-package-list",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v := value{h.Bytes, 0, len(h.Bytes)}
		for project := range v.get("projects").elements() {
			return project.has("path") && (v.has("parameters") || project.get("frameworks").kind() == '[')
		}
		return false
	},
	Read: readDotnetList,
}

// readDotnetList reads the packages of each framework.
//
//	{"version":1,"parameters":"--include-transitive","projects":[{"path":"/srv/ci/Api.csproj","frameworks":[{"framework":"net8.0",
//	  "topLevelPackages":[{"id":"Newtonsoft.Json","requestedVersion":"13.0.1","resolvedVersion":"13.0.3"}],
//	  "transitivePackages":[{"id":"Acme.Trace","resolvedVersion":"2.0.0"}]}]}]}
func readDotnetList(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		for project := range v.get("projects").elements() {
			for framework := range project.get("frameworks").elements() {
				for _, list := range []string{"topLevelPackages", "transitivePackages"} {
					for p := range framework.get(list).elements() {
						version := p.get("resolvedVersion")
						it, ok := evidence.NuGet(p.get("id").text(), version.text())
						if at(d, o, p); !ok || version.text() == "" {
							o.Skip("a package without name or version")
							continue
						}
						it.Ref = p.get("requestedVersion").text()
						at(d, o, version)
						o.Emit(timeline.Resolve, nil, it)
					}
				}
			}
		}
	}
	return err
}

// MavenTreeJSON is what mvn dependency:tree -DoutputType=json writes.
// https://maven.apache.org/plugins/maven-dependency-plugin/tree-mojo.html
var MavenTreeJSON = evidence.Format{
	Name:   "maven-tree-json",
	Shape:  evidence.DocumentShape,
	Title:  "mvn dependency:tree -DoutputType=json",
	Proves: "versions that were chosen for a build",
	Cannot: "that a file came over",
	Doc:    "https://maven.apache.org/plugins/maven-dependency-plugin/tree-mojo.html",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v := value{h.Bytes, 0, len(h.Bytes)}
		return v.kind() == '{' && v.has("groupId") && v.has("artifactId") && v.has("scope") && (v.has("children") || v.has("optional"))
	},
	Read: func(d *evidence.Doc, o *evidence.Out) error {
		all, err := documents(d)
		o.Seen("")
		for _, v := range all {
			mavenChildren(d, o, v, 0)
		}
		return err
	},
}

// mavenChildren reads what stands below the project.
//
//	{"groupId":"com.acme","artifactId":"api","version":"1.0","type":"jar","scope":"","classifier":"","optional":"false",
//	  "children":[{"groupId":"org.slf4j","artifactId":"slf4j-api","version":"2.0.7","type":"jar","scope":"compile","classifier":"","optional":"false"}]}
func mavenChildren(d *evidence.Doc, o *evidence.Out, v value, depth int) {
	for child := range v.get("children").elements() {
		it, ok := evidence.Maven(child.get("groupId").text(), child.get("artifactId").text(), child.get("version").text())
		if at(d, o, child); !ok || child.get("version").text() == "" {
			o.Skip("a package without group, name or version")
			continue
		}
		at(d, o, child.get("version"))
		o.Emit(timeline.Resolve, nil, it)
		if depth < 2*maxNesting {
			mavenChildren(d, o, child, depth+1)
			continue
		}
		if child.get("children").kind() == '[' {
			o.Skip("packages nested too deep")
		}
	}
}

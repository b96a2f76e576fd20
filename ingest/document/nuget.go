package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// NuGetLock is NuGet's lock file.
// https://learn.microsoft.com/en-us/nuget/consume-packages/package-references-in-project-files#locking-dependencies
var NuGetLock = evidence.Format{
	Name:   "nuget-lock",
	Shape:  evidence.DocumentShape,
	Title:  "packages.lock.json",
	Proves: "the exact versions of packages of .NET that a project asks for",
	Cannot: "that they were restored, or when",
	Doc:    "https://learn.microsoft.com/en-us/nuget/consume-packages/package-references-in-project-files#locking-dependencies",
	Sample: "written by hand after lock files of public projects",
	Claim: func(h *evidence.Head) bool {
		v := value{h.Bytes, 0, len(h.Bytes)}
		if v.kind() != '{' {
			return false
		}
		if h.Name == "packages.lock.json" {
			return true
		}
		for _, framework := range v.get("dependencies").fields() {
			for _, p := range framework.fields() {
				return v.has("version") && nugetKinds[p.get("type").text()]
			}
		}
		return false
	},
	Read: readNuGetLock,
}

// nugetKinds are the types of entries in NuGet's lock file.
var nugetKinds = map[string]bool{"Direct": true, "Transitive": true, "CentralTransitive": true, "Project": true}

// readNuGetLock reads what each framework is built with; a project of the same
// solution has no version of its own.
//
//	"dependencies": {"net8.0": {
//	  "Newtonsoft.Json": {"type": "Direct", "requested": "[13.0.1, )", "resolved": "13.0.1", "contentHash": "ppPF…=="},
//	  "acme.core": {"type": "Project", "dependencies": {"Serilog": "[3.1.1, )"}}}}
func readNuGetLock(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		for _, framework := range v.get("dependencies").fields() {
			for name, p := range framework.fields() {
				if p.get("type").text() == "Project" {
					continue
				}
				it, ok := evidence.NuGet(name, p.get("resolved").text())
				if at(d, o, p); !ok || p.get("resolved").text() == "" {
					o.Skip("a package without name or version")
					continue
				}
				it.Ref = p.get("requested").text()
				at(d, o, p.get("resolved"))
				o.Emit(timeline.Require, nil, it)
			}
		}
	}
	return err
}

// NuGetAssets is what NuGet writes of a restore, and the list that lies beside a
// program that was built of it. The first is often checked in, and is then of
// another machine.
// https://learn.microsoft.com/en-us/nuget/concepts/package-installation
// https://github.com/dotnet/sdk/blob/main/documentation/specs/runtime-configuration-file.md
var NuGetAssets = evidence.Format{
	Name:   "nuget-assets",
	Shape:  evidence.DocumentShape,
	Title:  "obj/project.assets.json, *.deps.json",
	Proves: "the versions of packages of .NET that a restore chose; in *.deps.json, those that a program was built with",
	Cannot: "on which machine that was, and when; that the packages were in place",
	Doc:    "https://learn.microsoft.com/en-us/nuget/concepts/package-installation",
	Sample: "written by hand after files of public projects",
	Claim: func(h *evidence.Head) bool {
		v := value{h.Bytes, 0, len(h.Bytes)}
		return v.kind() == '{' && (h.Name == "project.assets.json" || v.get("targets").kind() == '{' && v.get("libraries").kind() == '{')
	},
	Read: readNuGetAssets,
}

// readNuGetAssets reads the packages; projects of the same solution stand
// between them.
//
//	"libraries": {"Newtonsoft.Json/13.0.1": {"sha512": "ppPF…==", "type": "package", "path": "newtonsoft.json/13.0.1", "files": […]},
//	  "Acme.Core/1.0.0": {"type": "project", "path": "../Core/Core.csproj"}}
func readNuGetAssets(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	action := timeline.Resolve
	if strings.HasSuffix(d.Name, ".deps.json") {
		action = timeline.Present
	}
	for _, v := range all {
		for id, p := range v.get("libraries").fields() {
			if p.get("type").text() != "package" {
				continue
			}
			name, version, _ := strings.Cut(id, "/")
			it, ok := evidence.NuGet(name, version)
			if at(d, o, p); !ok || version == "" {
				o.Skip("a package without name or version")
				continue
			}
			at(d, o, p.get("type"))
			o.Emit(action, nil, it)
		}
	}
	return err
}

// NuGetConfig is packages.config, the list of packages of older projects.
// Chocolatey's lists have the same name.
// https://learn.microsoft.com/en-us/nuget/reference/packages-config
// https://docs.chocolatey.org/en-us/choco/commands/install/#packages.config
var NuGetConfig = evidence.Format{
	Name:   "packages-config",
	Shape:  evidence.DocumentShape,
	Title:  "packages.config of NuGet and Chocolatey",
	Proves: "the packages that a project, or a machine, asks for, with exact versions where it says them",
	Cannot: "that they were installed, or when",
	Doc:    "https://learn.microsoft.com/en-us/nuget/reference/packages-config",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return strings.HasPrefix(strings.ToLower(h.Name), "packages.") && strings.HasSuffix(strings.ToLower(h.Name), ".config") && xmlRoot(h) == "packages"
	},
	Read: readPackagesConfig,
}

// chocolateyOnly are attributes that NuGet does not know.
var chocolateyOnly = []string{"source", "installArguments", "packageParameters", "ignoreDependencies", "forceX86", "x86", "allowDowngrade", "pinPackage", "executionTimeout", "applyPackageParametersToDependencies"}

// readPackagesConfig reads each package; without a version it is one of
// Chocolatey, as NuGet demands one.
//
//	<package id="Newtonsoft.Json" version="13.0.1" targetFramework="net472" />
//	<package id="git" version="2.45.1" source="https://mirror.acme.example/choco/" />
func readPackagesConfig(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	var packages []*xmlElement
	kind := "nuget"
	err := eachXML(d, func(e *xmlElement) {
		if !e.is("package") || !e.parent.is("packages") {
			return
		}
		packages = append(packages, e)
		for _, name := range chocolateyOnly {
			if e.attr(name) != "" {
				kind = "chocolatey"
			}
		}
		if e.attr("version") == "" {
			kind = "chocolatey"
		}
	})
	for _, e := range packages {
		it, ok := evidence.NuGet(e.attr("id"), e.attr("version"))
		if onLine(d, o, e.off); !ok {
			o.Skip("a package without a name, or with a broken version")
			continue
		}
		if kind != "nuget" {
			it.Artifact = timeline.PURL(kind, "", strings.ToLower(e.attr("id")), e.attr("version"))
		}
		o.Emit(timeline.Require, nil, it)
	}
	return err
}

// MSBuild is a project of .NET, or a file of properties that its projects share.
// https://learn.microsoft.com/en-us/nuget/consume-packages/package-references-in-project-files
// https://learn.microsoft.com/en-us/nuget/consume-packages/central-package-management
var MSBuild = evidence.Format{
	Name:   "msbuild-project",
	Shape:  evidence.DocumentShape,
	Title:  "Projects of .NET (.csproj and its kin, Directory.Packages.props)",
	Proves: "the packages that a project asks for, and from which version on",
	Cannot: "which version a restore chose; conditions of a reference, and versions that stand in properties",
	Doc:    "https://learn.microsoft.com/en-us/nuget/consume-packages/package-references-in-project-files",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		name := strings.ToLower(h.Name)
		dot := strings.LastIndexByte(name, '.')
		return dot >= 0 && msbuildFiles[name[dot:]] && xmlRoot(h) == "Project"
	},
	Read: readMSBuild,
}

var msbuildFiles = map[string]bool{".csproj": true, ".fsproj": true, ".vbproj": true, ".vcxproj": true, ".sqlproj": true, ".wixproj": true, ".proj": true, ".props": true, ".targets": true}

// msbuildItems are the elements that ask for a package.
var msbuildItems = map[string]bool{"packagereference": true, "packageversion": true, "globalpackagereference": true, "packagedownload": true}

// readMSBuild reads references; a version alone is the lowest that will do, and
// only one in brackets is exact.
// https://learn.microsoft.com/en-us/nuget/concepts/package-versioning#version-ranges
//
//	<PackageReference Include="Newtonsoft.Json" Version="13.0.1" />
//	<PackageReference Include="Serilog"><Version>[3.1.1]</Version></PackageReference>
//	<PackageVersion Include="Dapper" Version="2.*" />
func readMSBuild(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	return eachXML(d, func(e *xmlElement) {
		if !msbuildItems[strings.ToLower(e.name)] {
			return
		}
		asked := e.attr("VersionOverride")
		if asked == "" {
			asked = e.attr("Version")
		}
		exact := ""
		switch inner, open := strings.CutPrefix(asked, "["); {
		case strings.Contains(asked, "$("):
			asked = "" // a property, which stands elsewhere
		case open && strings.HasSuffix(inner, "]") && !strings.Contains(inner, ","):
			exact = strings.TrimSpace(strings.TrimSuffix(inner, "]"))
		case evidence.IsNuGetVersion(asked):
			asked = ">=" + asked
		}
		for name := range strings.SplitSeq(e.attr("Include"), ";") {
			it, ok := evidence.NuGet(strings.TrimSpace(name), exact)
			if !ok {
				continue // a property or a pattern
			}
			it.Ref = asked
			onLine(d, o, e.off)
			o.Emit(timeline.Require, nil, it)
		}
	})
}

package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// extensionPath reads the paths of galleries of editor extensions, and of copies
// of Open VSX. What is asked about an extension (its manifest, its icon, a query)
// brings nothing.
//
//	/_apis/public/gallery/publishers/nrwl/vsextensions/angular-console/18.95.0/vspackage
//	/_apis/public/gallery/publisher/nrwl/extension/angular-console/18.95.0/assetbyname/Microsoft.VisualStudio.Services.VSIXPackage
//	/extensions/nrwl/angular-console/18.95.0/1747571760000/Microsoft.VisualStudio.Services.VSIXPackage
//	/vscode/asset/checkmarx/ast-results/2.53.0/Microsoft.VisualStudio.Services.VSIXPackage
//	/api/checkmarx/ast-results/2.53.0/file/checkmarx.ast-results-2.53.0.vsix
//	/api/redhat/java/linux-x64/1.30.0/file/redhat.java-1.30.0@linux-x64.vsix
//	/checkmarx/ast-results/2.53.0/checkmarx.ast-results-2.53.0.vsix      (its storage)
//
// https://github.com/eclipse-openvsx/openvsx/wiki/Using-Open-VSX-in-VS-Code
func extensionPath(w []string, last string) (timeline.Item, pathKind) {
	n := len(w)
	switch {
	case last == "vspackage" && n >= 5 && w[n-4] == "vsextensions":
		return extensionOf(w[n-5], w[n-3], w[n-2])
	case strings.EqualFold(last, vsixAsset):
		return assetPath(w[:n-1])
	case strings.HasSuffix(last, ".vsix") && n >= 2:
		it, ok := evidence.ExtensionFolder(unescapedPath(strings.TrimSuffix(last, ".vsix")))
		if ok {
			return it, wholeFile
		}
	}
	return timeline.Item{}, noPath
}

// vsixAsset is the name of the file itself among what a gallery holds of a version.
const vsixAsset = "Microsoft.VisualStudio.Services.VSIXPackage"

// assetPath reads what stands before the name of a file in a gallery.
func assetPath(w []string) (timeline.Item, pathKind) {
	n := len(w)
	switch {
	case n >= 6 && w[n-1] == "assetbyname" && w[n-4] == "extension":
		return extensionOf(w[n-5], w[n-3], w[n-2])
	case n >= 5 && w[n-5] == "extensions": // behind the version stands when it was published
		return extensionOf(w[n-4], w[n-3], w[n-2])
	case n >= 4 && (w[n-4] == "asset" || w[n-4] == "extensions"):
		return extensionOf(w[n-3], w[n-2], w[n-1])
	}
	return timeline.Item{}, noPath
}

func extensionOf(publisher, name, version string) (timeline.Item, pathKind) {
	it, ok := evidence.ExtensionItem(publisher+"."+name, unescapedPath(version), "")
	if !ok || version == "" {
		return timeline.Item{}, noPath
	}
	return it, wholeFile
}

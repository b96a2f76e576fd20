package tool

import "testing"

// TestEditorPaths holds that files of extensions and plugins are known by their
// paths, and what is only asked about them is not.
func TestEditorPaths(t *testing.T) {
	for path, want := range map[string]string{
		"/_apis/public/gallery/publishers/nrwl/vsextensions/angular-console/18.95.0/vspackage":                                           "pkg:vscode-extension/nrwl/angular-console@18.95.0",
		"/_apis/public/gallery/publisher/nrwl/extension/angular-console/18.95.0/assetbyname/Microsoft.VisualStudio.Services.VSIXPackage": "pkg:vscode-extension/nrwl/angular-console@18.95.0",
		"/extensions/Nrwl/angular-console/18.95.0/1779107760000/Microsoft.VisualStudio.Services.VSIXPackage":                             "pkg:vscode-extension/nrwl/angular-console@18.95.0",
		"/vscode/asset/checkmarx/ast-results/2.53.0/Microsoft.VisualStudio.Services.VSIXPackage":                                         "pkg:vscode-extension/checkmarx/ast-results@2.53.0",
		"/api/redhat/java/linux-x64/1.30.0/file/redhat.java-1.30.0@linux-x64.vsix":                                                       "pkg:vscode-extension/redhat/java@1.30.0?platform=linux-x64",
		"/download/plugins/mailer/472.vf7c289a_4b_420/mailer.hpi":                                                                        "pkg:generic/mailer@472.vf7c289a_4b_420",
		"/download/plugins/mailer/472.vf7c289a_4b_420/other.hpi":                                                                         "",
		"/download/plugins/mailer/472.vf7c289a_4b_420/mailer.hpi.sha256":                                                                 "",
		"/latest/mailer.hpi": "",
		"/extensions/nrwl/angular-console/18.95.0/1779107760000/Microsoft.VisualStudio.Code.Manifest": "",
		"/api/nrwl/angular-console/18.95.0": "",
		"/vspackage":                        "",
		"/a/b/c/d/vspackage":                "",
	} {
		item, kind := packagePath(path)
		if item.Artifact != want || (kind == wholeFile) != (want != "") {
			t.Errorf("%s: got %q (%d), want %q", path, item.Artifact, kind, want)
		}
		if want != "" && !serves([]byte(path)) {
			t.Errorf("%s: the quick look passes it over", path)
		}
	}
}

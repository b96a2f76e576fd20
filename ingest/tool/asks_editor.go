package tool

import (
	"path"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// editors are the commands of VS Code and of editors made from it.
var editors = wordSet("code code-insiders code-exploration code-oss code-tunnel codium vscodium codium-insiders vscodium-insiders " +
	"cursor cursor-server windsurf windsurf-next windsurf-server code-server code-server-insiders code-server-oss openvscode-server " +
	"codium-server trae kiro positron antigravity void server.sh")

// isEditor knows them by name, with the ends that they have on Windows.
func isEditor(name string) bool {
	if lower := strings.ToLower(name); strings.HasSuffix(lower, ".cmd") { // Windows knows no case
		name = strings.TrimSuffix(lower, ".cmd")
	}
	return editors[name]
}

// editorValued are the options of an editor that take a word.
var editorValued = wordSet("--install-extension --install-builtin-extension --uninstall-extension --extensions-dir --user-data-dir --profile --category --log " +
	"--locale --add --goto --diff --sync --enable-proposed-api --server-data-dir --extensions-download-dir --host --port --connection-token " +
	"--connection-token-file --telemetry-level --bind-addr --auth --config --locate-shell-integration-path -a -g")

// editorAsk reads what an editor is told to install. It prints the versions of
// what it is told, and none of what that brings along; a file is named as whoever
// made it chose.
// https://code.visualstudio.com/docs/editor/command-line#_working-with-extensions
//
//	code --install-extension nrwl.angular-console@18.95.0 --force
//	code-server --install-extension ./acme.tools-1.2.3.vsix
//	code --update-extensions
//	code ext install nrwl.angular-console
func editorAsk(args []string) *ask {
	f, plain := splitFlags(args, editorValued)
	if f.has("--help", "-h") {
		return nil
	}
	a := &ask{tool: extensionTool, kind: timeline.VSCodeExtension, unnamed: f.has("--update-extensions")}
	words := append(f["--install-extension"], f["--install-builtin-extension"]...)
	if len(plain) > 2 && plain[0] == "ext" && (plain[1] == "install" || plain[1] == "update") {
		words = append(words, plain[2:]...)
	}
	for _, w := range words {
		a.name(extensionWord(w))
	}
	a.none = f.has("--uninstall-extension") && len(words) == 0
	if len(a.items) == 0 && !a.unnamed && !a.none {
		return nil
	}
	return a
}

// extensionTool is whose output answers what editors and ovsx are told.
const extensionTool = "vscode"

// extensionWord reads one thing to install: a name with a version, or a file.
//
//	nrwl.angular-console    nrwl.angular-console@18.95.0    github.copilot@prerelease
func extensionWord(w string) (timeline.Item, bool) {
	if variable(w) {
		return timeline.Item{}, false
	}
	if file, ok := strings.CutSuffix(w, ".vsix"); ok {
		it, ok := evidence.ExtensionFolder(path.Base(strings.ReplaceAll(file, `\`, "/")))
		it.Ref = evidence.Redact(w)
		return it, ok
	}
	id, version, _ := strings.Cut(w, "@")
	if it, ok := evidence.ExtensionItem(id, version, ""); ok {
		return it, true
	}
	it, ok := evidence.ExtensionItem(id, "", "")
	it.Ref = evidence.Redact(version)
	return it, ok
}

// ovsxAsk reads the command of Open VSX that fetches a file.
// https://github.com/eclipse-openvsx/openvsx/tree/master/cli
//
//	ovsx get checkmarx.ast-results --versionRange 2.53.0 -o ext.vsix
func ovsxAsk(_ string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-v -o -r -p -t --versionRange --output --registryUrl --pat --target"))
	if len(plain) < 2 || plain[0] != "get" || f.has("--help", "-h", "--metadata") {
		return nil
	}
	a := &ask{tool: extensionTool, kind: timeline.VSCodeExtension}
	for _, w := range plain[1:] {
		it, ok := extensionWord(strings.Replace(w, "/", ".", 1))
		for _, v := range append(f["-v"], f["--versionRange"]...) {
			it.Ref = evidence.Redact(v)
			if at, exact := extensionWord(strings.Replace(w, "/", ".", 1) + "@" + v); exact && at.Ref == "" {
				it = at
			}
		}
		a.name(it, ok)
	}
	return a
}

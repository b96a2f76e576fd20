package tool

import (
	"slices"
	"strings"

	"pulltrail/timeline"
)

// scanValued are the options of scanners that take a word.
var scanValued = wordSet("-s --severity -f --format --exit-code --timeout --cache-dir --ignorefile --scanners --vuln-type --pkg-types --template -t -o --output " +
	"--skip-dirs --skip-files --input --db-repository --java-db-repository --username --password --server --token --platform -c --config --ignore-policy " +
	"--security-checks --token-header --fail-on --scope --file --name --distro --exclude --from --source-name --source-version " +
	"-r --requirement --path -i --index-url --ignore-vuln -L --lockfile -S --sbom --data-source --severity-threshold --org --project-name --target-reference --command --package-manager")

// scanOf tells what a command has a scanner look at.
//
//	trivy image --severity HIGH registry.acme.example/api:1.4
//	trivy fs .
//	grype docker:registry.acme.example/api:1.4
//	syft scan dir:.
//	pip-audit -r requirements.txt
func scanOf(name string, args []string) (s scan) {
	f, plain := splitFlags(args, scanValued)
	switch name {
	case "trivy":
		return trivyScan(f, plain)
	case "grype", "syft":
		return anchoreScan(plain)
	case "pip-audit":
		s.what = environmentScanned
		if len(plain) > 0 || f.has("-r", "--requirement", "--locked", "--path") {
			s.what = projectScanned
		}
	case "docker":
		return scoutScan(plain)
	case "osv-scanner", "snyk":
		s.what = projectScanned
	}
	return s
}

func trivyScan(f flags, plain []string) (s scan) {
	if len(plain) == 0 {
		return s
	}
	verb, last := plain[0], plain[len(plain)-1]
	switch {
	case verb == "image" || verb == "i":
		s.what = imageScanned
		if len(plain) > 1 && !f.has("--input") {
			s.image = scannedImage(last)
		}
	case slices.Contains([]string{"fs", "filesystem", "repo", "repository"}, verb):
		s.what = projectScanned
	case verb == "rootfs" && last == "/":
		s.what = environmentScanned
	case len(plain) == 1 && strings.ContainsAny(verb, ":/"): // before there were verbs
		s.what, s.image = imageScanned, scannedImage(verb)
	}
	return s
}

func anchoreScan(plain []string) (s scan) {
	if len(plain) > 1 && (plain[0] == "scan" || plain[0] == "packages" || plain[0] == "attest") {
		plain = plain[1:]
	}
	if len(plain) != 1 {
		return s
	}
	scheme, rest, ok := strings.Cut(plain[0], ":")
	switch {
	case ok && slices.Contains([]string{"dir", "file"}, scheme):
		s.what = projectScanned
	case ok && slices.Contains([]string{"docker", "podman", "containerd", "registry"}, scheme):
		s.what, s.image = imageScanned, scannedImage(rest)
	case ok && slices.Contains([]string{"sbom", "purl", "docker-archive", "oci-archive", "oci-dir", "singularity"}, scheme):
	case strings.HasPrefix(plain[0], ".") || strings.HasPrefix(plain[0], "/"):
		s.what = projectScanned
	default:
		s.what, s.image = imageScanned, scannedImage(plain[0])
	}
	return s
}

// scannedImage is the subject's name of an image that was scanned; a bare word may
// be a folder, a variable anything.
func scannedImage(ref string) string {
	if strings.ContainsAny(ref, "$*{") || !strings.ContainsAny(ref, ":/@") {
		return ""
	}
	r, ok := timeline.ParseImage(ref)
	if !ok {
		return ""
	}
	if r.Digest != "" {
		return r.Digest
	}
	return r.String()
}

// trivy knows when Trivy prints a table.
func (c listCommand) trivy() (*listKind, bool) {
	f, plain := splitFlags(c.args, scanValued)
	if len(plain) == 0 || slices.Contains([]string{"config", "conf", "plugin", "server", "version", "clean", "convert", "registry", "module"}, plain[0]) {
		return nil, false
	}
	return trivyList, f.has("-o", "--output") || otherFormat(f, "table")
}

// anchore knows when Grype and Syft print a table.
func (c listCommand) anchore() (*listKind, bool) {
	f, plain := splitFlags(c.args, scanValued)
	if len(plain) == 0 || slices.Contains([]string{"db", "version", "login", "config", "cataloger", "convert", "completion", "explain"}, plain[0]) {
		return nil, false
	}
	return anchoreList, f.has("--file") || slices.ContainsFunc(append(f["-o"], f["--output"]...), func(s string) bool { return s != "table" && s != "syft-table" })
}

func (c listCommand) pipAudit() (*listKind, bool) {
	f, _ := splitFlags(c.args, scanValued)
	return pipAudits, f.has("-o", "--output") || otherFormat(f, "columns")
}

func (c listCommand) osvScanner() (*listKind, bool) {
	f, plain := splitFlags(c.args, scanValued)
	if slices.Contains(plain, "image") || slices.Contains(plain, "fix") || f.has("--docker", "-D") {
		return nil, false
	}
	return osvList, f.has("--output", "--json") || otherFormat(f, "table")
}

func (c listCommand) snyk() (*listKind, bool) {
	f, plain := splitFlags(c.args, scanValued)
	return c.one(len(plain) > 0 && plain[0] == "test" && !f.has("--docker"), snykList, "--json", "--sarif")
}

// otherFormat reports whether a scanner is told to print something else.
func otherFormat(f flags, usual string) bool {
	return slices.ContainsFunc(append(f["-f"], f["--format"]...), func(s string) bool { return s != usual })
}

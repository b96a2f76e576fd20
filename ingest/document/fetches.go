package document

import (
	"slices"
	"strings"

	"pulltrail/timeline"
)

// installers are the programs that fetch packages, with their package type and
// the words after which they do.
var installers = map[string]struct {
	kind string
	verb []string
}{
	"pip": {"pypi", []string{"install", "download", "wheel"}}, "pip3": {"pypi", []string{"install", "download", "wheel"}},
	"uv": {"pypi", []string{"sync", "add", "install", "run"}}, "uvx": {"pypi", nil}, "pipx": {"pypi", []string{"install", "run"}},
	"poetry": {"pypi", []string{"install", "add", "update"}}, "pdm": {"pypi", []string{"install", "sync", "add"}},
	"pipenv": {"pypi", []string{"install", "sync"}}, "conda": {"conda", []string{"install", "create", "update"}},
	"mamba": {"conda", []string{"install", "create", "update"}}, "micromamba": {"conda", []string{"install", "create", "update"}},
	"npm": {"npm", []string{"install", "i", "ci", "add", "update"}}, "npx": {"npm", nil}, "pnpm": {"npm", []string{"install", "i", "add", "dlx"}},
	"yarn": {"npm", nil}, "bun": {"npm", []string{"install", "add"}},
}

// fetches returns what a shell command may have fetched: the packages that it
// names, else the ecosystem of its installer.
//
//	pip install --no-cache-dir litellm && rm -rf /tmp/x
func fetches(command string) []string {
	var all []string
	add := func(a string) {
		if !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	for part := range strings.FieldsFuncSeq(command, func(r rune) bool { return strings.ContainsRune(";&|\n(){}`", r) }) {
		kind, args := installerOf(strings.Fields(part))
		if kind == "" {
			continue
		}
		named := false
		for _, word := range args {
			word = strings.Trim(word, `'"`)
			if strings.HasPrefix(word, "-") || kind != "pypi" {
				continue
			}
			if r, ok := parseRequirement(word); ok && !strings.ContainsAny(word, "/") {
				add(timeline.PURL("pypi", "", r.name, r.version))
				named = true
			}
		}
		if !named {
			add(timeline.Ecosystem(kind))
		}
	}
	return all
}

// installerOf finds the installer in the words of a simple command and what is
// given to it; words before it set variables, wrap it or run it as a module.
func installerOf(words []string) (kind string, args []string) {
	for i, w := range words {
		name := w[strings.LastIndexByte(w, '/')+1:]
		if strings.HasPrefix(name, "pip3.") {
			name = "pip" // pip3.12
		}
		known, ok := installers[name]
		if !ok {
			continue
		}
		if known.verb == nil {
			return known.kind, nil
		}
		for j, v := range words[i+1:] {
			if slices.Contains(known.verb, v) {
				return known.kind, withoutValues(words[i+2+j:])
			}
		}
		return "", nil
	}
	return "", nil
}

// withoutValues drops options whose value is the next word.
func withoutValues(words []string) []string {
	var args []string
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "-r", "--requirement", "-c", "--constraint", "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-t", "--target",
			"--prefix", "--root", "--python", "-p", "--trusted-host", "-e", "--editable", "--progress-bar", "--platform", "--cache-dir":
			i++
		default:
			args = append(args, words[i])
		}
	}
	return args
}

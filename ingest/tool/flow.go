package tool

import "strings"

// flow follows which commands of a script need not run, though the script does:
// those of a condition, a loop or a function, and those behind a way out.
type flow struct {
	depth int
	leaf  bool // the script may have ended before
}

// forked reports whether the command at work need not run.
func (f *flow) forked() bool { return f.depth > 0 || f.leaf }

// follow reads the first words of a command:
//
//	if [ -f Dockerfile ]; then docker build .; fi
//	build() { docker build .; }
//	[ -n "$TAG" ] || exit 0
func (f *flow) follow(words []string) {
	for len(words) > 0 && (words[0] == "then" || words[0] == "do" || words[0] == "else" || words[0] == "!" || words[0] == "elif") {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	last := words[len(words)-1]
	switch word := words[0]; {
	case word == "if", word == "for", word == "while", word == "until", word == "case", word == "select", word == "foreach", word == "try":
		f.depth++
	case word == "fi", word == "done", word == "esac", strings.HasPrefix(word, "}"):
		f.depth = max(0, f.depth-1)
		if last != word && last == "{" { // } else {
			f.depth++
		}
	case word == "exit", word == "return", word == "break", word == "continue", word == "goto":
		f.leaf = true
	case word == "{", word == "function", word != last && last == "{", strings.HasSuffix(word, "()"):
		f.depth++
	}
}

package tool

import "strings"

// flags are options with their values, in the order given.
type flags map[string][]string

func (f flags) has(names ...string) bool {
	for _, n := range names {
		if _, ok := f[n]; ok {
			return true
		}
	}
	return false
}

// leadingFlags reads the options before the first plain word.
func leadingFlags(args []string, valued map[string]bool) (flags, []string) {
	f := flags{}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		if args[0] == "--" {
			return f, args[1:]
		}
		args = f.take(args, valued)
	}
	return f, args
}

// untilProgram drops what stands behind the program that one of the verbs runs:
// options there are the program's, and say nothing of the command.
//
//	pipx run --spec litellm==1.107.0 litellm --version
//	pnpm dlx create-app --help
func untilProgram(args []string, valued, verbs map[string]bool) []string {
	_, rest := leadingFlags(args, valued)
	if len(rest) == 0 || !verbs[rest[0]] {
		return args
	}
	_, program := leadingFlags(rest[1:], valued)
	return args[:len(args)-max(len(program)-1, 0)]
}

// splitFlags tells options from plain words wherever they stand.
func splitFlags(args []string, valued map[string]bool) (f flags, plain []string) {
	f = flags{}
	for len(args) > 0 {
		if args[0] == "--" {
			return f, append(plain, args[1:]...)
		}
		if !strings.HasPrefix(args[0], "-") || args[0] == "-" {
			plain = append(plain, args[0])
			args = args[1:]
			continue
		}
		args = f.take(args, valued)
	}
	return f, plain
}

// take reads the option at the start of args and returns the words behind it.
func (f flags) take(args []string, valued map[string]bool) []string {
	w, args := args[0], args[1:]
	if name, value, ok := strings.Cut(w, "="); ok && strings.HasPrefix(w, "--") {
		f[name] = append(f[name], value)
		return args
	}
	if strings.HasPrefix(w, "--") || valued[w] {
		return f.value(w, args, valued)
	}
	for i := 1; i < len(w); i++ { // -qU, -rrequirements.txt
		name := "-" + w[i:i+1]
		if valued[name] && i+1 < len(w) {
			f[name] = append(f[name], w[i+1:])
			return args
		}
		if valued[name] {
			return f.value(name, args, valued)
		}
		f[name] = append(f[name], "")
	}
	return args
}

func (f flags) value(name string, args []string, valued map[string]bool) []string {
	if !valued[name] || len(args) == 0 {
		f[name] = append(f[name], "")
		return args
	}
	f[name] = append(f[name], args[0])
	return args[1:]
}

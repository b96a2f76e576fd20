package tool

import "bytes"

// Hears tells the lines that may show what a script ran, or that a list waits
// for, from the output of anything: see ranLine.
func (e *echo) Hears(text []byte) bool {
	if len(e.listed.lists) > 0 || e.half != nil || e.runs.headed {
		return true
	}
	if !e.runs.waits && !e.runs.recipes || len(text) == 0 {
		return false
	}
	switch text[0] {
	case '>':
		return true
	case 't', 'P', 'T', 'm':
		for _, w := range [...]string{"task: [", "Poe => ", "Task ", "make: "} {
			if bytes.HasPrefix(text, []byte(w)) {
				return true
			}
		}
	}
	if e.runs.recipes && beginsRecipe(text) && !(e.runs.made && compiles(text)) {
		return true
	}
	i := bytes.IndexByte(text[:min(len(text), maxPrompt)], '$')
	return i > 0 && i+1 < len(text) && text[i+1] == ' ' || i > 0 && bytes.Contains(text[i+1:], []byte("$ "))
}

// maxPrompt bounds what stands before a command of yarn workspaces and lerna.
const maxPrompt = 121

// beginsRecipe reports whether the first word of a line may be one that
// isRecipe knows. It is quick: most lines are none.
func beginsRecipe(text []byte) bool {
	name, n := 0, 0 // where the name behind the path begins, where the word ends
	for ; n < len(text) && text[n] != ' '; n++ {
		if !oddInWord[text[n]] {
			continue
		}
		switch c := text[n]; {
		case c == '/', c == '\\':
			name = n + 1
		case c != '=' || n > 0 && (letter(text[0]) || text[0] == '_'):
			return true // an assignment, or what may be a blank
		}
	}
	if n == 0 {
		return false
	}
	word := text[:n]
	if word[0] == '$' || name > 0 && bytes.Contains(word, []byte("/bin/")) || endsScript(word[name:], name > 0) && isScript(string(word)) {
		return true
	}
	base := bytes.TrimSuffix(word[name:], []byte(".exe"))
	switch n := len(base); {
	case n == 0 || n > longestProgram:
		return false
	case n == 1 && base[0] == '[' && !closes(text):
		return false
	case n > 1 && recipePairs[base[0]][base[1]/8]>>(base[1]%8)&1 == 0:
		return false
	}
	return begins(string(base))
}

// closes reports whether a line that begins with "[" is a test of a shell, and no
// progress of cmake, ctest or googletest:
//
//	[ -d venv ] || python3 -m venv venv
//	[ 50%] Building CXX object src/flow.cpp.o
//	[       OK ] digest_test.queue_region (939 ms)
func closes(text []byte) bool {
	for {
		i := bytes.Index(text, []byte(" ]"))
		if i < 0 {
			return false
		}
		text = bytes.TrimLeft(text[i+2:], " ")
		if len(text) == 0 || text[0] == ';' || text[0] == '&' || text[0] == '|' {
			return true
		}
	}
}

// longestProgram is longer than the names that begins knows.
const longestProgram = 24

// oddInWord are the characters that make a word more than a name: those of a
// path or an assignment, and what might be a blank.
var oddInWord = func() (table [256]bool) {
	for c := range table {
		table[c] = c < ' ' || c >= 0x7f
	}
	table['/'], table['\\'], table['='] = true, true, true
	return table
}()

// endsScript reports whether a file may be one that isScript knows by its
// ending, in a folder also without one.
func endsScript(base []byte, folder bool) bool {
	dot := bytes.LastIndexByte(base, '.')
	if dot < 0 {
		return folder
	}
	switch string(base[dot:]) {
	case ".sh", ".bash", ".zsh", ".ksh", ".ps1", ".bat", ".cmd":
		return true
	case ".py":
		return folder
	}
	return false
}

// begins reports whether a program that recipes call goes by the name, or one
// that calls others.
func begins(name string) bool {
	_, wraps := wrappers[name]
	return wraps || isPython(name) || isPip(name) || asking[name] != nil || shells[name] || recipes[name] || recipePrograms[name]
}

// recipePairs are the first two characters of those names, as bits.
var recipePairs = func() (table [256][32]byte) {
	add := func(name string) {
		if len(name) > longestProgram {
			panic("tool: a name is longer than longestProgram: " + name)
		}
		if len(name) > 1 {
			table[name[0]][name[1]/8] |= 1 << (name[1] % 8)
		}
	}
	for name := range wrappers {
		add(name)
	}
	for name := range asking {
		add(name)
	}
	for _, set := range []map[string]bool{shells, recipes, recipePrograms, wordSet("python pip py pypy3")} {
		for name := range set {
			add(name)
		}
	}
	return table
}()

// Hears tells complaints about what is in the environment from the output of
// anything: see conflict.
func (p *pip) Hears(text []byte) bool {
	if p.gem || p.asked != nil || p.long != nil || p.gems != nil {
		return true
	}
	text = bytes.TrimRight(text, " \t")
	if len(text) == 0 {
		return false
	}
	last := text[len(text)-1]
	return last == '.' || last < ' ' || last >= 0x80
}

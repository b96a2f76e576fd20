package tool

import (
	"bytes"
	"encoding/binary"
	"maps"
)

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
	if len(text) > 1 && text[0] == '{' && text[1] == '"' {
		return false // an object
	}
	n := 0
	for n < len(text) && inName[text[n]] {
		n++
	}
	switch {
	case n < len(text) && text[n] != ' ':
		return !beginsNone[text[0]] && beginsOdd(text, n)
	case n == 1 && text[0] == '[':
		return closes(text)
	}
	return begins(text[:n])
}

// beginsNone are the characters that no command of a recipe begins with, and
// lines of all kinds do.
var beginsNone = [256]bool{'=': true, '-': true, '*': true, '#': true, '|': true, '>': true}

// beginsOdd is beginsRecipe for a first word that is more than a name, which
// shows at n.
func beginsOdd(text []byte, n int) bool {
	n += plainWord(text[n:])
	if n < len(text) && text[n] != ' ' {
		return true // by what may be a blank
	}
	if n == 0 {
		return false
	}
	word := text[:n]
	name := n // where the name behind the path begins
	for name > 0 && word[name-1] != '/' && word[name-1] != '\\' {
		name--
	}
	switch {
	case word[0] == '$', (letter(word[0]) || word[0] == '_') && bytes.IndexByte(word, '=') >= 0, // an assignment
		name > 0 && bytes.Contains(word, []byte("/bin/")),
		endsScript(word, name) && isScript(string(word)):
		return true
	}
	return begins(bytes.TrimSuffix(word[name:], []byte(".exe")))
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

// inName are the characters that are nothing but a part of a name.
var inName = func() (table [256]bool) {
	for c := range table {
		table[c] = c > ' ' && c < 0x7f
	}
	for _, c := range []byte(`/\=.$`) {
		table[c] = false
	}
	return table
}()

// plainWord returns how many bytes at the beginning of text end no word and might
// be no blank, eight at a time: paths are long.
func plainWord(text []byte) (n int) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for n+8 <= len(text) {
		eight := binary.LittleEndian.Uint64(text[n:])
		if odd := (eight - ('!' * ones)) | eight; odd&high != 0 { // also where a byte below borrows: the rest is looked at alone
			break
		}
		n += 8
	}
	for n < len(text) && text[n] > ' ' && text[n] < 0x80 {
		n++
	}
	return n
}

// endsScript reports whether a file, whose name begins at name, may be one that
// isScript knows: by its ending, in a folder of the project also without one.
func endsScript(word []byte, name int) bool {
	base := word[name:]
	dot := bytes.LastIndexByte(base, '.')
	if dot < 0 {
		first, _, _ := bytes.Cut(word, []byte("/"))
		return name > 0 && len(first) > 0 && (first[0] == '.' || scriptFolders[string(first)] || bytes.IndexByte(word, '\\') >= 0)
	}
	switch string(base[dot:]) {
	case ".sh", ".bash", ".zsh", ".ksh", ".ps1", ".bat", ".cmd":
		return true
	case ".py":
		return name > 0 && mayNameTask(word)
	}
	return false
}

// begins reports whether a program that recipes call goes by the name, or one
// that calls others.
func begins(name []byte) bool {
	n := len(name)
	if n == 0 || n > longestProgram || n > 1 && recipePairs[name[0]][name[1]/8]>>(name[1]%8)&1 == 0 {
		return false
	}
	return recipeNames[string(name)] || name[0] == 'p' && (isPython(string(name)) || isPip(string(name)))
}

// longestProgram is longer than the names that begins knows.
const longestProgram = 24

// recipeNames are the names of those programs, but for versions of python and
// pip.
var recipeNames = func() map[string]bool {
	names := wordSet("python pip py pypy3")
	for name := range wrappers {
		names[name] = true
	}
	for name := range asking {
		names[name] = true
	}
	for _, set := range []map[string]bool{shells, recipes, recipePrograms} {
		maps.Copy(names, set)
	}
	return names
}()

// recipePairs are the first two characters of those names, as bits.
var recipePairs = func() (table [256][32]byte) {
	for name := range recipeNames {
		if len(name) > longestProgram {
			panic("tool: a name is longer than longestProgram: " + name)
		}
		if len(name) > 1 {
			table[name[0]][name[1]/8] |= 1 << (name[1] % 8)
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

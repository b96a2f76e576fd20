package tool

import (
	"slices"
	"strings"
)

// shellCommand is one simple command of a command line.
type shellCommand struct {
	words  []string
	maybe  bool     // it stands behind && or ||
	muted  bool     // its output goes to a file or to /dev/null
	hidden bool     // and nobody wants to read it: to /dev/null, or errors with it
	to     string   // the file that its output goes to
	fed    string   // the command that fetched what it reads or what stands in it: curl … |, <(curl …), $(curl …)
	from   string   // the file that it reads
	behind []string // the words of the command whose output it reads
	yields string   // the commands whose output stands in its words: $( … )
	piped  bool     // and that is behind a bar
	joined bool     // its errors go where its output goes
	sifted bool     // another command shows only some of both: 2>&1 | tail -5
}

// maxCommand bounds the command lines that are read, joined lines included.
const maxCommand = 16 << 10

// shell takes a command line apart as a POSIX shell would, as far as that tells
// which programs are called with which words. Nothing is expanded.
// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html
type shell struct {
	text     string
	pos      int
	word     []byte
	inWord   bool
	quoted   bool
	command  shellCommand
	commands []shellCommand
	nested   []string // commands whose output the shell keeps for itself: $( … ) and ` … `
	here     string   // delimiter of a here-document that follows
	open     bool     // the line ends inside quotes or with a backslash
}

// shellCommands returns the simple commands of a line, the delimiter of a
// here-document that follows it, and whether the command goes on in the next
// line.
func shellCommands(line string) (commands []shellCommand, here string, open bool) {
	if len(line) > maxCommand {
		line = line[:maxCommand]
	}
	if strings.Contains(line, "IFS}") {
		line = strings.ReplaceAll(line, "${IFS}", " ")
	}
	s := shell{text: line}
	for s.pos < len(s.text) {
		s.next()
	}
	s.endCommand()
	for _, inner := range s.nested {
		if len(inner) >= len(line) { // never: what is inside is shorter
			break
		}
		within, _, _ := shellCommands(inner)
		for _, c := range within {
			c.muted = true
			s.commands = append(s.commands, c)
		}
	}
	return s.commands, s.here, s.open
}

func (s *shell) next() {
	c := s.text[s.pos]
	s.pos++
	switch c {
	case ' ', '\t':
		s.endWord()
	case '\n', ';', '(', ')':
		s.endCommand()
	case '&', '|':
		if c == '&' && s.peek() == '>' { // &> file
			s.endWord()
			s.pos++
			s.redirect("")
			s.command.hidden = s.command.muted
			return
		}
		s.endCommand()
		s.pipe(c)
	case '<', '>':
		s.pos--
		s.arrow()
	case '#':
		if s.inWord {
			s.add(c)
			return
		}
		if i := strings.IndexByte(s.text[s.pos:], '\n'); i >= 0 {
			s.pos += i
		} else {
			s.pos = len(s.text)
		}
	case '\\':
		s.backslash()
	case '\'', '"':
		s.quote(c)
	case '$':
		s.add(c)
		if start := s.pos; s.peek() == '(' || s.peek() == '{' {
			if s.substitution(); s.text[start] == '{' {
				s.word = append(s.word, s.text[start:s.pos]...)
			}
		}
	case '`':
		s.add(c)
		s.backtick()
	default:
		start := s.pos - 1
		for s.pos < len(s.text) && !special[s.text[s.pos]] {
			s.pos++
		}
		s.word = append(s.word, s.text[start:s.pos]...)
		s.inWord = true
	}
}

// special are the characters that mean something to a shell outside quotes.
var special = func() (table [256]bool) {
	for _, c := range []byte(" \t\n;()&|<>#\\'\"$`") {
		table[c] = true
	}
	return table
}()

// pipe passes on, behind a single bar, what the command before it fetched.
func (s *shell) pipe(c byte) {
	next := s.peek()
	if c == next || c == '|' && next == '&' {
		s.pos++
	}
	s.command.maybe = c == next || c == '|' && len(s.commands) > 0 && s.commands[len(s.commands)-1].maybe
	if n := len(s.commands); c == '|' && next != '|' && n > 0 {
		before := s.commands[n-1]
		if s.command.fed = before.fed; fetches(before.words) {
			s.command.fed = strings.Join(before.words, " ")
		}
		s.command.behind, s.command.piped = before.words, true
		s.commands[n-1].joined = before.joined || next == '&'
	}
}

// sieves are programs that show only some of the lines that they read.
var sieves = wordSet("tail head grep egrep fgrep rg awk gawk wc jq")

func (s *shell) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *shell) add(c byte) {
	s.word = append(s.word, c)
	s.inWord = true
}

func (s *shell) endWord() {
	if s.inWord {
		s.command.words = append(s.command.words, string(s.word))
	}
	s.word = s.word[:0]
	s.inWord, s.quoted = false, false
}

func (s *shell) endCommand() {
	s.endWord()
	if len(s.command.words) > 0 {
		if n := len(s.commands); n > 0 && s.command.piped && s.commands[n-1].joined {
			name, _ := unwrap(s.command.words)
			s.commands[n-1].sifted = sieves[name]
		}
		s.commands = append(s.commands, s.command)
	}
	s.command = shellCommand{}
}

// backslash keeps the next character. In a word like C:\Python it is part of a
// path of Windows.
func (s *shell) backslash() {
	switch {
	case s.pos == len(s.text):
		s.open = true
	case s.peek() == '\n':
		s.pos++
	case len(s.word) > 1 && s.word[1] == ':':
		s.add('\\')
	default:
		s.add(s.text[s.pos])
		s.pos++
	}
}

func (s *shell) quote(q byte) {
	s.inWord, s.quoted = true, true
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		s.pos++
		switch {
		case c == q:
			return
		case q == '"' && c == '`':
			s.word = append(s.word, c)
			s.backtick()
		case q == '"' && c == '$' && s.peek() == '(':
			s.word = append(s.word, c)
			s.substitution()
		case c == '\\' && q == '"' && strings.IndexByte("\"\\$`", s.peek()) >= 0 && s.pos < len(s.text):
			s.word = append(s.word, s.text[s.pos])
			s.pos++
		default:
			start := s.pos - 1
			for s.pos < len(s.text) && s.text[s.pos] != q && !special[s.text[s.pos]] {
				s.pos++
			}
			s.word = append(s.word, s.text[start:s.pos]...)
		}
	}
	s.open = true
}

// substitution skips $( … ) and ${ … }: what it yields is not known. The
// commands in it run all the same.
func (s *shell) substitution() {
	depth, start := 0, s.pos
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		}
		s.pos++
		if depth == 0 {
			s.nest(s.text[start:s.pos])
			return
		}
	}
}

// nest keeps the commands of "( … )"; "{ … }" and "(( … ))" have none.
func (s *shell) nest(text string) {
	if inner, ok := strings.CutPrefix(text, "("); ok && !strings.HasPrefix(inner, "(") && len(s.nested) < maxNested {
		s.nested = append(s.nested, strings.TrimSuffix(inner, ")"))
		s.feed(s.nested[len(s.nested)-1])
	}
}

// feed notes what stands in the words, and that it was fetched.
func (s *shell) feed(inner string) {
	s.command.yields = inner
	if fetches(strings.Fields(inner)) {
		s.command.fed = inner
	}
}

// maxNested bounds the substitutions of one command line that are read.
const maxNested = 64

// backtick skips what stands between backticks, like substitution.
func (s *shell) backtick() {
	start := s.pos
	for s.pos < len(s.text) && s.peek() != '`' {
		s.pos++
	}
	if s.pos < len(s.text) && len(s.nested) < maxNested {
		s.nested = append(s.nested, s.text[start:s.pos])
		s.feed(s.text[start:s.pos])
	}
	s.pos++
}

// arrow reads a redirection.
func (s *shell) arrow() {
	fd := string(s.word)
	if s.quoted || fd != "1" && fd != "2" && fd != "0" {
		fd = ""
		s.endWord()
	} else {
		s.word = s.word[:0]
		s.inWord = false
	}
	rest := s.text[s.pos:]
	switch {
	case strings.HasPrefix(rest, "<<<"):
		s.pos += 3
		s.command.behind = []string{"echo", s.hereString()}
	case strings.HasPrefix(rest, "<<"):
		s.pos += 2
		if s.peek() == '-' {
			s.pos++
		}
		s.here = s.target()
	case rest[0] == '<':
		if inner, ok := strings.CutPrefix(rest, "<("); ok {
			s.feed(inner)
		}
		s.pos++
		s.command.from = s.target()
	default:
		s.pos++
		for s.peek() == '>' || s.peek() == '|' {
			s.pos++
		}
		s.redirect(fd)
	}
}

// redirect reads the target and notes when output goes where no log sees it.
func (s *shell) redirect(fd string) {
	target := s.target()
	if (fd == "" || fd == "1") && !strings.HasPrefix(target, "&") && target != "/dev/stderr" && target != "/dev/tty" && target != "" {
		s.command.muted, s.command.to = true, target
		s.command.hidden = s.command.hidden || target == "/dev/null"
	}
	s.command.joined = s.command.joined || fd == "2" && target == "&1"
	s.command.hidden = s.command.hidden || s.command.muted && fd == "2" && target == "&1"
}

// hereString reads the text that a command is given as what it reads:
//
//	bash -s <<< "pip install -q litellm"
func (s *shell) hereString() string {
	for s.peek() == ' ' {
		s.pos++
	}
	q := s.peek()
	if q != '"' && q != '\'' {
		return s.target()
	}
	text, _, _ := strings.Cut(s.text[s.pos+1:], string(q))
	s.pos = min(s.pos+len(text)+2, len(s.text))
	return text
}

// target reads the word behind a redirection.
func (s *shell) target() string {
	for s.peek() == ' ' || s.peek() == '\t' {
		s.pos++
	}
	start := s.pos
	for s.pos < len(s.text) && strings.IndexByte(" \t\n;|()<>", s.text[s.pos]) < 0 && (s.text[s.pos] != '&' || s.pos == start) {
		s.pos++
	}
	return strings.Trim(s.text[start:s.pos], `'"\`)
}

// wrappers run the command behind them; the value lists their options that
// take a word.
var wrappers = map[string]map[string]bool{
	"sudo": wordSet("-u -g -h -p -C -r -t -T -D --user --group --host --chdir"), "env": wordSet("-u -C --unset --chdir"), "exec": wordSet("-a"),
	"command": nil, "nohup": nil, "time": wordSet("-f -o"), "nice": wordSet("-n"), "ionice": wordSet("-c -n"), "stdbuf": wordSet("-i -o -e"),
	"setsid": nil, "unbuffer": nil, "builtin": nil, "doas": wordSet("-u"), "gosu": nil, "su-exec": nil,
	"k3s": nil, "rke2": nil, "k0s": nil, "microk8s": nil, // k3s ctr images pull acme/api:2
	"travis_retry": nil, "retry": nil, "corepack": nil, "eatmydata": nil, "xargs": wordSet("-n -I -P -L -d -a"), "timeout": wordSet("-s -k --signal --kill-after"),
	"parallel": wordSet("-j -a -n -N -P --jobs"), "flock": wordSet("-w -E --timeout"), "chronic": nil,
	"setpriv": nil, "chpst": wordSet("-u -U -b -/ -n -l -L -m -d -o -p -f -c -r -e -t"), "s6-setuidgid": nil, "setuidgid": nil, "with-contenv": nil, "tini": wordSet("-p -e"), "dumb-init": nil,
	"xvfb-run": wordSet("-n -e -f -p -s -w --server-num --error-file --auth-file --server-args --wait --xauth-protocol"), "dbus-run-session": wordSet("--config-file --dbus-daemon"),
	"chroot": nil, "arch-chroot": wordSet("-u"), "systemd-nspawn": wordSet("-D -M -u -b --directory --machine --user --bind --bind-ro --setenv -E"), "fakeroot": wordSet("-l -s -i -b"), "fakechroot": nil,
	"systemd-run": wordSet("-p -u -M -E -G --unit --property --uid --gid --slice --setenv --machine"), "proot": wordSet("-r -b -w -q -S -R"), "unshare": wordSet("-R -w -S -G"),
	"taskset": wordSet("-c --cpu-list"), "numactl": wordSet("-N -m -C"), "strace": wordSet("-o -e -p -s -u -E"), "ltrace": wordSet("-o -e -p -s -u -l"), "faketime": wordSet("-f"), "caffeinate": wordSet("-t -w"),
	"setarch": nil, "linux32": nil, "linux64": nil, "firejail": nil, "rlwrap": nil, "annotate-output": nil, "prlimit": nil, "catchsegv": nil, "wsl": wordSet("-d -u --distribution --user --cd --shell-type"),
	"if": nil, "then": nil, "elif": nil, "else": nil, "while": nil, "until": nil, "do": nil, "!": nil, "{": nil, "}": nil,
}

// oneMore are wrappers whose first plain word is not yet the command.
var oneMore = wordSet("timeout gosu su-exec flock s6-setuidgid setuidgid chroot arch-chroot faketime setarch")

// wordSet makes a set of the words of a text.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}

// unwrap drops assignments, keywords and programs that only run another one,
// and returns the name of the program and its words.
func unwrap(words []string) (name string, args []string) {
	for len(words) > 0 {
		w := words[0]
		if i := strings.IndexByte(w, '='); i > 0 && isIdentifier(w[:i]) {
			words = words[1:]
			continue
		}
		name = programName(w)
		if name == "newgrp" { // newgrp docker <<EOF: a shell of another group
			return "sh", nil
		}
		valued, wraps := wrappers[name]
		if !wraps {
			return name, words[1:]
		}
		f, rest := leadingFlags(words[1:], valued)
		words = rest
		switch {
		case name == "env" && f.has("-S", "--split-string"): // env -S "pip install -q litellm"
			words = append(strings.Fields(strings.Join(f["--split-string"], " ")), strings.Fields(strings.Join(words, " "))...)
		case name == "parallel" && len(words) > 1 && words[0] == ":::": // parallel ::: ./a.sh ./b.sh
			words = words[1:]
		case name == "xargs" || name == "parallel":
			words = append(slices.Clone(words), "$@") // what it reads is not on the line
		}
		if oneMore[name] && len(words) > 0 {
			words = words[1:]
		}
	}
	return "", nil
}

func isIdentifier(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// programName is the last element of a path, without ".exe".
func programName(w string) string {
	if i := strings.LastIndexAny(w, `/\`); i >= 0 {
		w = w[i+1:]
	}
	return strings.TrimSuffix(w, ".exe")
}

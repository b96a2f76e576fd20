package canary

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	mrand "math/rand/v2"
	"strings"
)

// The test text begins and ends with a code of its own; between them stand lines
// of common words that mean nothing. A code is the tag of its tenant, which is
// the same in every run, and a number drawn for this request, so that no cache
// can hold anything behind it. The words of each line are the same in another
// order: to a tokenizer all lines are equally long.

// letters of codes: none that is taken for another. 32 of them, 5 bits each.
const letters = "abcdefghijkmnpqrstuvwxyz23456789"

const (
	tagLen  = 10
	drawLen = 8 // of a number; its check has two letters more
	codeLen = drawLen + 2
)

// filler are the words of a line. None is longer than six letters.
var filler = []string{
	"river", "stone", "paper", "green", "table", "cloud", "seven", "north", "bread", "glass", "light", "music", "plain", "quiet", "house", "water",
}

// lineBytes is the length of a line.
var lineBytes = len(strings.Join(filler, " ")) + 1

// Sizes of the prompts that show how many tokens a line has.
const (
	fewLines  = 8
	manyLines = 108
)

// fixedBytes is more than what stands around the lines.
const fixedBytes = 512

// mostOf is how many tokens a text of so many lines has at most: a token holds a
// byte at least.
func mostOf(lines int) int64 { return int64(lines*lineBytes + fixedBytes) }

func spell(b []byte) string {
	out := make([]byte, len(b))
	for i, c := range b {
		out[i] = letters[c%32]
	}
	return string(out)
}

// tag marks a tenant in all its prompts.
func tag(tenant string) string {
	sum := sha256.Sum256([]byte("pulltrail canary\x00" + tenant))
	return spell(sum[:tagLen])
}

func draw(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails
	return spell(b)
}

// check is what tells a number that was drawn for a tenant from one that a model
// got wrong.
func check(tag, number string) string {
	sum := sha256.Sum256([]byte(tag + number))
	return spell(sum[:codeLen-drawLen])
}

// code draws a number with its check.
func code(tag string) string {
	n := draw(drawLen)
	return n + check(tag, n)
}

// prompt is one test text, and what its reply should name.
type prompt struct {
	text        string
	tag         string
	first, last string // numbers of its codes
}

func write(tag string, lines int) prompt {
	p := prompt{tag: tag, first: code(tag), last: code(tag)}
	var b strings.Builder
	b.Grow(int(mostOf(lines)))
	b.WriteString(tag + "-" + p.first + " is the first code of this test text. The lines that follow mean nothing; the last line has the last code.\n")
	sum := sha256.Sum256([]byte(p.first))
	order := mrand.New(mrand.NewPCG(binary.LittleEndian.Uint64(sum[:]), 0)) //nolint:gosec // an order of words is no secret
	words := append([]string{}, filler...)
	for range lines {
		order.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		for i, w := range words {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(w)
		}
		b.WriteByte('\n')
	}
	b.WriteString(tag + "-" + p.last + " is the last code. Reply with the first code and the last code, and with nothing else.\n")
	p.text = b.String()
	return p
}

// size is how long the test text is to a tokenizer.
type size struct {
	fixed   int64 // tokens around the lines, those that the endpoint adds too
	perMany int64 // tokens of manyLines-fewLines lines, 0 when nothing counts them
}

// sizeOf reckons it from two short prompts.
func sizeOf(few, many Row) size {
	if few.Prompt <= 0 || many.Prompt <= few.Prompt {
		return size{}
	}
	per := many.Prompt - few.Prompt
	if per > int64((manyLines-fewLines)*lineBytes) {
		return size{} // more tokens than bytes: these are no counts of the text
	}
	return size{fixed: max(0, few.Prompt-per*fewLines/(manyLines-fewLines)), perMany: per}
}

func (s size) known() bool { return s.perMany > 0 }

// lines is how many lines make a prompt of so many tokens; without counts each
// byte is taken for one, so that there are never more.
func (s size) lines(tokens int64) int {
	if !s.known() {
		return int(max(1, (tokens-fixedBytes)/int64(lineBytes)))
	}
	return int(max(1, ((tokens-s.fixed)*(manyLines-fewLines)+s.perMany-1)/s.perMany))
}

// ofLines is how many tokens so many lines have, -1 when nothing counts them.
func (s size) ofLines(lines int) int64 {
	if !s.known() {
		return -1
	}
	return int64(lines) * s.perMany / (manyLines - fewLines)
}

// finder looks for tags and codes in a text that comes in pieces, whatever
// stands between their letters.
type finder struct{ text []byte }

// maxFound bounds the text that is searched.
const maxFound = 1 << 20

func (f *finder) add(piece string) {
	for i := 0; i < len(piece) && len(f.text) < maxFound; i++ {
		switch c := piece[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			f.text = append(f.text, c)
		case c >= 'A' && c <= 'Z':
			f.text = append(f.text, c|0x20)
		}
	}
}

func (f *finder) has(s string) bool { return strings.Contains(string(f.text), s) }

// stale reports whether the text has a code of the tag that is none of the
// prompt's.
func (f *finder) stale(p *prompt) bool {
	for text := string(f.text); ; {
		i := strings.Index(text, p.tag)
		if i < 0 {
			return false
		}
		text = text[i+tagLen:]
		if len(text) < codeLen {
			return false
		}
		got := text[:codeLen]
		if got != p.first && got != p.last && check(p.tag, got[:drawLen]) == got[drawLen:] {
			return true
		}
	}
}

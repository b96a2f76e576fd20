package frame

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// toolLine is a line that no other program than a tool here prints: a word that
// it has, and what it looks like behind blanks.
type toolLine struct{ word, shape string }

// toolLineTable is sorted by tool. Frames that have no mark of their own are told
// by such lines behind what they put before them.
var toolLineTable = []toolLine{
	{"Collecting ", `Collecting [A-Za-z0-9][\w.-]*(?:\[[\w,.-]*\])?(?:[<>=!~(]|$| \(from )`},
	{"Downloading ", `Downloading \S*-[0-9]\S*\.(?:whl|tar\.gz|whl\.metadata) ?`},
	{"Using cached ", `Using cached \S*-[0-9]\S*\.(?:whl|tar\.gz|whl\.metadata) ?`},
	{"Successfully installed ", `Successfully installed \S+-[0-9]`},
	{"Would install ", `Would install \S+-[0-9]`},
	{"Installing collected packages: ", `Installing collected packages: `},
	{"Requirement already satisfied: ", `Requirement already satisfied: `},

	{"==", `[+-] [\w.-]+==[0-9]`},
	{"Installed ", `Installed \d+ packages? in `},
	{"Resolved ", `Resolved \d+ packages? in `},
	{"Package operations: ", `Package operations: \d+ install`},
	{"Installing ", `[-•] Installing \S+ \([0-9]`},
	{"✔ ", `✔ (?:Install|Update|Remove) \S+ [0-9]`},
	{"Synchronizing ", `Synchronizing working set with resolved packages: `},

	{"The following ", `The following (?:NEW packages will be INSTALLED|packages will be (?:downloaded|UPDATED|DOWNGRADED|REMOVED)):`},
	{" transaction: ", `(?:Preparing|Verifying|Executing) transaction: `},
	{"Linking ", `Linking [\w.-]+-[0-9]`},
	{"Transaction ", `Transaction (?:starting|finished)$`},

	{"added ", `added \d+ packages?(?:,| in | from )`},
	{"npm ", `npm (?:warn|WARN|http|notice|ERR!|error) `},
	{"YN0", `➤ YN\d{4}: `},
	{"yarn ", `yarn (?:install|add) v[0-9]`},
	{"/4] ", `\[[1-4]/4\] `},
	{"Progress: resolved ", `Progress: resolved \d`},
	{"Packages: +", `Packages: \+\d`},
	{"bun ", `bun (?:install|add) v[0-9]`},
	{" installed [", `\d+ packages? installed \[`},
	{"Need to install ", `Need to install the following packages:`},
	{"Ok to proceed", `Ok to proceed\? \(y\)`},

	{"Get:", `Get:\d+ https?://\S+ \S+ `},
	{"Unpacking ", `Unpacking [a-z0-9][a-z0-9+.:-]+ \([0-9]`},
	{"Setting up ", `Setting up [a-z0-9][a-z0-9+.:-]+ \([0-9]`},
	{"/APKINDEX", `fetch https?://\S+/APKINDEX`},
	{") Installing ", `\(\d+/\d+\) Installing \S+ \([0-9]`},

	{"#", `#\d+ (?:\d+\.\d{1,3} |DONE \d+\.\ds$|extracting sha256:[0-9a-f]{64})`},
	{"=> ", `=> (?:=> |CACHED \[|\[)`},
	{"[+] Building ", `\[\+\] Building [0-9]`},
	{"Step ", `Step \d+/\d+ : `},
	{"---> ", `---> [0-9a-f]{12}$`},
	{"Successfully tagged ", `Successfully tagged \S+$`},
	{"Status: ", `Status: (?:Downloaded newer image|Image is up to date) for `},
	{"Digest: ", `Digest: sha256:[0-9a-f]{64}$`},
	{": Pull", `[0-9a-f]{12}: Pull(?:ing fs layer|ing layer| complete)$`},
	{": Pushed", `[0-9a-f]{12}: Pushed$`},
	{": Layer already exists", `[0-9a-f]{12}: Layer already exists$`},
	{"The push refers to ", `The push refers to repository \[`},
	{": digest: sha256:", `\S+: digest: sha256:[0-9a-f]{64} size: `},
	{"INFO[", `INFO\[\d{4}\] `},
	{"STEP ", `STEP \d+/\d+: `},
	{"Getting image source signatures", `Getting image source signatures$`},
	{"Copying ", `Copying (?:blob|config) `},
	{"Writing manifest to image destination", `Writing manifest to image destination$`},
}

// toolLines matches any of them.
var toolLines = sync.OnceValue(func() *regexp.Regexp {
	shapes := make([]string, len(toolLineTable))
	for i, t := range toolLineTable {
		shapes[i] = t.shape
	}
	return regexp.MustCompile(`^\s*(?:` + strings.Join(shapes, "|") + `)`)
})

// toolWords are their words: a quick look tells the text that has none.
var toolWords = sync.OnceValue(func() [][]byte {
	words := make([][]byte, len(toolLineTable))
	for i, t := range toolLineTable {
		words[i] = []byte(t.word)
	}
	return words
})

func mentionsTool(text []byte) bool {
	return slices.ContainsFunc(toolWords(), func(w []byte) bool { return bytes.Contains(text, w) })
}

// kindOf tells kinds of such lines apart: their first word, or the second where all
// lines of a tool have the same.
func kindOf(line []byte) []byte {
	word, rest, _ := bytes.Cut(bytes.TrimLeft(line, " \t"), []byte(" "))
	if string(word) == "➤" || string(word) == "npm" || string(word) == "=>" {
		word, _, _ = bytes.Cut(rest, []byte(" "))
	}
	return word
}

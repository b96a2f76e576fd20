package tool

import "strings"

// aptWords are what apt and dpkg print in other languages in place of "Get:",
// "Unpacking " and "Setting up ": a machine speaks the language of its locale.
// https://salsa.debian.org/apt-team/apt/-/tree/main/po
// https://git.dpkg.org/git/dpkg/dpkg.git/tree/po
var aptWords = []struct{ word, english string }{
	{"Holen:", "Get:"},
	{"Hole:", "Get:"},
	{"Réception de :", "Get:"},
	{"Réception de\u00a0:", "Get:"},
	{"Des:", "Get:"},
	{"Obter:", "Get:"},
	{"Scaricamento di:", "Get:"},
	{"Ophalen:", "Get:"},
	{"Pobieranie:", "Get:"},
	{"Пол:", "Get:"},
	{"获取:", "Get:"},
	{"取得:", "Get:"},
	{"받기:", "Get:"},
	{"Entpacken von ", "Unpacking "},
	{"Dépaquetage de ", "Unpacking "},
	{"Desempaquetando ", "Unpacking "},
	{"Desempacotando ", "Unpacking "},
	{"Estrazione di ", "Unpacking "},
	{"Uitpakken van ", "Unpacking "},
	{"Rozpakowywanie pakietu ", "Unpacking "},
	{"Распаковывается ", "Unpacking "},
	{"正在解压 ", "Unpacking "},
	{"Paramétrage de ", "Setting up "},
	{"Configurando ", "Setting up "},
	{"Configurazione di ", "Setting up "},
	{"Instellen van ", "Setting up "},
	{"Konfigurowanie pakietu ", "Setting up "},
	{"Настраивается пакет ", "Setting up "},
	{"正在设置 ", "Setting up "},
}

// aptStarts are the words that lines of apt start with, in any language.
func aptStarts(english ...string) []string {
	for _, w := range aptWords {
		english = append(english, w.word)
	}
	return english
}

// aptEnglish turns a line into what it is in English; known tells that it was
// in another language. In German the name stands first:
//
//	Holen:1 http://deb.debian.tld/debian bookworm/main amd64 curl amd64 7.88.1-10+deb12u7 [315 kB]
//	Entpacken von curl (7.88.1-10+deb12u7) über (7.88.1-10+deb12u5) ...
//	curl (7.88.1-10+deb12u7) wird eingerichtet ...
//	Paramétrage de curl (7.88.1-10+deb12u7) ...
func aptEnglish(text string) (english string, known bool) {
	if rest, ok := strings.CutSuffix(text, " wird eingerichtet ..."); ok {
		return "Setting up " + rest + " ...", true
	}
	for _, w := range aptWords {
		rest, ok := strings.CutPrefix(text, w.word)
		if !ok {
			continue
		}
		rest = strings.Replace(rest, " …", " ...", 1)
		if head, behind, two := strings.Cut(rest, ") "); two && strings.Contains(behind, "(") {
			_, old, _ := strings.Cut(behind, "(")
			rest = head + ") over (" + old
		}
		if strings.HasSuffix(rest, ")...") {
			rest = strings.TrimSuffix(rest, "...") + " ..."
		}
		return w.english + rest, true
	}
	return text, false
}

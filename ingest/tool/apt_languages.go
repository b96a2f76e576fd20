package tool

import (
	"strings"
	"sync"
)

// aptWords are what apt and dpkg print in other languages in place of what stands
// before them: a machine speaks the language of its locale. Where two of a
// language differ, the second is of older releases.
// https://salsa.debian.org/apt-team/apt/-/tree/main/po
// https://git.dpkg.org/git/dpkg/dpkg.git/tree/po
var aptWords = []struct {
	english string
	words   []string
}{
	{"Get:", []string{
		"Holen:", "Hole:", "Réception de :", "Réception de\u00a0:", "Des:", "Obter:", "Scaricamento di:", "Ophalen:", "Pobieranie:", "Пол:", "获取:", "取得:",
		"받기:", "下載:", "Изт:", "Bai:", "Stahuje se:", "Mám:", "Henter:", "Hent:", "Φέρε:", "Hartu:", "Nouda:", "Rcb:", "Letöltés:", "Gauti:", "Luat:",
		"Získava sa:", "Dobi:", "Läs:", "Hämtar:", "İndir: ", "Al:", "Отр:", "Lấy:",
	}},
	{"Unpacking ", []string{
		"Entpacken von ", "Dépaquetage de ", "Desempaquetando ", "Desempacotando ", "A descompactar ", "Estrazione di ", "Bezig met uitpakken van ", "Uitpakken van ",
		"Rozpakowywanie pakietu ", "Распаковывается ", "正在解压 ", "正在解压缩 ", "解開 ", "S'està desempaquetant ", "Rozbaluje se ", "Udpakker ",
		"Descompression de ", "Packar upp ", "Paket açılıyor: ", "Đang mở gói ", "กำลังแตก ",
	}},
	{"Setting up ", []string{
		"Paramétrage de ", "Configurando ", "A instalar ", "A configurar ", "Configurazione di ", "Instellen van ", "Konfigurowanie pakietu ", "Настраивается пакет ",
		"正在设置 ", "設定 ", "S'està configurant ", "Nastavuje se balík ", "Nastavuje sa balík ", "Sætter ", "Γίνεται εγκατάσταση ", "Beállítás: ", "Sedang menata ",
		"Tvarkomas paketas ", "Setter opp ", "Set opp ", "Parametratge de ", "Se pregătește ", "Ställer in ", "Ayarlanıyor: ", "Đang cài đặt ", "กำลังตั้งค่า ",
	}},
	{"Reading package lists", []string{
		"Paketlisten werden gelesen", "Lecture des listes de paquets", "Leyendo lista de paquetes", "Lendo listas de pacotes", "A ler as listas de pacotes",
		"Lettura elenco dei pacchetti", "Pakketlijsten worden ingelezen", "Czytanie list pakietów", "Чтение списков пакетов", "正在读取软件包列表", "正在讀取套件清單",
		"パッケージリストを読み込んでいます", "패키지 목록을 읽는 중입니다", "S'està llegint la llista de paquets", "Načítají se seznamy balíků", "Indlæser pakkelisterne",
		"Luetaan pakettiluetteloita", "Csomaglisták olvasása", "Leser pakkelister", "Les pakkelister", "Citire liste de pachete", "Läser paketlistor",
		"Paket listeleri okunuyor", "Зчитування переліків пакунків", "(Paketlisten ", "(데이터베이스 읽는중", "(データベースを読み込んでいます",
	}},
}

// aptEnds are what stands behind the name and version where a language puts the
// verb last.
//
//	curl (7.88.1-10+deb12u7) wird eingerichtet ...
//	curl (7.88.1-10+deb12u7) を設定しています ...
var aptEnds = []struct{ end, english string }{
	{" wird eingerichtet ...", "Setting up "},
	{" を展開しています...", "Unpacking "},
	{" 上書き展開しています ...", "Unpacking "},
	{" を設定しています ...", "Setting up "},
	{" 푸는 중입니다 ...", "Unpacking "},
	{" 설정하는 중입니다 ...", "Setting up "},
	{" deskonprimitzen...", "Unpacking "},
	{" konfiguratzen...", "Setting up "},
}

// aptNewest is what stands between the name and the version of a package that is
// up to date.
//
//	curl ist schon die neueste Version (7.88.1-10+deb12u7).
var aptNewest = []string{
	" ist schon die neueste Version (", " est déjà la version la plus récente (", " ya está en su versión más reciente (", " è già alla versione più recente (",
	" is reeds de nieuwste versie (", " 已经是最新版 (", " はすでに最新バージョン (", " ja està en la versió més recent (", " je již nejnovější verze (",
	" er allerede den nyeste version (", " már a legújabb verzió (", " zaten en yeni sürümde (",
}

// aptStarts are the words that lines of apt start with, in any language.
func aptStarts(english ...string) []string {
	for _, w := range aptWords {
		english = append(english, w.words...)
	}
	return english
}

// aptWord is a word and what it is in English.
type aptWord struct{ word, english string }

// aptFirst are the words by their first byte.
var aptFirst = sync.OnceValue(func() *[256][]aptWord {
	var first [256][]aptWord
	for _, w := range aptWords {
		for _, word := range w.words {
			first[word[0]] = append(first[word[0]], aptWord{word, w.english})
		}
	}
	return &first
})

// aptEnglish turns a line into what it is in English; known tells that it was
// in another language.
//
//	Holen:1 http://deb.debian.tld/debian bookworm/main amd64 curl amd64 7.88.1-10+deb12u7 [315 kB]
//	Entpacken von curl (7.88.1-10+deb12u7) über (7.88.1-10+deb12u5) ...
//	Paket açılıyor: curl (7.88.1-10+deb12u5) üzerine (7.88.1-10+deb12u7) ...
func aptEnglish(text string) (english string, known bool) {
	if text == "" {
		return text, false
	}
	for _, w := range aptFirst()[text[0]] {
		if rest, ok := strings.CutPrefix(text, w.word); ok {
			return w.english + aptRow(rest, strings.HasPrefix(w.word, "Paket aç")), true
		}
	}
	if strings.HasSuffix(text, "...") {
		for _, e := range aptEnds {
			if rest, ok := strings.CutSuffix(text, e.end); ok {
				return e.english + aptRow(rest+" ...", false), true
			}
		}
	}
	for _, w := range aptNewest {
		if name, version, ok := strings.Cut(text, w); ok {
			return name + " is already the newest version (" + version, true
		}
	}
	return text, false
}

// aptRow writes the versions of a row as English has them: in Turkish the old one
// stands first.
func aptRow(rest string, oldFirst bool) string {
	rest = strings.Replace(rest, " …", " ...", 1)
	rest = strings.Replace(rest, ")…", ") ...", 1)
	rest = strings.TrimSuffix(rest, " op ...") // Danish
	if head, behind, two := strings.Cut(rest, ") "); two && strings.Contains(behind, "(") {
		_, old, _ := strings.Cut(behind, "(")
		old, _, _ = strings.Cut(strings.ReplaceAll(old, " に", ""), ")")
		if name, version, ok := strings.Cut(head, " ("); ok && oldFirst {
			head, old = name+" ("+old, version
		}
		return head + ") over (" + old + ") ..."
	}
	rest = strings.TrimRight(strings.TrimSuffix(rest, "..."), " ")
	if strings.HasSuffix(rest, ")") {
		rest += " ..."
	}
	return rest
}

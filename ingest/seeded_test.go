package ingest_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pulltrail/ingest"
	"pulltrail/ingest/evidence"
	"pulltrail/testdata/secrets"
	"pulltrail/timeline"
)

// soak reports whether the long forms of tests are asked for: "make soak".
func soak() bool { return os.Getenv("PULLTRAIL_SOAK") != "" }

// seeding writes evidence with secrets in it.
type seeding struct {
	maker *secrets.Maker
	next  int // shape of the next secret
}

// seed returns the next secret, with a word before it that is looked for in
// what is kept.
func (s *seeding) seed(e secrets.Encoding) (shape int, text string) {
	shape = s.next % len(secrets.Shapes)
	s.next++
	return shape, fmt.Sprintf(" # seed%02d %s", shape, secrets.Shapes[shape].Text(s.maker, e))
}

// TestNoSecretInAFrame puts a secret of every shape, in every encoding, behind
// lines that are kept, in every frame and in the nested ones.
func TestNoSecretInAFrame(t *testing.T) {
	kept := map[string][]string{
		"":              {"Successfully installed idna-3.10"},
		"npm-debug-log": {"http fetch GET 200 https://mirror.acme.example/ms/-/ms-2.1.3.tgz 40ms (cache miss)", "silly placeDep ROOT ms@2.1.3 OK for: debug@4.4.1 want: ^2.1.3"},
		"plain history": {"pip install -q idna"},
		"yum log":       {"Installed: xz-libs-5.2.2-1.el7.x86_64"},
	}
	if soak() {
		kept[""] = append(kept[""], "Collecting idna", "+ docker pull ghcr.io/acme/web:1", "pip install -q idna")
	}
	frames := nestedWrappings()
	frames["no frame"] = wrapping{wrap: func(lines []string) []string { return lines }}
	frames["pieces"] = wrapping{wrap: func(lines []string) (out []string) {
		for i, l := range lines {
			for len(l) > 9 {
				out, l = append(out, stamp(i, nano)+" stdout P "+l[:9]), l[9:]
			}
			out = append(out, stamp(i, nano)+" stdout F "+l)
		}
		return out
	}}
	for e, encoding := range secrets.Encodings {
		t.Run(encoding.Name, func(t *testing.T) {
			s := &seeding{maker: secrets.NewMaker(uint64(100 + e))}
			dir := t.TempDir()
			for _, frame := range slices.Sorted(maps.Keys(frames)) {
				lines := kept[""]
				if kept[frame] != nil {
					lines = kept[frame]
				}
				for i, l := range lines {
					if frame == "pip-log" && !strings.Contains(l, "idna") {
						continue
					}
					var seeded []string
					for range secrets.Shapes {
						_, text := s.seed(encoding)
						seeded = append(seeded, strings.Split(l+text, "\n")...)
					}
					into := filepath.Join(dir, strings.ReplaceAll(frame, " ", "-"))
					check(os.MkdirAll(into, 0o700))
					check(os.WriteFile(filepath.Join(into, fmt.Sprintf("%d.log", i)), encoding.File(strings.Join(frames[frame].wrap(seeded), "\n")+"\n"), 0o600))
				}
			}
			text := s.keepsNothing(t, dir)
			for i, shape := range secrets.Shapes {
				if n := bytes.Count(text, fmt.Appendf(nil, "seed%02d", i)); n < len(frames) {
					t.Errorf("%d lines with a secret of shape %q are kept, in %d frames: too little was tried", n, shape.Name, len(frames))
				}
			}
		})
	}
}

// TestNoSecretOfALog puts a secret behind every line of every sample of a tool,
// in every frame and encoding: none may be in the files of the case, while it
// is open or afterwards, nor in the temporary folder.
func TestNoSecretOfALog(t *testing.T) {
	samples := toolSamples(t)
	frames := maps.Clone(wrappings)
	frames["no frame"] = wrapping{wrap: func(lines []string) []string { return lines }}
	for e, encoding := range secrets.Encodings {
		t.Run(encoding.Name, func(t *testing.T) {
			s := &seeding{maker: secrets.NewMaker(uint64(e))}
			dir := t.TempDir()
			for i, frame := range slices.Sorted(maps.Keys(frames)) {
				if !soak() && i%len(secrets.Encodings) != e && frame != "no frame" {
					continue
				}
				for n, sample := range samples {
					if !soak() && frame != "no frame" && (i+n)%3 > 0 { // a third of them, others in the next frame
						continue
					}
					if w := frames[frame]; w.only == nil || slices.Contains(w.only, sample.tool) {
						check(os.MkdirAll(filepath.Join(dir, frame), 0o700))
						check(os.WriteFile(filepath.Join(dir, frame, fmt.Sprintf("%d.log", n)), encoding.File(strings.Join(w.wrap(s.lines(sample.lines, encoding)), "\n")+"\n"), 0o600))
					}
				}
			}
			kept := s.keepsNothing(t, dir)
			for i, shape := range secrets.Shapes {
				if !bytes.Contains(kept, fmt.Appendf(nil, "seed%02d", i)) {
					t.Errorf("no line with a secret of shape %q is kept: nothing was tried", shape.Name)
				}
			}
		})
	}
}

// TestNoSecretInAName puts secrets into the names of files, of members of
// archives and of jobs, readable or not.
func TestNoSecretInAName(t *testing.T) {
	s := &seeding{maker: secrets.NewMaker(77)}
	dir := t.TempDir()
	plain := secrets.Encodings[0]
	var members []file
	for range 2 * len(secrets.Shapes) {
		shape, text := s.seed(plain)
		text = strings.ReplaceAll(text[3:], "\n", " ")
		if !strings.Contains(text, "/") && len(text) < 200 {
			check(os.WriteFile(filepath.Join(dir, text+".log"), []byte(installed), 0o600))
			whole, _ := jobLog("deploy "+text, "idna")
			members = append(members, file{fmt.Sprintf("run%d/0_deploy %s.txt", shape, text), whole}, file{fmt.Sprintf("run%d/deploy %s/1_Set up job.txt", shape, text), nil})
		}
		members = append(members, file{"logs/" + text + ".log", []byte(installed)}, file{text + ".bin", []byte("\x00\x01\x02")}, file{text + ".zip", []byte("PK\x03\x04cut")})
	}
	members = append(members, members[0], members[1]) // twice the name
	for name, data := range map[string][]byte{"a.zip": zipOf(members...), "b.tar": tarOf(members...), "c.tar.gz": gz(tarOf(members...)), "d.zip": cutBefore(zipOf(members...), "PK\x01\x02"), "e.tar": tarOf(file{"in.zip", zipOf(members...)})} {
		check(os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	kept := s.keepsNothing(t, dir)
	for i, shape := range secrets.Shapes {
		if !bytes.Contains(kept, fmt.Appendf(nil, "seed%02d", i)) {
			t.Errorf("no name with a secret of shape %q is kept: nothing was tried", shape.Name)
		}
	}
}

// lines puts a secret behind each line.
func (s *seeding) lines(lines []string, e secrets.Encoding) (out []string) {
	most := 3
	if soak() {
		most = 200
	}
	for _, l := range lines[:min(len(lines), most)] {
		_, text := s.seed(e)
		if strings.HasSuffix(l, `"`) {
			text = strings.ReplaceAll(text, `"`, `\"`)
			l, text = l[:len(l)-1], text+`"`
		}
		out = append(out, strings.Split(l+text, "\n")...)
	}
	return out
}

// TestNoSecretOfADocument puts a secret into one text of a document at a time.
func TestNoSecretOfADocument(t *testing.T) {
	s := &seeding{maker: secrets.NewMaker(99)}
	dir := t.TempDir()
	variants := 0
	for _, f := range ingest.Formats {
		if f.Shape != evidence.DocumentShape && len(f.Fields) == 0 {
			continue
		}
		goldens, err := filepath.Glob("../testdata/formats/" + f.Name + "/*.golden")
		check(err)
		for _, golden := range goldens {
			path := strings.TrimSuffix(golden, ".golden")
			data, err := os.ReadFile(path)
			if err != nil {
				continue // a folder
			}
			places := placesOf(data)
			most := 6
			if soak() {
				most = 400
			}
			step := max(1, len(places)/most)
			for i := s.next % step; i < len(places); i += step {
				variants++
				e := secrets.Encodings[variants%2*(3+variants/2%3)]
				into := filepath.Join(dir, fmt.Sprint(variants), filepath.Base(filepath.Dir(path)))
				check(os.MkdirAll(into, 0o700))
				check(os.WriteFile(filepath.Join(into, filepath.Base(path)), s.into(data, places[i], e), 0o600))
			}
		}
	}
	kept := s.keepsNothing(t, dir)
	if n := bytes.Count(kept, []byte("seed")); n < variants/8 {
		t.Errorf("%d of %d texts are kept: too little was tried", n, variants)
	}
}

// place is where a text ends.
type place struct {
	at     int
	quoted bool
}

// placesOf finds the ends of the strings of JSON and of the lines of all else.
func placesOf(data []byte) (places []place) {
	if text := bytes.TrimSpace(data); len(text) == 0 || !bytes.ContainsRune([]byte("{["), rune(text[0])) {
		for i, c := range data {
			if c == '\n' {
				places = append(places, place{i, false})
			}
		}
		return places
	}
	open := false
	for i := 0; i < len(data); i++ {
		switch {
		case data[i] == '\\' && open:
			i++
		case data[i] == '"':
			if open && !bytes.HasPrefix(bytes.TrimLeft(data[i+1:], " "), []byte(":")) {
				places = append(places, place{i, true})
			}
			open = !open
		}
	}
	return places
}

// into puts the next secret at a place.
func (s *seeding) into(data []byte, p place, e secrets.Encoding) []byte {
	_, text := s.seed(e)
	if p.quoted {
		text = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\x1b", `\u001b`).Replace(text)
	}
	return slices.Concat(data[:p.at], []byte(text), data[p.at:])
}

// keepsNothing reads a folder and looks for the secrets in all that is written
// meanwhile. It returns what the case keeps.
func (s *seeding) keepsNothing(t *testing.T, evidence string) (kept []byte) {
	t.Helper()
	temp, dir := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("SQLITE_TMPDIR", temp)
	db, err := timeline.Create(dir)
	check(err)
	res, err := ingest.Run(t.Context(), db, []string{evidence}, ingest.Options{})
	check(err)
	for _, f := range res.Files {
		s.in(t, "what ingest says of "+f.Path, []byte(cmp.Or(f.Why, "read")+f.Claim))
	}
	s.files(t, temp)
	s.files(t, dir)
	check(db.Close())
	return s.files(t, dir)
}

func (s *seeding) in(t *testing.T, what string, data []byte) {
	t.Helper()
	for shape, at := range s.maker.Leaks(data) {
		t.Errorf("%s holds a secret (%s): %q", filepath.Base(what), shape, data[max(0, at-120):min(len(data), at+60)])
	}
}

func (s *seeding) files(t *testing.T, dir string) (all []byte) {
	t.Helper()
	check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		s.in(t, path, data)
		all = append(all, data...)
		return err
	}))
	return all
}

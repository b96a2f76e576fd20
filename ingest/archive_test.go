package ingest_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pulltrail/ingest"
	"pulltrail/timeline"
)

// file is a member of an archive that a test makes.
type file struct {
	name string
	data []byte
}

const (
	installed = "Collecting idna\nSuccessfully installed idna-3.10\n"
	upgraded  = "Successfully installed requests-2.31.0\n"
)

func gz(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must(w.Write(data))
	check(w.Close())
	return b.Bytes()
}

func tarOf(files ...file) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		check(w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o600, Size: int64(len(f.data))}))
		must(w.Write(f.data))
	}
	check(w.Close())
	return b.Bytes()
}

// zipOf makes an archive as most tools do: sizes stand behind the members.
func zipOf(files ...file) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		m, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate})
		check(err)
		must(m.Write(f.data))
	}
	check(w.Close())
	return b.Bytes()
}

// zipSized makes an archive with sizes before the members, which are stored.
func zipSized(files ...file) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		n := uint64(len(f.data))
		m, err := w.CreateRaw(&zip.FileHeader{Name: f.name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(f.data), CompressedSize64: n, UncompressedSize64: n})
		check(err)
		must(m.Write(f.data))
	}
	check(w.Close())
	return b.Bytes()
}

func must(_ int, err error) { check(err) }

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// outcome is what reading one file came to.
type outcome struct {
	ingest.File
	dump string
}

// installs lists what was installed, with place.
func (o outcome) installs() []string {
	var out []string
	for line := range strings.Lines(o.dump) {
		words := strings.Fields(line)
		if len(words) > 5 && words[0] == "event" && words[2] == "install" {
			out = append(out, words[4]+" "+words[5])
		}
	}
	slices.Sort(out)
	return out
}

func readFiles(t *testing.T, opt ingest.Options, files ...file) []outcome {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for _, f := range files {
		check(os.MkdirAll(filepath.Dir(filepath.Join(dir, f.name)), 0o700))
		check(os.WriteFile(filepath.Join(dir, f.name), f.data, 0o600))
		paths = append(paths, f.name)
	}
	t.Chdir(dir)
	db, err := timeline.Create(filepath.Join(dir, "case"))
	check(err)
	defer db.Close()
	if len(files) > 1 {
		paths = []string{strings.SplitN(files[0].name, "/", 2)[0]}
	}
	res, err := ingest.Run(t.Context(), db, paths, opt)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	check(db.Dump(&b))
	var out []outcome
	for _, f := range res.Files {
		out = append(out, outcome{f, b.String()})
	}
	return out
}

func TestArchives(t *testing.T) {
	log := file{"a.log", []byte(installed)}
	more := file{"b/c.log", []byte(upgraded)}
	idna, requests := "pkg:pypi/idna@3.10 ", "pkg:pypi/requests@2.31.0 "
	half := gz([]byte(installed + "Successfully installed requests-2.31.0"))
	badDirectory := zipOf(log, more)
	badDirectory = swapLast(badDirectory, "b/c.log", "b/d.log")
	unlisted := zipSized(log, more)
	for _, c := range []struct {
		name  string
		data  []byte
		state timeline.State
		why   string
		want  []string
	}{
		{"gzip", gz([]byte(installed)), timeline.Read, "", []string{idna + "in:2"}},
		{"gzip members", append(gz([]byte(installed)), gz([]byte(upgraded))...), timeline.Read, "", []string{idna + "in:2", requests + "in:3"}},
		{"tar", tarOf(log, more), timeline.Read, "", []string{idna + "in!a.log:2", requests + "in!b/c.log:1"}},
		{"tar.gz", gz(tarOf(log, more)), timeline.Read, "", []string{idna + "in!a.log:2", requests + "in!b/c.log:1"}},
		{"zip", zipOf(log, more), timeline.Read, "", []string{idna + "in!a.log:2", requests + "in!b/c.log:1"}},
		{
			"labels", zipOf(file{"../../etc/x.log", log.data}, file{"/abs.log", more.data}), timeline.Read, "",
			[]string{idna + "in!../../etc/x.log:2", requests + "in!/abs.log:1"},
		},
		{"zip in tar.gz", gz(tarOf(file{"z.zip", zipOf(log, more)})), timeline.Read, "", []string{idna + "in!z.zip!a.log:2", requests + "in!z.zip!b/c.log:1"}},
		{"stored zip in tar", tarOf(file{"z.zip", zipSized(log, more)}), timeline.Read, "", []string{idna + "in!z.zip!a.log:2", requests + "in!z.zip!b/c.log:1"}},
		{"gzip in zip in zip", zipOf(file{"z.zip", zipOf(file{"a.gz", gz(log.data)})}), timeline.Read, "", []string{idna + "in!z.zip!a.gz:2"}},
		{
			"numbered files of no run", zipOf(file{"b/system.txt", log.data}, file{"b/1_x.txt", log.data}, file{"b/2_y.txt", more.data}), timeline.Read, "",
			[]string{idna + "in!b/1_x.txt:2", idna + "in!b/system.txt:2", requests + "in!b/2_y.txt:1"},
		},
		{"empty member", zipOf(log, file{"empty", nil}), timeline.Read, "", []string{idna + "in!a.log:2"}},
		{"foreign", []byte("\x04\x22\x4d\x180000"), timeline.Unread, "lz4 data is not read", nil},
		{"empty zip", zipOf(), timeline.Unread, "no format claims it", nil},

		{"cut gzip", half[:len(half)-12], timeline.Partial, "cut", []string{idna + "in:2"}},
		{"gzip checksum", flip(gz([]byte(installed)), -6), timeline.Partial, "gzip: invalid checksum", []string{idna + "in:2"}},
		{"gzip garbage", append(gz([]byte(installed)), "garbage"...), timeline.Partial, "gzip", []string{idna + "in:2"}},
		{"cut tar", tarOf(log, more)[:1024], timeline.Partial, "end mark is missing", []string{idna + "in!a.log:2"}},
		{"tar cut in a member", tarOf(log, more)[:1024+512+20], timeline.Partial, "cut", []string{idna + "in!a.log:2"}},
		{"data behind tar", append(tarOf(log), tarOf(more)...), timeline.Partial, "data follow its end mark", []string{idna + "in!a.log:2"}},
		{"cut zip", cutBefore(zipOf(log, more), "PK\x01\x02"), timeline.Partial, "directory is missing", []string{idna + "in!a.log:2", requests + "in!b/c.log:1"}},
		{"nested cut zip", tarOf(file{"z.zip", cutBefore(zipOf(log, more), "PK\x01\x02")}), timeline.Partial, "directory is missing", []string{idna + "in!z.zip!a.log:2", requests + "in!z.zip!b/c.log:1"}},
		{"zip checksum", damage(zipSized(log, more), installed), timeline.Partial, "zip: ", []string{requests + "in!b/c.log:1"}},
		{"twice the name", zipOf(log, file{"a.log", more.data}), timeline.Partial, "two members have this name", []string{idna + "in!a.log:2", requests + "in!a.log:1"}},
		{"twice the name in a tar", tarOf(log, file{"a.log", more.data}), timeline.Partial, "two members have this name", []string{idna + "in!a.log:2", requests + "in!a.log:1"}},
		{"names cut at one length", tarOf(file{cutName, log.data}, file{cutName, more.data}), timeline.Partial, "two members have this name", []string{idna + "in!" + cutName + ":2", requests + "in!" + cutName + ":1"}},
		{"nested twice the name", tarOf(file{"z", zipOf(log, file{"a.log", more.data})}), timeline.Partial, "two members are called", []string{idna + "in!z!a.log:2", requests + "in!z!a.log:1"}},
		{"other name in directory", tarOf(file{"z", badDirectory}), timeline.Partial, "another name", []string{idna + "in!z!a.log:2", requests + "in!z!b/c.log:1"}},
		{"member not listed", tarOf(file{"z", dropEntry(unlisted)}), timeline.Partial, "directory", []string{idna + "in!z!a.log:2", requests + "in!z!b/c.log:1"}},
		{"encrypted", setFlag(zipOf(log, more)), timeline.Partial, "encrypted", []string{requests + "in!b/c.log:1"}},
		{"too deep", tarOf(file{"1", tarOf(file{"2", tarOf(file{"3", tarOf(file{"4", tarOf(log)})})})}), timeline.Partial, "nested more than 4 deep", nil},
		{"bomb", gz(append(bytes.Repeat([]byte{'\n'}, 80<<20), installed...)), timeline.Partial, "times its size", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := readFiles(t, ingest.Options{}, file{"in", c.data})[0]
			if got.State != c.state || !strings.Contains(got.Why, c.why) {
				t.Errorf("%s: %q, want %s: %q", got.State, got.Why, c.state, c.why)
			}
			if list := got.installs(); !slices.Equal(list, c.want) {
				t.Errorf("installs %q, want %q\n%s", list, c.want, got.dump)
			}
			if c.state == timeline.Partial && got.Skipped == 0 && !strings.Contains(got.Why, "cut") {
				t.Errorf("no skip tells of the gap")
			}
		})
	}
}

// cutName is a name that a tool cut: what told two members apart stood behind.
var cutName = "logs/" + strings.Repeat("build-and-publish-the-gateway-", 3) + "for-linux-a"

// swapLast replaces the last occurrence: the one in the directory.
func swapLast(b []byte, old, by string) []byte {
	i := bytes.LastIndex(b, []byte(old))
	return append(append(slices.Clone(b[:i]), by...), b[i+len(old):]...)
}

func cutBefore(b []byte, mark string) []byte { return b[:bytes.Index(b, []byte(mark))] }

// flip changes one byte, counted from the end.
func flip(b []byte, at int) []byte {
	b[len(b)+at] ^= 0xff
	return b
}

// damage changes a stored member so that its line is another one.
func damage(b []byte, text string) []byte {
	return bytes.Replace(b, []byte(text), bytes.ToUpper([]byte(text)), 1)
}

// dropEntry removes the first entry of a zip directory.
func dropEntry(b []byte) []byte {
	i := bytes.Index(b, []byte("PK\x01\x02"))
	k := bytes.LastIndex(b, []byte("PK\x01\x02"))
	return append(slices.Clone(b[:i]), b[k:]...)
}

// setFlag marks the first member as encrypted, in header and directory.
func setFlag(b []byte) []byte {
	b[6] |= 1
	b[bytes.Index(b, []byte("PK\x01\x02"))+8] |= 1
	return b
}

// jobLog is a job's log as the runner writes it, in steps.
func jobLog(name, pkg string) (whole []byte, steps [][]byte) {
	stamp := func(i int, text string) string { return fmt.Sprintf("2026-10-20T09:14:%02d.0000003Z %s\n", i, text) }
	parts := []string{
		stamp(1, "Current runner version: '2.332.0'") + stamp(2, "Hosted Compute Agent") + stamp(3, "Complete job name: "+name),
		stamp(4, "##[group]Run pip install "+pkg) + stamp(5, "pip install "+pkg) + stamp(6, "shell: /usr/bin/bash -e {0}") + stamp(7, "##[endgroup]") +
			stamp(8, "Successfully installed "+pkg+"-1.0"),
		stamp(9, "Cleaning up orphan processes"),
	}
	whole = []byte("\ufeff" + strings.Join(parts, ""))
	for _, p := range parts {
		steps = append(steps, []byte("\ufeff"+p))
	}
	return whole, steps
}

// runFiles are the members of a run archive with one job.
func runFiles(number int, folder, name, pkg string) []file {
	whole, steps := jobLog(name, pkg)
	return []file{
		{fmt.Sprintf("%d_%s.txt", number, folder), whole},
		{folder + "/system.txt", []byte("2026-10-20T09:13:59.1490000Z Job is about to start running on the hosted runner: GitHub Actions 7")},
		{folder + "/1_Set up job.txt", steps[0]},
		{folder + "/2_Install.txt", steps[1]},
		{folder + "/10_Complete job.txt", steps[2]},
	}
}

func TestRunArchives(t *testing.T) {
	subject, err := timeline.ParseSubject("job:github:acme/api/runs/1/attempts/2")
	check(err)
	both := append(runFiles(0, "build _ image (amd64)", "build / image (amd64)", "idna"), runFiles(1, "lint", "lint", "ruff")...)
	withoutWhole := slices.DeleteFunc(slices.Clone(both), func(f file) bool { return f.name == "1_lint.txt" })
	cutWhole := slices.Clone(both)
	cutWhole[5].data = cutWhole[5].data[:200]
	build, lint := "covers job:github:acme/api/runs/1/attempts/2/jobs/build%20/%20image%20(amd64) *", "covers job:github:acme/api/runs/1/attempts/2/jobs/lint *"
	for _, c := range []struct {
		name  string
		data  []byte
		state timeline.State
		lint  string // where lint's install is read
		whole bool   // lint is covered
	}{
		{"zip", zipOf(both...), timeline.Read, "in!1_lint.txt:8", true},
		{"zip in tar", tarOf(file{"z", zipOf(both...)}), timeline.Read, "in!z!1_lint.txt:8", true},
		{"tar.gz", gz(tarOf(both...)), timeline.Read, "in!1_lint.txt:8", true},
		{"whole-job file missing", zipOf(withoutWhole...), timeline.Partial, "in!lint/2_Install.txt:5", false},
		{"whole-job file cut", zipOf(cutWhole...), timeline.Partial, "in!lint/2_Install.txt:5", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := readFiles(t, ingest.Options{Subject: subject}, file{"in", c.data})[0]
			if got.State != c.state {
				t.Errorf("%s: %s", got.State, got.Why)
			}
			want := "pkg:pypi/ruff@1.0 " + strings.ReplaceAll(c.lint, " ", "%20")
			if list := got.installs(); len(list) != 2 || list[1] != want {
				t.Errorf("installs %q, want two with %q", list, want)
			}
			if !strings.Contains(got.dump, build) || strings.Contains(got.dump, lint) != c.whole {
				t.Errorf("coverage:\n%s", got.dump)
			}
			if strings.Contains(got.dump, "\nsubject job:github:acme/api/runs/1/attempts/2\n") {
				t.Errorf("the run itself is no subject:\n%s", got.dump)
			}
			if !strings.Contains(got.dump, "expects job:github:acme/api/runs/1/attempts/1 ") {
				t.Errorf("attempt 1 is not expected:\n%s", got.dump)
			}
		})
	}
}

// TestCopiesThatDiffer reads a run archive whose step file holds another line than
// the whole-job file: both count, and the archive is not whole.
func TestCopiesThatDiffer(t *testing.T) {
	subject, err := timeline.ParseSubject("job:github:acme/api/runs/1/attempts/1")
	check(err)
	files := runFiles(0, "lint", "lint", "ruff")
	files[3].data = bytes.ReplaceAll(files[3].data, []byte("ruff"), []byte("ruff-lsp"))
	for _, data := range [][]byte{zipOf(files...), gz(tarOf(files...))} {
		got := readFiles(t, ingest.Options{Subject: subject}, file{"in", data})[0]
		if got.State != timeline.Partial || !strings.Contains(got.Why, "which should be the same") {
			t.Errorf("%s: %q", got.State, got.Why)
		}
		for _, want := range []string{"pkg:pypi/ruff@1.0 in!0_lint.txt:8", "pkg:pypi/ruff-lsp@1.0 in!lint/2_Install.txt:5"} {
			if list := got.installs(); !slices.Contains(list, want) {
				t.Errorf("installs %q, want %q", list, want)
			}
		}
	}
}

// TestUnpackedRun reads the folder of a run archive that was unpacked.
func TestUnpackedRun(t *testing.T) {
	subject, err := timeline.ParseSubject("job:github:acme/api/runs/1/attempts/1")
	check(err)
	var files []file
	for _, f := range append(runFiles(0, "build _ image", "build / image", "idna"), runFiles(1, "lint", "lint", "ruff")...) {
		files = append(files, file{"run/" + f.name, f.data})
	}
	got := readFiles(t, ingest.Options{Subject: subject}, files...)
	for _, f := range got {
		if f.State != timeline.Read {
			t.Errorf("%s: %s %s", f.Path, f.State, f.Why)
		}
	}
	want := []string{"pkg:pypi/idna@1.0 run/0_build%20_%20image.txt:8", "pkg:pypi/ruff@1.0 run/1_lint.txt:8"}
	if list := got[0].installs(); !slices.Equal(list, want) {
		t.Errorf("installs %q, want %q", list, want)
	}
	for _, job := range []string{"build%20/%20image", "lint"} {
		if !strings.Contains(got[0].dump, "install job:github:acme/api/runs/1/attempts/1/jobs/"+job+" ") {
			t.Errorf("no install of job %s:\n%s", job, got[0].dump)
		}
	}
}

// TestArchiveNeverPanics cuts and damages archives everywhere.
func TestArchiveNeverPanics(t *testing.T) {
	log := file{"a.log", []byte(installed)}
	for _, data := range [][]byte{gz(tarOf(log)), tarOf(file{"z", zipOf(log, log)}), zipOf(file{"t", gz(log.data)})} {
		for i := 0; i < len(data); i += 1 + len(data)/12 {
			damaged := slices.Clone(data)
			damaged[i] ^= 0x41
			for _, d := range [][]byte{data[:i], damaged} {
				got := readFiles(t, ingest.Options{}, file{"in", d})[0]
				if got.State == timeline.Read && i < len(data)/4 && len(d) < len(data) {
					t.Errorf("cut at %d of %d is read", i, len(data))
				}
			}
		}
	}
}

package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fileSize is where a file ends and the next begins.
const fileSize = 32 << 20

// noiseLines stand for each line that says something.
const noiseLines = 40

// culprit is planted a few times in every file.
const culprit = "litellm"

var packages = strings.Fields(`aiohttp aiosignal annotated-types anyio attrs boto3 botocore certifi charset-normalizer
	click cryptography distro fastapi filelock frozenlist fsspec greenlet h11 httpcore httpx idna jinja2 jiter jmespath
	jsonschema markdown-it-py markupsafe multidict numpy openai orjson packaging pandas pluggy propcache pyarrow pydantic
	pydantic-core pygments pytest python-dateutil pyyaml redis regex requests rich ruff s3transfer six sniffio sqlalchemy
	starlette tiktoken tokenizers tqdm typer typing-extensions urllib3 uvicorn yarl`)

// A writer writes one kind of evidence, the same bytes for the same seed.
type writer struct {
	*rand.Rand
	out     *bufio.Writer
	size    int
	at      time.Time
	planted int
}

// evidence writes mb MiB of one kind into dir and returns how often the
// culprit is in it.
func evidence(dir, kind string, mb int, seed uint64) (planted int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	for n := 0; n*fileSize < mb<<20; n++ {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%s-%03d.log", kind, n)))
		if err != nil {
			return 0, err
		}
		w := &writer{Rand: rand.New(rand.NewPCG(seed, uint64(n))), out: bufio.NewWriterSize(f, 1<<20), at: time.Date(2026, 10, 21, 0, 0, 0, 0, time.UTC)}
		if kind == "access" {
			w.access()
		} else {
			w.jobs()
		}
		planted += w.planted
		if err := w.out.Flush(); err != nil {
			return 0, err
		}
		if err := f.Close(); err != nil {
			return 0, err
		}
	}
	return planted, nil
}

func (w *writer) jobs() {
	for n := 0; w.size < fileSize; n++ {
		w.job(n%8 == 4)
	}
}

// line writes a line of a job with its time.
func (w *writer) line(format string, args ...any) {
	w.at = w.at.Add(time.Duration(w.IntN(3_000_000)) * 100)
	n, _ := fmt.Fprintf(w.out, w.at.Format("2006-01-02T15:04:05.0000000Z ")+format+"\n", args...) // Flush tells
	w.size += n
}

// job writes the log of one GitHub Actions job.
func (w *writer) job(bad bool) {
	_, _ = w.out.WriteString("\ufeff")
	w.line("Current runner version: '2.332.0'")
	w.line("##[group]Runner Image")
	w.line("Image: ubuntu-24.04")
	w.line("##[endgroup]")
	w.line("Download action repository 'actions/checkout@v4' (SHA:34e114876b0b11c390a56381ad16ebd13914f8d5)")
	w.line("Complete job name: build (3.12, %d)", w.IntN(4))
	w.line("##[group]Run pip install -r requirements.txt")
	w.line("\x1b[36;1mpip install -r requirements.txt\x1b[0m")
	w.line("shell: /usr/bin/bash -e {0}")
	w.line("##[endgroup]")
	var names, done []string
	for i, p := range packages {
		if w.IntN(3) > 0 {
			continue
		}
		version := fmt.Sprintf("%d.%d.%d", 1+i%5, i*7%31, w.IntN(3))
		w.line("Collecting %s==%s (from -r requirements.txt (line %d))", p, version, i+1)
		w.line("  Downloading %s-%s-py3-none-any.whl.metadata (%d.2 kB)", strings.ReplaceAll(p, "-", "_"), version, 1+w.IntN(30))
		names, done = append(names, p), append(done, p+"-"+version)
	}
	version := "1.106.2"
	if bad {
		version = "1.107.0"
		w.planted++
	}
	w.line("Collecting %s==%s (from -r requirements.txt (line 99))", culprit, version)
	w.line("  Downloading %s-%s-py3-none-any.whl.metadata (41.2 kB)", culprit, version)
	names, done = append(names, culprit), append(done, culprit+"-"+version)
	w.line("Installing collected packages: %s", strings.Join(names, ", "))
	w.line("Successfully installed %s", strings.Join(done, " "))
	for range (2*len(done) + 4) * noiseLines {
		w.noise()
	}
	w.line("Post job cleanup.")
	w.line("Cleaning up orphan processes")
}

// noise writes a line as compilers, tests and bundlers do, some of them close
// to lines that mean something.
func (w *writer) noise() {
	switch n := w.IntN(1000); n % 8 {
	case 0:
		w.line("[%3d%%] Building CXX object src/core/CMakeFiles/core.dir/stream_%d.cc.o", n/10, n)
	case 1:
		w.line("tests/test_router_%d.py::TestRouter::test_retry_%d PASSED                  [ %d%%]", n%40, n, n/10)
	case 2:
		w.line("Collecting coverage data for %d shards", n)
	case 3:
		w.line("src/server/queue.cc:%d:17: note: in instantiation of function template specialization 'queue<int, %d>'", n, n)
	case 4:
		w.line("ok  \tacme.example/api/internal/queue/%d\t0.%03ds\tcoverage: %d.1%% of statements", n, n, n/10)
	case 5:
		w.line("asset static/js/%d.5f3a%dc1.chunk.js %d KiB [emitted] [immutable] [minimized] (name: vendors)", n, n, n)
	case 6:
		w.line("DEBUG litellm.router: attempt %d of 3 after 0.%d s", n%3, n)
	case 7:
		w.line("##[debug]Evaluating condition for step: 'upload %d' succeeded() => true", n)
	}
}

// access writes the log of a package mirror behind nginx: one request in ten
// is for a package.
func (w *writer) access() {
	w.at = w.at.Add(6 * time.Hour)
	for n := 0; w.size < fileSize; n++ {
		w.at = w.at.Add(time.Duration(w.IntN(400)) * time.Millisecond)
		request, status, size, agent := "/healthz", 200, 2, "kube-probe/1.33"
		switch p := packages[w.IntN(len(packages))]; {
		case n%40_000 == 20_000:
			request, size, agent = "/packages/5c/0a/"+culprit+"-1.107.0-py3-none-any.whl", 8_123_456, "pip/25.2"
			w.planted++
		case n%20 == 0:
			request, size, agent = "/simple/"+p+"/", 40_000+w.IntN(9000), "pip/25.2"
		case n%20 == 10:
			request, size, agent = fmt.Sprintf("/packages/%02x/%02x/%s-%d.%d.0-py3-none-any.whl", w.IntN(256), w.IntN(256), strings.ReplaceAll(p, "-", "_"), 1+w.IntN(3), w.IntN(9)), w.IntN(900_000), "pip/25.2"
		case n%3 == 0:
			request, status, size, agent = fmt.Sprintf("/assets/app.%08x.js", w.Uint32()), 304, 0, "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"
		}
		k, _ := fmt.Fprintf(w.out, "10.4.%d.%d - - [%s] \"GET %s HTTP/1.1\" %d %d \"-\" \"%s\"\n", // Flush tells
			w.IntN(4), w.IntN(250), w.at.Format("02/Jan/2006:15:04:05 -0700"), request, status, size, agent)
		w.size += k
	}
}

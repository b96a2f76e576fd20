package ingest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"pulltrail/ingest/evidence"
)

// TestWrittenText tells quotations of logs from logs: what a program or a page
// quotes did not happen.
func TestWrittenText(t *testing.T) {
	const pip = "Collecting six\nSuccessfully installed six-1.16.0\n"
	for _, c := range []struct{ about, text, why string }{
		{"Python", "# -*- coding: utf-8 -*-\nimport subprocess\n\nWANT = \"\"\"\\\n" + pip + "\"\"\"\n\n\ndef test_pip(run):\n    assert run() == WANT\n", programText},
		{"Go, from its middle", "func TestPip(t *testing.T) {\n\twant := `" + pip + "`\n\tif got := run(); got != want {\n\t\tt.Error(got)\n\t}\n}\n", programText},
		{"Rust", "#[test]\nfn pip() {\n    let out = run(r#\"\n" + pip + "\"#);\n    assert_eq!(out, 0);\n}\n", programText},
		{"TypeScript", "import { parse } from './parse';\n\nconst log = `\n" + pip + "`;\n\ndescribe('parse', () => {\n  it('reads', () => {\n  });\n});\n", programText},
		{"Java", "package io.acme;\n\nclass PipTest {\n    static final String OUT = \"\"\"\n" + pip + "        \"\"\";\n}\n", programText},
		{"Ruby", "require 'spec_helper'\n\ndescribe Parser do\n  it 'reads' do\n    out = <<~EOS\n" + pip + "    EOS\n  end\nend\n", programText},
		{"Bats", "#!/usr/bin/env bats\n\n@test \"pip\" {\n  run parse <<'EOF'\n" + pip + "EOF\n  [ \"$status\" -eq 0 ]\n}\n", programText},
		{"a page", "# Installing six\n\n```console\n$ pip install six\n" + pip + "```\n", pageText},
		{"a page with front matter", "---\ntitle: Installing six\ndate: 2026-01-02\n---\n\n```\n" + pip + "```\n", pageText},
		{"a page with a badge", "[![build](b.svg)](b)\n\n```\n" + pip + "```\n", pageText},
		{"reStructuredText", "Installing six\n==============\n\nUse pip::\n\n    $ pip install six\n" + pip, pageText},
		{"AsciiDoc", "= Installing six\n:toc:\n\n[source,console]\n----\n$ pip install six\n" + pip + "----\n", pageText},
		{"HTML", "<!DOCTYPE html>\n<html><body>\n<h1>Installing six</h1>\n<pre>\n" + pip + "</pre>\n</body></html>\n", pageText},
		{"Org", "#+TITLE: Installing six\n* Use pip\n#+BEGIN_EXAMPLE\n" + pip + "#+END_EXAMPLE\n", pageText},
		{"MediaWiki", "== Installing six ==\n<pre>\n" + pip + "</pre>\n", pageText},
		{"a manual", "PIP-INSTALL(1)         pip         PIP-INSTALL(1)\n\nNAME\n       pip-install\n\nEXAMPLES\n" + pip, pageText},
		{"a dump of a database", "-- PostgreSQL database dump\nSET client_encoding = 'UTF8';\nINSERT INTO logs VALUES (1, 'x');\nCOPY public.logs (text) FROM stdin;\n" + pip + "\\.\n", programText},
		{"a table of tickets", "Issue key,Summary,Description\nOPS-1,Build fails,\"" + pip + "then it stops\"\nOPS-2,Other,none\n", tableText},

		{"a run of pytest", "============ test session starts ============\ncollected 2 items\n" + pip + "=========== FAILURES ===========\n____ test_a ____\n======= 1 failed in 0.1s =======\n", ""},
		{"a run of go test", "=== RUN   TestPip\n" + pip + "--- PASS: TestPip (0.00s)\n=== RUN   TestB\n----\n----\n", ""},
		{"a saved console", "<!DOCTYPE html><html><body>\n<h1>Console</h1>\n<pre class=\"console-output\">\n" + pip + "</pre>\n", ""},
		{"a step with a ruled title", "Installing\n==========\n" + pip, ""},
		{"a table of one line a row", "a,b\n1,\"Successfully installed six-1.16.0\"\n2,\"x\"\n", ""},
		{"a log", pip, ""},
		{"a root's prompt", "# pip install six\n" + pip + "# pip install flask\n", ""},
		{"titles of a tool", "## Package Plan ##\n\n  environment location: /opt/conda\n\nThe following NEW packages will be INSTALLED:\n", ""},
		{"an environment", "export A=1\nexport B=2\nexport C=3\nexport D=4\n" + pip, ""},
		{"a traceback", "Traceback (most recent call last):\n  File \"/a.py\", line 3, in <module>\n    import six\nImportError: six\n" + pip, ""},
		{"one line of a program", "import six\n" + pip, ""},
		{"commands of an interpreter", ">>> import six\n>>> six.__version__\n'1.16.0'\n", ""},
		{"settings", "timeout = 5\nindex = https://mirror.acme.example/simple\nretries = 3\nproxy = none\n" + pip, ""},
		{"a step that prints fences", "Run review\n```\n" + pip + "```\n", ""},
	} {
		if got := writtenText(nil, &evidence.Head{Bytes: []byte(c.text)}); got != c.why {
			t.Errorf("%s: %q, want %q", c.about, got, c.why)
		}
	}
}

// TestNoLogIsWritten holds that no sample of a log is taken for a quotation.
func TestNoLogIsWritten(t *testing.T) {
	samples, err := filepath.Glob("../testdata/formats/*/*")
	if err != nil || len(samples) < 100 {
		t.Fatal(len(samples), err)
	}
	for _, sample := range samples {
		data, err := os.ReadFile(sample)
		if err != nil || bytes.HasSuffix([]byte(sample), []byte(".golden")) {
			continue // a folder
		}
		h := newHead(sample, data[:min(len(data), 64<<10)])
		if why := writtenText((&source{g: &ingester{}}).claim(h), h); why != "" {
			t.Errorf("%s: %s", sample, why)
		}
	}
}

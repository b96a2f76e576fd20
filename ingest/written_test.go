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
		if why := writtenText(nil, &evidence.Head{Bytes: data[:min(len(data), 64<<10)]}); why != "" {
			t.Errorf("%s: %s", sample, why)
		}
	}
}

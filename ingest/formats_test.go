package ingest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pulltrail/ingest"
	"pulltrail/ingest/evidence"
)

var slug = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// TestTable checks that each format is one row that describes itself, with a
// folder of goldens of the same name, and that no folder is left over.
func TestTable(t *testing.T) {
	rows := map[string]bool{}
	for _, f := range ingest.Formats {
		if !slug.MatchString(f.Name) || rows[f.Name] {
			t.Errorf("%q: a name is a slug, and stands in one row", f.Name)
		}
		rows[f.Name] = true
		if f.Title == "" || f.Proves == "" || f.Cannot == "" || f.Sample == "" || !strings.HasPrefix(f.Doc, "https://") {
			t.Errorf("%s: 'pulltrail formats' has nothing to say in some column: %+q", f.Name, []string{f.Title, f.Proves, f.Cannot, f.Doc, f.Sample})
		}
		if goldens, err := filepath.Glob("../testdata/formats/" + f.Name + "/*.golden"); err != nil || len(goldens) == 0 {
			t.Errorf("%s: no golden in testdata/formats/%s, %v", f.Name, f.Name, err)
		}
		if (f.Shape == evidence.FrameShape) != (f.New != nil) || (f.Shape == evidence.ToolShape) != (f.Tool != nil) || (f.Shape == evidence.DocumentShape) != (f.Read != nil) {
			t.Errorf("%s: a %s is read in another way", f.Name, f.Shape)
		}
	}
	folders, err := os.ReadDir("../testdata/formats")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range folders {
		if !rows[d.Name()] {
			t.Errorf("testdata/formats/%s belongs to no format", d.Name())
		}
	}
}

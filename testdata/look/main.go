// Look opens reports in the programs that readers open them with: every page in
// a headless Chromium, which must ask for nothing and of which it takes pictures
// (light, dark, narrow, printed), every table in LibreOffice, which must find no
// formula.
//
//	go run ./testdata/look -from REPORTS -to PICTURES
//
// Pages and tables whose names begin with "hostile" are opened without pictures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	from := flag.String("from", "", "folder with reports")
	to := flag.String("to", "", "folder for the pictures")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := look(ctx, *from, *to); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "look:", err)
		os.Exit(1) //nolint:gocritic // it was called
	}
}

func look(ctx context.Context, from, to string) error {
	if from == "" || to == "" {
		return errors.New("want -from REPORTS and -to PICTURES")
	}
	for command, pkg := range map[string]string{"chromium": "chromium", "soffice": "libreoffice-calc"} {
		if _, err := exec.LookPath(command); err != nil {
			return fmt.Errorf("%s is missing: apt-get install %s", command, pkg)
		}
	}
	pages, err := under(from, ".html")
	if err != nil {
		return err
	}
	tables, err := under(from, ".csv")
	if err != nil {
		return err
	}
	if len(pages) == 0 || len(tables) == 0 {
		return fmt.Errorf("%s holds %d pages and %d tables", from, len(pages), len(tables))
	}
	work, err := os.MkdirTemp("", "pulltrail-look-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // a temporary folder
	if err := errors.Join(os.MkdirAll(to, 0o750), browse(ctx, work, to, pages)); err != nil {
		return err
	}
	return calculate(ctx, work, tables)
}

// under lists the files with an ending below a folder.
func under(dir, ending string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ending) {
			p, err = filepath.Abs(p)
			out = append(out, p)
		}
		return err
	})
	return out, err
}

// calculate has LibreOffice turn tables into its own text form, in which a
// formula is an attribute of its cell.
// https://docs.oasis-open.org/office/OpenDocument/v1.3/part3-schema/OpenDocument-v1.3-part3-schema.html#attribute-table_formula
func calculate(ctx context.Context, work string, tables []string) error {
	control := filepath.Join(work, "control.csv")
	if err := os.WriteFile(control, []byte("a\n=1+1\n"), 0o600); err != nil {
		return err
	}
	formulas := 0
	for i, t := range append([]string{control}, tables...) {
		n, err := formulasOf(ctx, work, t, i)
		if err != nil {
			return err
		}
		if i == 0 {
			if n == 0 {
				return errors.New("LibreOffice finds no formula where there is one: this proves nothing")
			}
			continue
		}
		if n > 0 {
			fmt.Printf("WRONG: %s has %d formulas\n", t, n)
		}
		formulas += n
	}
	fmt.Printf("%d tables, %d formulas\n", len(tables), formulas)
	if formulas > 0 {
		return errors.New("a table calculates")
	}
	return nil
}

func formulasOf(ctx context.Context, work, table string, i int) (int, error) {
	out := filepath.Join(work, fmt.Sprint("sheet", i))
	c := exec.CommandContext(ctx, "soffice", "-env:UserInstallation=file://"+filepath.Join(work, "office"), "--headless", //nolint:gosec // the reports
		"--convert-to", "fods", "--infilter=CSV:44,34,UTF8", "--outdir", out, table)
	if text, err := c.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("soffice: %w: %s", err, text)
	}
	sheets, err := under(out, ".fods")
	if err != nil || len(sheets) != 1 {
		return 0, fmt.Errorf("soffice made %d sheets of %s: %w", len(sheets), table, err)
	}
	data, err := os.ReadFile(sheets[0])
	if err != nil {
		return 0, err
	}
	return strings.Count(string(data), "table:formula="), os.Remove(sheets[0])
}

// ways are how readers see a page: arguments for Chromium, "" for pictures that
// a page of hostile texts gets too.
var ways = []struct {
	name string
	args []string
}{
	{"wide", []string{"--window-size=1400,2600"}},
	{"dark", []string{"--window-size=1400,2600", "--blink-settings=preferredColorScheme=0"}},
	{"narrow", []string{"--window-size=500,3600"}},
	{"narrow-dark", []string{"--window-size=500,3600", "--blink-settings=preferredColorScheme=0"}},
	{"printed", nil},
}

// browse opens pages in Chromium, whose only way out is a proxy that counts.
func browse(ctx context.Context, work, to string, pages []string) error {
	b, err := newBrowser(ctx, work)
	if err != nil {
		return err
	}
	defer b.close()
	control := filepath.Join(work, "control.html")
	if err := os.WriteFile(control, []byte("<img src=http://e.example/x.png>"), 0o600); err != nil {
		return err
	}
	if err := b.open(control, "--screenshot="+filepath.Join(work, "x.png")); err != nil {
		return err
	}
	if len(b.asked()) == 0 {
		return errors.New("the proxy sees no request where there is one: this proves nothing")
	}
	for _, p := range pages {
		name := strings.TrimSuffix(filepath.Base(filepath.Dir(p))+"-"+filepath.Base(p), ".html")
		for _, w := range ways {
			hostile := strings.HasPrefix(filepath.Base(p), "hostile")
			args := append(slices.Clone(w.args), "--screenshot="+filepath.Join(to, name+"."+w.name+".png"))
			switch {
			case hostile && w.name != "wide":
				continue
			case hostile:
				args[len(args)-1] = "--screenshot=" + filepath.Join(work, "x.png")
			case w.args == nil:
				args = []string{"--no-pdf-header-footer", "--print-to-pdf=" + filepath.Join(to, name+".pdf")}
			}
			if err := b.open(p, args...); err != nil {
				return err
			}
			if asked := b.asked(); len(asked) > 0 {
				return fmt.Errorf("%s, %s: it asks for %s", p, w.name, strings.Join(asked, ", "))
			}
		}
	}
	fmt.Printf("%d pages, 0 requests\n", len(pages))
	return nil
}

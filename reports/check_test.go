package reports

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestGateReader checks that nothing slips through what reads a report while it
// is written, wherever the pieces of a character are cut.
func TestGateReader(t *testing.T) {
	for text, passes := range map[string]bool{
		"plain\n": true, "größer, 日本語 and …": true, "": true,
		"a\x1b[31m": false, "tab\t": false, "right\u202eleft": false, "zero\u200bwidth": false, "cut \xe6\x97": false, "\xff": false, "\r\n": false,
	} {
		for _, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
			got, err := io.ReadAll(&gateReader{in: in, form: "md"})
			if passes && (err != nil || string(got) != text) {
				t.Errorf("%q: read %q, %v", text, got, err)
			}
			if !passes && err == nil {
				t.Errorf("%q passes", text)
			}
		}
	}
}

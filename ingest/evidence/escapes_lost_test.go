package evidence

import "testing"

func TestLostEscapes(t *testing.T) {
	for head, want := range map[string]bool{
		"[36;1mpip install -q litellm[0m\n":                                   true,
		"^[[0K^[[32;1m$ pip install x^[[0;m\n":                                true,
		"\x1b[36;1mpip install -q litellm\x1b[0m\n":                           false,
		`{"log":"\u001b[36mCollecting litellm\u001b[0m\n","stream":"stdout"}`: false,
		"rate(http_requests_total[5m]) by [0m]\n":                             false,
		"tests/test_flow.py::test_run[0] PASSED [ 50%]\nnone":                 false,
	} {
		if got := LostEscapes([]byte(head)); got != want {
			t.Errorf("%q: %t", head, got)
		}
	}
	for line, want := range map[string]string{
		"[36;1mpip install -q litellm[0m":      "pip install -q litellm",
		`\x1b[32;1m$ pip install x\x1b[0;m`:    "$ pip install x",
		"#033[1mCollecting litellm#033[0m":     "Collecting litellm",
		"test_run[0] PASSED":                   "test_run[0] PASSED",
		"uvicorn[standard]==0.30.1 [25 files]": "uvicorn[standard]==0.30.1 [25 files]",
	} {
		if got := string(StripColours([]byte(line))); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

package tool

import "testing"

func TestJoinList(t *testing.T) {
	const list = "installed acme-trace-1.4.2 litellm-1.10"
	for next, want := range map[string]string{
		"7.0 openai-1.99.9":            list + "7.0 openai-1.99.9",
		"openai-1.99.9 zipp-3":         list + " openai-1.99.9 zipp-3",
		"done":                         "",
		"WARNING: Running pip as root": "",
		"7.0 seconds later all passed": "",
		"":                             "",
	} {
		if got, ok := joinList(list, next); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, want %q", next, got, want)
		}
	}
	if got, _ := joinList("installed acme-trace-1.4.2 lite", "llm-1.107.0"); got != "installed acme-trace-1.4.2 litellm-1.107.0" {
		t.Errorf("a name in two: %q", got)
	}
}

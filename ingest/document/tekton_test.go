package document

import "testing"

// TestScriptsOfShells: what is written for another interpreter holds no commands.
func TestScriptsOfShells(t *testing.T) {
	for script, want := range map[string]bool{
		"pip install x": true, "#!/bin/sh\npip install x": true, "#! /usr/bin/env -S bash -e\npip install x": true, "#!/bin/bash": true,
		"#!/usr/bin/env python3\nimport x": false, "#!/usr/bin/node": false,
	} {
		if got := ofShell(script); got != want {
			t.Errorf("%q: %v", script, got)
		}
	}
}

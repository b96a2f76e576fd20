package tool

import "testing"

func FuzzGitHubAction(f *testing.F) { fuzz(f, GitHubAction) }

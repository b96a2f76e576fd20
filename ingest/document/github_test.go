package document

import "testing"

func FuzzGitHubRun(f *testing.F)      { fuzz(f, GitHubRun, "run.json") }
func FuzzGitHubJobs(f *testing.F)     { fuzz(f, GitHubJobs, "jobs.json") }
func FuzzHTTPAnswer(f *testing.F)     { fuzz(f, HTTPAnswer, "answer.txt") }
func FuzzGitHubWorkflow(f *testing.F) { fuzz(f, GitHubWorkflow, "ci.yml") }

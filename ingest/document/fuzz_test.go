package document

import (
	"strings"
	"testing"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// fuzz gives a format any bytes: it must neither break nor name a line that is
// not there.
func fuzz(f *testing.F, format evidence.Format, path string) {
	for _, data := range samplesOf(f, format) {
		f.Add(data)
	}
	for _, data := range hostile {
		if len(data) < 1000 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data string) {
		h := newHead(path, data)
		format.Claim(&h)
		last := newDoc(path, data).LineAt(int64(len(data)))
		for _, e := range read(format, path, data, "").events {
			if e.Line < 1 || e.Line > last || e.Action == timeline.NoAction {
				t.Errorf("line %d of %d: %v", e.Line, last, timeline.Notation(e))
			}
		}
	})
}

func FuzzContainer(f *testing.F)     { fuzz(f, Container, "c.json") }
func FuzzImage(f *testing.F)         { fuzz(f, Image, "i.json") }
func FuzzDockerList(f *testing.F)    { fuzz(f, DockerList, "ps.txt") }
func FuzzCRI(f *testing.F)           { fuzz(f, CRI, "cri.json") }
func FuzzInspected(f *testing.F)     { fuzz(f, ManifestInspect, "m.json") }
func FuzzPipReport(f *testing.F)     { fuzz(f, PipReport, "r.json") }
func FuzzEventsYAML(f *testing.F)    { fuzz(f, KubernetesEventsYAML, "e.yaml") }
func FuzzPods(f *testing.F)          { fuzz(f, Pods, "p.json") }
func FuzzMetadata(f *testing.F)      { fuzz(f, DistInfo, "x-1.0.dist-info/METADATA") }
func FuzzRecord(f *testing.F)        { fuzz(f, DistInfo, "x-1.0.dist-info/RECORD") }
func FuzzDirectURL(f *testing.F)     { fuzz(f, DistInfo, "x-1.0.dist-info/direct_url.json") }
func FuzzEggInfo(f *testing.F)       { fuzz(f, EggInfo, "x-1.0.egg-info/PKG-INFO") }
func FuzzCondaMeta(f *testing.F)     { fuzz(f, CondaMeta, "conda-meta/x-1.0-0.json") }
func FuzzNodePackage(f *testing.F)   { fuzz(f, NodePackage, "node_modules/x/package.json") }
func FuzzDpkgStatus(f *testing.F)    { fuzz(f, DpkgStatus, "var/lib/dpkg/status") }
func FuzzAPKInstalled(f *testing.F)  { fuzz(f, APKInstalled, "lib/apk/db/installed") }
func FuzzFreeze(f *testing.F)        { fuzz(f, Freeze, "freeze.txt") }
func FuzzRequirements(f *testing.F)  { fuzz(f, Requirements, "requirements.txt") }
func FuzzPipShow(f *testing.F)       { fuzz(f, PipShow, "show.txt") }
func FuzzPipList(f *testing.F)       { fuzz(f, PipList, "list.txt") }
func FuzzPyProject(f *testing.F)     { fuzz(f, PyProject, "pyproject.toml") }
func FuzzUVLock(f *testing.F)        { fuzz(f, UVLock, "uv.lock") }
func FuzzPoetryLock(f *testing.F)    { fuzz(f, PoetryLock, "poetry.lock") }
func FuzzPyLock(f *testing.F)        { fuzz(f, PyLock, "pylock.toml") }
func FuzzCycloneDX(f *testing.F)     { fuzz(f, CycloneDX, "b.json") }
func FuzzSPDX(f *testing.F)          { fuzz(f, SPDX, "s.json") }
func FuzzImageArchive(f *testing.F)  { fuzz(f, ImageArchive, "manifest.json") }
func FuzzImageIndex(f *testing.F)    { fuzz(f, ImageIndex, "index.json") }
func FuzzImageManifest(f *testing.F) { fuzz(f, ImageManifest, "manifest.json") }
func FuzzHistory(f *testing.F)       { fuzz(f, History, "history.txt") }
func FuzzImageConfig(f *testing.F)   { fuzz(f, ImageConfig, "config.json") }
func FuzzNPMLock(f *testing.F)       { fuzz(f, NPMLock, "package-lock.json") }
func FuzzPackageJSON(f *testing.F)   { fuzz(f, PackageJSON, "package.json") }
func FuzzYarnLock(f *testing.F)      { fuzz(f, YarnLock, "yarn.lock") }
func FuzzPnpmLock(f *testing.F)      { fuzz(f, PnpmLock, "pnpm-lock.yaml") }
func FuzzBunLock(f *testing.F)       { fuzz(f, BunLock, "bun.lock") }
func FuzzDenoLock(f *testing.F)      { fuzz(f, DenoLock, "deno.lock") }
func FuzzNPMCache(f *testing.F)      { fuzz(f, NPMCache, "_cacache/index-v5/3a/1f/5b2c") }

func FuzzCIConfig(f *testing.F)           { fuzz(f, CIConfig, ".gitlab-ci.yml") }
func FuzzGitHubSecrets(f *testing.F)      { fuzz(f, GitHubSecrets, "s.json") }
func FuzzGitLabVariables(f *testing.F)    { fuzz(f, GitLabVariables, "v.json") }
func FuzzCircleCISecrets(f *testing.F)    { fuzz(f, CircleCISecrets, "c.json") }
func FuzzCircleCIJob(f *testing.F)        { fuzz(f, CircleCIJob, "job.json") }
func FuzzCircleCIVariables(f *testing.F)  { fuzz(f, CircleCIVariables, "v.json") }
func FuzzBuildkiteBuild(f *testing.F)     { fuzz(f, BuildkiteBuild, "builds.json") }
func FuzzBuildkiteLog(f *testing.F)       { fuzz(f, BuildkiteLog, "log.json") }
func FuzzBuildkiteSecrets(f *testing.F)   { fuzz(f, BuildkiteSecrets, "s.json") }
func FuzzJenkinsBuild(f *testing.F)       { fuzz(f, JenkinsBuild, "builds.json") }
func FuzzJenkinsCredentials(f *testing.F) { fuzz(f, JenkinsCredentials, "c.json") }
func FuzzAWSReport(f *testing.F)          { fuzz(f, AWSReport, "r.csv") }
func FuzzLiteLLMConfig(f *testing.F)      { fuzz(f, LiteLLMConfig, "config.yaml") }
func FuzzLiteLLMTables(f *testing.F)      { fuzz(f, LiteLLMTables, "t.csv") }
func FuzzLiteLLMDatabase(f *testing.F)    { fuzz(f, LiteLLMDatabase, "d.json") }
func FuzzKubernetesSecrets(f *testing.F)  { fuzz(f, KubernetesSecrets, "s.yaml") }
func FuzzComposeFile(f *testing.F)        { fuzz(f, ComposeFile, "compose.yaml") }
func FuzzSystemdUnit(f *testing.F)        { fuzz(f, SystemdUnit, "x.service") }
func FuzzDotEnv(f *testing.F)             { fuzz(f, DotEnv, ".env") }
func FuzzEnvironment(f *testing.F)        { fuzz(f, Environment, "environ") }
func FuzzCredentialList(f *testing.F)     { fuzz(f, CredentialList, "c.csv") }
func FuzzGitHubPackages(f *testing.F)     { fuzz(f, GitHubPackages, "versions.json") }

// FuzzWorkflowHolders gives the reader of workflow files any file for jobs of
// any name.
func FuzzWorkflowHolders(f *testing.F) {
	f.Add("jobs:\n  a: {steps: [{run: '${{ secrets.A }}'}]}\n", "a")
	f.Add("x: &x {env: {TOKEN: v}}\njobs: {b: *x, 'c ${{ d }}': {uses: ./e, secrets: inherit}}", "c 1 / f")
	f.Fuzz(func(t *testing.T, text, job string) {
		claim := timeline.Subject{Kind: timeline.Job, ID: "github:acme/api/runs/8/attempts/1"}
		r := evidence.NewMachine(nil).NewReading("ci.yml", claim, timeline.Subject{}, evidence.Times{}, func(b *timeline.Batch) error {
			for _, e := range b.Events {
				if e.Action != timeline.Hold || !strings.HasPrefix(e.Subject.ID, claim.ID+"/jobs/") {
					t.Errorf("%v", timeline.Notation(e))
				}
			}
			return nil
		})
		_ = readGitHubWorkflow(&evidence.Doc{Head: evidence.Head{Name: "ci.yml"}, Data: []byte(text), Jobs: []string{job}}, &r.Out) // it may be no YAML
		if _, err := r.Finish(timeline.Span{}); err != nil {
			t.Fatal(err)
		}
	})
}

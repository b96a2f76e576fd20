package document

import "testing"

func FuzzDpkgList(f *testing.F)      { fuzz(f, DpkgList, "l.txt") }
func FuzzRPMList(f *testing.F)       { fuzz(f, RPMList, "l.txt") }
func FuzzAPKList(f *testing.F)       { fuzz(f, APKList, "l.txt") }
func FuzzPacmanList(f *testing.F)    { fuzz(f, PacmanList, "l.txt") }
func FuzzCondaList(f *testing.F)     { fuzz(f, CondaList, "l.txt") }
func FuzzGemList(f *testing.F)       { fuzz(f, GemList, "l.txt") }
func FuzzPipCache(f *testing.F)      { fuzz(f, PipCache, "l.txt") }
func FuzzFileList(f *testing.F)      { fuzz(f, FileList, "l.txt") }
func FuzzUVCache(f *testing.F)       { fuzz(f, UVCache, "wheels-v5/pypi/idna/3.7-py3-none-any.http") }
func FuzzTrivy(f *testing.F)         { fuzz(f, Trivy, "t.json") }
func FuzzSyft(f *testing.F)          { fuzz(f, Syft, "s.json") }
func FuzzGrype(f *testing.F)         { fuzz(f, Grype, "g.json") }
func FuzzSkopeoInspect(f *testing.F) { fuzz(f, SkopeoInspect, "i.json") }
func FuzzGitLabJobs(f *testing.F)    { fuzz(f, GitLabJobs, "jobs.json") }
func FuzzCargoLock(f *testing.F)     { fuzz(f, CargoLock, "Cargo.lock") }
func FuzzGemfileLock(f *testing.F)   { fuzz(f, GemfileLock, "Gemfile.lock") }
func FuzzGoModules(f *testing.F)     { fuzz(f, GoModules, "go.sum") }
func FuzzGoBinary(f *testing.F)      { fuzz(f, GoBinary, "v.txt") }
func FuzzScriptTiming(f *testing.F)  { fuzz(f, ScriptTiming, "t.tm") }
func FuzzComposerLock(f *testing.F)  { fuzz(f, ComposerLock, "composer.lock") }
func FuzzComposerJSON(f *testing.F)  { fuzz(f, ComposerJSON, "composer.json") }
func FuzzComposerInstalled(f *testing.F) {
	fuzz(f, ComposerInstalled, "vendor/composer/installed.json")
}

func FuzzExtensionState(f *testing.F)    { fuzz(f, ExtensionState, "extensions.json") }
func FuzzExtensionManifest(f *testing.F) { fuzz(f, ExtensionManifest, "acme.tools-1.5.0/package.json") }
func FuzzExtensionList(f *testing.F)     { fuzz(f, ExtensionList, "extensions.txt") }
func FuzzDevContainer(f *testing.F)      { fuzz(f, DevContainer, "devcontainer.json") }
func FuzzJenkinsPluginList(f *testing.F) { fuzz(f, JenkinsPluginList, "plugins.json") }
func FuzzJenkinsPluginFile(f *testing.F) { fuzz(f, JenkinsPluginFile, "plugins.txt") }
func FuzzJenkinsManifest(f *testing.F)   { fuzz(f, JenkinsPluginManifest, "MANIFEST.MF") }

func FuzzNuGetLock(f *testing.F)          { fuzz(f, NuGetLock, "packages.lock.json") }
func FuzzNuGetAssets(f *testing.F)        { fuzz(f, NuGetAssets, "project.assets.json") }
func FuzzNuGetConfig(f *testing.F)        { fuzz(f, NuGetConfig, "packages.config") }
func FuzzMSBuild(f *testing.F)            { fuzz(f, MSBuild, "api.csproj") }
func FuzzGradleLock(f *testing.F)         { fuzz(f, GradleLock, "gradle.lockfile") }
func FuzzGradleVerification(f *testing.F) { fuzz(f, GradleVerification, "verification-metadata.xml") }
func FuzzMixLock(f *testing.F)            { fuzz(f, MixLock, "mix.lock") }
func FuzzPubLock(f *testing.F)            { fuzz(f, PubLock, "pubspec.lock") }
func FuzzSwiftLock(f *testing.F)          { fuzz(f, SwiftLock, "Package.resolved") }

func FuzzPipAudit(f *testing.F)   { fuzz(f, PipAudit, "a.json") }
func FuzzOSVScanner(f *testing.F) { fuzz(f, OSVScanner, "o.json") }
func FuzzSnyk(f *testing.F)       { fuzz(f, Snyk, "s.json") }

func FuzzTektonRun(f *testing.F)    { fuzz(f, TektonRun, "t.yaml") }
func FuzzHelmList(f *testing.F)     { fuzz(f, HelmList, "h.txt") }
func FuzzNomad(f *testing.F)        { fuzz(f, NomadAllocation, "a.txt") }
func FuzzArgoWorkflow(f *testing.F) { fuzz(f, ArgoWorkflow, "w.yaml") }

func FuzzMachineList(f *testing.F) { fuzz(f, MachineList, "l.txt") }
func FuzzIntuneApps(f *testing.F)  { fuzz(f, IntuneApps, "l.csv") }

func FuzzPodLock(f *testing.F)       { fuzz(f, PodLock, "Podfile.lock") }
func FuzzChartLock(f *testing.F)     { fuzz(f, ChartLock, "Chart.lock") }
func FuzzTerraformLock(f *testing.F) { fuzz(f, TerraformLock, ".terraform.lock.hcl") }
func FuzzXray(f *testing.F)          { fuzz(f, Xray, "x.json") }
func FuzzDotnetList(f *testing.F)    { fuzz(f, DotnetList, "l.json") }
func FuzzMavenTree(f *testing.F)     { fuzz(f, MavenTreeJSON, "t.json") }

package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// fuzz feeds any bytes to a tool, line by line. Whatever comes, it must not
// panic, and every event must stand on a line that is there, with an artifact
// that can be taken apart.
func fuzz(f *testing.F, format evidence.Format) {
	samples, err := filepath.Glob("../../testdata/formats/" + format.Name + "/*")
	if err != nil || len(samples) == 0 {
		f.Fatalf("no samples of %s: %v", format.Name, err)
	}
	for _, s := range samples {
		data, err := os.ReadFile(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := bytes.Split(data, []byte("\n"))
		m := evidence.NewMachine([]evidence.Format{format})
		r := m.NewReading("x.log", timeline.Subject{}, timeline.Subject{}, evidence.Times{}, func(b *timeline.Batch) error {
			for _, e := range b.Events {
				if e.Line < 1 || e.Line > int64(len(lines)) || e.Subject.IsZero() {
					t.Errorf("event on line %d of %d, subject %q", e.Line, len(lines), e.Subject)
				}
				for _, it := range e.Items {
					if p := timeline.Split(it.Artifact); p.Name == "" && len(it.Digests) == 0 && (e.Action != timeline.Opaque || p.Type == "") {
						t.Errorf("artifact %q names nothing", it.Artifact)
					}
				}
			}
			return nil
		})
		for i, line := range lines {
			r.Line(&evidence.Line{Text: line, No: int64(i) + 1})
		}
		if _, err := r.Finish(timeline.Span{}); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzEasyInstall(f *testing.F)    { fuzz(f, EasyInstall) }
func FuzzJobImage(f *testing.F)       { fuzz(f, JobImage) }
func FuzzMaven(f *testing.F)          { fuzz(f, Maven) }
func FuzzTox(f *testing.F)            { fuzz(f, Tox) }
func FuzzDependabot(f *testing.F)     { fuzz(f, Dependabot) }
func FuzzUltralytics(f *testing.F)    { fuzz(f, Ultralytics) }
func FuzzRenovate(f *testing.F)       { fuzz(f, Renovate) }
func FuzzInstallScript(f *testing.F)  { fuzz(f, InstallScript) }
func FuzzCICache(f *testing.F)        { fuzz(f, CICache) }
func FuzzAccess(f *testing.F)         { fuzz(f, Access) }
func FuzzDockerd(f *testing.F)        { fuzz(f, Dockerd) }
func FuzzWatchtower(f *testing.F)     { fuzz(f, Watchtower) }
func FuzzContainerd(f *testing.F)     { fuzz(f, Containerd) }
func FuzzCRIO(f *testing.F)           { fuzz(f, CRIO) }
func FuzzCrictl(f *testing.F)         { fuzz(f, Crictl) }
func FuzzDpkgLog(f *testing.F)        { fuzz(f, DpkgLog) }
func FuzzAptHistory(f *testing.F)     { fuzz(f, AptHistory) }
func FuzzAuditd(f *testing.F)         { fuzz(f, Auditd) }
func FuzzSysmon(f *testing.F)         { fuzz(f, Sysmon) }
func FuzzShellHistory(f *testing.F)   { fuzz(f, ShellHistory) }
func FuzzLinehaul(f *testing.F)       { fuzz(f, Linehaul) }
func FuzzArtifactory(f *testing.F)    { fuzz(f, Artifactory) }
func FuzzSquid(f *testing.F)          { fuzz(f, Squid) }
func FuzzDevpi(f *testing.F)          { fuzz(f, Devpi) }
func FuzzCompose(f *testing.F)        { fuzz(f, Compose) }
func FuzzHelm(f *testing.F)           { fuzz(f, Helm) }
func FuzzTestcontainers(f *testing.F) { fuzz(f, Testcontainers) }
func FuzzHAProxy(f *testing.F)        { fuzz(f, HAProxy) }
func FuzzEnvoy(f *testing.F)          { fuzz(f, Envoy) }
func FuzzCaddy(f *testing.F)          { fuzz(f, Caddy) }
func FuzzTraefik(f *testing.F)        { fuzz(f, Traefik) }
func FuzzZot(f *testing.F)            { fuzz(f, Zot) }
func FuzzDiff(f *testing.F)           { fuzz(f, Diff) }
func FuzzCrane(f *testing.F)          { fuzz(f, Crane) }
func FuzzDeno(f *testing.F)           { fuzz(f, Deno) }
func FuzzAngular(f *testing.F)        { fuzz(f, Angular) }
func FuzzZypper(f *testing.F)         { fuzz(f, Zypper) }
func FuzzGem(f *testing.F)            { fuzz(f, Gem) }
func FuzzCargo(f *testing.F)          { fuzz(f, Cargo) }
func FuzzGolang(f *testing.F)         { fuzz(f, Golang) }
func FuzzWget(f *testing.F)           { fuzz(f, Wget) }
func FuzzCurl(f *testing.F)           { fuzz(f, Curl) }
func FuzzPyPIServer(f *testing.F)     { fuzz(f, PyPIServer) }
func FuzzBandersnatch(f *testing.F)   { fuzz(f, Bandersnatch) }
func FuzzPipenv(f *testing.F)         { fuzz(f, Pipenv) }
func FuzzDNF5(f *testing.F)           { fuzz(f, DNF5) }
func FuzzAccessObjects(f *testing.F)  { fuzz(f, AccessObjects) }
func FuzzFishHistory(f *testing.F)    { fuzz(f, FishHistory) }
func FuzzVerdaccio(f *testing.F)      { fuzz(f, Verdaccio) }
func FuzzAthens(f *testing.F)         { fuzz(f, Athens) }
func FuzzS3Access(f *testing.F)       { fuzz(f, S3Access) }
func FuzzELBAccess(f *testing.F)      { fuzz(f, ELBAccess) }
func FuzzW3C(f *testing.F)            { fuzz(f, W3C) }
func FuzzUvicorn(f *testing.F)        { fuzz(f, Uvicorn) }
func FuzzAptCacherNG(f *testing.F)    { fuzz(f, AptCacherNG) }
func FuzzGin(f *testing.F)            { fuzz(f, Gin) }
func FuzzProcessEvents(f *testing.F)  { fuzz(f, ProcessEvents) }
func FuzzDNSQueries(f *testing.F)     { fuzz(f, DNSQueries) }
func FuzzRPMLog(f *testing.F)         { fuzz(f, RPMLog) }
func FuzzAzureAccess(f *testing.F)    { fuzz(f, AzureAccess) }
func FuzzAnsible(f *testing.F)        { fuzz(f, Ansible) }
func FuzzWebGateway(f *testing.F)     { fuzz(f, WebGateway) }
func FuzzTinyproxy(f *testing.F)      { fuzz(f, Tinyproxy) }
func FuzzMitmproxy(f *testing.F)      { fuzz(f, Mitmproxy) }
func FuzzNexusOutbound(f *testing.F)  { fuzz(f, NexusOutbound) }

func FuzzVSCode(f *testing.F)         { fuzz(f, VSCode) }
func FuzzJenkinsPlugins(f *testing.F) { fuzz(f, JenkinsPlugins) }
func FuzzComposer(f *testing.F)       { fuzz(f, Composer) }

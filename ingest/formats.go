package ingest

import (
	"pulltrail/ingest/document"
	"pulltrail/ingest/evidence"
	"pulltrail/ingest/frame"
	"pulltrail/ingest/tool"
)

// textFormat is the name of plain text in which some line was recognised.
const textFormat = "text"

// Formats is the one table of formats. Order matters twice: frames that start
// with the same byte are tried in it, and so are tools.
var Formats = []evidence.Format{
	frame.GitHub,
	frame.GitLab,
	frame.PipLog,
	frame.CRI,
	frame.Syslog,
	frame.Stamped,
	frame.JournalJSON,
	frame.CloudWatch,
	frame.DockerJSON,
	frame.Compose,
	frame.BuildKit,
	frame.DockerBuild,

	tool.Docker,
	tool.UV,
	tool.Podman,
	tool.Pip,
	tool.Poetry,
	tool.Access,
	tool.Dockerd,
	tool.Containerd,
	tool.CRIO,
	tool.Echo,
	tool.GitHubAction,
	tool.DpkgLog,
	tool.AptHistory,
	tool.Auditd,
	tool.Sysmon,
	tool.ShellHistory,
	document.DockerEvents,
	document.PodmanEvents,
	document.DistributionNotification,
	document.ACREventGrid,
	document.KubernetesEvents,
	document.CloudTrail,
	document.Harbor,
	document.GCPAudit,
	document.Quay,
	document.Osquery,
	document.Falco,
	document.KubernetesAudit,

	document.Container,
	document.Image,
	document.DockerList,
	document.Pods,
	document.KubernetesEventsYAML,
	document.DistInfo,
	document.EggInfo,
	document.CondaMeta,
	document.NodePackage,
	document.DpkgStatus,
	document.APKInstalled,
	document.Freeze,
	document.Requirements,
	document.PipShow,
	document.PipList,
	document.PipReport,
	document.PyProject,
	document.UVLock,
	document.PoetryLock,
	document.PyLock,
	document.NPMLock,
	document.PackageJSON,
	document.YarnLock,
	document.PnpmLock,
	document.BunLock,
	document.CycloneDX,
	document.SPDX,
	document.ImageArchive,
	document.ImageIndex,
	document.ImageManifest,
	document.ImageConfig,
	document.History,
	document.GitHubRun,
	document.GitHubJobs,
	document.GitHubWorkflow,
	document.HTTPAnswer,
}

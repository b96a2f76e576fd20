package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// reaching links a container with a part of its host by which the whole of it
// can be reached from inside.
func reaching(d *evidence.Doc, o *evidence.Out, who timeline.Subject, where value, what string) {
	at(d, o, where)
	o.Link(timeline.Uses, who.String(), timeline.HostEnd+what)
}

// opensHost reports whether a folder or file of the host, mounted into a
// container, opens the host: all of it, its processes, or what starts them.
func opensHost(path string) bool {
	switch p := strings.TrimRight(path, "/"); p {
	case "", "/proc", "/etc", "/root", "/var/run", "/run", "/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet":
		return strings.HasPrefix(path, "/")
	default:
		return strings.HasPrefix(p, "/") && strings.HasSuffix(p, ".sock") &&
			(strings.Contains(p, "docker") || strings.Contains(p, "containerd") || strings.Contains(p, "podman") || strings.Contains(p, "crio"))
	}
}

// dockerReach reads what docker and podman give a container of its host.
// https://docs.docker.com/reference/cli/docker/container/run/#privileged
func dockerReach(d *evidence.Doc, o *evidence.Out, who timeline.Subject, v value) {
	config := v.get("HostConfig")
	if config.get("Privileged").isTrue() {
		reaching(d, o, who, config.get("Privileged"), "all privileges")
	}
	if config.get("PidMode").text() == "host" {
		reaching(d, o, who, config.get("PidMode"), "the processes of its host")
	}
	for m := range v.get("Mounts").elements() {
		if source := m.get("Source"); m.get("Type").text() == "bind" && opensHost(source.text()) {
			reaching(d, o, who, source, source.text()+" of its host")
		}
	}
}

// podReach reads what a pod gives a container of its node.
// https://kubernetes.io/docs/concepts/security/pod-security-standards/
func (p pod) podReach(d *evidence.Doc, o *evidence.Out, who timeline.Subject, spec value) {
	if privileged := spec.get("securityContext", "privileged"); privileged.isTrue() {
		reaching(d, o, who, privileged, "all privileges")
	}
	if p.hostPID.isTrue() {
		reaching(d, o, who, p.hostPID, "the processes of its host")
	}
	for m := range spec.get("volumeMounts").elements() {
		if path, ok := p.hostPaths[m.get("name").text()]; ok && opensHost(path) {
			reaching(d, o, who, m.get("name"), path+" of its host")
		}
	}
}

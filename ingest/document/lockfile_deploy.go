package document

import (
	"bytes"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// PodLock is CocoaPods' lock file, also as it stands among what was installed.
// https://guides.cocoapods.org/using/using-cocoapods.html
var PodLock = evidence.Format{
	Name:   "pod-lock",
	Shape:  evidence.DocumentShape,
	Title:  "Podfile.lock, Pods/Manifest.lock",
	Proves: "the exact versions of pods that a project asks for; in Pods/Manifest.lock, which are in place",
	Cannot: "when they came",
	Doc:    "https://guides.cocoapods.org/using/using-cocoapods.html",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return bytes.HasPrefix(h.Bytes, []byte("PODS:\n")) && (h.Name == "Podfile.lock" || h.Name == "Manifest.lock" || bytes.Contains(h.Bytes, []byte("\nDEPENDENCIES:\n")))
	},
	Read: readPodLock,
}

// podEntry is a pod, or a part of one, with its version.
//
//	AFNetworking/Serialization (3.1.0)
var podEntry = regexp.MustCompile(`^([A-Za-z0-9_.+-]+)(?:/\S+)? \(([0-9][0-9A-Za-z.+-]*)\)$`)

// readPodLock reads each pod once.
//
//	PODS:
//	  - AFNetworking (3.1.0):
//	    - AFNetworking/NSURLSession (= 3.1.0)
//	  - AFNetworking/NSURLSession (3.1.0)
func readPodLock(d *evidence.Doc, o *evidence.Out) error {
	action := timeline.Require
	if d.Name == "Manifest.lock" {
		action = timeline.Present
	}
	all, err := yamlDocuments(d)
	o.Seen("")
	told := map[string]bool{}
	for _, root := range all {
		for _, pod := range items(child(root, "PODS")) {
			text := pod
			if pod = target(pod); pod.Kind == yaml.MappingNode && len(pod.Content) > 0 {
				text = pod.Content[0]
			}
			m := podEntry.FindStringSubmatch(text.Value)
			if onNode(d, o, text, text.Value); m == nil {
				o.Skip("a pod without name and version")
				continue
			}
			if artifact := timeline.PURL("cocoapods", "", m[1], m[2]); !told[artifact] {
				told[artifact] = true
				o.Emit(action, nil, timeline.Item{Artifact: artifact})
			}
		}
	}
	return err
}

// ChartLock is the lock file of a chart's dependencies.
// https://helm.sh/docs/helm/helm_dependency_build/
var ChartLock = evidence.Format{
	Name:   "chart-lock",
	Shape:  evidence.DocumentShape,
	Title:  "Chart.lock, requirements.lock of helm",
	Proves: "the exact versions of charts that a chart asks for",
	Cannot: "that they were fetched or installed",
	Doc:    "https://helm.sh/docs/helm/helm_dependency_build/",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return bytes.HasPrefix(h.Bytes, []byte("dependencies:\n")) && bytes.Contains(h.Bytes, []byte("\ndigest: sha256:")) && bytes.Contains(h.Bytes, []byte("\ngenerated: "))
	},
	Read: readChartLock,
}

// readChartLock reads charts; the digest is of the list, not of a chart.
//
//	dependencies:
//	- name: redis
//	  repository: oci://registry.acme.example/charts
//	  version: 19.1.0
//	digest: sha256:f0b1…
//	generated: "2026-10-21T12:04:51.123456789Z"
func readChartLock(d *evidence.Doc, o *evidence.Out) error {
	all, err := yamlDocuments(d)
	o.Seen("")
	for _, root := range all {
		for _, chart := range items(child(root, "dependencies")) {
			name, version := scalarText(child(chart, "name")), child(chart, "version")
			if version == nil || name == "" || scalarText(version) == "" {
				continue // it names no version: a chart of the same repository
			}
			if repository := scalarText(child(chart, "repository")); repository == "" || strings.HasPrefix(repository, "file://") {
				continue // it lies beside
			}
			onNode(d, o, version, "version: "+version.Value)
			o.Emit(timeline.Require, nil, timeline.Item{Artifact: timeline.PURL("helm", "", name, version.Value)})
		}
	}
	return err
}

// TerraformLock is the lock file of Terraform's and OpenTofu's providers.
// https://developer.hashicorp.com/terraform/language/files/dependency-lock
var TerraformLock = evidence.Format{
	Name:   "terraform-lock",
	Shape:  evidence.DocumentShape,
	Title:  ".terraform.lock.hcl",
	Proves: "the exact versions and hashes of providers that a configuration asks for",
	Cannot: "that they came over, or when; modules",
	Doc:    "https://developer.hashicorp.com/terraform/language/files/dependency-lock",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return h.Name == ".terraform.lock.hcl" || bytes.HasPrefix(h.Bytes, []byte(`# This file is maintained automatically by "terraform init".`)) ||
			bytes.HasPrefix(h.Bytes, []byte(`# This file is maintained automatically by "tofu init".`))
	},
	Read: readTerraformLock,
}

// readTerraformLock reads providers by host, owner and name, and the hashes of
// their archives.
//
//	provider "registry.acme.example/hashicorp/aws" {
//	  version     = "5.31.0"
//	  constraints = "~> 5.0"
//	  hashes = [
//	    "h1:bDBr…=",
//	    "zh:0cdb9c2083bf0902442384f7309367791e4640581652dda456f2d6d7abf0de8d",
//	  ]
//	}
func readTerraformLock(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	var it timeline.Item
	namespace, name, version, off := "", "", "", 0
	for _, line := range logicalLines(d) {
		key, val, _ := strings.Cut(line.text, "=")
		switch val = strings.Trim(val, ` "`); {
		case strings.HasPrefix(line.text, `provider "`):
			source, _, _ := strings.Cut(line.text[len(`provider "`):], `"`)
			w := strings.Split(source, "/")
			it, version, off, namespace, name = timeline.Item{}, "", line.off, "", ""
			if len(w) == 3 {
				namespace, name = w[1], w[2]
			}
		case strings.TrimSpace(key) == "version":
			version, off = val, line.off
		case strings.TrimSpace(key) == "constraints":
			it.Ref = val
		case strings.HasPrefix(line.text, `"zh:`):
			if sha := timeline.SHA256(strings.Trim(line.text[len(`"zh:`):], `",`)); sha != "" && !hasDigest(it.Digests, sha) {
				it.Digests = append(it.Digests, timeline.Digest{Value: sha, Role: timeline.File})
			}
		case line.text == "}":
			if onLine(d, o, off); name == "" || !evidence.IsVersion(version) {
				o.Skip("a provider without name or version")
				continue
			}
			it.Artifact = timeline.PURL("terraform", namespace, name, version)
			o.Emit(timeline.Require, nil, it)
			name = ""
		}
	}
	return nil
}

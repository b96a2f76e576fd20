package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// BuildkiteSecrets is what the REST API says of the secrets of a cluster.
// https://buildkite.com/docs/apis/rest-api/clusters/secrets
var BuildkiteSecrets = evidence.Format{
	Name:   "buildkite-secrets",
	Shape:  evidence.DocumentShape,
	Title:  "Buildkite API: secrets of a cluster",
	Proves: "names of secrets, when each was made, changed and read last",
	Cannot: "which jobs read them",
	Doc:    "https://buildkite.com/docs/apis/rest-api/clusters/secrets",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		return ok && isBuildkiteSecret(v)
	},
	Read: readBuildkiteSecrets,
}

func isBuildkiteSecret(v value) bool {
	return v.has("key") && v.has("created_at") && strings.Contains(v.get("cluster_url").text(), "/clusters/")
}

// readBuildkiteSecrets reads a page of a list, or one secret:
//
//	[{"id": "9bf7…", "key": "NPM_TOKEN", "description": "…", "policy": "- pipeline_slug: api", "created_at": "2025-10-01T06:51:21.067Z",
//	  "updated_at": "2026-03-01T09:00:00.000Z", "last_read_at": "2026-10-21T12:04:52.000Z",
//	  "cluster_url": "https://api.buildkite.com/v2/organizations/acme/clusters/0190…"}]
func readBuildkiteSecrets(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	o.Seen("")
	for _, v := range all {
		key := v.get("key")
		at(d, o, key)
		if key.text() == "" {
			o.Skip("a secret without a key")
			continue
		}
		c := timeline.Credential{
			Name: key.text(), Provider: "buildkite",
			Created: jsonTime(v.get("created_at")), Updated: jsonTime(v.get("updated_at")), Used: jsonTime(v.get("last_read_at")),
		}
		if _, rest, ok := strings.Cut(v.get("cluster_url").text(), "/organizations/"); ok {
			org, cluster, _ := strings.Cut(rest, "/clusters/")
			c.Store, c.Part = "buildkite:"+org, "cluster "+cluster
		}
		if d.Asked != 0 { // the collector calls the list by the cluster's name
			c.Part = "cluster " + d.Dir
		}
		o.Credential(c)
	}
	return err
}

package document

import (
	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// JenkinsCredentials is what the API of the Credentials plugin says of a store:
// that of the controller, or of a folder.
// https://plugins.jenkins.io/credentials/
var JenkinsCredentials = evidence.Format{
	Name:   "jenkins-credentials",
	Shape:  evidence.DocumentShape,
	Title:  "Jenkins API: credentials of a store or domain",
	Proves: "ids of credentials",
	Cannot: "when they were made; whose they are: say it with --store; which builds bound them: their logs name the variables",
	Doc:    "https://plugins.jenkins.io/credentials/",
	Sample: "written by hand after the plugin's source",
	Claim:  claimJenkinsCredentials,
	Read:   readJenkinsCredentials,
}

func claimJenkinsCredentials(h *evidence.Head) bool {
	v, ok := headRecord(h)
	if !ok {
		return false
	}
	for _, domain := range v.get("domains").fields() {
		v = domain
		break
	}
	for c := range v.get("credentials").elements() {
		return c.has("id") && c.has("typeName")
	}
	return false
}

// readJenkinsCredentials reads a store with its domains, or a domain:
//
//	{"_class": "…CredentialsProviderImpl…", "domains": {"_": {"credentials": [{"id": "pypi-token", "typeName": "Secret text", "displayName": "…"}]}}}
//	{"_class": "…DomainWrapper", "credentials": [{"id": "deploy-key", "typeName": "SSH Username with private key"}]}
func readJenkinsCredentials(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	o.Seen("")
	for _, v := range all {
		if v.get("domains").kind() != '{' {
			jenkinsDomain(d, o, "", v)
			continue
		}
		for name, domain := range v.get("domains").fields() {
			if name == "_" {
				name = "" // the global one
			}
			jenkinsDomain(d, o, name, domain)
		}
	}
	return err
}

func jenkinsDomain(d *evidence.Doc, o *evidence.Out, name string, v value) {
	for c := range v.get("credentials").elements() {
		id := c.get("id")
		at(d, o, id)
		if id.text() == "" {
			o.Skip("a credential without an id")
			continue
		}
		o.Credential(timeline.Credential{Name: id.text(), Provider: "jenkins", Part: name})
	}
}

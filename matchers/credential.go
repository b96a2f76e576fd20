package matchers

import (
	"strings"
	"unicode"

	"pulltrail/timeline"
)

// Classes that fit any secret of a subject, for names that say nothing more.
const (
	allSecrets  = "all-secrets"
	processEnv  = "process-environment"
	ciSecret    = "ci-secret"
	databaseKey = "database-credential"
)

// nameRule gives a class to names: one of the words must stand in the name,
// and, where with is given, one of those too.
type nameRule struct {
	class string
	words string
	with  string
}

// nameRules are tried in order; only words that leave no doubt stand here.
var nameRules = []nameRule{
	{"package-publish-token", "NPM PYPI TWINE UV_PUBLISH NODE_AUTH CARGO_REGISTRY RUBYGEMS GEM_HOST NUGET", "TOKEN KEY PASSWORD"},
	{"llm-provider-key", `OPENAI ANTHROPIC CLAUDE GEMINI MISTRAL COHERE GROQ TOGETHER TOGETHERAI DEEPSEEK HUGGINGFACE HF
		REPLICATE PERPLEXITY PERPLEXITYAI OPENROUTER FIREWORKS XAI VOYAGE CEREBRAS AI21 DASHSCOPE MOONSHOT`, "KEY APIKEY TOKEN"},
	{"gateway-master-key", "LITELLM_MASTER_KEY LITELLM_SALT_KEY GATEWAY_MASTER_KEY PROXY_MASTER_KEY LLM_MASTER_KEY", ""},
	{"gateway-virtual-key", "VIRTUAL_KEY", ""},
	{"registry-credential", "REGISTRY DOCKER DOCKERHUB GHCR HARBOR QUAY JFROG ARTIFACTORY NEXUS ACR ECR GCR", "PASSWORD PASS TOKEN AUTH SECRET KEY"},
	{"git-token", "GITHUB GH GITLAB GIT BITBUCKET GITEA CI_JOB CI_DEPLOY", "TOKEN PAT PASSWORD"},
	{"vault-token", "VAULT", "TOKEN SECRET_ID"},
	{"kubernetes-credential", "KUBECONFIG KUBE_CONFIG", ""},
	{"kubernetes-credential", "KUBE K8S KUBERNETES", "TOKEN PASSWORD CREDENTIALS"},
	{"signing-key", "COSIGN GPG PGP SIGNING CODESIGN KEYSTORE", "KEY PASSWORD PASSPHRASE PRIVATE"},
	{"ssh-key", "SSH", "KEY PRIVATE PASSPHRASE"},
	{"ssh-key", "DEPLOY_KEY", ""},
	{"tls-key", "TLS SSL", "KEY PRIVATE"},
	{databaseKey, "DATABASE_URL DATABASE_URI DB_URL DB_URI DATABASE_DSN DB_DSN PGPASSWORD", ""},
	{databaseKey, "DATABASE DB POSTGRES POSTGRESQL PG MYSQL MARIADB MONGO MONGODB REDIS CLICKHOUSE SNOWFLAKE", "PASSWORD PASS PWD URL URI DSN SECRET TOKEN"},
	{"cloud-static-key", "GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CREDENTIALS ARM_CLIENT_SECRET", ""},
	{"cloud-static-key", "AWS S3 GCP GCLOUD AZURE ALICLOUD ALIBABA HCLOUD DIGITALOCEAN LINODE CLOUDFLARE", "KEY SECRET TOKEN CREDENTIALS PASSWORD"},
	{"saas-token", `STRIPE SLACK SENTRY DATADOG DD TWILIO SENDGRID MAILGUN LAUNCHDARKLY SNYK SONAR CODECOV NEWRELIC NEW_RELIC
		PAGERDUTY JIRA NOTION AIRTABLE OKTA AUTH0 LANGFUSE LANGSMITH`, "KEY TOKEN SECRET DSN WEBHOOK APIKEY PASSWORD"},
	{"wallet", "MNEMONIC", ""},
	{"wallet", "WALLET", "KEY SECRET SEED PASSWORD"},
}

// classOf is the class of a secret by the words of its name; where they leave
// doubt, by where it was held: a job's is a CI secret, any other stood in the
// environment of a process.
func classOf(name string, holder timeline.Kind) string {
	words := "_" + strings.Join(strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), "_") + "_"
	one := func(list string) bool {
		for w := range strings.FieldsSeq(list) {
			if strings.Contains(words, "_"+w+"_") {
				return true
			}
		}
		return false
	}
	for _, r := range nameRules {
		if one(r.words) && (r.with == "" || one(r.with)) {
			return r.class
		}
	}
	if holder == timeline.Job {
		return ciSecret
	}
	return processEnv
}

// covering is the entry of the incident under which a secret of a class has to
// be rotated: that of its class, else one that means every secret of such a
// holder; -1 when the incident names none.
func (inc *Incident) covering(class string, holder timeline.Kind) int {
	wanted := []string{class, processEnv, allSecrets}
	if holder == timeline.Job {
		wanted = []string{class, ciSecret, processEnv, allSecrets}
	}
	for _, w := range wanted {
		for i := range inc.Rotation {
			if inc.Rotation[i].Class == w {
				return i
			}
		}
	}
	return -1
}

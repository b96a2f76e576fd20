package document

import (
	"bytes"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// LiteLLMConfig is the configuration of a LiteLLM proxy.
// https://docs.litellm.ai/docs/proxy/configs
var LiteLLMConfig = evidence.Format{
	Name:   "litellm-config",
	Shape:  evidence.DocumentShape,
	Title:  "LiteLLM proxy config.yaml",
	Proves: "names of the variables that the proxy reads its secrets from; for which models and in which settings a secret stands in the file itself; names of stored credentials; where traces are sent",
	Cannot: "that a proxy ran with it; models and keys that are in its database; on which host it lies: say it with --subject",
	Doc:    "https://docs.litellm.ai/docs/proxy/configs",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		if ext := path.Ext(h.Name); ext != ".yml" && ext != ".yaml" {
			return false
		}
		return topKey(h.Bytes, "model_list") || topKey(h.Bytes, "general_settings") && (topKey(h.Bytes, "litellm_settings") || bytes.Contains(h.Bytes, []byte("master_key:")))
	},
	Read: readLiteLLMConfig,
}

// environmentReference is how the proxy is told to read a variable.
const environmentReference = "os.environ/"

// gatewaySettings are settings that are a secret of the proxy's own, with the
// name of the variable that stands for it.
var gatewaySettings = map[string]timeline.Credential{
	"master_key":   {Name: "LITELLM_MASTER_KEY", Class: "gateway-master-key"},
	"database_url": {Name: "DATABASE_URL", Class: "database-credential"},
	"salt_key":     {Name: "LITELLM_SALT_KEY", Class: "gateway-master-key"},
}

// liteLLM reads one configuration.
type liteLLM struct {
	d    *evidence.Doc
	o    *evidence.Out
	seen map[string]bool
	left int // nodes that may still be looked at: aliases can make much of little
}

func readLiteLLMConfig(d *evidence.Doc, o *evidence.Out) error {
	docs, err := yamlDocuments(d)
	if len(docs) > 0 {
		o.Seen("")
	}
	l := &liteLLM{d: d, o: o, seen: map[string]bool{}, left: maxFields}
	for _, root := range docs {
		for _, model := range items(child(root, "model_list")) {
			l.model(model)
		}
		for _, stored := range items(child(root, "credential_list")) {
			l.stored(stored)
		}
		l.walk(root, "", 0)
	}
	return err
}

// model reads one entry of the list:
//
//   - model_name: gpt-4o
//     litellm_params: {model: azure/gpt-4o-eu, api_key: os.environ/AZURE_API_KEY_EU, litellm_credential_name: azure-eu}
func (l *liteLLM) model(n *yaml.Node) {
	params := child(n, "litellm_params")
	provider, _, named := strings.Cut(scalarText(child(params, "model")), "/")
	if !named {
		provider = ""
	}
	if stored := child(params, "litellm_credential_name"); stored != nil {
		l.credential(stored, timeline.Credential{Name: stored.Value, Class: "llm-provider-key", Provider: provider})
	}
	eachField(params, func(key, val *yaml.Node) {
		text := scalarText(val)
		if key.Value == "litellm_credential_name" {
			return
		}
		switch name, ok := strings.CutPrefix(text, environmentReference); {
		case ok && holdsSecret(key.Value, ""):
			l.credential(val, timeline.Credential{Name: name, Class: "llm-provider-key", Provider: provider})
		case !ok && text != "" && holdsSecret(key.Value, text):
			model := scalarText(child(n, "model_name"))
			l.credential(key, timeline.Credential{Name: model + "/" + key.Value, Class: "llm-provider-key", Provider: provider, Alias: model})
		}
	})
}

// stored reads a credential that models name:
//
//   - credential_name: azure-eu
//     credential_values: {api_key: …}
//     credential_info: {custom_llm_provider: azure}
func (l *liteLLM) stored(n *yaml.Node) {
	if name := child(n, "credential_name"); name != nil {
		info := child(n, "credential_info")
		provider := scalarText(child(info, "custom_llm_provider"))
		l.credential(name, timeline.Credential{Name: name.Value, Class: "llm-provider-key", Provider: provider})
		eachField(child(n, "credential_values"), func(key, val *yaml.Node) {
			if variable, ok := strings.CutPrefix(scalarText(val), environmentReference); ok && holdsSecret(key.Value, "") {
				l.credential(val, timeline.Credential{Name: variable, Class: "llm-provider-key", Provider: provider, Alias: name.Value})
			}
		})
	}
}

// walk looks for settings that are secrets, and for what is read from the
// environment, wherever it stands.
func (l *liteLLM) walk(n *yaml.Node, key string, depth int) {
	if n = target(n); n == nil || depth > maxYAMLDepth || l.left <= 0 {
		return
	}
	l.left--
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			if k.Value == "model_list" || k.Value == "credential_list" {
				continue
			}
			if key == "environment_variables" && v.Kind == yaml.ScalarNode {
				onNode(l.d, l.o, k, k.Value)
				l.o.TraceExporter(k.Value, scalarText(v), timeline.Span{})
			}
			if key == "environment_variables" && holdsSecret(k.Value, scalarText(v)) && !strings.HasPrefix(scalarText(v), environmentReference) {
				l.credential(k, timeline.Credential{Name: k.Value})
				continue
			}
			l.walk(v, k.Value, depth+1)
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			l.walk(c, key, depth+1)
		}
	case yaml.ScalarNode:
		l.setting(n, key)
	default:
	}
}

// setting reads a scalar:
//
//	master_key: os.environ/LITELLM_MASTER_KEY
//	database_url: "postgresql://…"
//	redis_password: os.environ/REDIS_PASSWORD
func (l *liteLLM) setting(n *yaml.Node, key string) {
	switch key {
	case "success_callback", "failure_callback", "callbacks", "service_callback":
		onNode(l.d, l.o, n, key+": "+n.Value)
		l.o.TraceCallback(key, n.Value)
		return
	}
	own, isOwn := gatewaySettings[key]
	name, outside := strings.CutPrefix(n.Value, environmentReference)
	switch {
	case outside && isOwn:
		own.Name = name
		l.credential(n, own)
	case isOwn && n.Value != "":
		l.credential(n, own)
	case outside && (holdsSecret(name, "") || holdsSecret(key, "")):
		l.credential(n, timeline.Credential{Name: name})
	case !outside && key != "" && n.Value != "" && holdsSecret(key, n.Value):
		l.credential(n, timeline.Credential{Name: key})
	}
}

// credential records a secret once, on the line that names it. What the line
// says may be the value.
func (l *liteLLM) credential(n *yaml.Node, c timeline.Credential) {
	if c.Name == "" || l.seen[c.Name] {
		return
	}
	l.seen[c.Name] = true
	onNode(l.d, l.o, n, c.Name)
	l.o.Credential(c)
}

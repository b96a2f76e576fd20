package matchers

import (
	"slices"
	"strings"

	"pulltrail/timeline"
)

// product is a service that keeps traces of what an AI feature does: by what in
// the evidence it can be told that something was set up to send there.
type product struct {
	name      string   // one word, in small letters
	domains   []string // of the service as its vendor runs it
	variables string   // what the names of its variables start with
	packages  []string // its SDKs, type/name; of a scope all
}

// products are those whose SDKs read what is listed; the address in a variable
// counts before the vendor's own. The domains are those that the SDKs send to
// where nothing else is set.
var products = []product{
	{"langfuse", []string{"langfuse.com"}, "LANGFUSE_", []string{"pypi/langfuse", "npm/langfuse", "npm/langfuse-langchain", "npm/@langfuse/"}},
	{"langsmith", []string{"smith.langchain.com"}, "LANGSMITH_ LANGCHAIN_", []string{"pypi/langsmith", "npm/langsmith"}},
	{"helicone", []string{"helicone.ai"}, "HELICONE_", []string{"pypi/helicone", "pypi/helicone-helpers", "npm/@helicone/"}},
	{"phoenix", []string{"phoenix.arize.com"}, "PHOENIX_", []string{"pypi/arize-phoenix", "pypi/arize-phoenix-otel", "npm/@arizeai/"}},
	{"arize", []string{"arize.com"}, "ARIZE_", []string{"pypi/arize", "pypi/arize-otel"}},
	{"datadog", []string{"datadoghq.com", "datadoghq.eu", "ddog-gov.com"}, "DD_", []string{"pypi/ddtrace", "npm/dd-trace"}},
	{"traceloop", []string{"traceloop.com"}, "TRACELOOP_", []string{"pypi/traceloop-sdk", "npm/@traceloop/node-server-sdk"}},
	{"braintrust", []string{"braintrust.dev", "braintrustdata.com"}, "BRAINTRUST_", []string{"pypi/braintrust", "npm/braintrust"}},
	{"weave", []string{"wandb.ai"}, "WANDB_ WEAVE_", []string{"pypi/weave", "pypi/wandb", "npm/weave"}},
	{"langtrace", []string{"langtrace.ai"}, "LANGTRACE_", []string{"pypi/langtrace-python-sdk", "npm/@langtrase/"}},
	{"opik", []string{"comet.com"}, "OPIK_ COMET_", []string{"pypi/opik", "npm/opik"}},
	{"portkey", []string{"portkey.ai"}, "PORTKEY_", []string{"pypi/portkey-ai", "npm/portkey-ai"}},
	{"agentops", []string{"agentops.ai"}, "AGENTOPS_", []string{"pypi/agentops", "npm/agentops"}},
	{"logfire", []string{"logfire-api.pydantic.dev", "logfire.pydantic.dev"}, "LOGFIRE_", []string{"pypi/logfire", "npm/@pydantic/logfire-node"}},
	{"lunary", []string{"lunary.ai"}, "LUNARY_", []string{"pypi/lunary", "npm/lunary"}},
	{"galileo", []string{"galileo.ai"}, "GALILEO_", []string{"pypi/galileo", "npm/galileo"}},
	{"posthog", []string{"posthog.com"}, "POSTHOG_", []string{"pypi/posthog", "npm/posthog-node"}},
	{"sentry", []string{"sentry.io"}, "SENTRY_", []string{"pypi/sentry-sdk", "npm/@sentry/"}},
	{"honeycomb", []string{"honeycomb.io"}, "HONEYCOMB_", []string{"pypi/honeycomb-opentelemetry", "npm/@honeycombio/"}},
	{"newrelic", []string{"newrelic.com", "nr-data.net"}, "NEW_RELIC_", []string{"pypi/newrelic", "npm/newrelic"}},
	{"mlflow", nil, "MLFLOW_", nil},
}

// uses reports whether a package is an SDK of the product.
func (p *product) uses(key string) bool {
	return slices.ContainsFunc(p.packages, func(name string) bool {
		return name == key || strings.HasSuffix(name, "/") && strings.HasPrefix(key, name)
	})
}

// reads reports whether a variable, or the word of a callback, is the product's.
func (p *product) reads(setting string) bool {
	if _, word, ok := strings.Cut(setting, "/"); ok {
		return word == p.name || strings.HasPrefix(word, p.name+"_") || strings.HasPrefix(word, p.name+"-")
	}
	return slices.ContainsFunc(strings.Fields(p.variables), func(prefix string) bool { return strings.HasPrefix(setting, prefix) })
}

// productOf is the product that reads a setting, nil for one of no product.
func productOf(setting string) *product {
	for i := range products {
		if products[i].reads(setting) {
			return &products[i]
		}
	}
	return nil
}

// productAt is the product of the vendor that a host belongs to, nil for none.
func productAt(host string) *product {
	for i := range products {
		if slices.ContainsFunc(products[i].domains, func(d string) bool { return within(host, d) }) {
			return &products[i]
		}
	}
	return nil
}

// within reports whether a host is a domain or lies below it.
func within(host, domain string) bool {
	host, domain = strings.ToLower(host), strings.TrimPrefix(strings.ToLower(domain), "*.")
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// sdkOf is the product whose SDK a package is, nil for another package.
func sdkOf(p timeline.Parts) *product {
	if p.Type != "pypi" && p.Type != "npm" {
		return nil
	}
	key := packageKey(p)
	for i := range products {
		if products[i].uses(key) {
			return &products[i]
		}
	}
	return nil
}

package document

import (
	"cmp"
	"slices"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// LiteLLMTables are tables of a LiteLLM proxy's database, exported as CSV with a
// header: virtual keys, deleted keys, stored credentials, models.
// https://docs.litellm.ai/docs/proxy/db_info
var LiteLLMTables = evidence.Format{
	Name:   "litellm-tables",
	Shape:  evidence.DocumentShape,
	Title:  "tables of a LiteLLM proxy's database (CSV)",
	Proves: "virtual keys by alias, team and organisation, stored provider credentials by name, when each was made, and whether a key is blocked or deleted",
	Cannot: "keys, their hashes and the values of credentials are never kept; names of teams, which are in another table; when a key was changed, before LiteLLM recorded its rotations",
	Doc:    "https://docs.litellm.ai/docs/proxy/db_info",
	Sample: "exported with psql from PostgreSQL 15 with the proxy's tables, rows written by hand",
	Claim:  func(h *evidence.Head) bool { return liteLLMTable(csvHeader(h.Bytes)) != noTable },
	Read:   readLiteLLMTables,
}

type litellmTable int

const (
	noTable litellmTable = iota
	virtualKeys
	deletedKeys
	storedCredentials
	storedModels
)

// liteLLMTable tells a table by its columns.
func liteLLMTable(header []string) litellmTable {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(header, n) })
	}
	switch {
	case has("key_alias", "deleted_at"):
		return deletedKeys
	case has("key_alias", "created_at") && (has("token") || has("team_id")):
		return virtualKeys
	case has("credential_name", "created_at"):
		return storedCredentials
	case has("model_name", "litellm_params", "created_at"):
		return storedModels
	}
	return noTable
}

// liteLLMStore is where the secrets of a proxy's database are kept, when nobody
// gives it another name.
const liteLLMStore = "litellm:proxy"

// readLiteLLMTables reads one table:
//
//	token,key_name,key_alias,…,team_id,…,blocked,…,organization_id,…,created_at,…,last_rotation_at
//	credential_id,credential_name,credential_values,credential_info,created_at,created_by,updated_at,updated_by
func readLiteLLMTables(d *evidence.Doc, o *evidence.Out) error {
	table := liteLLMTable(csvHeader(d.Bytes))
	return csvRows(d, o, func(r *csvRow) {
		var c timeline.Credential
		switch table {
		case virtualKeys, deletedKeys:
			c = virtualKey(r)
			if table == deletedKeys {
				c.State = timeline.Inactive
				c.Part = "deleted " + r.get("deleted_at")
			}
		case storedCredentials:
			c = timeline.Credential{
				Name: r.get("credential_name"), Class: "llm-provider-key", Provider: providerIn(r.get("credential_info")),
				Created: r.time("created_at"), Updated: r.time("updated_at"), Owner: r.get("created_by"), State: timeline.Active,
			}
		case storedModels:
			c = timeline.Credential{
				Name: modelKey(r.get("model_name")), Class: "llm-provider-key", Alias: r.get("model_name"),
				Created: r.time("created_at"), Updated: r.time("updated_at"), State: timeline.Active,
			}
		case noTable:
			return
		}
		if c.Name == "" {
			o.Skip("a row without a name")
			return
		}
		if c.Store = liteLLMStore; o.Store != "" {
			c.Store = o.Store
		}
		if !r.bad {
			o.Credential(c)
		}
	})
}

// virtualKey reads a key by its alias. Its name is a part of the key, and goes
// no further. updated_at is no rotation: it moves when a budget does.
func virtualKey(r *csvRow) timeline.Credential {
	c := timeline.Credential{
		Name: r.get("key_alias"), Class: "gateway-virtual-key", Team: cmp.Or(r.get("team_alias"), r.get("team_id")),
		Customer: cmp.Or(r.get("customer"), r.get("organization_alias"), r.get("organization_id")), Owner: cmp.Or(r.get("user_alias"), r.get("user_id")),
		Created: r.time("created_at"), Updated: r.time("last_rotation_at"), Used: r.time("last_active"), Expires: r.time("expires"),
		State: timeline.Active,
	}
	if c.Name == "" {
		c.Name = unnamedKey(c.Owner, c.Team, r.get("created_at"))
	}
	if activity(r.get("blocked")) == timeline.Active {
		c.State = timeline.Inactive
	}
	return c
}

// unnamedKey tells a key without an alias by whose it is and when it was made.
func unnamedKey(owner, team, created string) string {
	if created == "" {
		return ""
	}
	return "unnamed/" + cmp.Or(owner, team, "nobody") + "/" + created
}

// modelKey is the name of the secret that stands in the parameters of a stored
// model, "" without a model.
func modelKey(model string) string {
	if model == "" {
		return ""
	}
	return model + "/litellm_params"
}

// providerIn reads the provider of a stored credential, and nothing else of
// its description.
//
//	{"custom_llm_provider": "azure", "description": "EU deployment"}
func providerIn(info string) string {
	v := value{[]byte(info), 0, len(info)}
	return v.get("custom_llm_provider").text()
}

package document

import (
	"cmp"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// LiteLLMDatabase is what 'pulltrail rotate import postgres' asked of a LiteLLM
// proxy's database: names and dates alone.
// https://docs.litellm.ai/docs/proxy/db_info
var LiteLLMDatabase = evidence.Format{
	Name:   "litellm-database",
	Shape:  evidence.DocumentShape,
	Title:  "names and dates from a LiteLLM proxy's database",
	Proves: "virtual keys by alias, team and customer, stored provider credentials by name, when each was made and used last, and whether it works, at the time of the database's clock",
	Cannot: "keys, their hashes and values: they were never asked for",
	Doc:    "https://docs.litellm.ai/docs/proxy/db_info",
	Sample: "written by this program, from PostgreSQL 15 with the proxy's tables",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		return ok && v.get("schema").text() == "pulltrail.litellm-database/1"
	},
	Read: readLiteLLMDatabase,
}

// readLiteLLMDatabase reads the export:
//
//	{"schema":"pulltrail.litellm-database/1","database":"litellm","taken":"2026-10-22T08:00:00Z",
//	 "missing":[],"keys":[{"name":"initech-prod","team":"chat","customer":"initech","created":"…"}],"credentials":[{"name":"openai-prod","provider":"openai","created":"…"}]}
func readLiteLLMDatabase(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	o.Seen("")
	for _, v := range all {
		store := "litellm:" + cmp.Or(v.get("database").text(), "proxy")
		if o.Store != "" {
			store = o.Store
		}
		taken := jsonTime(v.get("taken"))
		for _, list := range []struct{ name, class string }{
			{"keys", "gateway-virtual-key"}, {"deleted_keys", "gateway-virtual-key"}, {"credentials", "llm-provider-key"}, {"models", "llm-provider-key"},
		} {
			for e := range v.get(list.name).elements() {
				at(d, o, e)
				c := databaseRecord(e)
				c.Store, c.Class, c.Listed = store, list.class, taken
				switch {
				case list.name == "deleted_keys":
					c.State, c.Part = timeline.Inactive, "deleted "+e.get("deleted").text()
				case list.name == "models":
					c.Alias, c.Name = c.Name, modelKey(c.Name)
				case list.name == "keys" && c.Name == "":
					c.Name = unnamedKey(c.Owner, c.Team, e.get("created").text())
				}
				if c.Name == "" {
					o.Skip("a record without a name")
					continue
				}
				o.Credential(c)
			}
		}
		if missing := v.get("missing").texts(); len(missing) > 0 {
			o.Cut("the database did not give: " + strings.Join(missing, ", "))
		}
	}
	return err
}

func databaseRecord(v value) timeline.Credential {
	c := timeline.Credential{
		Name: v.get("name").text(), Provider: v.get("provider").text(), Owner: v.get("owner").text(), Team: v.get("team").text(),
		Customer: v.get("customer").text(), Created: jsonTime(v.get("created")), Updated: jsonTime(v.get("updated")), Used: jsonTime(v.get("used")),
		Expires: jsonTime(v.get("expires")), State: timeline.Active,
	}
	if v.get("blocked").isTrue() {
		c.State = timeline.Inactive
	}
	return c
}

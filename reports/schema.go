package reports

import (
	"embed"
	"fmt"
)

//go:embed schemas/*.json
var schemas embed.FS

// schemaOf names the schema of each report's JSON; responder is the findings
// document, which match --json prints too.
var schemaOf = map[string]string{
	"responder": "findings", "rotation": "rotation", "customer": "customer", "questionnaire": "questionnaire", "manifest": "manifest", "diff": "diff",
}

// JSONSchema returns the JSON Schema of a report's JSON form, of "diff" too.
// https://json-schema.org/draft/2020-12
func JSONSchema(name string) ([]byte, error) {
	file, ok := schemaOf[name]
	if !ok {
		return nil, fmt.Errorf("there is no schema of %q", name)
	}
	return schemas.ReadFile("schemas/" + file + ".json")
}

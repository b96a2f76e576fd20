package ingest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pulltrail/ingest"
	"pulltrail/testdata/secrets"
	"pulltrail/timeline"
)

// listSeeds are lists and settings with a value at "%[1]s", whole and broken:
// a library that reads them may quote what it does not understand.
var listSeeds = map[string]string{
	".env":              "OPENAI_API_KEY=%[1]s\nexport PLAIN=%[1]s\nQUOTED_TOKEN=\"%[1]s\n",
	"app.env":           "PASSWORD='%[1]s'\n= %[1]s\n",
	"env.txt":           "PATH=/bin\nHOME=/root\nPWD=/\nAPI_KEY=%[1]s\nMANY=a\n%[1]s\n",
	"environ":           "PATH=/bin\x00HOME=/srv/gateway\x00PWD=/srv/gateway\x00SECRET_TOKEN=%[1]s\x00",
	"compose.yaml":      "services:\n  a:\n    image: x:1\n    environment:\n      TOKEN: \"%[1]s\"\n      - PASSWORD=%[1]s\n",
	"compose.alias.yml": "services:\n  compose:\n    image: x:1\n    environment:\n      TOKEN: *%[1]s\n",
	"a.service":         "[Service]\nEnvironment=\"TOKEN=%[1]s\" %[1]s\nSetCredential=key:%[1]s\n",
	"secret.yaml":       "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  TOKEN: %[1]s\nstringData:\n  KEY: \"%[1]s\"\n",
	"secret.alias.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\nstringData:\n  KEY: *%[1]s\n",
	"secret.json":       `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"},"data":{"TOKEN":"%[1]s"}}`,
	"config.yaml":       "model_list:\n  - model_name: m\n    litellm_params: {model: openai/x, api_key: \"%[1]s\"}\ngeneral_settings:\n  master_key: \"%[1]s\"\n  database_url: \"%[1]s\"\n  unknown_setting: \"%[1]s\"\n",
	"config.alias.yaml": "model_list: []\ngeneral_settings:\n  master_key: *%[1]s\n",
	"keys.csv":          "token,key_name,key_alias,team_id,metadata,created_at\n%[1]s,%[1]s,acme,t,\"{\"\"k\"\": \"\"%[1]s\"\"}\",2025-01-01 00:00:00\n%[1]s,%[1]s,acme,t,{},%[1]s\n",
	"credentials.csv":   "credential_id,credential_name,credential_values,credential_info,created_at\n1,openai,%[1]s,%[1]s,2025-01-01 00:00:00\n",
	"broken.csv":        "credential_id,credential_name,credential_values,created_at\n1,openai,\"%[1]s\"%[1]s,2025-01-01\n",
	"own.csv":           "name,class,created,state,value\nKEY,saas-token,2025-01-01,active,%[1]s\nKEY,saas-token,%[1]s,%[1]s,x\nKEY,saas-token,,%[1]s,x\n",
	"aws.csv":           "user,arn,access_key_1_active,access_key_1_last_rotated\nx,arn:aws:iam::1:user/x,true,%[1]s\n%[1]s\n",
	"github.json":       `{"total_count":1,"secrets":[{"name":"TOKEN","created_at":"2025-01-01T00:00:00Z","updated_at":"%[1]s","value":"%[1]s"}]}`,
	"gitlab.json":       `[{"variable_type":"env_var","key":"TOKEN","value":"%[1]s","protected":false,"masked":true,"description":"%[1]s"}]`,
	"circleci.json":     `{"contexts":[],"projects":[{"name":"a/b","variables":[{"name":"TOKEN","value":"%[1]s"}]}]}`,
	"database.json":     `{"schema":"pulltrail.litellm-database/1","database":"x","taken":"%[1]s","keys":[{"name":"acme","token":"%[1]s","created":"%[1]s"}]}`,
	".gitlab-ci.yml":    "stages: [a]\nvariables:\n  TOKEN: \"%[1]s\"\na:\n  script:\n    - deploy --token=%[1]s $OTHER_TOKEN\n",
	"ci.alias.yml":      "stages: [a]\na:\n  script: *%[1]s\n",
}

// TestNoListIsStored reads every list with values that look like nothing in
// particular, and with those of all shapes, and looks for them in the bytes of
// the case.
func TestNoListIsStored(t *testing.T) {
	maker := secrets.NewMaker(11)
	values := []string{"plainsecretvalue00000", "Zq7vT2mK9xR4pL8w"}
	for _, shape := range secrets.Shapes {
		if text := shape.Text(maker, secrets.Encodings[0]); !strings.ContainsAny(text, "\n\"\\ %") {
			values = append(values, text)
		}
	}
	root, home := t.TempDir(), filepath.Join(t.TempDir(), "case")
	for i, v := range values {
		dir := filepath.Join(root, fmt.Sprint(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range listSeeds {
			if err := os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, text, v), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	db, err := timeline.Create(home)
	if err != nil {
		t.Fatal(err)
	}
	res, err := ingest.Run(t.Context(), db, []string{root}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for _, f := range res.Files {
		if f.Format != "unknown" && f.Format != "text" {
			known++
		}
	}
	if known < len(values)*len(listSeeds)*9/10 {
		t.Errorf("%d of %d files were of a known format", known, len(res.Files))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(home + "/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for shape, at := range maker.Leaks(data) {
			t.Errorf("%s holds a secret (%s): %q", file, shape, data[max(0, at-120):min(len(data), at+60)])
		}
		for _, v := range values[:2] {
			if at := bytes.Index(data, []byte(v)); at >= 0 {
				t.Errorf("%s holds %s: %q", file, v, data[max(0, at-120):min(len(data), at+60)])
			}
		}
	}
}

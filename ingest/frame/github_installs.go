package frame

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// installing are actions of which it is known that they install packages and
// print little or nothing of it, by kind; "" for any. What a composite action runs stands in the log
// as steps of its own, and what runs through the toolkit as "[command]…": those
// need no entry. All others are taken to do what they print.
var installing = map[string]struct{ tool, kind string }{
	"psf/black":                                       {"pip", "pypi"},
	"rickstaa/action-black":                           {"pip", "pypi"},
	"lgeiger/black-action":                            {"pip", "pypi"},
	"gr1n/setup-poetry":                               {"pip", "pypi"},
	"pypa/gh-action-pip-audit":                        {"pip", "pypi"},
	"iterative/setup-dvc":                             {"pip", "pypi"},
	"aws-actions/setup-sam":                           {"pip", "pypi"},
	"py-actions/py-dependency-install":                {"pip", "pypi"},
	"bsfishy/pip-action":                              {"pip", "pypi"},
	"insightsengineering/pip-action":                  {"pip", "pypi"},
	"python-semantic-release/python-semantic-release": {"pip", "pypi"},
	"jakebailey/pyright-action":                       {"npm", "npm"},
	"cypress-io/github-action":                        {"npm", "npm"},
	"bahmutov/npm-install":                            {"npm", "npm"},
	"firebaseextended/action-hosting-deploy":          {"npx", "npm"},
	"amondnet/vercel-action":                          {"npx", "npm"},
	"cycjimmy/semantic-release-action":                {"npm", "npm"},
	"cloudflare/wrangler-action":                      {"npm", "npm"},
	"changesets/action":                               {"npm", "npm"},
	"preactjs/compressed-size-action":                 {"npm", "npm"},
	"andresz1/size-limit-action":                      {"npm", "npm"},
	"expo/expo-github-action":                         {"npm", "npm"},
	"ramsey/composer-install":                         {"composer", "composer"},
	"php-actions/composer":                            {"composer", "composer"},
	"serverless/github-action":                        {"sls", ""},
	"google-github-actions/deploy-cloudfunctions":     {"gcloud", ""}, // what is deployed is installed there
	"google-github-actions/deploy-appengine":          {"gcloud", ""},
	"renovatebot/github-action":                       {"renovate", ""},
	"azure/functions-action":                          {"az", ""},
	"azure/static-web-apps-deploy":                    {"oryx", ""},
	"einaregilsson/beanstalk-deploy":                  {"eb", ""},
	"akhileshns/heroku-deploy":                        {"heroku", ""},
	"youyo/aws-cdk-github-actions":                    {"cdk", ""},
	"devcontainers/ci":                                {"devcontainer", ""}, // and what devcontainer.json has run
	"ammaraskar/sphinx-action":                        {"pip", "pypi"},
	"yaananth/run-notebook":                           {"pip", "pypi"},
	"jpetrucciani/mypy-check":                         {"pip", "pypi"},
	"dciborow/action-pylint":                          {"pip", "pypi"},
	"py-actions/flake8":                               {"pip", "pypi"},
	"pavelzw/pytest-action":                           {"pip", "pypi"},
	"mhausenblas/mkdocs-deploy-gh-pages":              {"pip", "pypi"},
	"asdf-vm/actions":                                 {"asdf", ""},
	"jetify-com/devbox-install-action":                {"devbox", ""},
	"jdx/mise-action":                                 {"mise", ""},
	"prefix-dev/setup-pixi":                           {"pixi", "pypi"},
	"anthropics/claude-code-action":                   {"agent", ""}, // an agent types what it finds right
	"anthropics/claude-code-base-action":              {"agent", ""},
	"openai/codex-action":                             {"agent", ""},
	"google-github-actions/run-gemini-cli":            {"agent", ""},
	"mxschmitt/action-tmate":                          {"tmate", ""}, // somebody may have typed anything
	"lhotari/action-upterm":                           {"tmate", ""},
}

// installs asks for what an action installs that is known to, until the output
// of its step answers.
func installs(a evidence.CIAction, o *evidence.Out) {
	i, ok := installing[strings.ToLower(a.Owner+"/"+a.Name)]
	if !ok {
		return
	}
	o.Seen(timeline.Topic(i.kind))
	o.Command(i.tool, "uses: "+a.Owner+"/"+a.Name+"@"+a.Ref, false, []timeline.Item{{Artifact: timeline.Anything, Ref: i.kind}})
}

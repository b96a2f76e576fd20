package evidence

import (
	"regexp"
	"strings"
)

// secretFlags are a flag that says secret, and its value as the next word.
var secretFlags = regexp.MustCompile(`(?i)((?:^|[\s"'=(\[,/!])--?(?:[a-z0-9_-]*(?:` + secretNames + `|_auth|creds?|credentials|jwt|otp|storepass|keypass|pass-phrase)|pass|pwd?|auth)(?:["']\s*,\s*|\s+))` +
	`("[^"]+"?|'[^']+'?|[^\s"'\\-][^\s"']*)`)

// secretArgs are the arguments of commands that take a password as -p, -u
// user:password or -a, and the words of a netrc file.
var secretArgs = regexp.MustCompile(`(?i)(\b(?:login|sshpass|twine|mysql[a-z]*|mariadb[a-z-]*|7z[a-z]?)\b[^;|&]*?\s-p ?|\b(?:mongo[a-z]*|poetry|snowsql|useradd|usermod)\b[^;|&]*?\s-p ` +
	`|\bcurl\b[^;|&]*?\s(?:-[a-z]*u|--user|--proxy-user)[ =]?["']?[^\s:"']+:|\b(?:https?|xh) (?:-[^;|&]*?\s)??(?:-a|--auth)[ =]["']?[^\s:"'=]+:` +
	`|(?:^|\s)--?[a-z-]*creds?[ =]["']?[^\s:"'=]+:|\bredis-cli\b[^;|&]*?\s(?:-a|--pass) ` +
	`|\b(?:sqlcmd|bcp|isql|zip|unzip|mosquitto_[a-z]+|p4)\b[^;|&]*?\s(?-i:-P) |\bldap[a-z]+\b[^;|&]*?\s-w |\bopenssl\s+enc\b[^;|&]*?\s-k |\bnuget\s+push\b[^;|&]*?\s-k ` +
	`|\b(?:hatch\s+publish\b[^;|&]*?\s(?:-a|--auth)|(?:uv\s+publish|anaconda|codecov)\b[^;|&]*?\s(?-i:-t)|gitlab-runner\s+register\b[^;|&]*?\s-r) ` +
	`|\bsmbclient\b[^;|&]*?\s-U\s*["']?[^\s%]+%|\blftp\b[^;|&]*?\s-u\s+[^\s,]+,|\bgh\s+secret\s+set\b[^;|&]*?\s(?:-b|--body)[ =]` +
	`|--from-literal[ =]["']?[^\s=]+=|--secret-string[ =]|\bput-parameter\b[^;|&]*?\s--value[ =]|<<<\s*|\blogin\s+\S+\s+password\s+|\bmachine\s+\S+\s+password\s+)` +
	`("[^"]+"?|'[^']+'?|[^\s"';|&\\][^\s"';|&]*)`)

// secretOperands are commands whose next word is a secret, unless it is a flag.
var secretOperands = regexp.MustCompile(`(?i)(\b(?:cargo|vault|wandb)\s+login\s+|\bsnyk\s+auth\s+|authtoken\s+|\bhttp-basic\.\S+\s+\S+\s+|\bpypi-token\.\S+\s+` +
	`|\bbundle\s+config\b[^;|&]*?\s[^\s:"'/]+:|\brabbitmqctl\s+(?:add_user|change_password)\s+\S+\s+|\bhtpasswd\s+-[a-z]*n[a-z]*\s+\S+\s+|\bhtpasswd\s+-[a-mo-z]*\s+\S+\s+\S+\s+` +
	`|\bnet\s+user\s+\S+\s+|\bnet\s+use\b[^;|&]*?/user:\S+\s+|\bmc\s+(?:alias\s+set|config\s+host\s+add)\s+\S+\s+\S+\s+\S+\s+|\b(?:requirepass|masterauth)\s+` +
	`|\bpulumi\s+config\s+set\s+(?:--?\S+\s+)*\S+\s+|\bnuget\s+setapikey\s+|\brunas\s+/user:\S+\s+|\bconvertto-securestring\s+(?:-string\s+)?` +
	`|(?:\bconfig(?:ure)?|(?:^|\s)(?-i:ENV)|\bsetx|\bset\s+-[a-z]+)\s[^;|&]*?[^\s=;|&]*(?:` + secretNames + `|_auth|_password)\s+)` +
	`("[^"-][^"]*"?|'[^'-][^']*'?|[^\s"';|&/>\\-][^\s"';|&]*)`)

// vaultWrite is what a command writes into a vault: all of its fields.
var vaultWrite = regexp.MustCompile(`(?i)(\bvault\s+(?:kv\s+put|write)\s+(?:-\S+\s+)*\S+\s+)([^;|&\s][^;|&]*)`)

// piped is a secret that is given to a command on its standard input.
//
//	echo hunter2 | docker login -u me --password-stdin
var piped = regexp.MustCompile(`(?i)(\b(?:echo|printf)\s+(?:-[a-z]+\s+)?(?:["']%s(?:\\n)?["']\s+)?)("[^"]+"|'[^']+'|[^\s"';|&]+)\s*\|\s*[^;|&]*(?:\blogin\b|stdin\b|--with-token|passwd\b)`)

// pair is a variable whose name and value are fields of their own, in JSON, XML
// or what a tool prints: the name says what the value is.
//
//	{"name":"DB_PASSWORD","value":"hunter2"}   <add key="ClearTextPassword" value="hunter2"/>
var pair = regexp.MustCompile(`(?i)(["']?\b(?:name|key|parameterkey)["']?\s*[:=]\s*["']?[a-z0-9_.-]*` + secretNames + `[a-z0-9_.-]*["']?[,\s]+["']?(?:value|parametervalue)["']?\s*[:=]\s*)("(?:[^"\\]|\\.)+"?|'[^']+'?|[^\s"',}]+)`)

// pairTurned is such a pair with the value first.
var pairTurned = regexp.MustCompile(`(?i)(["']?\bvalue["']?\s*[:=]\s*)("(?:[^"\\]|\\.)+"|'[^']+'|[^\s"',}]+)[,\s]+["']?(?:name|key)["']?\s*[:=]\s*["']?[a-z0-9_.-]*` + secretNames)

// element is a secret between its tags.
var element = regexp.MustCompile(`(?i)(<[a-z0-9_.:-]*` + secretNames + `[a-z0-9_.:-]*>)([^<\s][^<]*)</`)

// cookies are the values of cookies: whoever has one is who got it.
var cookies = regexp.MustCompile(`(?i)(\b(?:set-)?cookie["']?\s*[:=]\s*["']?)([^\s"'][^"']*)`)

// curlCookie is the same, as curl is given it.
var curlCookie = regexp.MustCompile(`(?i)(\bcurl\b[^;|&]*?\s(?:-b|--cookie)[ =]?["']?[^\s=;"']+=)([^\s"']+)`)

// channelToken is a token in the path of a channel of conda, which packages are
// fetched below.
//
//	https://conda.anaconda.tld/t/TOKEN/acme/linux-64/x-1.0-0.conda
var channelToken = regexp.MustCompile(`(?i)(/t/)([a-z0-9_-]{8,})/`)

// redactOperands hides what stands behind the words of commands.
func redactOperands(s string) string {
	s = redactMatches(piped, s, harmlessArg)
	s = redactMatches(secretOperands, s, harmlessArg)
	s = redactMatches(vaultWrite, s, harmlessArg)
	return redactMatches(curlCookie, s, harmlessArg)
}

// redactPairs hides values whose name stands in a field or tag beside them.
func redactPairs(s string) string {
	if strings.Contains(s, "alue") || strings.Contains(s, "ALUE") {
		s = redactMatches(pair, s, harmlessArg)
		s = redactMatches(pairTurned, s, harmlessArg)
	}
	if strings.Contains(s, "</") {
		s = redactMatches(element, s, harmlessArg)
	}
	return s
}

// redactChannels hides the tokens of conda's channels.
func redactChannels(s string) string {
	lower := strings.ToLower(s)
	for _, word := range []string{"conda", "mamba", "pixi", "channel", "/noarch", "/linux-", "/osx-", "/win-"} {
		if strings.Contains(lower, word) {
			return redactMatches(channelToken, s, nil)
		}
	}
	return s
}

// harmlessArg reports whether an argument is a masked value or a reference.
func harmlessArg(_, _, value string) bool {
	return strings.HasPrefix(value, "***") || strings.HasPrefix(value, "$") || strings.HasPrefix(value, hidden)
}

// harmlessFlag reports whether the value of a flag is no secret: the place of a
// file that holds one is none, nor is the next option.
func harmlessFlag(before, name, value string) bool {
	return harmlessArg(before, name, value) || strings.HasPrefix(value, "/") && !strings.Contains(strings.ToLower(name), "pass") ||
		strings.HasPrefix(value, "./") || strings.HasPrefix(value, "~/") || strings.HasSuffix(value, ".json") || strings.HasSuffix(value, ".pem")
}

package evidence

import (
	"regexp"
	"strings"
)

const (
	minDrawn    = 28 // a word that is a secret by its looks alone, whatever stands before it
	minPrefixed = 20 // the same behind a prefix: tok_…
	minMixed    = 24 // with the signs of base64 in URLs
)

// vendorShapes are values that are secrets by the prefix that their vendor gives
// them, as secretShapes, each with a long run of letters and digits: hasLongRun
// is asked before they are tried.
var vendorShapes = regexp.MustCompile(`(?:\b|_)(?:gl(?:oas|ffct|wt|rtr)-[A-Za-z0-9_.-]{20,}|GR1348941[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9_.-]{30,}` +
	`|AQ\.[A-Za-z0-9_-]{30,}|1//0[A-Za-z0-9_-]{40,}|api_org_[A-Za-z]{30,}|xai-[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{32,}|csk-[a-z0-9]{40,}` +
	`|tgp_v1_[A-Za-z0-9_-]{30,}|tvly-[A-Za-z0-9-]{20,}|lsv2_(?:pt|sk)_[a-f0-9_]{20,}|ls__[a-f0-9]{32}|do[or]_v1_[a-f0-9]{32,}` +
	`|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}|sq0[a-z]{3}-[A-Za-z0-9_-]{20,}|SK[a-f0-9]{32}|key-[a-f0-9]{32}|[a-f0-9]{32}-us[0-9]{1,2}` +
	`|gl(?:sa|c)_[A-Za-z0-9_=+/-]{20,}|NR(?:AK|II|RA)-[A-Za-z0-9_-]{20,}|sntry[us]_[A-Za-z0-9_=+/-]{30,}|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{20,}` +
	`|sbp_(?:oauth_)?[a-f0-9]{40}|sb_(?:secret|publishable)_[A-Za-z0-9_-]{20,}|napi_[a-z0-9]{40,}|lin_(?:api|oauth)_[A-Za-z0-9]{30,}|ntn_[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{40,}` +
	`|fig[dour]_[A-Za-z0-9_-]{30,}|PMAK-[a-f0-9]{24}-[a-f0-9]{20,}|pul-[a-f0-9]{40}|dp\.[a-z]{2,6}\.(?:[a-z0-9_-]+\.)?[A-Za-z0-9]{30,}` +
	`|fm[12][a-z]?_[A-Za-z0-9_=+/-]{40,}|fo1_[A-Za-z0-9_-]{30,}|vc[a-z]_[A-Za-z0-9]{24,}|vercel_blob_rw_[A-Za-z0-9_]{20,}|nf[a-z]_[A-Za-z0-9]{30,}` +
	`|rnd_[A-Za-z0-9]{24,}|HRKU-[A-Za-z0-9_-]{30,}|CCIP(?:AT|RJ)_[A-Za-z0-9_]{20,}|bk(?:ua|ct|aj|at|pi)_[A-Za-z0-9_]{20,}|tskey-[A-Za-z0-9-]{20,}` +
	`|[A-Za-z0-9]{40,}A{4,}ZDO[A-Za-z0-9]{4}|[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,}|[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{30,}|[A-Za-z0-9/+]{32,}\+(?:ACR|ABa|AMC|ASt|AEh|ARm)[A-Za-z0-9]{6}` +
	`|AKCp[A-Za-z0-9]{20,}|EAAA[A-Za-z0-9_-]{56,}|cmVmdGtuO[A-Za-z0-9]{30,}|cf[a-z]{2}_[A-Za-z0-9]{36,}|CLOJARS_[a-f0-9]{40,}|oy2[a-z0-9]{43}\b` +
	`|AT(?:ATT|STT|CTT)3[A-Za-z0-9_=-]{20,}|ATBB[A-Za-z0-9]{24,}|BBDC-[A-Za-z0-9+/]{30,}|sq[apu]_[a-f0-9]{40}|snyk_[a-z]{2,4}\.[A-Za-z0-9]+\.[A-Za-z0-9_-]{20,}` +
	`|dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{20,}|ess[ua]_[A-Za-z0-9_=-]{20,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}|[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}` +
	`|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|EZ[AT]K[A-Za-z0-9]{40,}|ops_eyJ[A-Za-z0-9_=+/-]{20,}|LTAI[A-Za-z0-9]{16,}|AQVN[A-Za-z0-9_-]{30,}` +
	`|CFPAT-[A-Za-z0-9_-]{30,}|tfp_[A-Za-z0-9_]{30,}|pcsk_[A-Za-z0-9]+_[A-Za-z0-9]{20,}|sk_[a-f0-9]{48}|key_[a-f0-9]{64}|BSA[A-Za-z0-9_-]{27,}|wandb_v1_[A-Za-z0-9_]{20,}` +
	`|ph[xsac]_[A-Za-z0-9]{30,}|sha256~[A-Za-z0-9_-]{30,}|SSWS [A-Za-z0-9_-]{30,}|eyJ[A-Za-z0-9_+/-]{32,}={0,2})`)

// mixedShapes are short prefixes that names have too: what stands behind them
// has to be drawn.
var mixedShapes = regexp.MustCompile(`(\b(?:s\.|re_[A-Za-z0-9]{6,}_|fw_|r8_|cio|AKID|[A-Za-z0-9]{2,12}(?:_[A-Za-z0-9]{1,12})?_))([A-Za-z0-9]{20,})`)

// notDrawn are what stands before a hash.
var notDrawn = regexp.MustCompile(`(?i)(?:sha-?[0-9]{1,3}|md5|h1|integrity|fingerprint)[-:= "']{1,3}$`)

// redactDrawn hides long words without sense: those behind a prefix and, where
// nothing is a name or a hash, all of them. It comes last: what has a known
// shape has more to it than such a word.
func redactDrawn(s string, nameless bool) string {
	if !hasLongRun(s) {
		return s
	}
	if s = redactMatches(mixedShapes, s, func(_, _, value string) bool { return !drawn(value) }); !nameless {
		return s
	}
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		from := i
		for i < len(s) && alnum(s[i]) {
			i++
		}
		if i-from >= minDrawn && drawn(s[from:i]) && !insideHash(s, from) {
			from, i = wholeDrawn(s, done, from, i)
			b.WriteString(s[done:from])
			b.WriteString(hidden)
			done = i
		}
		if i == from {
			i++
		}
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// wholeDrawn widens the word s[from:to] to what stands on its sides and was drawn
// with it: base64 in URLs has two signs beside letters and digits.
func wholeDrawn(s string, floor, from, to int) (int, int) {
	for from-1 > floor && (s[from-1] == '_' || s[from-1] == '-') {
		start := from - 1
		for start > floor && alnum(s[start-1]) {
			start--
		}
		if !mixed(s[start : from-1]) {
			break
		}
		from = start
	}
	for to+1 < len(s) && (s[to] == '_' || s[to] == '-') {
		end := to + 1
		for end < len(s) && alnum(s[end]) {
			end++
		}
		if !mixed(s[to+1 : end]) {
			break
		}
		to = end
	}
	return from, to
}

// insideHash reports whether the word that begins at from is part of a hash in
// base64, which says what it is:
//
//	sha512-…==   h1:…=   "integrity": "sha384-…"
func insideHash(s string, from int) bool {
	for from > 0 && base64Byte(s[from-1]) && s[from-1] != '-' {
		from--
	}
	return notDrawn.MatchString(s[max(0, from-16):from])
}

// drawn reports whether a word of letters and digits was drawn: large and small
// letters and digits, which change more often than in names that are written
// together.
//
//	TestHTTPServerRespondsWith200WhenGiven404 is none
func drawn(word string) bool {
	var kinds [3]int
	last, changes := -1, 0
	for i := 0; i < len(word); i++ {
		kind := 0
		switch c := word[i]; {
		case c >= 'a' && c <= 'z':
			kind = 1
		case c >= '0' && c <= '9':
			kind = 2
		}
		if kinds[kind]++; kind != last {
			last = kind
			changes++
		}
	}
	return kinds[0] > 1 && kinds[1] > 1 && kinds[2] > 0 && changes*100 >= len(word)*42
}

// hasLongRun reports whether a text holds a word that could be drawn. A hash in
// hex is none, unless a prefix leans on it.
func hasLongRun(s string) bool {
	for at := minPrefixed - 1; at < len(s); at += minPrefixed {
		if !runByte(s[at]) {
			continue
		}
		from := at
		for from > 0 && runByte(s[from-1]) {
			from--
		}
		for at < len(s) && runByte(s[at]) {
			at++
		}
		for from < at && !alnum(s[from]) {
			from++
		}
		if isLongRun(s, from, at) {
			return true
		}
	}
	return false
}

// isLongRun reports whether s[from:to], of letters, digits and the two signs that
// base64 in URLs has beside them, could be drawn.
func isLongRun(s string, from, to int) bool {
	run, longest := 0, 0
	var upper, lower, digit, rest bool
	for _, c := range []byte(s[from:to]) {
		switch {
		case c >= '0' && c <= '9':
			digit = true
		case c >= 'A' && c <= 'Z':
			upper, rest = true, true
		case c >= 'a' && c <= 'z':
			lower, rest = true, rest || c > 'f'
		default:
			rest, run = true, -1
		}
		run++
		longest = max(longest, run)
	}
	leans := from > 0 && strings.IndexByte("~.+", s[from-1]) >= 0
	return longest >= minPrefixed && (rest || leans) || to-from >= minMixed && upper && lower && digit
}

func runByte(c byte) bool { return alnum(c) || c == '_' || c == '-' }

func alnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func base64Byte(c byte) bool { return alnum(c) || strings.IndexByte("+/=_-", c) >= 0 }

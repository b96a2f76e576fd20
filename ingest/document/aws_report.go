package document

import (
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// AWSReport is the credential report of an AWS account.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_getting-report.html
var AWSReport = evidence.Format{
	Name:   "aws-credential-report",
	Shape:  evidence.DocumentShape,
	Title:  "AWS IAM credential report",
	Proves: "which users have access keys and passwords, when these were made or changed and used last, and whether they work",
	Cannot: "which key a name in an environment means; roles",
	Doc:    "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_getting-report.html",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		header := csvHeader(h.Bytes)
		return slices.Contains(header, "user") && slices.Contains(header, "arn") && slices.Contains(header, "access_key_1_last_rotated")
	},
	Read: readAWSReport,
}

// readAWSReport reads one user a row:
//
//	user,arn,user_creation_time,password_enabled,password_last_used,password_last_changed,…,access_key_1_active,access_key_1_last_rotated,access_key_1_last_used_date,…
//	ci-deploy,arn:aws:iam::123456789012:user/ci-deploy,2024-02-01T09:12:00+00:00,false,N/A,N/A,…,true,2025-03-04T10:00:00+00:00,2026-10-21T12:00:00+00:00,…
func readAWSReport(d *evidence.Doc, o *evidence.Out) error {
	return csvRows(d, o, func(r *csvRow) {
		user, parts := r.get("user"), strings.Split(r.get("arn"), ":")
		if user == "" || len(parts) < 6 {
			o.Skip("a row without user or ARN")
			return
		}
		c := timeline.Credential{Name: user, Store: "aws:" + parts[4], Provider: "aws", Class: "cloud-static-key", Owner: user}
		for _, key := range []string{"access_key_1", "access_key_2"} {
			c.Part, c.Created, c.Used = strings.ReplaceAll(key, "_", "-"), r.time(key+"_last_rotated"), r.time(key+"_last_used_date")
			if c.Created == 0 {
				continue // there is none
			}
			c.State = activity(r.get(key + "_active"))
			if !r.bad {
				o.Credential(c)
			}
		}
		if strings.EqualFold(r.get("password_enabled"), "true") {
			c.Class, c.Part, c.State = "account-password", "password", timeline.Active
			c.Created, c.Used = r.time("password_last_changed"), r.time("password_last_used")
			if !r.bad {
				o.Credential(c)
			}
		}
	})
}

// activity reads true and false.
func activity(text string) timeline.Activity {
	switch strings.ToLower(text) {
	case "true", "t":
		return timeline.Active
	case "false", "f":
		return timeline.Inactive
	}
	return ""
}

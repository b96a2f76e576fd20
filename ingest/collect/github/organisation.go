package github

import (
	"context"
	"time"

	gh "github.com/google/go-github/v60/github"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// notForAll are refusals of what only some plans and tokens have: the gap is
// none of the logs'.
var notForAll = []timeline.Reply{timeline.Absent, timeline.Denied}

// audit gets what the audit log has of workflows, which names the secrets that
// each job was given, and of packages. Only organisations of GitHub Enterprise
// have one, and only owners may read it.
//
// https://docs.github.com/en/enterprise-cloud@latest/rest/orgs/orgs#get-the-audit-log-for-an-organization
func (c *collector) audit(ctx context.Context, org, category string) error {
	phrase := "action:" + category + " created:" + c.from.Format(time.DateOnly) + ".." + c.to.Format(time.DateOnly)
	opt := &gh.GetAuditLogOptions{Phrase: &phrase, ListCursorOptions: gh.ListCursorOptions{PerPage: perPage}}
	want := collect.Want{Kind: "audit", Name: "audit.json", Reading: timeline.PageOf, NoGap: notForAll, Detail: "audit log of " + org}
	for {
		_, resp, err := c.api.Organizations.GetAuditLog(collect.For(ctx, want), org, opt)
		if status, err := refusal(err); status != 0 || err != nil {
			return err
		}
		if resp.After == "" {
			return nil
		}
		opt.After = resp.After
	}
}

// packages lists the images of an organisation, and the versions of those that
// changed since the window began.
//
// https://docs.github.com/en/rest/packages/packages
func (c *collector) packages(ctx context.Context, org string) error {
	kind := "container"
	opt := &gh.PackageListOptions{PackageType: &kind, ListOptions: gh.ListOptions{PerPage: perPage}}
	want := collect.Want{Kind: "packages", NoGap: notForAll, Detail: "container packages of " + org}
	for {
		all, resp, err := c.api.Organizations.ListPackages(collect.For(ctx, want), org, opt)
		if status, err := refusal(err); status != 0 || err != nil {
			return err
		}
		for _, p := range all {
			if name := p.GetName(); name != "" && !p.GetUpdatedAt().Before(c.from) {
				c.pool.Add(func(ctx context.Context) error { return c.versions(ctx, org, name) })
			}
		}
		if resp.NextPage == 0 {
			return nil
		}
		opt.Page = resp.NextPage
	}
}

func (c *collector) versions(ctx context.Context, org, name string) error {
	opt := &gh.PackageListOptions{ListOptions: gh.ListOptions{PerPage: perPage}}
	want := collect.Want{Kind: "versions", Name: "versions.json", Reading: timeline.PageOf, NoGap: notForAll, Detail: "versions of " + org + "/" + name}
	for {
		_, resp, err := c.api.Organizations.PackageGetAllVersions(collect.For(ctx, want), org, "container", name, opt)
		if status, err := refusal(err); status != 0 || err != nil {
			return err
		}
		if resp.NextPage == 0 {
			return nil
		}
		opt.Page = resp.NextPage
	}
}

package matchers

import (
	"testing"

	"pulltrail/timeline"
)

// TestMachines: two names are one machine where evidence or a person has both,
// and only there.
func TestMachines(t *testing.T) {
	link := func(source int64, r timeline.Relation, from, to string) timeline.LinkRow {
		return timeline.LinkRow{Source: source, Link: timeline.Link{Relation: r, From: from, To: to}}
	}
	const job, other, third = "job:github:acme/api/runs/1/attempts/1/jobs/a", "job:github:acme/api/runs/2/attempts/1/jobs/b", "job:gitlab:x/jobs/3"
	r := &record{
		sources: []timeline.SourceRow{{ID: 1, SourceInfo: timeline.SourceInfo{Format: "github-jobs"}}, {ID: 2, SourceInfo: timeline.SourceInfo{Format: "github-job"}}},
		links: []timeline.LinkRow{
			link(1, timeline.On, job, "host:runner-1"), link(2, timeline.On, job, "host:BUILD9"),
			link(1, timeline.On, other, "host:runner-2"), link(1, timeline.On, other, "host:runner-3"), // two records
			link(2, timeline.On, third, "host:build10"),
			link(2, timeline.Is, "host:i-0abc", "host:db1"),
			link(2, timeline.Is, "container:k8s/a/b/c", "container:n1/0123456789ab"),
		},
		subjects:  []timeline.Subject{{Kind: timeline.Host, ID: "runner-1"}, {Kind: timeline.Container, ID: "i-0abc/0123"}, {Kind: timeline.Container, ID: "k8s/a/b/c"}},
		inventory: []timeline.InventoryRow{{Host: "runner-1"}},
		said: newStatements([]timeline.Decision{
			{Act: timeline.Stated, About: "host:web1.prod.acme.example", Value: "is=web1"},
			{Act: timeline.Stated, About: "host:web2", Value: "is=web3"},
			{Act: timeline.Stated, About: "host:web2", Value: Withdrawn("is=web3")},
			{Act: timeline.Stated, About: "host:web1.prod.acme.example", Value: "no-pypi"},
			{Act: timeline.Stated, About: "host:web1", Value: "is=web1.prod.acme.example"}, // both ways: no circle
		}),
	}
	m := newMachines(r, r.said)
	for name, want := range map[string]string{
		"runner-1": "BUILD9", "BUILD9": "BUILD9", "runner-2": "runner-2", "runner-3": "runner-3", "build10": "build10",
		"i-0abc": "db1", "web2": "web2",
	} {
		if got := m.of(name); got != want {
			t.Errorf("%s goes by %s, want %s", name, got, want)
		}
	}
	if m.of("web1") != m.of("web1.prod.acme.example") {
		t.Error("what was stated does not hold")
	}
	r.rename(m)
	if r.subjects[0].ID != "db1/0123" || r.subjects[1].ID != "k8s/a/b/c" || r.subjects[2].ID != "BUILD9" || r.inventory[0].Host != "BUILD9" {
		t.Errorf("renamed %v, %v", r.subjects, r.inventory)
	}
	if _, ok := r.said[timeline.Subject{Kind: timeline.Host, ID: m.of("web1")}]["no-pypi"]; !ok {
		t.Errorf("what was stated of one name is lost: %v", r.said)
	}
	for _, pair := range [][2]string{{"web1", "web1.prod.acme.example"}, {"WEB1", "web1"}} {
		if m.differ(pair[0], pair[1]) {
			t.Errorf("%s cannot be one machine", pair)
		}
	}
	if !m.differ(m.of("web1"), "web1.stage.acme.example") || !m.differ("a.x.example", "a.y.example") {
		t.Error("two domains are taken for one machine")
	}
}

// TestPublic: what is on the internet, and what is not.
func TestPublic(t *testing.T) {
	m := &matching{q: &question{mirrors: []timeline.Mirror{{Prefix: "mirror.acme.example/hub"}}}, byHost: map[string][]timeline.InventoryRow{"git.acme.example": {{}}}}
	for endpoint, want := range map[string]bool{
		"ip:203.0.113.7": true, "ip:2001:db8::7": true, "ip:10.0.4.7": false, "ip:100.64.3.1": false, "ip:127.0.0.1": false, "ip:fe80::1": false,
		"ip:::ffff:10.1.2.3": false, "ip:224.0.0.1": false, "ip:nonsense": false, "domain:files.example.tld": false,
		"url:https://files.example.tld/x": true, "url:http://10.0.0.1:8080/": false, "url:http://registry/v2/": false, "url:https://api.svc.cluster.local/": false,
		"url:https://mirror.acme.example/hub/x": false, "url:https://git.acme.example/x": false, "url:https://u:p@203.0.113.9:443/": true, "file:/etc/x": false,
	} {
		if got := m.public(endpoint); got != want {
			t.Errorf("%s: %v", endpoint, got)
		}
	}
}

func TestStatementWords(t *testing.T) {
	host, job := timeline.Subject{Kind: timeline.Host, ID: "web1"}, timeline.Subject{Kind: timeline.Job, ID: "x"}
	for text, want := range map[string]string{
		"no-docker": "no-images", "no-images": "no-images", "no-pypi": "no-pypi", "egress=none": "egress=none", "is=host:web2": "is=web2", "not=web2": "not=web2",
		"no-": "", "no-none": "", "no-telnet": "", "egress=maybe": "", "is=web1": "", "is=": "", "docker": "", "is=a b": "",
	} {
		if got, err := ParseStatement(host, text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if got, err := ParseStatement(job, "is=web2"); err == nil {
		t.Errorf("a job is %q", got)
	}
}

package ingest

import (
	"slices"
	"strings"
	"testing"

	"pulltrail/timeline"
)

func TestReadInventory(t *testing.T) {
	text := "\ufeff" + inventoryHeader + "\r\n" +
		"10.20.9.5,edge05,2026-10-01T00:00:00Z,,\"gateway, west\",platform,\"Acme \"\"A\"\"\",,pypi  dockerhub pypi\r\n" +
		"::ffff:10.20.9.6,edge06,,,,,,,\r\n" +
		"\r\n" +
		"2001:DB8::1,edge06,,2026-10-02T02:00:00+02:00,,,,none,PyPI\r\n" +
		"10.20.9.6,edge07,,,,,,,\r\n" +
		",laptop-1,,,,,,,\r\n" +
		"mirror,harbor.acme.example/hub/,docker.io\r\n" +
		"mirror,harbor.acme.example/hub,docker.io,,,,,,\r\n" +
		",,,,,,,,\r\n"
	rows, mirrors, err := ReadInventory("hosts.csv", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, strings.Join([]string{r.Address, r.Host, r.Span.String(), r.Service, r.Customer, r.Egress, strings.Join(r.Channels, "+")}, "|"))
	}
	want := []string{
		`10.20.9.5|edge05|2026-10-01T00:00:00Z/..|gateway, west|Acme "A"||pypi+dockerhub`,
		`10.20.9.6|edge06|..||||`,
		`2001:db8::1|edge06|../2026-10-02T00:00:00Z|||none|pypi`,
		`10.20.9.6|edge07|..||||`,
		`|laptop-1|..||||`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if rows[2].Line != 5 || rows[2].File != "hosts.csv" {
		t.Errorf("row stands at %s:%d", rows[2].File, rows[2].Line)
	}
	if len(mirrors) != 1 || mirrors[0].Prefix != "harbor.acme.example/hub" || mirrors[0].Upstream != "docker.io" {
		t.Errorf("mirrors %+v", mirrors)
	}
}

func TestReadInventoryRefuses(t *testing.T) {
	row := func(s string) string { return inventoryHeader + "\n" + s + "\n" }
	for _, c := range []struct{ text, want string }{
		{"", "hosts.csv:1:1: empty: want the header address,host"},
		{"10.0.0.1,a,,,,,,,\n", "hosts.csv:1:1: want the header address,host"},
		{"address;host;from\n", "hosts.csv:1:1: the fields are not apart by commas"},
		{"\xff\xfea\x00d\x00\n", "hosts.csv:1:1: not UTF-8"},
		{row("10.0.0.0/24,a,,,,,,,"), "hosts.csv:2:1: 10.0.0.0/24 is a network: write one row for each address"},
		{row("10.0.0.300,a,,,,,,,"), `hosts.csv:2:1: "10.0.0.300" is no IP address`},
		{row("10.0.0.1,,,,,,,,"), "hosts.csv:2:10: the host is missing"},
		{row("10.0.0.1,host:a,,,,,,,"), `hosts.csv:2:10: "host:a": write the name alone, a`},
		{row("10.0.0.1,a b,,,,,,,"), `hosts.csv:2:10: "a b": a host is one word`},
		{row("10.0.0.1,a,2026-10-21,,,,,,"), `hosts.csv:2:12: "2026-10-21": want RFC 3339 with zone`},
		{row("10.0.0.1,a,,2026-10-21T10:00:00,,,,,"), `hosts.csv:2:13: "2026-10-21T10:00:00": want RFC 3339`},
		{row("10.0.0.1,a,..,,,,,,"), "hosts.csv:2:12: "},
		{row("10.0.0.1,a,2026-10-21T10:00:00Z,2026-10-20T10:00:00Z,,,,,"), "hosts.csv:2:33: to is before from"},
		{row(`10.0.0.1,a,,,,,,,"pypi,npm"`), `hosts.csv:2:18: channel "pypi,npm": want words apart by blanks`},
		{row("10.0.0.1,a"), "hosts.csv:2:1: 2 fields, want 9"},
		{row(`10.0.0.1,"a,,,,,,,`), "hosts.csv:2:"},
		{row("mirror,a.example"), "hosts.csv:2:1: want mirror,PREFIX,UPSTREAM"},
		{row("mirror,https://a.example,docker.io"), `hosts.csv:2:8: "https://a.example": want host/path`},
		{row("mirror,a.example/x,docker.io\nmirror,a.example/x/,quay.io"), "hosts.csv:3:8: a.example/x is a mirror of docker.io on line 2 already"},
	} {
		rows, mirrors, err := ReadInventory("hosts.csv", strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
		if rows != nil || mirrors != nil {
			t.Errorf("%q: rows in spite of an error", c.text)
		}
	}
}

func FuzzInventory(f *testing.F) {
	f.Add(inventoryHeader + "\n10.0.0.1,a,2026-10-21T10:00:00Z,,s,o,c,e,pypi npm\nmirror,a.example/x,docker.io\n")
	f.Add(inventoryHeader + "\r\n\"::1\",\"a\"\"b\",,,,,,,\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, mirrors, err := ReadInventory("hosts.csv", strings.NewReader(text))
		if err != nil && (rows != nil || mirrors != nil) {
			t.Fatal("rows in spite of an error")
		}
		for _, r := range rows {
			if r.Host == "" || r.Line < 2 || r.Span.From > r.Span.To || r.Span.From == timeline.Forever {
				t.Errorf("row %+v", r)
			}
		}
	})
}

package ingest

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"pulltrail/timeline"
)

// inventoryHeader is the header that an inventory must have.
const inventoryHeader = "address,host,from,to,service,owner,customer,egress,channels"

const (
	maxInventory       = 64 << 20 // bytes
	maxInventoryFaults = 30       // faults that are worth printing at once
)

// ReadInventory reads the inventory of a case: CSV (RFC 4180, UTF-8) with the
// header
//
//	address,host,from,to,service,owner,customer,egress,channels
//
// one row for each address a host had. from and to are RFC 3339, empty when
// not known; several hosts with one address are behind NAT; channels are words
// apart by blanks, all that the host has, empty when not stated. A row
//
//	mirror,PREFIX,UPSTREAM
//
// says that image names below PREFIX are served from UPSTREAM. Every fault is
// reported with file, line and column; with a fault, no row is returned.
func ReadInventory(name string, r io.Reader) ([]timeline.InventoryRow, []timeline.Mirror, error) {
	limited := &io.LimitedReader{R: r, N: maxInventory}
	in := bufio.NewReader(limited)
	if bom, err := in.Peek(3); err == nil && string(bom) == "\ufeff" {
		_, _ = in.Discard(3)
	}
	inv := &inventory{name: name, csv: csv.NewReader(in), mirrors: map[string]timeline.Mirror{}}
	inv.csv.FieldsPerRecord = -1
	inv.read()
	if limited.N == 0 {
		inv.errs = append(inv.errs, fmt.Errorf("%s: larger than 64 MiB", name))
	}
	if more := len(inv.errs) - maxInventoryFaults; more > 0 {
		inv.errs = append(inv.errs[:maxInventoryFaults], fmt.Errorf("%s: and %d faults more", name, more))
	}
	if err := errors.Join(inv.errs...); err != nil {
		return nil, nil, err
	}
	return inv.rows, inv.ordered, nil
}

type inventory struct {
	name    string
	csv     *csv.Reader
	rows    []timeline.InventoryRow
	mirrors map[string]timeline.Mirror
	ordered []timeline.Mirror
	errs    []error
}

// bad reports a fault of a field of the row that was read last.
func (inv *inventory) bad(field int, format string, args ...any) {
	line, column := inv.csv.FieldPos(field)
	inv.errs = append(inv.errs, fmt.Errorf("%s:%d:%d: %s", inv.name, line, column, fmt.Sprintf(format, args...)))
}

func (inv *inventory) read() {
	header := true
	for {
		fields, err := inv.csv.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
			inv.errs = append(inv.errs, fmt.Errorf("%s:%d:%d: %w", inv.name, parse.Line, parse.Column, parse.Err))
			return // what follows a broken quote is not told apart
		}
		if err != nil {
			inv.errs = append(inv.errs, fmt.Errorf("read inventory %s: %w", inv.name, err))
			return
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		switch {
		case header:
			if !inv.header(fields) {
				return
			}
			header = false
		case fields[0] == "mirror":
			inv.mirror(fields)
		case slices.ContainsFunc(fields, func(f string) bool { return f != "" }):
			inv.host(fields)
		}
	}
	if header {
		inv.errs = append(inv.errs, fmt.Errorf("%s:1:1: empty: want the header %s", inv.name, inventoryHeader))
	}
}

func (inv *inventory) header(fields []string) bool {
	if strings.EqualFold(strings.Join(fields, ","), inventoryHeader) {
		return true
	}
	switch text := strings.Join(fields, ","); {
	case !utf8.ValidString(text) || strings.Contains(text, "\x00"):
		inv.bad(0, "not UTF-8: save it as CSV UTF-8")
	case len(fields) == 1 && strings.ContainsAny(text, ";\t"):
		inv.bad(0, "the fields are not apart by commas: want the header %s", inventoryHeader)
	default:
		inv.bad(0, "want the header %s, it is %q ('pulltrail inventory --help' shows an example)", inventoryHeader, text)
	}
	return false
}

// channelWord is a channel as incidents and formats name it.
var channelWord = regexp.MustCompile(`^[a-z0-9.*-]+(/[a-z0-9.-]+)?$`)

func (inv *inventory) host(fields []string) {
	if want := strings.Count(inventoryHeader, ",") + 1; len(fields) != want {
		inv.bad(0, "%d fields, want %d: %s", len(fields), want, inventoryHeader)
		return
	}
	faults := len(inv.errs)
	line, _ := inv.csv.FieldPos(0)
	row := timeline.InventoryRow{
		Address: inv.address(fields[0]), Host: fields[1], Span: timeline.Always(), Service: fields[4],
		Owner: fields[5], Customer: fields[6], Egress: fields[7], File: inv.name, Line: int64(line),
	}
	switch {
	case row.Host == "":
		inv.bad(1, "the host is missing")
	case strings.HasPrefix(row.Host, "host:"):
		inv.bad(1, "%q: write the name alone, %s", row.Host, strings.TrimPrefix(row.Host, "host:"))
	case strings.ContainsAny(row.Host, " \t\r\n"):
		inv.bad(1, "%q: a host is one word", row.Host)
	}
	row.Span.From = inv.time(2, fields[2], timeline.Beginning)
	row.Span.To = inv.time(3, fields[3], timeline.Forever)
	if row.Span.To < row.Span.From {
		inv.bad(3, "to is before from")
	}
	for word := range strings.FieldsSeq(strings.ToLower(fields[8])) {
		if !channelWord.MatchString(word) {
			inv.bad(8, "channel %q: want words apart by blanks, such as pypi dockerhub ghcr", word)
		} else if !slices.Contains(row.Channels, word) {
			row.Channels = append(row.Channels, word)
		}
	}
	if len(inv.errs) == faults {
		inv.rows = append(inv.rows, row)
	}
}

// address reads one IP address. A host whose address nobody knows has none.
func (inv *inventory) address(text string) string {
	if text == "" {
		return ""
	}
	if a, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return a.Unmap().String()
	}
	if _, err := netip.ParsePrefix(text); err == nil {
		inv.bad(0, "%s is a network: write one row for each address in it that a host had", text)
	} else {
		inv.bad(0, "%q is no IP address", text)
	}
	return ""
}

func (inv *inventory) time(field int, text string, unknown int64) int64 {
	if text == ".." {
		text = "?" // the notation's sign for unknown is none of the file's
	}
	t, err := timeline.ParseTime(text, unknown)
	if err != nil {
		inv.bad(field, "%q: want RFC 3339 with zone, such as 2026-10-21T11:39:00Z, or nothing for not known", text)
	}
	return t
}

func (inv *inventory) mirror(fields []string) {
	for len(fields) > 3 && fields[len(fields)-1] == "" {
		fields = fields[:len(fields)-1] // a spreadsheet fills up with commas
	}
	if len(fields) != 3 || fields[1] == "" || fields[2] == "" {
		inv.bad(0, "want mirror,PREFIX,UPSTREAM, such as mirror,harbor.acme.example/hub,docker.io")
		return
	}
	line, _ := inv.csv.FieldPos(0)
	m := timeline.Mirror{
		Prefix: strings.TrimRight(fields[1], "/"), Upstream: strings.TrimRight(fields[2], "/"),
		File: inv.name, Line: int64(line),
	}
	for i, part := range []string{m.Prefix, m.Upstream} {
		if strings.Contains(part, "://") || strings.ContainsAny(part, " \t\r\n") || part == "" {
			inv.bad(i+1, "%q: want host/path as image names have it, without https://", part)
			return
		}
	}
	switch first, twice := inv.mirrors[m.Prefix]; {
	case twice && first.Upstream != m.Upstream:
		inv.bad(1, "%s is a mirror of %s on line %d already", m.Prefix, first.Upstream, first.Line)
	case !twice:
		inv.mirrors[m.Prefix] = m
		inv.ordered = append(inv.ordered, m)
	}
}

package timeline

import (
	"fmt"
	"strings"
)

// InventoryRow is one address of one host. Several rows with one address are
// hosts behind NAT.
type InventoryRow struct {
	Address  string
	Host     string
	Span     Span // when the host had the address; Always when not stated
	Service  string
	Owner    string
	Customer string
	Egress   string
	Channels []string // all the channels the host has; empty: not stated
	File     string
	Line     int64
}

// Mirror says that image names below Prefix are served from Upstream.
type Mirror struct {
	Prefix, Upstream string
	File             string
	Line             int64
}

// SetInventory replaces the inventory of the case, as a whole or not at all.
// file describes what it was read from, for the custody log: hash, size, path,
// command and program.
func (db *DB) SetInventory(rows []InventoryRow, mirrors []Mirror, file SourceInfo) error {
	w := db.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.commit(); err != nil { // what sources have pending is not the inventory's to undo
		return fmt.Errorf("write inventory: %w", err)
	}
	write := func() error {
		for _, table := range []string{"inventory", "mirror"} {
			if _, err := w.exec("DELETE FROM " + table); err != nil {
				return err
			}
		}
		for _, r := range rows {
			if _, err := w.exec(`INSERT INTO inventory(address,host,t0,t1,service,owner,customer,egress,channels,file,line)
				VALUES(?,?,?,?,?,?,?,?,?,?,?)`, r.Address, r.Host, end(r.Span.From), end(r.Span.To), r.Service, r.Owner,
				r.Customer, r.Egress, strings.Join(r.Channels, " "), r.File, r.Line); err != nil {
				return err
			}
		}
		for _, m := range mirrors {
			if _, err := w.exec("INSERT OR REPLACE INTO mirror(prefix,upstream,file,line) VALUES(?,?,?,?)",
				m.Prefix, m.Upstream, m.File, m.Line); err != nil {
				return err
			}
		}
		if err := w.record(Entry{
			Action: actInventory, SHA256: file.SHA256, Bytes: file.Bytes, Path: file.Path,
			Command: file.Command, Program: file.Parser,
		}); err != nil {
			return err
		}
		return w.commit()
	}
	if err := write(); err != nil {
		w.rollback()
		return fmt.Errorf("write inventory: %w", err)
	}
	return nil
}

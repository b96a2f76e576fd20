package timeline

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
)

// Activity says whether a secret can be used.
type Activity string

// The activities; "" is not stated.
const (
	Active   Activity = "active"
	Inactive Activity = "inactive" // deactivated, blocked, revoked or expired, as its list says
)

// Credential is what a list says of one secret: its name and dates, never its
// value. Times are nanoseconds since 1970 UTC, 0 where the list is silent.
type Credential struct {
	Subject Subject // whose evidence it is
	Store   string  // where it is kept: github:acme/api, aws:123456789012, litellm:proxy; "" in the subject itself
	Name    string
	Part    string // one of several that go by the name: access-key-1
	Class   string // as the record proves it, a class of rotation; "" when only the name tells

	Owner, Provider, Alias, Team, Customer string

	Created, Updated, Used, Expires int64
	Listed                          int64 // when the list was made, as it says itself
	State                           Activity
	Origin
}

// CredentialRow is a credential with its source.
type CredentialRow struct {
	Source int64
	SHA256 string
	ReadAt int64 // when the list was read, nanoseconds since 1970 UTC
	Credential
}

// notation is the credential in words, for dumps.
func (c *Credential) notation() string {
	words := []string{escape(c.Subject.String()), escape(c.Name)}
	add := func(key, text string) {
		if text != "" {
			words = append(words, key+"="+escape(text))
		}
	}
	when := func(key string, ns int64) {
		if ns != 0 {
			words = append(words, key+"="+FormatTime(ns))
		}
	}
	add("part", c.Part)
	add("store", c.Store)
	add("class", c.Class)
	add("owner", c.Owner)
	add("provider", c.Provider)
	add("alias", c.Alias)
	add("team", c.Team)
	add("customer", c.Customer)
	when("created", c.Created)
	when("updated", c.Updated)
	when("used", c.Used)
	when("expires", c.Expires)
	when("listed", c.Listed)
	add("state", string(c.State))
	return strings.Join(words, " ")
}

// moment is the NULL of a time that is not stated.
func moment(ns int64) driver.Value {
	if ns == 0 {
		return nil
	}
	return ns
}

func (s *SourceWriter) credential(c *Credential) error {
	subject, err := s.w.subject(c.Subject)
	if err != nil {
		return err
	}
	path, err := s.w.path(c.Path)
	if err != nil {
		return err
	}
	_, err = s.w.exec(`INSERT INTO credential(source,subject,store,name,part,class,owner,provider,alias,team,customer,
		created,updated,used,expires,listed,state,path,line,off,excerpt) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		s.id, subject, c.Store, c.Name, c.Part, c.Class, c.Owner, c.Provider, c.Alias, c.Team, c.Customer,
		moment(c.Created), moment(c.Updated), moment(c.Used), moment(c.Expires), moment(c.Listed), string(c.State), path, c.Line, c.Offset, c.Text)
	return err
}

// Credentials returns what the lists that were read say of secrets, in the
// order in which they were read.
func (db *DB) Credentials() ([]CredentialRow, error) {
	return list(context.Background(), db.sql, "credentials", func(row scanner) (c CredentialRow, err error) {
		var kind, state string
		var created, updated, used, expires, listed sql.NullInt64
		err = row.Scan(&c.Source, &c.SHA256, &c.ReadAt, &kind, &c.Subject.ID, &c.Store, &c.Name, &c.Part, &c.Class, &c.Owner, &c.Provider,
			&c.Alias, &c.Team, &c.Customer, &created, &updated, &used, &expires, &listed, &state, &c.Path, &c.Line, &c.Offset, &c.Text)
		c.Subject.Kind, c.State = Kind(kind), Activity(state)
		c.Created, c.Updated, c.Used, c.Expires, c.Listed = created.Int64, updated.Int64, used.Int64, expires.Int64, listed.Int64
		return c, err
	}, `SELECT c.source,s.sha256,s.read_at,u.kind,u.name,c.store,c.name,c.part,c.class,c.owner,c.provider,c.alias,c.team,c.customer,
		c.created,c.updated,c.used,c.expires,c.listed,c.state,p.text,c.line,c.off,c.excerpt FROM credential c
		JOIN source s ON s.id=c.source AND s.complete=1 JOIN subject u ON u.id=c.subject JOIN path p ON p.id=c.path
		ORDER BY s.read_at,p.text,c.rowid`)
}

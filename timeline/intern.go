package timeline

import (
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// maxInterned bounds each dictionary in memory; what falls out is found again
// in the database.
const maxInterned = 200_000

// dictionary is a table of things that repeat: each is stored once and events
// hold its number.
type dictionary[K comparable] struct {
	ids   map[K]int64
	last  int64
	whole bool // every row of the table is in ids: what is not there is new
	find  string
	rows  *bulk
}

func newDictionary[K comparable](find, insert string) dictionary[K] {
	return dictionary[K]{ids: map[K]int64{}, find: find, rows: newBulk(insert)}
}

// miss numbers what is not in memory; created tells that the caller must store
// the row. args are those of find.
func (d *dictionary[K]) miss(w *writer, key K, args ...any) (id int64, created bool, err error) {
	if len(d.ids) >= maxInterned {
		if err := w.flush(); err != nil {
			return 0, false, err
		}
		clear(d.ids)
		d.whole = false
	}
	if !d.whole {
		s, err := w.stmt(d.find)
		if err != nil {
			return 0, false, err
		}
		err = s.QueryRow(args...).Scan(&id)
		if err == nil {
			d.ids[key] = id
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return id, false, err
		}
	}
	d.last++
	d.ids[key] = d.last
	return d.last, true, nil
}

// dictionaries are those of a case.
type dictionaries struct {
	subjects  dictionary[Subject]
	paths     dictionary[string]
	artifacts dictionary[string]
	items     dictionary[itemKey]
	bundles   dictionary[string]
	singles   map[int64]int64 // bundles of one item, by the item

	itemDigests, bundleItems *bulk

	key []byte // scratch
	set []int64
}

type itemKey struct{ artifact, ref, digests string }

// open reads where the numbers go on; last returns the highest of a table.
func (d *dictionaries) open(last func(table string) (int64, error)) error {
	d.subjects = newDictionary[Subject]("SELECT id FROM subject WHERE kind=? AND name=?", "INSERT INTO subject(id,kind,name)")
	d.paths = newDictionary[string]("SELECT id FROM path WHERE text=?", "INSERT INTO path(id,text)")
	d.artifacts = newDictionary[string]("SELECT id FROM artifact WHERE text=?", "INSERT INTO artifact(id,text,type,name,version)")
	d.items = newDictionary[itemKey]("SELECT id FROM item WHERE artifact=? AND ref=? AND digests=?", "INSERT INTO item(id,artifact,ref,digests)")
	d.bundles = newDictionary[string]("SELECT id FROM bundle WHERE items=?", "INSERT INTO bundle(id,items)")
	d.singles = map[int64]int64{}
	d.itemDigests = newBulk("INSERT OR IGNORE INTO item_digest(value,item,role)")
	d.bundleItems = newBulk("INSERT INTO bundle_item(bundle,item)")
	for _, t := range []struct {
		table string
		last  *int64
		whole *bool
	}{
		{"subject", &d.subjects.last, &d.subjects.whole},
		{"path", &d.paths.last, &d.paths.whole},
		{"artifact", &d.artifacts.last, &d.artifacts.whole},
		{"item", &d.items.last, &d.items.whole},
		{"bundle", &d.bundles.last, &d.bundles.whole},
	} {
		var err error
		if *t.last, err = last(t.table); err != nil {
			return err
		}
		*t.whole = *t.last == 0
	}
	return nil
}

func (d *dictionaries) bulks() []*bulk {
	return []*bulk{
		d.subjects.rows, d.paths.rows, d.artifacts.rows, d.items.rows, d.itemDigests, d.bundles.rows, d.bundleItems,
	}
}

func (w *writer) subject(s Subject) (int64, error) {
	if id, ok := w.subjects.ids[s]; ok {
		return id, nil
	}
	id, created, err := w.subjects.miss(w, s, string(s.Kind), s.ID)
	if created {
		err = w.put(w.subjects.rows, id, string(s.Kind), s.ID)
	}
	return id, err
}

func (w *writer) path(text string) (int64, error) {
	if id, ok := w.paths.ids[text]; ok {
		return id, nil
	}
	id, created, err := w.paths.miss(w, text, text)
	if created {
		err = w.put(w.paths.rows, id, text)
	}
	return id, err
}

func (w *writer) artifact(text string) (int64, error) {
	if id, ok := w.artifacts.ids[text]; ok {
		return id, nil
	}
	id, created, err := w.artifacts.miss(w, text, text)
	if created {
		p := Split(text)
		err = w.put(w.artifacts.rows, id, text, p.Type, p.Name, p.Version)
	}
	return id, err
}

// digests writes the digests of an item one a line, that of an image reference
// among them.
func digests(it Item) ([]Digest, string) {
	all := it.Digests
	if strings.IndexByte(it.Artifact, '@') >= 0 {
		if d := Split(it.Artifact).Digest; d != "" && !slices.ContainsFunc(all, func(x Digest) bool { return x.Value == d }) {
			all = append(slices.Clone(all), Digest{Value: d})
		}
	}
	if len(all) == 0 {
		return nil, ""
	}
	var b strings.Builder
	for _, d := range all {
		b.WriteString(d.Value + " " + string(d.Role) + "\n")
	}
	return all, b.String()
}

func (w *writer) item(it Item) (int64, error) {
	key := itemKey{artifact: it.Artifact, ref: it.Ref}
	all := it.Digests
	if len(all) > 0 || !strings.HasPrefix(it.Artifact, "pkg:") {
		all, key.digests = digests(it)
	}
	if id, ok := w.items.ids[key]; ok {
		return id, nil
	}
	artifact, err := w.artifact(it.Artifact)
	if err != nil {
		return 0, err
	}
	id, created, err := w.items.miss(w, key, artifact, it.Ref, key.digests)
	if err != nil || !created {
		return id, err
	}
	for _, d := range all {
		if err := w.put(w.itemDigests, d.Value, id, string(d.Role)); err != nil {
			return 0, err
		}
	}
	return id, w.put(w.items.rows, id, artifact, it.Ref, key.digests)
}

// nothing is the set of an event that names no thing.
var nothing = []Item{{}}

func (w *writer) bundle(items []Item) (int64, error) {
	if len(items) == 0 {
		items = nothing
	}
	w.set = w.set[:0]
	for i := range items {
		id, err := w.item(items[i])
		if err != nil {
			return 0, err
		}
		w.set = append(w.set, id)
	}
	slices.Sort(w.set)
	set := slices.Compact(w.set)
	if len(set) == 1 {
		if id, ok := w.singles[set[0]]; ok {
			return id, nil
		}
	}
	w.key = w.key[:0]
	for _, id := range set {
		w.key = append(strconv.AppendInt(w.key, id, 36), ' ')
	}
	if id, ok := w.bundles.ids[string(w.key)]; ok {
		return id, nil
	}
	key := string(w.key)
	id, created, err := w.bundles.miss(w, key, key)
	if err != nil {
		return 0, err
	}
	if len(set) == 1 {
		if len(w.singles) >= maxInterned {
			clear(w.singles)
		}
		w.singles[set[0]] = id
	}
	if !created {
		return id, nil
	}
	for _, item := range set {
		if err := w.put(w.bundleItems, id, item); err != nil {
			return 0, err
		}
	}
	return id, w.put(w.bundles.rows, id, key)
}

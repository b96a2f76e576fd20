package timeline

// makes are the actions that bring an image into being or name it, as the index
// event_made says it: a query uses the index only if it says the same.
const makes = "e.action BETWEEN 9 AND 11"

// FactsMade yields what the subjects built, pushed and tagged.
func (db *DB) FactsMade(by []Subject, yield func(*Fact) error) error {
	return db.bySubject(by, makes, yield)
}

// FactsNamed yields every fact on an image of one of the names (host/path), of
// whatever tag or digest.
func (db *DB) FactsNamed(names []string, yield func(*Fact) error) error {
	args := make([]any, len(names))
	for i, n := range names {
		args[i] = n
	}
	return db.factsIn(`SELECT i.id FROM item i JOIN artifact n ON n.id=i.artifact WHERE n.type='image' AND n.name IN `, args, yield)
}

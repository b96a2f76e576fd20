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

// FactsCalled yields every fact on an image of which only the first twelve
// digits of the ID are known, as lists print it, of one of those.
//
//	9f2c11aa03bd   9a9f8683fe54   "gateway"   2 days ago   Up 2 days             gw
func (db *DB) FactsCalled(ids []string, yield func(*Fact) error) error {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	return db.factsIn("SELECT i.id FROM artifact n CROSS JOIN item i ON i.artifact=n.id WHERE n.text='' AND i.ref IN ", args, yield)
}

package timeline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// begunFile names the commands that began to read evidence and did not come to
// their end, one a line. What such a command had not read yet left no trace in
// the timeline, which then looks complete.
const begunFile = "unfinished"

// Starts notes that a command begins to read evidence. It is kept until Ended is
// told of the same one, also when the program is killed.
func (db *DB) Starts(command string) error {
	return db.begun(func(all []string) []string {
		if slices.Contains(all, oneLine(command)) {
			return all
		}
		return append(all, oneLine(command))
	})
}

// Ended says that a command came to its end. Close notes it, when all that the
// command wrote is in its place.
func (db *DB) Ended(command string) { db.ended = command }

func (db *DB) forget(command string) error {
	return db.begun(func(all []string) []string {
		return slices.DeleteFunc(all, func(c string) bool { return c == oneLine(command) })
	})
}

// Begun returns the commands that read evidence now, or were interrupted.
func (db *DB) Begun() ([]string, error) {
	data, err := os.ReadFile(filepath.Join(db.dir, begunFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which commands did not end: %w", err)
	}
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' }), nil
}

// begun changes the list. Only the writer of the case does, which holds its lock.
func (db *DB) begun(change func([]string) []string) error {
	all, err := db.Begun()
	if err != nil {
		return err
	}
	name := filepath.Join(db.dir, begunFile)
	if all = change(all); len(all) == 0 {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("note that a command ended: %w", err)
		}
		return nil
	}
	if err := os.WriteFile(name+".new", []byte(strings.Join(all, "\n")+"\n"), 0o600); err != nil {
		return fmt.Errorf("note which command begins: %w", err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		return fmt.Errorf("note which command begins: %w", err)
	}
	return nil
}

// oneLine is a command line as it is kept, whatever its words hold.
func oneLine(command string) string { return strings.ReplaceAll(command, "\n", " ") }

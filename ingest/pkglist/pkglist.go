// Package pkglist reads the rows in which package managers list what is
// installed. The same row stands in a job's log, below the command that printed
// it, and in a file that somebody kept: ingest/tool and ingest/document read it
// here, so that both say the same of it.
//
// A reader takes one line without its line end. ok is false for what is no row
// of such a list; a row without items speaks of a package that is not in place,
// or of none. What surrounds rows, and when a list begins and ends, is for the
// callers to know.
package pkglist

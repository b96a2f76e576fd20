// Package document holds the documents: evidence that is read whole, such as
// JSON answers, lock files, content lists and the metadata of installed
// packages. A document of state proves that something is present, not when it
// came.
//
// It also holds the tools whose lines are JSON records (see
// evidence.Format.Fields): each record is a small document.
package document

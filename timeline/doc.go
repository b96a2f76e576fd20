// Package timeline is the case: what the evidence proves, one event per proven
// thing, with the links between identities, the sources that were read and
// what each of them covers.
//
// It knows no log format and no incident. Package ingest writes it, package
// matchers asks it, and the only SQL of the program stands here.
package timeline

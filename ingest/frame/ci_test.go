package frame

import "testing"

func FuzzAzure(f *testing.F)       { fuzz(f, Azure) }
func FuzzBuildkite(f *testing.F)   { fuzz(f, Buildkite) }
func FuzzTravis(f *testing.F)      { fuzz(f, Travis) }
func FuzzReadTheDocs(f *testing.F) { fuzz(f, ReadTheDocs) }
func FuzzClockOnly(f *testing.F)   { fuzz(f, ClockOnly) }

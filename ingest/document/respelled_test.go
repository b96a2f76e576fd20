package document

import "testing"

func FuzzSPDXTags(f *testing.F)        { fuzz(f, SPDXTags, "x.spdx") }
func FuzzNotebook(f *testing.F)        { fuzz(f, Notebook, "x.ipynb") }
func FuzzCollectorConfig(f *testing.F) { fuzz(f, CollectorConfig, "collector.yaml") }
func FuzzPipfileLock(f *testing.F)     { fuzz(f, PipfileLock, "Pipfile.lock") }
func FuzzPDMLock(f *testing.F)         { fuzz(f, PDMLock, "pdm.lock") }

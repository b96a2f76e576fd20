package document

import "testing"

func FuzzDpkgList(f *testing.F)   { fuzz(f, DpkgList, "l.txt") }
func FuzzRPMList(f *testing.F)    { fuzz(f, RPMList, "l.txt") }
func FuzzAPKList(f *testing.F)    { fuzz(f, APKList, "l.txt") }
func FuzzPacmanList(f *testing.F) { fuzz(f, PacmanList, "l.txt") }
func FuzzCondaList(f *testing.F)  { fuzz(f, CondaList, "l.txt") }
func FuzzGemList(f *testing.F)    { fuzz(f, GemList, "l.txt") }
func FuzzPipCache(f *testing.F)   { fuzz(f, PipCache, "l.txt") }
func FuzzFileList(f *testing.F)   { fuzz(f, FileList, "l.txt") }
func FuzzUVCache(f *testing.F)    { fuzz(f, UVCache, "wheels-v5/pypi/idna/3.7-py3-none-any.http") }

package tool

import "testing"

func FuzzNPM(f *testing.F)              { fuzz(f, NPM) }
func FuzzYarn(f *testing.F)             { fuzz(f, Yarn) }
func FuzzPnpm(f *testing.F)             { fuzz(f, Pnpm) }
func FuzzBun(f *testing.F)              { fuzz(f, Bun) }
func FuzzApt(f *testing.F)              { fuzz(f, Apt) }
func FuzzAPK(f *testing.F)              { fuzz(f, APK) }
func FuzzPacman(f *testing.F)           { fuzz(f, Pacman) }
func FuzzConda(f *testing.F)            { fuzz(f, Conda) }
func FuzzPDM(f *testing.F)              { fuzz(f, PDM) }
func FuzzPipx(f *testing.F)             { fuzz(f, Pipx) }
func FuzzNuGet(f *testing.F)            { fuzz(f, NuGet) }
func FuzzMavenTree(f *testing.F)        { fuzz(f, MavenTree) }
func FuzzRPM(f *testing.F)              { fuzz(f, RPM) }
func FuzzKind(f *testing.F)             { fuzz(f, Kind) }
func FuzzNomad(f *testing.F)            { fuzz(f, Nomad) }
func FuzzArtifactoryItems(f *testing.F) { fuzz(f, ArtifactoryItems) }

package frame

import "testing"

func FuzzAsciinema(f *testing.F)     { fuzz(f, Asciinema) }
func FuzzTypescript(f *testing.F)    { fuzz(f, Typescript) }
func FuzzCircleCI(f *testing.F)      { fuzz(f, CircleCI) }
func FuzzDrone(f *testing.F)         { fuzz(f, Drone) }
func FuzzJenkins(f *testing.F)       { fuzz(f, Jenkins) }
func FuzzPodPrefix(f *testing.F)     { fuzz(f, PodPrefix) }
func FuzzKlog(f *testing.F)          { fuzz(f, Klog) }
func FuzzJournalExport(f *testing.F) { fuzz(f, JournalExport) }
func FuzzBuildKitJSON(f *testing.F)  { fuzz(f, BuildKitJSON) }

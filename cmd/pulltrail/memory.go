package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Bytes of memory in use up to which the garbage collector runs seldom. What
// ingest holds is small, and does not grow with the evidence; what an answer
// holds grows with the subjects, of which 100,000 are few.
const (
	ingestMemory = 192 << 20
	answerMemory = 248 << 20
)

// spareMemory has the garbage collector run seldom while less memory than limit,
// in bytes, is in use. The heap may grow to a multiple of what lives in it; a
// block that is never touched, and so is no memory, makes that multiple worth
// something from the start. The returned function puts things back.
func spareMemory(limit int64) (back func()) {
	percent, before := debug.SetGCPercent(400), debug.SetMemoryLimit(-1)
	limit = min(before, limit)
	debug.SetMemoryLimit(limit)
	block := make([]byte, 24<<20)
	done := make(chan struct{})
	watch(limit, before, done)
	return func() {
		close(done)
		runtime.KeepAlive(block)
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(before)
	}
}

// watch raises the limit, up to most, when nearly all of it is filled with what
// lives: the collector would do nothing but run.
func watch(limit, most int64, done <-chan struct{}) {
	type cycle struct{ _ *int }
	runtime.SetFinalizer(&cycle{new(int)}, func(*cycle) { // each time that it ran
		select {
		case <-done:
			return
		default:
		}
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		if metrics.Read(live); live[0].Value.Uint64() > uint64(limit)/16*15 { //nolint:gosec // it is not negative
			limit = min(most, limit/4*5)
			debug.SetMemoryLimit(limit)
		}
		watch(limit, most, done)
	})
}

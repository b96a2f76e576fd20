package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// memory says how seldom the garbage collector runs.
type memory struct {
	limit   int64 // bytes in use up to which it does
	percent int   // by which the heap grows until it runs
	block   int   // bytes that are taken for part of the heap from the start
}

// What ingest holds is small, and does not grow with the evidence: more room
// costs more than it saves, for memory that is new has to be cleared by the
// system. What an answer holds grows with the subjects: 2 kB each while they are
// judged. With less room than 100,000 of them want, a third of the time went to
// the collector.
var (
	ingestMemory = memory{192 << 20, 100, 12 << 20}
	answerMemory = memory{376 << 20, 1000, 0}
)

// spareMemory has the garbage collector run seldom while little memory is in
// use. The heap may grow to a multiple of what lives in it; a block that is never
// touched, and so is no memory, makes that multiple worth something from the
// start. The returned function puts things back.
func spareMemory(m memory) (back func()) {
	percent, before := debug.SetGCPercent(m.percent), debug.SetMemoryLimit(-1)
	limit := min(before, m.limit)
	debug.SetMemoryLimit(limit)
	block := make([]byte, m.block)
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

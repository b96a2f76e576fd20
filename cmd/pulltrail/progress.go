package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A progress line is drawn at most so often, and not before the work has gone
// on for a moment: short work shows none.
const progressEvery = 200 * time.Millisecond

// progress draws how far the reading is, on one line that is written over. It
// uses no colour and no escape sequence.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	now   func() time.Time
	begin time.Time
	last  time.Time
	width int // of what stands on the line
}

// newProgress returns nil when nobody looks: its methods do nothing then.
func (a *app) newProgress() *progress {
	if a.json || !terminal(a.err) {
		return nil
	}
	now := time.Now()
	return &progress{w: a.err, now: time.Now, begin: now, last: now}
}

// show is told bytes done and bytes in all, as often as they change, by any
// goroutine.
func (p *progress) show(done, total int64) {
	if p == nil || !p.mu.TryLock() { // somebody else is drawing: good enough
		return
	}
	defer p.mu.Unlock()
	now := p.now()
	if now.Sub(p.last) < progressEvery {
		return
	}
	p.last = now
	p.draw(progressText(done, total, now.Sub(p.begin)))
}

// clear leaves an empty line, for the results.
func (p *progress) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.width > 0 {
		p.draw("")
		fmt.Fprint(p.w, "\r")
	}
}

func (p *progress) draw(text string) {
	fmt.Fprint(p.w, "\r"+text+strings.Repeat(" ", max(0, p.width-len(text))))
	p.width = len(text)
}

// progressText says what was read and, when the end is known, what is left.
func progressText(done, total int64, since time.Duration) string {
	rate := float64(done) / since.Seconds()
	text := fmt.Sprintf("read %s, %s/s", megabytes(float64(done)), megabytes(rate))
	if total <= 0 || done > total || rate <= 0 {
		return text // standard input: nobody knows how much comes
	}
	left := time.Duration(float64(total-done) / rate * float64(time.Second))
	return fmt.Sprintf("read %s of %s (%d%%), %s/s, %s left", megabytes(float64(done)), megabytes(float64(total)),
		done*100/total, megabytes(rate), left.Round(time.Second))
}

func megabytes(n float64) string { return fmt.Sprintf("%.1f MB", n/1e6) }

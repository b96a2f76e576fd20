package collect

import (
	"context"
	"sync"
)

// Pool does work side by side. Work may bring more work; what came last is done
// first, so that one thing is finished before the next is begun, and little is
// held.
type Pool struct {
	ctx  context.Context
	stop context.CancelCauseFunc

	mu     sync.Mutex
	wake   sync.Cond
	work   []func(context.Context) error
	active int
}

// Run does work, and all work that it brings, with so many workers. The first
// error ends it.
func Run(ctx context.Context, workers int, work func(ctx context.Context, p *Pool) error) error {
	p := &Pool{}
	p.ctx, p.stop = context.WithCancelCause(ctx)
	defer p.stop(nil)
	p.wake.L = &p.mu
	p.Add(func(ctx context.Context) error { return work(ctx, p) })
	// Who waits for work has to see that there is none to come.
	defer context.AfterFunc(p.ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.wake.Broadcast()
	})()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(p.worker)
	}
	wg.Wait()
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	return nil
}

// Add brings more work.
func (p *Pool) Add(work func(context.Context) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.work = append(p.work, work)
	p.wake.Signal()
}

func (p *Pool) worker() {
	for {
		work := p.next()
		if work == nil {
			return
		}
		err := work(p.ctx)
		p.mu.Lock()
		p.active--
		if err != nil {
			p.stop(err)
		}
		p.wake.Broadcast()
		p.mu.Unlock()
	}
}

// next waits for work; nil when there is none and none can come.
func (p *Pool) next() func(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if p.ctx.Err() != nil || len(p.work) == 0 && p.active == 0 {
			return nil
		}
		if n := len(p.work); n > 0 {
			work := p.work[n-1]
			p.work = p.work[:n-1]
			p.active++
			return work
		}
		p.wake.Wait()
	}
}

// Workers is how many workers are worth having: requests wait for each other in
// the session.
func (s *Session) Workers() int { return s.opt.Parallel }

// Command pulltrail answers from the logs a team already has: who pulled the
// compromised release?
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// patience is how long an interrupted program may take to end in good order.
// After that it is left as it stands: a case outlives that at any moment.
const patience = 5 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop() // the second interrupt ends the program at once
		time.AfterFunc(patience, func() { os.Exit(exitInterrupted) })
	})
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	os.Exit(code)
}

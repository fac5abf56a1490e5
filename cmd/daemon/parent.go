package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"hilrig/hil/rt"
)

// parentEvery is how often the starter is looked for.
const parentEvery = 50 * time.Millisecond

// watchStarter ends this program as SIGTERM does, in the safe state, when the one that started it has ended: make killed, a supervisor of
// processes that died, a connection that broke. Nobody could stop the rig then where it was started.
func watchStarter(ctx context.Context, starter int, log *slog.Logger) {
	if starter == 0 {
		return
	}
	p := rt.WatchProcess(starter)
	go func() {
		defer p.Close()
		every(ctx, parentEvery, func() {
			if ctx.Err() == nil && p.Exited() {
				log.Warn(fmt.Sprintf("the program that started this one (process %d) has ended: stopping. To let the rig run on without it, start "+
					"with nohup, setsid or & (docs/howto/realtime.md)", starter))
				endMyself()
				<-ctx.Done()
			}
		})
	}()
}

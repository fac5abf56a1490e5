package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"
)

// parentEvery is how often the parent is looked for.
const parentEvery = 50 * time.Millisecond

// watchParent ends this program as SIGTERM does, in the safe state, when the one that started it has ended: make killed, a supervisor of
// processes that died, a connection that broke. Nobody could stop the rig then where it was started.
func watchParent(ctx context.Context, parent int, log *slog.Logger) {
	if parent == 0 {
		return
	}
	go every(ctx, parentEvery, func() {
		if ctx.Err() == nil && os.Getppid() != parent {
			log.Warn(fmt.Sprintf("the program that started this one (process %d) has ended: stopping. To let the rig run on without it, start with nohup, setsid or & (docs/realtime.md)", parent))
			endMyself()
			<-ctx.Done()
		}
	})
}

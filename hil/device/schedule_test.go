package device

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"hilrig/hil/protocol"
)

// question is a turn with a rate; commands are those with a name of "command".
func question(name string, hz float64) protocol.Turn {
	t := protocol.Turn{Name: name, Period: time.Duration(1e9 / hz), Retry: 1}
	if name == "command" {
		t.Group, t.Fill = -1, func(dst []byte, _ []float64) ([]byte, bool) { return dst, true }
	}
	return t
}

// drive asks for so many seconds; an exchange takes the given time, commands come at a rate, and answers says who answers. It returns how
// often each was asked, and the longest time that a command waited (s) on a line that was free.
func drive(turns []protocol.Turn, seconds, takes, commands float64, answers func(name string) bool) (asked []int, late float64) {
	s := newSchedule(turns)
	asked = make([]int, len(turns))
	s.reset(0)
	for now := int64(0); now < int64(seconds*1e9); {
		num := uint64(float64(now) / 1e9 * commands)
		k, at := s.next(now, num, true)
		if k < 0 {
			if next := int64(float64(num+1) / commands * 1e9); commands > 0 && next < at && next > now {
				at = next
			}
			now = max(now+1, at)
			continue
		}
		if turns[k].Fill != nil {
			late = max(late, float64(now)/1e9-float64(num)/commands)
		}
		asked[k]++
		s.questionEnded(k, now, num, answers(turns[k].Name))
		now += int64(takes * 1e9)
	}
	return asked, late
}

func always(string) bool { return true }

// A line that has room carries every question at its rate, to a part in a thousand, and a command at once.
func TestScheduleKeepsRates(t *testing.T) {
	turns := []protocol.Turn{question("fast", 100), question("slow", 7), question("command", 50), question("slowest", 0.5)}
	asked, late := drive(turns, 200, 2e-3, 50, always)
	for i, turn := range turns {
		if want := 200 / turn.Period.Seconds(); math.Abs(float64(asked[i])-want) > 2+want/1000 {
			t.Errorf("%s: asked %d times, want %v", turn.Name, asked[i], want)
		}
	}
	if late > 8.1e-3 { // behind the three others at most
		t.Errorf("a command waited %v s", late)
	}
}

// A line that is asked for more than it carries gives every question the same share of its rate. Fixed priorities would starve the last.
func TestScheduleSharesALineThatIsFull(t *testing.T) {
	for load, most := range map[float64]float64{1.2: 1.3, 1.5: 1.3, 2: 1.2, 3: 1.2, 10: 1.2} {
		turns := []protocol.Turn{question("command", 100), question("fast", 100), question("slow", 20), question("slower", 4)}
		asked, _ := drive(turns, 400, load/224, 100, always)
		for i, turn := range turns {
			if share := float64(asked[i]) * turn.Period.Seconds() / 400 * load; share < 1/most || share > most {
				t.Errorf("load %v: %s gets %.2f of its fair share", load, turn.Name, share)
			}
		}
	}
}

// A dead slave costs less than a twentieth of the others' rates, although each of its questions takes a second; a noisy one is asked at
// once again; the first reply gives a slave its rate back.
func TestScheduleBacksOff(t *testing.T) {
	turns := []protocol.Turn{question("good", 10), question("dead", 10)}
	s := newSchedule(turns)
	s.reset(0)
	good, dead, alive := 0, 0, 0
	for now := int64(0); now < 300e9; {
		k, at := s.next(now, 0, true)
		if k < 0 {
			now = at
			continue
		}
		answered := k == 0 || now > 200e9
		switch {
		case k == 0 && now < 200e9:
			good++
		case k == 1 && answered:
			alive++
		case k == 1:
			dead++
		}
		begin := now
		if now += 1e6; !answered {
			now += 30e6 // time-out and silence
		}
		s.questionEnded(k, begin, 0, answered)
	}
	if good < 1950 || dead < 2*200/2-20 || dead > 2*200/2+20 {
		t.Errorf("in 200 s the good one was asked %d times, the dead one %d times; want 2000 and 200 (twice in 2 s)", good, dead)
	}
	if alive < 950 {
		t.Errorf("asked %d times in the 100 s after it came back, want 1000", alive)
	}
}

// A command that was not confirmed is repeated with the newest values, then not again until a new one comes.
func TestScheduleRepeatsCommands(t *testing.T) {
	turns := []protocol.Turn{question("command", 10)}
	s := newSchedule(turns)
	s.reset(0)
	if k, _ := s.next(0, 0, true); k >= 0 {
		t.Error("a command before there is one")
	}
	if k, _ := s.next(0, 1, false); k >= 0 {
		t.Error("a command in a dry run")
	}
	for i := range 2 { // the first try and its repetition
		if k, _ := s.next(0, 1, true); k != 0 {
			t.Fatalf("try %d: not sent", i)
		}
		s.questionEnded(0, 0, 1, false)
	}
	if k, _ := s.next(1e12, 1, true); k >= 0 {
		t.Error("a command that was given up is sent again")
	}
	if k, _ := s.next(1e6, 2, true); k >= 0 {
		t.Error("one to a drive that does not confirm is sent before its time")
	}
	if k, _ := s.next(1e12, 2, true); k != 0 {
		t.Error("the next command is not sent")
	}
	s.questionEnded(0, 1e12, 2, true)
	if k, _ := s.next(1e12+1e6, 3, true); k != 0 {
		t.Error("a new command waits on a free line")
	}
	s.drop(3)
	if k, _ := s.next(2e12, 3, true); k >= 0 {
		t.Error("a command that a safe frame overtook is sent")
	}
}

// A far end is asked on an even raster. A thread that got to run late, by less than a period or by more, changes nothing of that on a line
// that has room, with commands or without: at most three questions are late.
func TestScheduleKeepsItsRaster(t *testing.T) {
	const period = int64(20e6)
	for _, commands := range []float64{0, 50} {
		for _, hiccup := range []int64{7e6, 19e6, 21e6, 75e6} {
			turns := []protocol.Turn{question("poll", 50), question("status", 50), question("command", 50)}
			s := newSchedule(turns)
			s.reset(0)
			odd, asked, hiccups := 0, 0, 0
			for now, count := int64(0), 0; now < 20e9; {
				k, at := s.next(now, uint64(float64(now)/1e9*commands), true)
				if k < 0 {
					if next := now/period*period + period; commands > 0 {
						at = min(at, next)
					}
					if now = max(now+1, at); count%97 == 50 {
						now, hiccups = now+hiccup, hiccups+1
					}
					count++
					continue
				}
				if k == 0 {
					asked++
					if off := now % period; off > 9e6 { // three exchanges of 3 ms
						odd++
					}
				}
				s.questionEnded(k, now, uint64(float64(now)/1e9*commands), true)
				now += 3e6
			}
			if odd > 3*hiccups || asked < 900 {
				t.Errorf("commands %v, a thread %v ms late %d times: %d of %d questions off their raster", commands, hiccup/1e6, hiccups, odd, asked)
			}
		}
	}
}

// A question whose period and that of the loop go into one another is asked behind a command, however the port was opened between two
// ticks, and answered before the next tick: within 2.6 ms of a quarter of a period behind a command that is up to 1 ms late. So it stays
// where the clock of the loop drifts by 100 ppm. One whose period does not, and each without commands, keeps the raster of its own.
func TestScheduleAsksBehindTheCommand(t *testing.T) {
	const tick, takes = 20e6, 3e6 // ns
	for _, c := range []struct {
		hz     float64
		drift  float64
		mute   bool
		behind bool
	}{{50, 0, false, true}, {50, 1e-4, false, true}, {50, -1e-4, false, true}, {100, 0, false, true}, {25, 0, false, true},
		{12.5, 0, false, true}, {35, 0, false, false}, {50, 0, true, false}} {
		lo, hi, off := math.Inf(1), 0.0, 0.0 // ms  from the command to the question, whatever the start; off the question's own raster
		for start := range 12 {
			rng := rand.New(rand.NewPCG(uint64(start), 1))
			s := newSchedule([]protocol.Turn{question("command", 50), question("angle", c.hz)})
			s.reset(0)
			period := tick * (1 + c.drift)
			first := (0.03 + float64(start)/12) * tick
			num, come := uint64(0), first
			for clock := int64(0); clock < 60e9; {
				if float64(clock) >= come {
					num++
					come = first + period*float64(num) + 1e6*rng.Float64()
				}
				k, at := s.next(clock, num, !c.mute)
				if k < 0 {
					clock = max(clock+1, min(at, int64(come)+1))
					continue
				}
				if k == 1 && clock > 2e9 {
					behind := math.Mod((float64(clock)-first)/period, math.Min(1, 50/c.hz)) * period * 1e-6
					lo, hi, off = min(lo, behind), max(hi, behind), max(off, float64(clock%int64(1e9/c.hz))*1e-6)
				}
				s.questionEnded(k, clock, num, true)
				clock += takes
			}
		}
		if together := lo >= 5 && hi <= 7.6; together != c.behind {
			t.Errorf("%g Hz, drift %g, mute %v: asked %.2f to %.2f ms behind a tick", c.hz, c.drift, c.mute, lo, hi)
		}
		if !c.behind && off > takes*1.001e-6 { // a command may be under way
			t.Errorf("%g Hz, mute %v: asked up to %.2f ms off its own raster", c.hz, c.mute, off)
		}
	}
}

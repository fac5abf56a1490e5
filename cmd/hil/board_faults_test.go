//go:build linux

package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// boardCase is a fault, and how it is played.
type boardCase struct {
	name  string
	needs []int                  // channels that the rig must have
	only  func(r *boardRig) bool // the rigs that can fail so; nil: all
	when  string                 // "": in motion; rest: from before RUN on; stop, estop: in motion, then that order …
	// … start: from the first frame
	make   func(r *boardRig, sign float64) boardFault // fresh at every play: some remember
	asked  float64                                    // rest: of the reach, from where it stands to where it is wanted
	long   time.Duration                              // watched so long if nothing trips; 0: 2 s
	found  string                                     // causes of a trip, one of which is named; "runs on": none is needed; "*": any
	beside string                                     // … and of a rig that measures its current: it tells another thing of the same fault
	push   float64                                    // only the time counts with an effort above so many times the break-away; 0: all
	geared float64                                    // … of the geared motor on its slow line; 0: the same
	within time.Duration                              // that the drive is energised; 0: 250 ms
	slow   time.Duration                              // … on a line of 50 samples a second; 0: the same
	words  string                                     // of the log that must be told; "": none
}

// hold repeats the first value of a channel that it meets.
func hold(channels ...int) func(*boardSample) {
	var kept *boardSample
	return func(s *boardSample) {
		if kept == nil {
			first := *s
			kept = &first
		}
		for _, c := range channels {
			s.value[c] = kept.value[c]
		}
	}
}

// shape changes one channel by a function of its value.
func shape(channel int, f func(float64) float64) func(*boardRig, float64) boardFault {
	return func(*boardRig, float64) boardFault {
		return boardFault{sample: func(s *boardSample) { s.value[channel] = f(s.value[channel]) }}
	}
}

func times(a float64) func(float64) float64  { return func(x float64) float64 { return a * x } }
func plus(a float64) func(float64) float64   { return func(x float64) float64 { return x + a } }
func always(a float64) func(float64) float64 { return func(float64) float64 { return a } }
func steps(a float64) func(float64) float64 {
	return func(x float64) float64 { return math.Floor(x/a) * a }
}
func modulo(a float64) func(float64) float64 {
	return func(x float64) float64 { return math.Mod(x+40, a) }
}

func holding(channels ...int) func(*boardRig, float64) boardFault {
	return func(*boardRig, float64) boardFault { return boardFault{sample: hold(channels...)} }
}

func without(channel int, f func(*boardSample)) func(*boardRig, float64) boardFault {
	return func(*boardRig, float64) boardFault {
		return boardFault{sample: func(s *boardSample) {
			s.absent[channel] = true
			if f != nil {
				f(s)
			}
		}}
	}
}

// turned is an encoder that counts the other way from where it is.
func turned(*boardRig, float64) boardFault {
	at := math.NaN()
	return boardFault{sample: func(s *boardSample) {
		if math.IsNaN(at) {
			at = s.value[chPosition]
		}
		s.value[chPosition] = 2*at - s.value[chPosition]
	}}
}

// dithering is a position that stands, but for a count more or less.
func dithering(r *boardRig, _ float64) boardFault {
	still, rng := hold(chPosition), rand.New(rand.NewPCG(2, 8))
	return boardFault{sample: func(s *boardSample) {
		still(s)
		s.value[chPosition] += float64(rng.IntN(3)-1) * r.count
	}}
}

// slipping is a coupling that hands on a share of the motion.
func slipping(share float64) func(*boardRig, float64) boardFault {
	return func(r *boardRig, _ float64) boardFault {
		at := math.NaN()
		return boardFault{sample: func(s *boardSample) {
			if math.IsNaN(at) {
				at = s.value[chPosition]
			}
			s.value[chPosition] = math.Round((at+share*(s.value[chPosition]-at))/r.count) * r.count
		}}
	}
}

// losing loses a share of the frames.
func losing(share float64) func(*boardRig, float64) boardFault {
	return func(*boardRig, float64) boardFault {
		rng := rand.New(rand.NewPCG(3, 4))
		return boardFault{lost: func(int) bool { return rng.Float64() < share }}
	}
}

// one changes a single sample.
func one(channel int, value float64) func(*boardRig, float64) boardFault {
	return func(*boardRig, float64) boardFault {
		done := false
		return boardFault{sample: func(s *boardSample) {
			if !done {
				s.value[channel], done = value, true
			}
		}}
	}
}

func fixed(f boardFault) func(*boardRig, float64) boardFault {
	return func(*boardRig, float64) boardFault { return f }
}

func clock(f func(since time.Duration) time.Duration) func(*boardRig, float64) boardFault {
	return fixed(boardFault{clock: f})
}

func always0(time.Duration) time.Duration { return 0 }

// wraps is a clock that begins anew after a time.
func wraps(after time.Duration) func(since time.Duration) time.Duration {
	return func(since time.Duration) time.Duration { return since % after }
}

func onLink(r *boardRig) bool   { return r.wire == "link" }
func noModbus(r *boardRig) bool { return r.wire != "modbus" }
func onModbus(r *boardRig) bool { return r.wire == "modbus" }
func still(r *boardRig) bool    { return r.still }
func at200Hz(r *boardRig) bool  { return r.rate == 200 }
func turning(r *boardRig) bool  { return !r.heavy && noModbus(r) }

// boardCases are the faults of the table in docs/evidence/safety.md.
func boardCases() []boardCase {
	ms := func(n int) boardFault { return boardFault{delay: time.Duration(n) * time.Millisecond} }
	nan := always(math.NaN())
	return []boardCase{
		// position
		{name: "position frozen", found: "frozen position", make: holding(chPosition)},
		{name: "position frozen from before RUN, 0.3 rad asked", found: "frozen position, runs on", when: "rest", asked: 0.1, only: still,
			make: holding(chPosition)},
		{name: "position frozen from before RUN, 0.9 rad asked", found: "frozen position", when: "rest", asked: 0.3, make: holding(chPosition)},
		{name: "position frozen from before RUN, 1.8 rad asked", found: "frozen position", when: "rest", asked: 0.6, make: holding(chPosition)},
		{name: "position, current frozen from before RUN", found: "frozen position, frozen current, frozen reading, readings disagree",
			needs: []int{chCurrent}, when: "rest", asked: 0.6, make: holding(chPosition, chCurrent)},
		{name: "position, tacho frozen from before RUN", found: "frozen position, frozen reading, readings disagree", needs: []int{chSpeed},
			when: "rest", asked: 0.6, make: holding(chPosition, chSpeed)},
		{name: "position, tacho, current and torque frozen from before RUN", found: "frozen position, frozen current, frozen reading, readings " +
			"disagree", needs: []int{chSpeed, chTorque, chCurrent}, when: "rest", asked: 0.6,
			make: holding(chPosition, chSpeed, chTorque, chCurrent)},
		{name: "position frozen but for a count of noise", found: "frozen position", make: dithering},
		{name: "position frozen but for noise, from before RUN, 0.9 rad asked", found: "frozen position", when: "rest", asked: 0.3,
			make: dithering},
		{name: "position shows 5 % of the motion", found: "frozen position, wrong scale, readings disagree, i2t, speed, travel",
			within: 2000 * time.Millisecond, make: slipping(0.05)},
		{name: "position shows 5 % of the motion, from before RUN, 0.9 rad asked",
			found: "frozen position, wrong scale, readings disagree, i2t, speed, travel, runs on", long: 2 * time.Second, when: "rest", asked: 0.3,
			make: slipping(0.05)},
		{name: "position shows half of the motion", found: "wrong scale, runs on", make: slipping(0.5)},
		{name: "position and current frozen", found: "frozen position, frozen current, frozen reading, readings disagree",
			needs: []int{chCurrent}, make: holding(chPosition, chCurrent)},
		{name: "position and tacho frozen", found: "frozen position", needs: []int{chSpeed}, make: holding(chPosition, chSpeed)},
		{name: "position, tacho, current and torque frozen", found: "frozen position, frozen reading, frozen current",
			needs: []int{chSpeed, chTorque, chCurrent}, make: holding(chPosition, chSpeed, chTorque, chCurrent)},
		{name: "encoder turned round, from before RUN", found: "wrong direction", when: "rest", asked: 0.3, make: turned},
		// below 2·Fs and 1 % of the largest effort a slow axis that is turned round goes as one with twice the friction, and K·ω is 0.05 V
		// of 12
		{name: "encoder turned round in motion", geared: 2.2, found: "wrong direction", make: turned},
		{name: "position is NaN", found: "non-finite number", make: shape(chPosition, nan)},
		{name: "position is NaN in 10 % of the samples", found: "non-finite number", within: 1500 * time.Millisecond,
			make: func(*boardRig, float64) boardFault {
				rng := rand.New(rand.NewPCG(5, 6))
				return boardFault{sample: func(s *boardSample) {
					if rng.Float64() < 0.1 {
						s.value[chPosition] = math.NaN()
					}
				}}
			}},
		{name: "position left out", found: "stale sensor", only: noModbus, make: without(chPosition, nil)},
		{name: "position halved", found: "position jump, speed, wrong scale, runs on", make: shape(chPosition, times(0.5))},
		{name: "position doubled", found: "position jump, speed, wrong scale, runs on", make: shape(chPosition, times(2))},
		{name: "position in steps of 0.05 rad", found: "estimate, frozen position", only: turning, make: shape(chPosition, steps(0.05))},
		{name: "position in steps of 0.5 rad", found: "estimate, frozen position, speed, position jump", only: turning,
			make: shape(chPosition, steps(0.5))},
		{name: "position wraps at 1 rad", found: "position jump, speed", only: turning, make: shape(chPosition, modulo(1))},
		{name: "position wraps at 6.55 rad", found: "position jump, speed", within: 1000 * time.Millisecond, only: turning,
			make: shape(chPosition, modulo(6.5536))},
		{name: "position with noise of 20 mrad", found: "estimate, speed", only: turning, make: func(*boardRig, float64) boardFault {
			rng := rand.New(rand.NewPCG(9, 9))
			return boardFault{sample: func(s *boardSample) { s.value[chPosition] += 0.02 * rng.NormFloat64() }}
		}},
		{name: "one position wild", found: "runs on", make: one(chPosition, 1e3)},
		// current
		{name: "current frozen", found: "frozen reading, frozen current, readings disagree", within: 1500 * time.Millisecond,
			needs: []int{chCurrent}, make: holding(chCurrent)},
		// where the axis stands at its turn, a winding that takes too little current for its voltage is one that turns unseen
		{name: "current zero", beside: "frozen position", found: "frozen reading, frozen current, readings disagree",
			within: 1500 * time.Millisecond, needs: []int{chCurrent}, make: shape(chCurrent, always(0))},
		// the slow line takes ten samples, 0.2 s, to tell a number that stays; the geared motor's voltage changes by little while it gains speed
		{name: "current zero from before RUN", found: "frozen reading, frozen current, readings disagree, frozen position",
			slow: 600 * time.Millisecond, needs: []int{chCurrent}, when: "rest", asked: 0.6, make: shape(chCurrent, always(0))},
		{name: "current five times too large", found: "readings disagree, current, estimate, i2t, runs on", within: 2000 * time.Millisecond,
			needs: []int{chCurrent}, make: shape(chCurrent, times(5))},
		{name: "current a fifth", beside: "frozen position, wrong scale", found: "readings disagree, runs on", within: 2000 * time.Millisecond,
			needs: []int{chCurrent}, make: shape(chCurrent, times(0.2))},
		{name: "current reversed", beside: "wrong direction, wrong scale", found: "readings disagree, runs on", within: 2000 * time.Millisecond,
			needs: []int{chCurrent}, make: shape(chCurrent, times(-1))},
		{name: "current + 10 A", found: "readings disagree, estimate", needs: []int{chCurrent}, make: shape(chCurrent, plus(10))},
		{name: "current + 18 A", found: "current, readings disagree", needs: []int{chCurrent}, make: shape(chCurrent, plus(18))},
		{name: "current − 10 A", found: "readings disagree, estimate, current", needs: []int{chCurrent}, make: shape(chCurrent, plus(-10))},
		{name: "current is NaN", found: "non-finite number", needs: []int{chCurrent}, make: shape(chCurrent, nan)},
		{name: "current left out", found: "stale sensor", needs: []int{chCurrent}, only: noModbus, make: without(chCurrent, nil)},
		{name: "one current wild", found: "out of range, readings disagree, runs on", needs: []int{chCurrent}, make: one(chCurrent, 1e6)},
		// tacho
		{name: "tacho frozen", found: "frozen reading, readings disagree", needs: []int{chSpeed}, make: holding(chSpeed)},
		{name: "tacho zero", found: "frozen reading, readings disagree", needs: []int{chSpeed}, make: shape(chSpeed, always(0))},
		{name: "tacho reversed", found: "readings disagree", needs: []int{chSpeed}, make: shape(chSpeed, times(-1))},
		{name: "tacho doubled", found: "readings disagree", needs: []int{chSpeed}, make: shape(chSpeed, times(2))},
		// half of a speed below 4.2 rad/s is within the offset and the noise of a tacho and a quarter of both: 0.29 s around a turn of the
		// reference, and 0.1 s to each side of it
		{name: "tacho halved", found: "readings disagree", within: 450 * time.Millisecond, needs: []int{chSpeed},
			make: shape(chSpeed, times(0.5))},
		{name: "tacho is NaN", found: "non-finite number", needs: []int{chSpeed}, make: shape(chSpeed, nan)},
		{name: "tacho left out", found: "stale sensor", needs: []int{chSpeed}, only: noModbus, make: without(chSpeed, nil)},
		// torque
		{name: "torque frozen", found: "frozen reading, readings disagree", within: 1500 * time.Millisecond, needs: []int{chTorque},
			make: holding(chTorque)},
		{name: "torque zero", found: "frozen reading, readings disagree", within: 1500 * time.Millisecond, needs: []int{chTorque},
			make: shape(chTorque, always(0))},
		{name: "torque reversed", found: "readings disagree", needs: []int{chTorque}, make: shape(chTorque, times(-1))},
		{name: "torque doubled", found: "readings disagree, runs on", within: 2000 * time.Millisecond, needs: []int{chTorque},
			make: shape(chTorque, times(2))},
		{name: "torque is NaN", found: "non-finite number", needs: []int{chTorque}, make: shape(chTorque, nan)},
		{name: "torque left out", found: "stale sensor", needs: []int{chTorque}, only: noModbus, make: without(chTorque, nil)},
		// status, applied
		{name: "status says a fault", found: "device fault", make: shape(chStatus, always(4))},
		{name: "status left out, then a fault", found: "stale sensor, device fault", only: noModbus,
			make: without(chStatus, func(s *boardSample) { s.value[chStatus] = 4 })},
		{name: "applied left out", found: "stale sensor", needs: []int{chApplied}, make: without(chApplied, nil)},
		{name: "applied frozen", found: "frozen reading, readings disagree", within: 1500 * time.Millisecond, needs: []int{chApplied},
			make: holding(chApplied)},
		// the line
		{name: "silence", found: "stale sensor", make: fixed(boardFault{quiet: true})},
		{name: "10 % of the frames lost", found: "runs on", only: noModbus, make: losing(0.1)},
		{name: "50 % of the frames lost", found: "runs on", only: noModbus, make: losing(0.5)},
		{name: "60 % of the frames lost", found: "runs on, stale sensor", within: 5000 * time.Millisecond, only: noModbus, make: losing(0.6),
			long: 5 * time.Second},
		{name: "80 % of the frames lost", found: "stale sensor", within: 1200 * time.Millisecond, only: noModbus, make: losing(0.8),
			long: 5 * time.Second},
		{name: "every 22nd frame at 200 Hz declared", found: "stale sensor", only: at200Hz, long: 6 * time.Second,
			make: fixed(boardFault{lost: func(n int) bool { return n%22 != 0 }})},
		{name: "16 ms lost every 100 ms", found: "runs on", only: noModbus, make: func(r *boardRig, _ float64) boardFault {
			every := int(r.rate / 10)
			return boardFault{lost: func(n int) bool { return n%every < int(0.016*r.rate) }}
		}},
		{name: "the same frame again and again", found: "stale sensor", only: noModbus, make: func(*boardRig, float64) boardFault {
			var kept []byte
			return boardFault{line: func(f []byte) []byte {
				if kept == nil {
					kept = bytes.Clone(f)
				}
				return kept
			}}
		}},
		{name: "each frame three times", found: "runs on", only: noModbus,
			make: fixed(boardFault{line: func(f []byte) []byte { return bytes.Repeat(f, 3) }})},
		{name: "frames in the wrong order", found: "runs on", only: noModbus, make: fixed(boardFault{swapped: true})},
		{name: "random bytes", found: "runs on", only: onLink, make: func(*boardRig, float64) boardFault {
			rng := rand.New(rand.NewPCG(1, 1))
			return boardFault{line: func(f []byte) []byte {
				if rng.Float64() < 0.5 {
					return f
				}
				noise := make([]byte, 1+rng.IntN(30))
				for i := range noise {
					noise[i] = byte(rng.Uint32())
				}
				return append(noise, f...)
			}}
		}},
		{name: "echo", found: "runs on", make: fixed(boardFault{echo: true}), only: onLink},
		{name: "another frame table", found: "stale sensor", only: noModbus, make: fixed(boardFault{otherTable: true})},
		{name: "30 ms late once a second", found: "runs on", only: noModbus, make: fixed(boardFault{burst: 30 * time.Millisecond})},
		{name: "20 ms of delay", found: "runs on, *", within: 2000 * time.Millisecond, only: noModbus, make: fixed(ms(20))},
		{name: "40 ms of delay", found: "runs on, *", within: 2000 * time.Millisecond, only: noModbus, make: fixed(ms(40))},
		{name: "60 ms of delay", found: "runs on, *", within: 2000 * time.Millisecond, only: noModbus, make: fixed(ms(60))},
		{name: "half the rate", found: "runs on", only: noModbus, make: fixed(boardFault{pace: 0.5})},
		{name: "twice the rate", found: "runs on", only: noModbus, make: fixed(boardFault{pace: 2})},
		{name: "clock 10 s ahead", found: "runs on", only: noModbus,
			make: clock(func(d time.Duration) time.Duration { return d + 10*time.Second })},
		{name: "clock 0.3 s back", found: "runs on", only: noModbus,
			make: clock(func(d time.Duration) time.Duration { return d - 300*time.Millisecond })},
		{name: "clock stands still", found: "stale sensor", only: noModbus, make: clock(always0)},
		{name: "clock stands still from the start", found: "not driven", when: "start", only: noModbus, words: "stands still",
			make: clock(always0)},
		{name: "clock runs backwards from the start", found: "not driven", when: "start", only: noModbus,
			words: "stands still or runs backwards", make: clock(func(d time.Duration) time.Duration { return -d })},
		{name: "clock wraps after 65.536 ms from the start", found: "not driven", when: "start", only: noModbus, words: "begins anew every 0.0",
			make: clock(wraps(65536 * time.Microsecond))},
		// READY comes before the second wrap, which trips
		{name: "clock wraps after 1 s from the start", found: "*, runs on", when: "start", only: noModbus, words: "begins anew every ",
			make: clock(wraps(time.Second))},
		{name: "clock at half the rate", found: "stale sensor, runs on", only: noModbus,
			make: clock(func(d time.Duration) time.Duration { return d / 2 })},
		{name: "clock at twice the rate", found: "runs on", only: noModbus, make: clock(func(d time.Duration) time.Duration { return 2 * d })},
		{name: "clock 2 % fast for 5 s, then right", found: "runs on", only: onLink, long: 12 * time.Second,
			make: clock(func(d time.Duration) time.Duration {
				return d + min(d, 5*time.Second)/50
			})},
		{name: "unplugged", found: "link down", make: fixed(boardFault{unplugs: true})},
		{name: "board begins anew", found: "link down, stale sensor", only: noModbus, make: fixed(boardFault{reboots: true})},
		// plant and drive
		// below 2·Fs and 1 % of the largest effort an axis that stands may just need more than the file says
		// 0.1·Fs above that the heavy geared motor needs 0.3 s for the 30 counts that must be missing, 0.4·Fs above it 0.12 s
		{name: "shaft blocked", push: 2.2, geared: 2.5, found: "frozen position, blocked shaft",
			make: fixed(boardFault{plant: func(p *boardPlant) { p.blocked = true }})},
		{name: "drive turned round in motion", found: "wrong direction",
			make: fixed(boardFault{drive: func(u float64, on bool) (float64, bool) { return -u, on }})},
		{name: "drive at its limit", found: "wrong direction, speed, travel, frozen position, delay, *",
			make: func(r *boardRig, sign float64) boardFault {
				return boardFault{drive: func(u float64, on bool) (float64, bool) { return sign * r.limit, on }}
			}},
		{name: "drive does nothing", beside: "wrong scale, readings disagree", found: "frozen position, blocked shaft",
			make: fixed(boardFault{drive: func(u float64, on bool) (float64, bool) { return 0, on }})},
		{name: "drive holds its command", found: "*", within: 2000 * time.Millisecond, make: func(*boardRig, float64) boardFault {
			kept := math.NaN()
			return boardFault{drive: func(u float64, on bool) (float64, bool) {
				if math.IsNaN(kept) {
					kept = u
				}
				return kept, on
			}}
		}},
		{name: "drive of a tenth", found: "*, runs on", within: 2000 * time.Millisecond,
			make: fixed(boardFault{drive: func(u float64, on bool) (float64, bool) { return u / 10, on }})},
		{name: "commands 30 ms late", found: "*, runs on", within: 2000 * time.Millisecond, make: fixed(boardFault{slow: 30 * time.Millisecond})},
		{name: "commands 80 ms late", found: "*, runs on", within: 2000 * time.Millisecond, make: fixed(boardFault{slow: 80 * time.Millisecond})},
		{name: "board reads no commands", found: "*", within: 4500 * time.Millisecond, make: fixed(boardFault{deaf: true}),
			long: 4 * time.Second},
		// off is not off
		{name: "drive goes on after STOP", when: "stop", make: goesOn},
		{name: "drive goes on after ESTOP", when: "estop", make: goesOn},
		{name: "8 A after STOP, at rest", when: "stop", needs: []int{chCurrent}, make: whileOff(chCurrent, 8)},
		{name: "8 A after ESTOP, at rest", when: "estop", needs: []int{chCurrent}, make: whileOff(chCurrent, 8)},
		{name: "status says a fault after STOP", found: "runs on", when: "stop", make: whileOff(chStatus, 4)},
		{name: "writes refused, then STOP", when: "stop", only: onModbus, make: fixed(boardFault{refuses: true})},
		{name: "writes refused, then ESTOP", when: "estop", only: onModbus, make: fixed(boardFault{refuses: true})},
		{name: "writes refused in motion", only: onModbus, make: fixed(boardFault{refuses: true}), long: 4 * time.Second},
	}
}

// whileOff changes a channel while the drive is off.
func whileOff(channel int, value float64) func(*boardRig, float64) boardFault {
	return func(_ *boardRig, sign float64) boardFault {
		return boardFault{sample: func(s *boardSample) {
			if !s.on && channel == chCurrent {
				s.value[channel] = sign * value
			} else if !s.on {
				s.value[channel] = value
			}
		}}
	}
}

// goesOn is a drive that does not let go: half of what it was told last at least, whatever comes.
func goesOn(r *boardRig, sign float64) boardFault {
	u := sign * map[string]float64{"voltage": 4, "current": 0.6, "effort": 0.025, "velocity": 5}[r.drive]
	if r.heavy {
		u = sign * 1.2
	}
	return boardFault{drive: func(float64, bool) (float64, bool) { return u, true }}
}

// boardRigs are the tables on which the faults are played.
func boardRigs() []boardRig {
	slow := newBoardRig("current, 200 Hz", "current", "link", true, chCurrent)
	slow.rate = 200
	slowVoltage := newBoardRig("voltage, 200 Hz", "voltage", "link", false, chCurrent)
	slowVoltage.rate = 200
	multisine := newBoardRig("voltage, current measured, multisine", "voltage", "link", false, chCurrent)
	multisine.reference = "{kind: multisine, tones: [{amplitude: 3, frequency: 0.4}, {amplitude: 0.6, frequency: 2.3}], fade: 0.3 s}"
	atRest := func(drive string, channels ...int) boardRig {
		r := newBoardRig(drive+", constant reference", drive, "link", true, channels...)
		r.still, r.reference = true, "{kind: constant, offset: 0, fade: 0.3 s}"
		return r
	}
	rigs := []boardRig{
		newBoardRig("voltage, current measured", "voltage", "link", false, chCurrent),
		newBoardRig("voltage", "voltage", "link", false),
		newBoardRig("current", "current", "link", true, chCurrent),
		newBoardRig("effort", "effort", "link", true),
		newBoardRig("velocity", "velocity", "link", true),
		stageRig("stage, current", "link", chCurrent),
		newBoardRig("voltage, all sensors", "voltage", "text", true, chCurrent, chSpeed, chTorque, chApplied),
		newBoardRig("current, all sensors", "current", "text", true, chCurrent, chSpeed, chTorque),
		newBoardRig("effort, all sensors", "effort", "link", true, chCurrent, chSpeed, chTorque),
		newBoardRig("velocity, all sensors", "velocity", "link", true, chCurrent, chSpeed, chTorque),
		newBoardRig("voltage, Modbus", "voltage", "modbus", true, chCurrent),
		multisine, slow, slowVoltage,
		atRest("voltage", chCurrent), atRest("current", chCurrent), atRest("effort"), atRest("velocity"),
	}
	for i := range rigs {
		r := &rigs[i]
		switch {
		case r.still:
			r.plays = func(f *boardCase) bool { return f.when == "rest" }
		case r.has(chSpeed):
			r.plays = func(f *boardCase) bool { return f.needs != nil || strings.HasPrefix(f.name, "position frozen") }
		case r.rate == 200, r.reference != "":
			r.plays = func(f *boardCase) bool {
				return strings.HasPrefix(f.name, "position frozen") || strings.Contains(f.name, "frame") || strings.Contains(f.name, "turned") ||
					strings.Contains(f.name, "current")
			}
		}
	}
	for i, second := range []string{"drive goes on after STOP", "encoder turned round in motion", "current zero",
		"position is NaN in 10 % of the samples", "encoder turned round in motion"} {
		rigs[i].always = []string{"position frozen", second}
	}
	return rigs
}

func containsOne(text string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

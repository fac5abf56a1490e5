package configs

import "testing"

// A virtual device that is asked reads its sensors at least a thousand times per second, whatever the period of the questions; one that
// sends by itself, and a camera, at their own rate.
func TestPlantRate(t *testing.T) {
	for _, c := range []struct {
		file  string
		rate  float64 // Hz
		every []int   // ticks from sample to sample of each device
	}{
		{"modbus.yaml", 1000, []int{1}},
		{"modbus-sensor.yaml", 1000, []int{1, 1}},
		{"motor-tracker.yaml", 1000, []int{1, 5}},
		{"ball.yaml", 200, []int{1}},
	} {
		cfg, err := Load(c.file)
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.PlantRate(); got != c.rate {
			t.Errorf("%s: %g Hz, want %g", c.file, got, c.rate)
		}
		for i := range cfg.Devices {
			if got := cfg.SendEvery(&cfg.Devices[i]); got != c.every[i] {
				t.Errorf("%s, %s: every %d ticks, want %d", c.file, cfg.Devices[i].Name, got, c.every[i])
			}
		}
	}
}

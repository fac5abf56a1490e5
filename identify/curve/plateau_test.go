package curve

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hilrig/engine/peer"
	"hilrig/identify/record"
)

// The standard error of a mean of a first-order process agrees with the scatter of many such means and with its closed
// form γ0·(1+ρ)/(1−ρ)/n.
func TestStandardErrorOfDependentSamples(t *testing.T) {
	const n, runs = 2000, 200
	for _, rho := range []float64{0, 0.5, 0.9, 0.97} {
		mean, square, claimed := 0.0, 0.0, 0.0
		for run := range uint64(runs) {
			rng := rand.New(rand.NewPCG(run, 3))
			x := make([]float64, n)
			x[0] = rng.NormFloat64() / math.Sqrt(1-rho*rho)
			for k := 1; k < n; k++ {
				x[k] = rho*x[k-1] + rng.NormFloat64()
			}
			m, se := meanError(x)
			mean, square, claimed = mean+m/runs, square+m*m/runs, claimed+se*se/runs
		}
		want := 1 / (1 - rho) / (1 - rho) / n
		for what, got := range map[string]float64{"scatter": square - mean*mean, "claimed": claimed} {
			if got < 0.75*want || got > 1.3*want {
				t.Errorf("ρ %g: %s variance of the mean %.3g, want %.3g", rho, what, got, want)
			}
		}
	}
	// a sine over whole periods is no noise of the mean, but never better than independent samples
	s := make([]float64, 1000)
	for k := range s {
		s[k] = 5 + math.Sin(2*math.Pi*float64(k)/50)
	}
	if m, se := meanError(s); math.Abs(m-5) > 1e-12 || se < 0.5/math.Sqrt(1000) {
		t.Errorf("sine: %g ± %g", m, se)
	}
	if m, se := meanError([]float64{2, 2, 2}); m != 2 || se != 0 {
		t.Errorf("constant: %g ± %g", m, se)
	}
}

// staircase is a record that runs at one speed after the other, with ramps between and the transient of a bristle at the
// start of each.
func staircase(c truth, speeds []float64, seed uint64) *record.Record {
	rng := rand.New(rand.NewPCG(seed, 5))
	d := &record.Record{Dt: 1e-3}
	x, v, z := 0.0, 0.0, 0.0
	sigma0 := 1e4 * c.fs // break-away after 0.1 mm
	for _, to := range speeds {
		ramp := 100
		from := v
		for k := range 3000 {
			v = to
			if k < ramp {
				v = from + (to-from)*float64(k)/float64(ramp)
			}
			dx := v * d.Dt
			g := c.fc + (c.fs-c.fc)*math.Exp(-v*v/c.vs/c.vs)
			z = math.Copysign(g/sigma0, dx) + (z-math.Copysign(g/sigma0, dx))*math.Exp(-sigma0*math.Abs(dx)/g)
			x += dx
			ripple := 0.05 * c.fc * math.Sin(2*math.Pi*x/2e-3)
			d.Position = append(d.Position, x+1e-7*rng.NormFloat64())
			d.Force = append(d.Force, sigma0*z+c.fv*v+c.offset+ripple+c.noise*rng.NormFloat64())
		}
	}
	return d
}

// Plateaus are found in one record, without ramps, transient and ripple, and give the map back.
func TestPlateausOfARecord(t *testing.T) {
	c := truth{fc: 4, fs: 6, vs: 0.01, fv: 20, offset: 0.7, noise: 0.05}
	var speeds []float64
	for i := range 12 {
		v := 1e-3 * math.Pow(200, float64(i)/11)
		speeds = append(speeds, v, -v)
	}
	d := staircase(c, speeds, 1)
	ps, err := Plateaus([]*record.Record{d}, PlateauOptions{Travel: 5e-4, Period: 2e-3})
	if err != nil {
		t.Fatal(err)
	}
	if len(ps) != len(speeds) {
		t.Fatalf("%d plateaus, want %d: %+v", len(ps), len(speeds), ps)
	}
	for i, p := range ps {
		if math.Abs(p.V-speeds[i]) > 1e-3*math.Abs(speeds[i])+1e-6 {
			t.Errorf("plateau %d: %.5g m/s, want %g", i, p.V, speeds[i])
		}
		if off := math.Abs(p.F - c.steady(speeds[i])); off > 5*p.SE+0.005*c.fc {
			t.Errorf("plateau %d at %g m/s: %.4f ± %.4f N, want %.4f", i, p.V, p.F, p.SE, c.steady(speeds[i]))
		}
	}
	s, err := Static(context.Background(), ps, StaticParams(ps, "lugre", false), StaticOptions{Law: "lugre"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range staticOrder {
		if got, want := estimate(t, s, name), c.values()[i]; math.Abs(got-want) > 0.03*want {
			t.Errorf("%s = %.4g, want %g", name, got, want)
		}
	}

	// rest alone is no map
	rest := &record.Record{Dt: 1e-3, Velocity: make([]float64, 1000), Force: make([]float64, 1000)}
	if _, err := Plateaus([]*record.Record{rest}, PlateauOptions{}); err == nil || !strings.Contains(err.Error(), "constant velocity") {
		t.Errorf("a record at rest gives %v", err)
	}
}

// The measured maps of two screw drives, one recording per speed.
func TestScrewDrives(t *testing.T) {
	for _, c := range []struct {
		file           string
		coulomb, curve float64 // mN·m, rms of mean torque per speed
	}{
		{"drive1_steady_state.csv.gz", 0.1265, 0.0325},
		{"drive3_steady_state.csv.gz", 0.0785, 0.0265},
	} {
		path := peer.SharedRecord(t, "screw_drives/"+c.file)
		recs, err := record.Read(path, record.Mapping{
			Time: record.Column{Name: "time_s"}, Velocity: record.Column{Name: "velocity_rad_s"}, Force: record.Column{Name: "torque_Nm"},
			Piece: "setpoint_rpm", Resample: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		ps, err := Plateaus(recs, PlateauOptions{Whole: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(ps) != len(recs) {
			t.Errorf("%s: %d points of %d recordings", c.file, len(ps), len(recs))
		}
		for _, law := range []string{"static-coulomb-viscous", "lugre", "stribeck-hess-soom", "stribeck-tustin"} {
			for _, equal := range []bool{true, false} {
				s, err := Static(context.Background(), ps, StaticParams(ps, law, true), StaticOptions{Law: law, Equal: equal}, nil)
				if err != nil {
					t.Fatal(err)
				}
				rms := 1e3 * s.Extra["rms"].(float64)
				t.Logf("%s %s equal weights %v: rms %.4f mN·m", c.file, law, equal, rms)
				for i, p := range s.Params {
					se := math.NaN()
					for _, k := range s.FreeParams {
						if k == i {
							se = standardError(t, s, p.Name)
						}
					}
					t.Logf("   %s %.4g ± %.2g", p.Name, p.Value, se)
				}
				for _, r := range s.Unidentifiable {
					t.Logf("   refused %v: %s", r.Names, r.Reason)
				}
				for _, r := range s.Notes {
					t.Logf("   note %s", r)
				}
				// the fall with the least misfit on both is Tustin's
				limit := map[string]float64{"static-coulomb-viscous": c.coulomb, "stribeck-tustin": c.curve}[law]
				if equal && limit > 0 && rms > limit {
					t.Errorf("%s %s: rms %.4f mN·m, want ≤ %.4f", c.file, law, rms, limit)
				}
				// friction of the worm drive rises with speed in one direction: no Stribeck velocity is to be had from it
				if odd := strings.Contains(c.file, "drive3") && law != "static-coulomb-viscous"; odd && !(refused(s, "vs") && refused(s, "Fs+")) {
					t.Errorf("%s %s: Fs+ and vs are not refused", c.file, law)
				}
			}
		}
	}
}

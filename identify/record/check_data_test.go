package record

import (
	"strings"
	"testing"
)

// sharedRecord is a measured record, how it is read, and what is true of it.
type sharedRecord struct {
	file string
	m    Mapping
	o    CheckOptions
	want []string // "kind channel", which must be found as warning or error
}

func plain(name string) Column { return Column{Name: name} }

func sharedRecords() []sharedRecord {
	t := plain("time_s")
	pendulum := Mapping{Time: t, Position: plain("position_rad"), Velocity: plain("velocity_rad_s"), Force: plain("torque_Nm")}
	loose := pendulum
	loose.Resample, loose.SplitGaps = true, true
	joint := func(n string) Mapping {
		return Mapping{Time: t, Position: plain("position" + n + "_rad"), Velocity: plain("velocity" + n + "_rad_s"),
			Force: plain("torque" + n + "_Nm"), Resample: true}
	}
	rotary, coupled := CheckOptions{Rotary: true}, CheckOptions{Rotary: true, Coupled: true}
	static := CheckOptions{Rotary: true, Static: true}
	steady := Mapping{Time: t, Velocity: plain("velocity_rad_s"), Force: plain("torque_Nm"), Piece: "setpoint_rpm"}
	stops := Mapping{Time: t, Velocity: plain("velocity_avg_rad_s"), Force: plain("torque_avg_Nm")}
	return []sharedRecord{
		{"emps/emps_estimation.csv.gz", Mapping{Time: t, Position: plain("position_m"), Reference: plain("reference_m"),
			Force: Column{Name: "command_V", Unit: "V", Scale: 35.15065188248547}}, CheckOptions{}, nil},
		{"dfki_pendulum/pd_sysid.csv.gz", pendulum, rotary, nil},
		{"dfki_pendulum/ddp.csv.gz", pendulum, rotary, nil},
		{"dfki_pendulum/direct_collocation.csv.gz", pendulum, rotary, nil},
		{"dfki_pendulum/energy_shaping.csv.gz", pendulum, rotary, nil},
		{"dfki_pendulum/gravity_compensation.csv.gz", loose, coupled, nil},
		{"dfki_double_pendulum/design_A0_00.csv.gz", joint("1"), coupled, nil},
		{"dfki_double_pendulum/design_A0_00.csv.gz", joint("2"), coupled, nil},
		{"dfki_double_pendulum/design_A0_05.csv.gz", joint("1"), coupled, nil},
		{"dfki_double_pendulum/design_A0_05.csv.gz", joint("2"), coupled, nil},
		{"multiarm_pendulum/single_id.csv.gz", Mapping{Time: t, Position: plain("angle1_rad"), Velocity: plain("velocity1_rad_s"),
			Piece: "segment"}, rotary, nil},
		{"multiarm_pendulum/double_id.csv.gz", Mapping{Time: t, Position: plain("angle2_rad"), Velocity: plain("velocity2_rad_s"),
			Piece: "segment"}, rotary, nil},
		{"ball_incline/ball_pair_spin_down.csv", Mapping{Time: t, Velocity: plain("spin_rate_rad_s"), Resample: true}, rotary,
			[]string{"one-direction "}},
		{"ball_incline/steel_ball_rolling_1deg.csv", Mapping{Time: t, Position: plain("distance_m"), Resample: true}, CheckOptions{},
			[]string{"one-direction "}},
		{"screw_drives/drive1_steady_state.csv.gz", steady, static, nil},
		{"screw_drives/drive3_steady_state.csv.gz", steady, static, nil},
		{"screw_drives/drive1_start_stop_200.csv", stops, rotary, nil},
		{"screw_drives/drive3_start_stop_200.csv", stops, rotary, nil},
	}
}

// What is said of the measured records is true.
func TestMeasuredRecords(t *testing.T) {
	for _, s := range sharedRecords() {
		name := strings.NewReplacer("/", "_", ".csv", "", ".gz", "").Replace(s.file) + "_" + s.m.Position.Name
		t.Run(name, func(t *testing.T) {
			pieces := measured(t, s.file, s.m)
			found := Check(pieces, s.o)
			for _, f := range found {
				t.Logf("%-8s%-18s%-9s %s", f.Severity, f.Kind, f.Channel, f.Text)
			}
			for _, w := range pieces[0].Warnings {
				t.Logf("reader: %s", w)
			}
			bad := kinds(found, Warning)
			for _, claim := range []string{"-scale", "-sign", "force-power", "wrapped", "counts", "length", "non-finite", "saturation force error",
				"play"} {
				if strings.Contains(bad, claim) {
					t.Errorf("%s is not true of this record", claim)
				}
			}
			for _, w := range s.want {
				if !strings.Contains(bad, w) {
					t.Errorf("want %s", w)
				}
			}
		})
	}
}

// Damage done to measured records is found as in synthetic ones.
func TestMeasuredDamage(t *testing.T) {
	records := map[string]sharedRecord{}
	for _, s := range sharedRecords() {
		records[s.file] = s
	}
	for _, c := range []struct {
		file  string
		spoil func(*Record)
		want  string
	}{
		{"emps/emps_estimation.csv.gz", func(d *Record) { times(d.Force, -1) }, "force-sign force error"},
		{"emps/emps_estimation.csv.gz", func(d *Record) { times(d.Position, 1000); d.Reference = nil }, "range position warning"},
		{"emps/emps_estimation.csv.gz", func(d *Record) { times(d.Reference, 1000) }, "reference-scale reference error"},
		{"dfki_pendulum/ddp.csv.gz", func(d *Record) { times(d.Velocity, 9.5493) }, "velocity-scale velocity error"},
		{"dfki_pendulum/ddp.csv.gz", func(d *Record) { times(d.Force, -1) }, "force-sign force error"},
		{"dfki_pendulum/direct_collocation.csv.gz", func(d *Record) { times(d.Position, 57.2958) }, "velocity-scale velocity error"},
		{"dfki_pendulum/energy_shaping.csv.gz", func(d *Record) { times(d.Velocity, -1) }, "velocity-scale velocity error"},
		{"dfki_double_pendulum/design_A0_05.csv.gz", func(d *Record) { times(d.Velocity, 0.10472) }, "velocity-scale velocity error"},
		{"multiarm_pendulum/single_id.csv.gz", func(d *Record) { times(d.Velocity, 57.2958) }, "velocity-scale velocity error"},
		{"screw_drives/drive1_steady_state.csv.gz", func(d *Record) { times(d.Force, -1) }, "force-sign force error"},
		{"screw_drives/drive3_steady_state.csv.gz", func(d *Record) { times(d.Velocity, -1) }, "force-sign force error"},
	} {
		s := records[c.file]
		pieces := measured(t, s.file, s.m)
		for _, d := range pieces {
			c.spoil(d)
		}
		found := Check(pieces, s.o)
		if bad := kinds(found, Warning); !strings.Contains(bad, c.want) {
			t.Errorf("%s: want %s, found %q", c.file, c.want, bad)
			for _, f := range found {
				t.Logf("   %s %s: %s", f.Kind, f.Severity, f.Text)
			}
		}
	}
}

package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"

	"hilrig/configs/schema"
	"hilrig/hil/device"
)

// Load reads, decodes and checks a rig file. The error is *Errors and holds every problem, or says why the file could not
// be read. Relative paths inside (reference.file, mqtt.ca) come back joined to the folder of the file.
func Load(path string) (*Config, error) {
	c, _, err := Check(path)
	return c, err
}

// Check is Load that also returns the warnings: legal settings worth a thought.
func Check(path string) (c *Config, warnings []schema.Problem, err error) {
	data, err := schema.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	return CheckBytes(path, data)
}

// LoadBytes decodes and checks a rig file that is already in memory; name appears in messages, and its folder is where
// relative paths start.
func LoadBytes(name string, data []byte) (*Config, error) {
	c, _, err := CheckBytes(name, data)
	return c, err
}

// CheckBytes is LoadBytes that also returns the warnings.
func CheckBytes(name string, data []byte) (c *Config, warnings []schema.Problem, err error) {
	c = Default()
	warnings, err = schema.Load(name, data, c, func(r *schema.Report) {
		c.complete(r, filepath.Dir(name))
		c.Check(r)
	})
	if err != nil {
		return nil, warnings, err
	}
	return c, warnings, nil
}

// Validate checks a configuration that was changed after loading (flags); there are no places in a file to point at.
func (c *Config) Validate() (problems, warnings []schema.Problem) {
	r := schema.NewReport(c.UnitTags(nil))
	c.Check(r)
	return r.Problems(), r.Warnings()
}

// Marshal writes the configuration in force as YAML: every key, numbers in SI with the unit as a comment. Loading it
// gives the same Config. Passwords are in it; see Redacted.
func (c *Config) Marshal() ([]byte, error) { return schema.Marshal(c) }

// Redacted is a copy whose passwords read "redacted": for recordings, bug reports and the screen.
func (c *Config) Redacted() *Config {
	out := *c // no secret lies behind a pointer or in a slice; a test walks the tags
	schema.Redact(&out)
	return &out
}

// Hash is the hex SHA-256 of the redacted configuration as Marshal writes it.
func (c *Config) Hash() string {
	text, err := c.Redacted().Marshal()
	if err != nil {
		panic("configs: " + err.Error()) // a Config always marshals; a test does it
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Frames is the form of the frames on the port.
func (d *Device) Frames() device.Protocol { return device.Protocol{Kind: d.Protocol, Line: d.Line} }

// Clocked tells whether samples carry the time of the device.
func (c *Config) Clocked() bool { p := c.Device.Frames(); return p.Clocked() }

// MeasureRole is the index of the measurement with a role; −1: none.
func (c *Config) MeasureRole(role string) int {
	return slices.IndexFunc(c.Device.Measure, func(m Measure) bool { return m.Role == role })
}

// EveryTick tells whether the device samples in every tick of the loop: then the voltage is held from sample to sample.
func (c *Config) EveryTick() bool { return c.DeviceRate() > c.Loop.Rate/1.5 }

package configs

// Default is what a file starts from: how the program behaves where the file says nothing. Numbers of the rig itself
// (motor, friction, gains, limits) have no default, since a wrong guess would drive real hardware.
func Default() *Config {
	return &Config{Version: 1}
}

func (c *Config) complete(dir string) {}

func (c *Config) Check(r *Report) {}

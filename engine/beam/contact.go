package beam

// Point is the motion of what slides on the beam, in the plane of the beam: x along it, y upwards.
type Point struct {
	X, Y   float64 // m
	VX, VY float64 // m/s
	GX, GY float64 // m/s²  the part of its acceleration that is left when no coordinate accelerates, J′·q′
}

// Contact is the constraint Φ = w(x) − y = 0 of a point on the beam [Lip] (17)–(24), at position, velocity and acceleration level:
//
//	Φ = N·q_c − y
//	Φ′ = N·q_c′ + J_R·q_b′,           J_R = w_x·J_x − J_y
//	Φ″ = N·q_c″ + J_R·q_b″ + γ,       γ = 2·x′·N_x·q_c′ + x′²·N_xx·q_c + w_x·γ_x − γ_y
//
// q_b are the coordinates of what moves the point, J_x and J_y the rows of its Jacobian, γ_x and γ_y its G. A multiplier λ > 0 presses:
// −N·λ acts on the beam, −J_R·λ on q_b, and the force along the normal is λ·√(1 + w_x²).
type Contact struct {
	Place
	W     float64 // m    deflection of the beam there
	Slope float64 // w_x
	Phi   float64 // m
	Rate  float64 // m/s  Φ′
	Gamma float64 // m/s² γ
}

// Contact is that of p with the beam at q, v by the polynomials of element e.
func (b *Beam) Contact(e int, p *Point, q, v []float64) (c Contact) {
	c.Place = b.PlaceIn(e, p.X)
	wt, st := 0.0, 0.0 // of v: deflection, slope
	curve := 0.0
	for k, i := range c.I {
		if i < 0 {
			continue
		}
		c.W += c.N[k] * q[i]
		c.Slope += c.Nx[k] * q[i]
		curve += c.Nxx[k] * q[i]
		wt += c.N[k] * v[i]
		st += c.Nx[k] * v[i]
	}
	c.Phi = c.W - p.Y
	c.Rate = wt + c.Slope*p.VX - p.VY
	c.Gamma = 2*p.VX*st + p.VX*p.VX*curve + c.Slope*p.GX - p.GY
	return c
}

// Row writes J_R to out from the rows of the point's Jacobian.
func (c *Contact) Row(jx, jy, out []float64) {
	for i := range out {
		out[i] = c.Slope*jx[i] - jy[i]
	}
}

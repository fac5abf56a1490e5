package circuit

// sensitivity carries ∂x/∂w over the part of length d and adds to that of the mean over h. The speed of the part moves by share with w.
func (c *Circuit) sensitivity(d, h, share float64) {
	s := &c.step
	n, base := s.lin, len(c.windings)+len(c.nodes)
	y := c.solution.y
	for k, axis := range s.coupledAxes {
		// ∂(A·x + b)/∂w at the mean: what moves with the axis induces −(Γ·i + γ)
		clear(y)
		c.induced(axis, share, s.mean, y)
		c.lu.Solve(y)
		c.rates(y, s.drive)
		dx := s.dx[k*n : (k+1)*n]
		mean := s.dend
		clear(mean)
		times(mean, s.phi.p1, dx, 1)
		times(mean, s.phi.p2, s.drive, d)
		if share != 0 { // the rate moves by 2/h
			times(mean, s.phi.p3, s.drive, 2*d*d/h/share)
			times(mean, s.phi.p2, s.drive, -d*d/h/share)
		}
		for i, v := range mean {
			s.dmean[k*n+i] += v * d / h
		}
		if len(s.spin) > 0 || c.switchedLinear {
			c.homogeneous(mean, s.speed, y)
			c.induced(axis, share, s.mean, y)
			c.lu.Solve(y)
			copy(s.dy[k*c.n:], y)
			for i, l := range s.spin {
				s.dj[k*len(s.spin)+i] += y[base+l] * d / h
			}
		}
		clear(mean)
		times(mean, s.phi.e, dx, 1)
		times(mean, s.phi.p1, s.drive, d)
		if share != 0 {
			times(mean, s.phi.p2, s.drive, 2*d*d/h/share)
			times(mean, s.phi.p1, s.drive, -d*d/h/share)
		}
		copy(dx, mean)
	}
}

// meanForce is that of an axis over the step.
func (c *Circuit) meanForce(axis int) (f float64) {
	s := &c.step
	for g := range c.groups {
		if p := &c.groups[g]; p.axis == axis {
			f += p.force(s.stepMean[p.firstWinding : p.firstWinding+p.m])
		}
	}
	for k, l := range s.spin {
		if p := &c.leads[l]; p.axis == axis {
			f += p.k * s.j[k]
		}
	}
	return f
}

// meanSlope is the derivative of meanForce with respect to the speed of the k-th axis that moves.
func (c *Circuit) meanSlope(axis, k int) (df float64) {
	s := &c.step
	di := s.dmean[k*s.lin : (k+1)*s.lin]
	for g := range c.groups {
		p := &c.groups[g]
		if p.axis != axis {
			continue
		}
		i := s.stepMean[p.firstWinding : p.firstWinding+p.m]
		for a := range p.m {
			e := p.mag.EMF[a]
			for b := range p.m {
				ab, ba := a*p.m+b, b*p.m+a
				e += (p.mag.Turn[ab] + p.mag.Turn[ba] - (p.mag.DL[ab]+p.mag.DL[ba])/2) * i[b]
			}
			df += e * di[p.firstWinding+a]
		}
	}
	for i, l := range s.spin {
		if p := &c.leads[l]; p.axis == axis {
			df += p.k * s.dj[k*len(s.spin)+i]
		}
	}
	return df
}

// stiffness is the derivative of the mean force with respect to the position of the middle, the currents held, by a difference.
func (c *Circuit) stiffness(axis int) (k float64) {
	const d = 1e-6 // rad or m
	s := &c.step
	for g := range c.groups {
		p := &c.groups[g]
		if p.axis != axis || p.static && p.mag.Potential == 0 {
			continue
		}
		i := s.stepMean[p.firstWinding : p.firstWinding+p.m]
		f := p.force(i)
		p.field.At(s.qm[axis]+d, &p.mag)
		k += (p.force(i) - f) / d
		p.field.At(s.qm[axis], &p.mag)
	}
	return k
}

// Shift moves the last Trial of an Affine circuit by dw to the mean speeds w: the state at its end in xn, node voltages and currents. It
// returns the work of the step; false: Audited or cut by the jumps of sources, the step has to be tried anew.
func (c *Circuit) Shift(w, dw, xn []float64) (Power, bool) {
	s := &c.step
	if c.Audited || !c.switchedLinear || s.derivativeStep-s.derivativeStep != 0 {
		return Power{}, false
	}
	n, m := s.lin, len(s.spin)
	for k, axis := range s.coupledAxes {
		d := dw[axis]
		for i, x := range s.dx[k*n : (k+1)*n] {
			xn[i] += x * d
		}
		for i, x := range s.dmean[k*n : (k+1)*n] {
			s.stepMean[i] += x * d
		}
		for i, x := range s.dj[k*m : (k+1)*m] {
			s.j[i] += x * d
		}
		for i, x := range s.dy[k*c.n : (k+1)*c.n] {
			c.solution.y[i] += x * d
		}
	}
	var p Power
	for _, axis := range s.coupledAxes {
		p.Output += c.meanForce(axis) * w[axis]
	}
	return p, true
}

// Affine tells that forces and states of Trial depend on the mean speeds in a straight line, so that one Trial and its slope say all.
func (c *Circuit) Affine() bool { return c.switchedLinear }

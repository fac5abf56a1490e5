package friction

import "math"

// yielded is what elastoPlastic gives, with the derivatives by the deflection at the beginning, by the path and by ρ.
type yielded struct {
	endDeflection, sum float64
	dEnd, dSum         [3]float64
}

// elastoPlasticSlopes is elastoPlastic with derivatives: those of the parts it makes, taken along with every part.
func elastoPlasticSlopes(y, d, rho float64) (o yielded) {
	dy, left, dLeft := [3]float64{1, 0, 0}, d, [3]float64{0, 1, 0}
	if left <= rho-y {
		return yielded{y + left, left * (y + left/2), [3]float64{1, 1, 0}, [3]float64{left, y + left, 0}}
	}
	fresh := y > rho
	if y < rho {
		o.sum, o.dSum = (rho-y)*(y+rho)/2, [3]float64{-y, 0, rho}
		left, dLeft = left-(rho-y), [3]float64{1, 1, -1}
		y, dy = rho, [3]float64{0, 0, 1}
	}
	scale := 1 / (1 - rho)
	if tail := epTail * (1 - rho); 1-y > tail {
		last, change := 1.0, 0.0
		var dLast, dChange [3]float64
		if fresh {
			alpha, slope := sineSquareSlope((y - rho) * scale)
			last = 1 - y*alpha
			dLast[0], dLast[2] = -alpha-y*slope*scale, y*slope*scale*(1-(y-rho)*scale)
		}
		for 1-y > tail {
			e, de := epParts*(1-rho), [3]float64{0, 0, -epParts}
			if left < e {
				e, de = left, dLeft
			}
			ahead := last + 0.75*change
			u := (y + e/2*ahead - rho) * scale
			alpha, slope := sineSquareSlope(min(u, 1))
			in := 1 / (1 + alpha*e/2)
			r := (1 - alpha*y) * in
			for i := range 3 {
				du := (dy[i] + de[i]/2*ahead + e/2*(dLast[i]+0.75*dChange[i])) * scale
				if i == 2 {
					du += (u - 1) * scale
				}
				dAlpha := slope * du
				dr := -(dAlpha*y + alpha*dy[i] + r*(dAlpha*e+alpha*de[i])/2) * in
				dLast[i], dChange[i] = dr, dr-dLast[i]
				o.dSum[i] += de[i]*(y+e*r) + e*dy[i] + e*e/2*dr
				dy[i] += de[i]*r + e*dr
				dLeft[i] -= de[i]
			}
			last, change = r, r-last
			o.sum += e * (y + e*r/2)
			y += e * r
			if left -= e; left <= 0 {
				o.endDeflection, o.dEnd = y, dy
				return o
			}
		}
	}
	eps := 1 - y
	stay, gone := decay(left)
	x, share, bent := 0.0, 1.0, 0.0 // share: ln(1+x)/x, and its derivative
	var dx [3]float64
	if eps > 1e-9 {
		alpha, slope := sineSquareSlope(eps * scale)
		whole := alpha * y / eps
		x = whole * gone
		for i := range 3 {
			dq := -dy[i] * scale
			if i == 2 {
				dq += eps * scale * scale
			}
			dx[i] = (slope*dq*y+alpha*dy[i]+whole*dy[i])/eps*gone + whole*stay*dLeft[i]
		}
		if x > 0.03 {
			share = ln(1+x) / x
			bent = (1/(1+x) - share) / x
		} else {
			share = 1 - x*(1.0/2-x*(1.0/3-x*(1.0/4-x*(1.0/5))))
			bent = -1.0/2 + x*(2.0/3-x*(3.0/4-x*(4.0/5)))
		}
	}
	in := 1 / (1 + x)
	eps1, part := eps*stay*in, eps*gone*share
	for i := range 3 {
		o.dEnd[i] = ((dy[i]+eps*dLeft[i])*stay + eps1*dx[i]) * in
		o.dSum[i] += dLeft[i] - (eps*stay*dLeft[i]-dy[i]*gone)*share - eps*gone*bent*dx[i]
	}
	o.endDeflection, o.sum = 1-eps1, o.sum+left-part
	return o
}

// sineSquareSlope is sineSquare with its derivative.
func sineSquareSlope(u float64) (q, slope float64) {
	q = sineSquare(u)
	return q, math.Pi * math.Sqrt(max(q*(1-q), 0))
}

// TrialSlopes are the derivatives of Trial. With y = s·σ0·z/g, D = hσ0|v|/g and ρ = zba/zmax, s the sign of v, both schemes have the form
//
//	F = k·(s·g·m + σ1(v)·(z⁺ − z)/h + σ2·v) + offset,   z⁺ = s·g·y⁺/σ0,
//
// with m the mean of y over the path for Midpoint, y⁺ for Implicit.
func (p *ElastoPlastic) TrialSlopes(scheme Scheme, z float64, in Input, d *Slopes) {
	q, w, h := &p.Bristle, in.V, in.Dt
	over := 1 / q.Vs
	r := w * over
	e := expNeg(r * r)
	g, dg := q.Fc+(q.Fs-q.Fc)*e, -2*r*over*e*(q.Fs-q.Fc)
	s1, ds1 := q.sigma1Slope(w)
	s, hs, inG, in0 := math.Copysign(1, w), h*q.Sigma0, 1/g, 1/q.Sigma0
	y, path := s*q.Sigma0*z*inG, hs*math.Abs(w)*inG
	rho, moves := p.Zba*q.Fs*inG, 1.0 // moves: with g, Fs and zba
	if rho > zbaTop {
		rho, moves = zbaTop, 0
	}
	var o yielded
	m, dm := y, [3]float64{1, 0, 0}
	if path < minPath {
		rate := rateAt(y, rho, 1)
		o = yielded{endDeflection: y, dEnd: [3]float64{1, rate, 0}}
		dm[1] = rate / 2
	} else {
		o = elastoPlasticSlopes(y, path, rho)
		inPath := 1 / path
		m = o.sum * inPath
		dm = [3]float64{o.dSum[0] * inPath, (o.dSum[1] - m) * inPath, o.dSum[2] * inPath}
	}
	if scheme != Midpoint {
		m, dm = o.endDeflection, o.dEnd
	}
	// with respect to z, to v and σ0 where g stays, to g, and to zba/zmax
	end, rise := &o.dEnd, s*g*in0
	stateZ, stateV, state0 := end[0], h*end[1], rise*in0*(y*end[0]+path*end[1]-o.endDeflection)
	stateG, stateRho := s*in0*(o.endDeflection-y*end[0]-path*end[1]-moves*rho*end[2]), moves*rise*end[2]
	k, inH := q.load(in.N), 1/h
	rate, damp := (rise*o.endDeflection-z)*inH, s1*inH
	forceZ, forceV, force0 := q.Sigma0*dm[0]+damp*(stateZ-1), hs*dm[1]+damp*stateV, s*g*in0*(y*dm[0]+path*dm[1])+damp*state0
	forceG, forceRho := s*(m-y*dm[0]-path*dm[1]-moves*rho*dm[2])+damp*stateG, moves*s*g*dm[2]+damp*stateRho
	d.ForceZ, d.StateZ = k*forceZ, stateZ
	d.ForceV, d.StateV = k*(forceV+ds1*rate+q.Sigma2+forceG*dg), stateV+stateG*dg
	dip := (q.Fs - q.Fc) * e * 2 * r * r * over // ∂g/∂vs
	fade, share := 0.0, 1.0                     // ∂σ1(v)/∂vd, σ1(v)/σ1
	if q.Vd > 0 {
		v := w / q.Vd
		fade = s1 * 2 * v * v / q.Vd
		if q.Sigma1 > 0 {
			share = s1 / q.Sigma1
		}
	}
	f, x := d.Force[:10], d.State[:10]
	f[0], x[0] = k*force0, state0
	f[1], x[1] = k*share*rate, 0
	f[2], x[2] = k*w, 0
	f[3], x[3] = k*forceG*(1-e), stateG*(1-e)
	f[4], x[4] = k*(forceG*e+forceRho*p.Zba*inG), stateG*e+stateRho*p.Zba*inG
	f[5], x[5] = k*forceG*dip, stateG*dip
	f[6], x[6] = k*fade*rate, 0
	f[7], x[7] = 1, 0
	f[8], x[8] = 0, 0
	if q.N0 > 0 && in.N > 0 {
		f[8] = -k / q.N0 * (s*g*m + s1*rate + q.Sigma2*w)
	}
	f[9], x[9] = k*forceRho*q.Fs*inG, stateRho*q.Fs*inG
}

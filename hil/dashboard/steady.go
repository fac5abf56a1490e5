package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"hilrig/engine"
	"hilrig/engine/friction"
)

// lawJSON is a friction law that there is.
type lawJSON struct {
	Name       string      `json:"name"`
	Title      string      `json:"title"`
	Parameters []paramJSON `json:"parameters"`
}

// paramJSON is a parameter with its unit on a linear axis and on one that turns.
type paramJSON struct {
	Name   string `json:"name"`
	Linear string `json:"linear"`
	Rotary string `json:"rotary"`
}

// laws are all of them.
func laws() (out []lawJSON) {
	for _, info := range friction.Laws() {
		l := lawJSON{Name: info.Name, Title: info.Title, Parameters: []paramJSON{}}
		for _, p := range info.NewLaw().Params() {
			l.Parameters = append(l.Parameters, paramJSON{p.Name, p.Unit, engine.RotaryUnit(p.Unit)})
		}
		out = append(out, l)
	}
	return out
}

// getSteady serves the steady friction of a law over velocity as points [velocity, friction], velocities rising, in SI of the axis:
//
//	/api/steady?axis=shaft&law=lugre&Fc=0.015&Fs=0.021&…
//
// All parameters of the law must be there. 400: no such axis or law, or numbers it does not take.
func (s *Server) getSteady(w http.ResponseWriter, r *http.Request) {
	if s.opt.SteadyCurve == nil {
		http.Error(w, "no curves of laws here", http.StatusNotFound)
		return
	}
	values := map[string]float64{}
	for key, text := range r.URL.Query() {
		if key == "axis" || key == "law" {
			continue
		}
		x, err := strconv.ParseFloat(text[0], 64)
		if err != nil {
			http.Error(w, fmt.Sprintf("%s: %q is no number", key, text[0]), http.StatusBadRequest)
			return
		}
		values[key] = x
	}
	points, err := s.opt.SteadyCurve(r.URL.Query().Get("axis"), r.URL.Query().Get("law"), values)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(finitePoints(points))
}

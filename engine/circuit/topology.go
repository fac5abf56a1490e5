package circuit

import (
	"fmt"
	"slices"
	"strings"

	"hilrig/engine/reference"
)

// forest joins nodes; ground is one of them.
type forest []int

func newForest(nodes int) forest {
	f := make(forest, nodes+1)
	for k := range f {
		f[k] = k
	}
	return f
}

func (f forest) root(node int) int {
	k := node + 1
	for f[k] != k {
		f[k] = f[f[k]]
		k = f[k]
	}
	return k
}

// join is false when the nodes were joined before.
func (f forest) join(a, b int) bool {
	ra, rb := f.root(a), f.root(b)
	if ra == rb {
		return false
	}
	f[max(ra, rb)] = min(ra, rb) // ground stays a root
	return true
}

// topology refuses what has no solution or many, and finds the sets of nodes that only windings and current sources reach.
func (b *builder) topology() {
	n := len(b.c.nodes)

	// islands
	all := newForest(n)
	for _, e := range b.edges {
		all.join(e.fromNode, e.toNode)
	}
	if lost := b.sets(all); len(lost) > 0 {
		for _, set := range lost {
			b.errs = append(b.errs, fmt.Errorf("%w: %s: join one of them to ground %q", ErrFloating, b.names(set), b.ground))
		}
		return
	}

	// a loop of leads without resistance: their voltages add up to zero or not, the current round the loop is free
	stiff := newForest(n)
	var path []edge
	for _, e := range b.edges {
		if e.kind != rigid {
			continue
		}
		if !stiff.join(e.fromNode, e.toNode) {
			loop := append(pathBetween(path, e.toNode, e.fromNode), e)
			b.errs = append(b.errs, fmt.Errorf("%w: %s: %s", ErrLoop, elements(loop), b.verdict(loop)))
			continue
		}
		path = append(path, e)
	}

	// a set that only current sources reach
	open := newForest(n)
	for _, e := range b.edges {
		if e.kind != injected {
			open.join(e.fromNode, e.toNode)
		}
	}
	for _, set := range b.sets(open) {
		var through []edge
		for _, e := range b.edges {
			if e.kind == injected && slices.Contains(set, e.fromNode) != slices.Contains(set, e.toNode) {
				through = append(through, e)
			}
		}
		b.errs = append(b.errs, fmt.Errorf("%w: only the current sources %s reach %s: its voltage is free and the currents may contradict each "+
			"other; add a resistor or leave one out", ErrCut, elements(through), b.names(set)))
	}
	if len(b.errs) > 0 {
		return
	}

	// sets that only windings and current sources reach: the sum of their currents is a constraint of the states
	loose := newForest(n)
	for _, e := range b.edges {
		if e.kind <= rigid {
			loose.join(e.fromNode, e.toNode)
		}
	}
	for _, set := range b.sets(loose) {
		p := cut{row: set[0]}
		for k, w := range b.c.windings {
			p.windings = appendSigned(p.windings, k, slices.Contains(set, w.fromNode), slices.Contains(set, w.toNode))
		}
		for k, s := range b.c.injections {
			before := len(p.injections)
			p.injections = appendSigned(p.injections, k, slices.Contains(set, s.fromNode), slices.Contains(set, s.toNode))
			if len(p.injections) > before && jumps(s.u) {
				b.errs = append(b.errs, fmt.Errorf("%w: %s jumps, and only windings reach %s: they cannot follow; put a resistor beside the source",
					ErrCut, s.name, b.names(set)))
			}
		}
		b.c.cuts = append(b.c.cuts, p)
	}
}

// jumps tells whether a source is known to.
func jumps(g reference.Generator) bool {
	switch g.(type) {
	case Jumping, reference.Step, *Held:
		return true
	}
	return false
}

// appendSigned adds k where a branch leaves a set, ^k where it enters.
func appendSigned(list []int, k int, leaves, enters bool) []int {
	switch {
	case leaves == enters:
		return list
	case enters:
		return append(list, ^k)
	}
	return append(list, k)
}

// sets are the nodes of every tree but that of ground, in the order of their first node.
func (b *builder) sets(f forest) (sets [][]int) {
	at := map[int]int{}
	for k := range b.c.nodes {
		r := f.root(k)
		if r == 0 {
			continue
		}
		if _, ok := at[r]; !ok {
			at[r] = len(sets)
			sets = append(sets, nil)
		}
		sets[at[r]] = append(sets[at[r]], k)
	}
	return sets
}

// pathBetween is the way from node a to node b in a forest of branches.
func pathBetween(path []edge, a, b int) []edge {
	seen := map[int]bool{a: true}
	var walk func(at int) []edge
	walk = func(at int) []edge {
		if at == b {
			return []edge{}
		}
		for _, e := range path {
			next := e.toNode
			if e.toNode == at {
				next = e.fromNode
			} else if e.fromNode != at {
				continue
			}
			if seen[next] {
				continue
			}
			seen[next] = true
			if rest := walk(next); rest != nil {
				return append([]edge{e}, rest...)
			}
		}
		return nil
	}
	return walk(a)
}

// verdict says of a loop whether it contradicts itself or is redundant.
func (b *builder) verdict(loop []edge) string {
	sum, size, at := 0.0, 0.0, loop[len(loop)-1].fromNode
	// the last one is passed from its beginning to its end, then the way back
	order := append([]edge{loop[len(loop)-1]}, loop[:len(loop)-1]...)
	for _, e := range order {
		k := slices.IndexFunc(b.c.leads, func(l lead) bool { return l.name == e.name })
		l := &b.c.leads[k]
		u := 0.0
		switch {
		case l.cap >= 0:
			return "their voltages cannot all be free; put a resistor in series with one of them"
		case l.u == nil:
		default:
			c, ok := l.u.(reference.Constant)
			if !ok {
				return "their voltages may contradict each other; put a resistor in series with one of them"
			}
			u = float64(c)
		}
		if e.fromNode == at {
			sum, at = sum+u, e.toNode
		} else {
			sum, at = sum-u, e.fromNode
		}
		size = max(size, u, -u)
	}
	if sum > 1e-12*size || sum < -1e-12*size {
		return fmt.Sprintf("their voltages contradict each other by %.6g V; leave one out or put a resistor in series", max(sum, -sum))
	}
	return "one of them is redundant and the current between them is free; leave it out or put a resistor in series"
}

func (b *builder) names(set []int) string {
	var names []string
	for _, k := range set {
		names = append(names, b.c.nodes[k])
	}
	if len(names) == 1 {
		return "node " + names[0]
	}
	return "nodes " + strings.Join(names, ", ")
}

func elements(list []edge) string {
	var names []string
	for _, e := range list {
		names = append(names, e.name)
	}
	return strings.Join(names, ", ")
}

package friction

// Bind returns where the parameters of a law live, in the order of Params, for whoever changes them a million times: SetParams
// checks and allocates. Numbers written there are not checked; a Mass has to be told with Retune. A law that is not of the
// registry has none.
func Bind(m Model) []*float64 {
	l, ok := m.(interface{ fields() []field })
	if !ok {
		return nil
	}
	fs := l.fields()
	at := make([]*float64, len(fs))
	for i := range fs {
		at[i] = fs[i].value
	}
	return at
}

// Retune asks the law again what its steps have to resolve, after its parameters have changed.
func (b *Mass) Retune() { b.stiffness = b.law.Stiffness() }

package tracker

// Kind is one protocol.
type Kind struct {
	Name, Title string
	NewDecoder  func() Decoder // that takes every frame, as far as it can be known without settings
	Reason      func(code int) string
}

// Kinds are all protocols.
var Kinds = []Kind{
	{Name: "ndi", Title: "NDI Polaris and Aurora, replies of the combined API", NewDecoder: func() Decoder { return NewNDI() },
		Reason: NDIReason},
	{Name: "xsens", Title: "Xsens MTi, XBus with MTData2", NewDecoder: func() Decoder { return NewXsens() }},
	{Name: "vectornav", Title: "VectorNav, text and binary", NewDecoder: func() Decoder { return NewVectorNav() }},
	{Name: "polhemus", Title: "Polhemus LIBERTY, LATUS and PATRIOT, binary", NewDecoder: func() Decoder { return NewPolhemus(nil) }},
	{Name: "fastrak", Title: "Polhemus FASTRAK, binary", NewDecoder: func() Decoder { return NewFastrak(nil) }},
	{Name: "witmotion", Title: "WitMotion, standard protocol", NewDecoder: func() Decoder { return NewWitMotion() }},
	{Name: "bno08x", Title: "BNO08x, UART-RVC", NewDecoder: func() Decoder { return NewBNO08x() }},
}

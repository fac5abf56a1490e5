package multibody

// Machines of these tests, for those that step them.
var (
	PendulumOnBall = pendulumOnBall
	CrankRocker    = crankRocker
	CrankStart     = crankStart
	Governor       = governor
	ReadMotions    = readMotions
	Squeezer       = squeezer
	SqueezerStart  = squeezerStart
	SqueezerEnd    = squeezerEnd
	FourBarCutAt   = fourBarCutAt
	Bars           = bars
	Spin           = spin
	Chain          = chain
	Rod            = rod
	Near           = near
	Total          = total
)

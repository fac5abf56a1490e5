// Package configs says what the files of the program hold: rigs, simulations, contact scenes, studies and identifications.
//
// Each kind is a struct with tags (Config, Simulate, ContactRun, Study, Identify) that package schema reads, laid over its
// defaults. Then Check compares the numbers with their ranges and with one another: does the line carry the frames, is the
// friction law passive, is the loop stable with its delay, does the guard see what it watches.
package configs

//go:generate go test . -run Docs -update

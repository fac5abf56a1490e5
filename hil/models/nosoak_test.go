//go:build !soak

package models_test

const seeds = 4 // of every plant

//go:build soak

package models_test

const seeds = 20 // of every plant

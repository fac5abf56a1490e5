//go:build soak

package main

const soak = true

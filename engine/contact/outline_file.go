package contact

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// LoadPoints reads the points of an outline from a text file, see ReadPoints.
func LoadPoints(path string) ([]Point, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("outline: %w", err)
	}
	defer f.Close()
	return ReadPoints(f, path)
}

// ReadPoints reads two columns, x and y. The first line names them with their unit, m, mm or um (µm): "x_mm, y_mm", "x [m]; y [m]"
// or "x(mm) y(mm)". Columns are separated by commas, semicolons, tabs or spaces; empty lines and lines that begin with # are left out. name
// is for messages.
func ReadPoints(r io.Reader, name string) ([]Point, error) {
	sc := bufio.NewScanner(r)
	var points []Point
	var unit [2]float64
	line := 0
	for sc.Scan() {
		line++
		text := strings.TrimSpace(strings.TrimPrefix(sc.Text(), "\ufeff"))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if unit[0] == 0 {
			var err error
			if unit, err = pointUnits(text); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, line, err)
			}
			continue
		}
		f := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",; \t", r) })
		if len(f) != 2 {
			return nil, fmt.Errorf("%s:%d: %d numbers, want x and y: %q", name, line, len(f), text)
		}
		var v [2]float64
		for i := range v {
			var err error
			if v[i], err = strconv.ParseFloat(f[i], 64); err != nil {
				return nil, fmt.Errorf("%s:%d: %q is not a number", name, line, f[i])
			}
		}
		points = append(points, Point{v[0] / unit[0], v[1] / unit[1]})
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, line+1, err)
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("%s: no points", name)
	}
	return points, nil
}

// pointUnits reads the header: units per metre of each column.
func pointUnits(header string) (unit [2]float64, err error) {
	// every mark but letters separates: "x [mm], y [mm]" and "x_mm;y_mm" give x mm y mm
	f := strings.FieldsFunc(header, func(r rune) bool { return strings.ContainsRune(",; \t[]()_/\"", r) })
	if len(f) != 4 || !strings.EqualFold(f[0], "x") || !strings.EqualFold(f[2], "y") {
		return unit, fmt.Errorf(`header %q, want the columns with their unit, as in "x_mm,y_mm" or "x [m], y [m]"`, header)
	}
	for i := range unit {
		switch u := f[2*i+1]; u {
		case "m":
			unit[i] = 1
		case "mm":
			unit[i] = 1e3
		case "um", "µm", "μm":
			unit[i] = 1e6
		default:
			return unit, fmt.Errorf("unit %q, want m, mm or um", u)
		}
	}
	return unit, nil
}

package daemon

import (
	"fmt"
	"io"
	"text/tabwriter"

	"hilrig/cmd/report"
	"hilrig/hil/device"
)

// PrintPorts lists the serial ports of this machine.
func PrintPorts(o *report.Output) error {
	ports, err := device.ListPorts()
	if err != nil {
		return report.ExitWith(report.Unavailable, fmt.Errorf("list serial ports: %w", err))
	}
	return o.Give(ports, func(out io.Writer) { printPorts(out, ports) })
}

func printPorts(out io.Writer, ports []device.PortInfo) {
	if len(ports) == 0 {
		fmt.Fprintln(out, "No serial port found. A USB adapter appears as /dev/ttyUSB0 or /dev/ttyACM0 once its driver is loaded (see dmesg).")
		fmt.Fprintf(out, "Without hardware: %s run starts a virtual rig.\n", report.StartName)
		return
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "port\tusb\tproduct\tstable name\taccess")
	for _, p := range ports {
		usb := ""
		if p.VID != "" {
			usb = p.VID + ":" + p.PID
		}
		access := "ok"
		if !p.Accessible {
			access = p.Reason
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", p.Name, usb, p.Product, p.ByID, access)
	}
	w.Flush()
}

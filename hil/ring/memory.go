package ring

import "os"

// Memory is a block of shared memory without a name in any file system: it lives as long as a process holds its
// descriptor or its mapping. Its size is sealed, so no process can shrink it and turn the other's access into a bus error.
//
// The creator passes File to the other process as an inherited descriptor; that one calls OpenMemory with its number. A new
// incarnation of a process gets new Memory, never the old one.
type Memory struct {
	mem  []byte
	file *os.File
}

// Bytes is the mapped memory, of the size asked for. It must not be touched after Close.
func (m *Memory) Bytes() []byte { return m.mem }

// File is the descriptor to hand to another process (exec.Cmd.ExtraFiles).
func (m *Memory) File() *os.File { return m.file }

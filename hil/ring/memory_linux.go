package ring

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// seals fix the size for good.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// CreateMemory makes size bytes of zeroed shared memory, present in RAM from the start. The name shows in
// /proc/PID/maps only.
func CreateMemory(name string, size int) (*Memory, error) {
	if size <= 0 {
		return nil, fmt.Errorf("shared memory %s: size %d B, want > 0", name, size)
	}
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, fmt.Errorf("shared memory %s: memfd_create: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		f.Close()
		return nil, fmt.Errorf("shared memory %s: %d B: %w", name, size, err)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		f.Close()
		return nil, fmt.Errorf("shared memory %s: sealing its size: %w", name, err)
	}
	return mapMemory(f, fd, size)
}

// OpenMemory maps memory that another process created and handed over as descriptor fd, which now belongs to the Memory.
// Errors: not a memfd, another size, a size that is not sealed.
func OpenMemory(fd uintptr, size int) (*Memory, error) {
	// what is wrong with the descriptor is asked before it is wrapped: a wrong number must not close somebody else's file
	var st unix.Stat_t
	if err := unix.Fstat(int(fd), &st); err != nil {
		return nil, fmt.Errorf("shared memory: descriptor %d: %w", fd, err)
	}
	have, err := unix.FcntlInt(fd, unix.F_GET_SEALS, 0)
	if err != nil {
		return nil, fmt.Errorf("shared memory: descriptor %d is not shared memory: %w", fd, err)
	}
	if have&(unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL) != unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL {
		return nil, fmt.Errorf("shared memory: descriptor %d: its size is not sealed", fd)
	}
	if st.Size != int64(size) {
		return nil, fmt.Errorf("shared memory: descriptor %d has %d B, want %d: the two programs are not the same version", fd, st.Size, size)
	}
	unix.CloseOnExec(int(fd))
	return mapMemory(os.NewFile(fd, "memory"), int(fd), size)
}

// mapMemory takes f over, also when it fails.
func mapMemory(f *os.File, fd, size int) (*Memory, error) {
	mem, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("shared memory: map %d B: %w", size, err)
	}
	return &Memory{mem: mem, file: f}, nil
}

// Close unmaps the memory and closes the descriptor; a second call does nothing.
func (m *Memory) Close() error {
	if m.mem == nil {
		return nil
	}
	mem := m.mem
	m.mem = nil
	return errors.Join(unix.Munmap(mem), m.file.Close())
}

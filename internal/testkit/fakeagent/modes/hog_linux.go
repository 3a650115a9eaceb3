package modes

import "golang.org/x/sys/unix"

func setAttribute(path string, value []byte) error { return unix.Setxattr(path, "user.hog", value, 0) }

// holdShared takes so many megabytes as files in memory that it maps.
func holdShared(megabytes int) error {
	const part = 128
	for range megabytes / part {
		if err := holdFile(part << 20); err != nil {
			return err
		}
	}
	return nil
}

func holdFile(size int) error {
	fd, flags := -1, unix.MAP_SHARED|unix.MAP_ANONYMOUS
	// The sandbox refuses such files; what is mapped without one is a file without a name to the kernel all the same.
	if memory, err := unix.MemfdCreate("hog", unix.MFD_CLOEXEC); err == nil {
		if err := unix.Ftruncate(memory, int64(size)); err != nil {
			return err
		}
		fd, flags = memory, unix.MAP_SHARED
	}
	data, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return err
	}
	for i := 0; i < size; i += 4096 {
		data[i] = 1
	}
	held = append(held, data)
	return nil
}

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
	fd, err := unix.MemfdCreate("hog", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		return err
	}
	data, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	for i := 0; i < size; i += 4096 {
		data[i] = 1
	}
	held = append(held, data)
	return nil
}

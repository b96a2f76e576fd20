package timeline

import "golang.org/x/sys/unix"

// want has the system read part of the file while the program goes on.
func (a *ahead) want(offset, size int64) bool {
	c, err := a.file.SyscallConn()
	if err != nil {
		return false
	}
	err2 := c.Control(func(fd uintptr) { err = unix.Fadvise(int(fd), offset, size, unix.FADV_WILLNEED) })
	return err == nil && err2 == nil
}

// has reports whether part of the file is in memory.
func (a *ahead) has(offset int64) bool {
	c, err := a.file.SyscallConn()
	if err != nil {
		return false
	}
	err2 := c.Control(func(fd uintptr) {
		_, err = unix.Preadv2(int(fd), [][]byte{make([]byte, 1)}, offset, unix.RWF_NOWAIT)
	})
	return err == nil && err2 == nil
}

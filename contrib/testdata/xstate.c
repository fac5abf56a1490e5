// Lets a guest kernel that knows less of a processor than the host save and restore what it knows: the host takes whole states only.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

long ptrace(enum __ptrace_request request, ...) {
	static long (*host)(int, int, void *, void *);
	if (!host)
		host = dlsym(RTLD_NEXT, "ptrace");
	va_list args;
	va_start(args, request);
	int pid = va_arg(args, int);
	void *address = va_arg(args, void *), *data = va_arg(args, void *);
	va_end(args);
	struct iovec *part = data;
	if (request != PTRACE_SETREGSET || (long)address != 0x202 /* NT_X86_XSTATE */)
		return host(request, pid, address, data);
	static char state[65536]; // the stack of a guest kernel is small
	struct iovec whole = {state, sizeof state};
	long failed = host(PTRACE_GETREGSET, pid, address, &whole);
	if (failed)
		return failed;
	memcpy(state, part->iov_base, part->iov_len < whole.iov_len ? part->iov_len : whole.iov_len);
	return host(request, pid, address, &whole);
}

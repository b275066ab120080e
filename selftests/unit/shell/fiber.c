// SPDX-License-Identifier: GPL-2.0-only
/*
 * Coroutines. Compiled without sanitizers, which are notified of each change of
 * stacks. A fiber is entered by makecontext() once, and from then on by the
 * compiler's own setjmp, which needs no system call.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK (256 * 1024)

struct fiber {
	void *buf[5];
	void (*fn)(void);
	char *stack;
	ucontext_t first;
	int begun;
	void *fake;
};

#ifdef SANITIZED
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *save, const void **bottom, size_t *size);
void __asan_unpoison_memory_region(void const volatile *addr, size_t size);
#else
#define __sanitizer_start_switch_fiber(save, bottom, size) ((void)0)
#define __sanitizer_finish_switch_fiber(save, bottom, size) ((void)0)
#define __asan_unpoison_memory_region(addr, size) ((void)0)
#endif

static void *home[5];
static void *home_fake;
static const void *home_bottom;
static size_t home_size;
static struct fiber *entering;
static ucontext_t home_ctx;

static __attribute__((noinline)) void jump(void **buf)
{
	__builtin_longjmp(buf, 1);
}

static void begin(void)
{
	struct fiber *f = entering;

	__sanitizer_finish_switch_fiber(NULL, &home_bottom, &home_size);
	f->fn();
	abort();	/* fn() never returns */
}

struct fiber *fiber_new(void (*fn)(void))
{
	struct fiber *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->fn = fn;
	f->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f->stack == MAP_FAILED)
		abort();
	return f;
}

static __attribute__((noinline)) void into(struct fiber *f)
{
	if (f->begun)
		jump(f->buf);
	f->begun = 1;
	getcontext(&f->first);
	f->first.uc_stack.ss_sp = f->stack;
	f->first.uc_stack.ss_size = STACK;
	f->first.uc_link = NULL;
	makecontext(&f->first, begin, 0);
	swapcontext(&home_ctx, &f->first);
}

__attribute__((noinline)) void fiber_enter(struct fiber *f)
{
	entering = f;
	__sanitizer_start_switch_fiber(&home_fake, f->stack, STACK);
	if (!__builtin_setjmp(home))
		into(f);
	__sanitizer_finish_switch_fiber(home_fake, NULL, NULL);
}

__attribute__((noinline)) void fiber_leave(struct fiber *f)
{
	__sanitizer_start_switch_fiber(&f->fake, home_bottom, home_size);
	if (!__builtin_setjmp(f->buf))
		jump(home);
	__sanitizer_finish_switch_fiber(f->fake, NULL, NULL);
}

void fiber_forget(struct fiber *f)
{
	__asan_unpoison_memory_region(f->stack, STACK);
	f->begun = 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Canary: a call of a function that does not exist must not compile. */
#include <linux/net.h>

int probe(void)
{
	return smcr_no_such_function();
}
